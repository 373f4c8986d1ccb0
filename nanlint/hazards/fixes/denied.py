"""A test written as the denial of its opposite: `not torch.isfinite(x).all()` for `torch.isnan(x).any()`.

Truth is what is kept, not form: where only truth counts the text says `not`, where a mask is made it says `~`.
"""

from __future__ import annotations

import ast
from typing import TYPE_CHECKING

from nanlint.analysis.project.spelled_names import spelled_name
from nanlint.analysis.project.syntax_names import dotted, last_word
from nanlint.analysis.training_loop.checks.answers import is_truth_alone
from nanlint.model import Edit

if TYPE_CHECKING:
    from nanlint.hazards.hazard import Hazard
    from nanlint.model import Span

# In these a `not` may stand without brackets.
_LOOSE = (ast.Assign, ast.AnnAssign, ast.Return, ast.Call, ast.keyword, ast.NamedExpr, ast.Lambda)


def denied(hazard: Hazard, opposite: str) -> Edit | None:
    """The test of a hazard by way of `opposite`, a word such as `isfinite`, which holds where it does not; None if a comment would go."""
    test = hazard.op.node
    if not isinstance(test, ast.Call):
        return None
    source = hazard.source
    called = _called(hazard, test, opposite)
    if called is None or "#" in source.text_of(test):
        return None
    text = called + source.text_of(test)[len(source.text_of(test.func)) :]
    node, new = _unwrapped(hazard, *_quantified(hazard, test, text))
    return Edit(*_written(hazard, test, text, (node, new)))


def _written(hazard: Hazard, test: ast.Call, text: str, whole: tuple[ast.AST, str]) -> tuple[Span, str]:
    """Where to write the denial, and how: of the whole where its truth counts, else of the elements."""
    source, parents = hazard.source, hazard.code.parents
    node, new = whole
    around = parents.get(node)
    if isinstance(around, ast.UnaryOp) and isinstance(around.op, ast.Not):
        return source.span_of(around), new
    if is_truth_alone(node, hazard.code):
        return source.span_of(node), f"not {new}"
    if dotted(test.func).startswith("math."):
        return source.span_of(node), f"not {new}" if isinstance(around, _LOOSE) else f"(not {new})"
    around = parents.get(test)
    if isinstance(around, ast.UnaryOp) and isinstance(around.op, ast.Invert):
        return source.span_of(around), text
    return source.span_of(test), f"(~{text})" if isinstance(around, ast.Attribute) else f"~{text}"


def _called(hazard: Hazard, test: ast.Call, opposite: str) -> str | None:
    """The function with another last word: `math.isfinite` for `math.isnan`, `x.isfinite` for `x.isnan`."""
    if isinstance(test.func, ast.Attribute):
        return hazard.source.text_of(test.func).removesuffix(test.func.attr) + opposite
    full = hazard.function.module.imports.get(dotted(test.func), "")
    return spelled_name(f"{full.rpartition('.')[0]}.{opposite}", hazard.function)


def _quantified(hazard: Hazard, test: ast.Call, text: str) -> tuple[ast.AST, str]:
    """`isnan(x).any()` and `any(isnan(x))` deny `isfinite(x).all()` and `all(isfinite(x))`."""
    around, source = hazard.code.parents.get(test), hazard.source
    call = hazard.code.parents.get(around) if isinstance(around, ast.Attribute) else around
    if not isinstance(call, ast.Call):
        return test, text
    behind = source.text_of(call)[len(source.text_of(call.func)) :]
    if isinstance(around, ast.Attribute) and around.attr == "any" and call.func is around:
        return call, f"{text}.all{behind}"
    if call is around and last_word(call) == "any" and call.args == [test] and not call.keywords:
        return call, f"{source.text_of(call.func).removesuffix('any')}all({text})"
    return test, text


def _unwrapped(hazard: Hazard, node: ast.AST, new: str) -> tuple[ast.AST, str]:
    """Take `.item()` and `bool(...)` along: they keep the truth."""
    around = hazard.code.parents.get(node)
    call = hazard.code.parents.get(around) if isinstance(around, ast.Attribute) else around
    if isinstance(around, ast.Attribute) and around.attr == "item" and isinstance(call, ast.Call):
        return call, f"{new}.item()"
    if isinstance(call, ast.Call) and call is around and dotted(call.func) == "bool":
        return call, f"bool({new})"
    return node, new
