"""A check that is asked a second time, further down its block: whether the answer must be the same, and how to write the opposite.

`if torch.isnan(norm): log(...)` says what `if not torch.isnan(norm):` in front of the step would say, as long as
nothing in between sets `norm` anew or changes it, and asking has no effect.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import libcst as cst

from nanlint.facts.changes import assigned_in
from nanlint.facts.loop_edits import siblings_between
from nanlint.facts.names import dotted_text
from nanlint.facts.rewrite import bare, on_one_line
from nanlint.source.walk import walk

if TYPE_CHECKING:
    from collections.abc import Iterator

    from nanlint.facts.flow import Flow

# They look at what they are given, and the same answer comes back.
_ASKING = frozenset(
    {"isnan", "isinf", "isfinite", "any", "all", "item", "bool", "float", "detach", "cpu", "abs", "max", "min", "sum"}
)
_SIMPLE = (cst.Name, cst.Attribute, cst.Call)


def opposite_at(test: cst.BaseExpression, at: cst.CSTNode, flow: Flow) -> str | None:
    """The opposite of the condition `test`, to be asked in front of `at`; None where it might be answered otherwise there."""
    between = siblings_between(test, at, flow)
    if between is None or not _can_be_asked_again(test):
        return None
    changed = {name for statement in between for name in assigned_in(statement)}
    if any(_is_touched(name, changed) for name in _read_in(test)):
        return None
    return _opposite(test, flow)


def _can_be_asked_again(test: cst.BaseExpression) -> bool:
    """Whether it asks about names alone: what is read from gradients or elements may be put right in between."""
    for inner in walk(test):
        if isinstance(inner, (cst.GeneratorExp, cst.ListComp, cst.Subscript, cst.NamedExpr, cst.Lambda, cst.Await)):
            return False
        if isinstance(inner, cst.Attribute) and inner.attr.value in {"grad", "data"}:
            return False
        if isinstance(inner, cst.Call) and (dotted_text(inner.func) or _word(inner)).rpartition(".")[2] not in _ASKING:
            return False
    return True


def _word(call: cst.Call) -> str:
    return call.func.attr.value if isinstance(call.func, cst.Attribute) else ""


def _read_in(test: cst.BaseExpression) -> Iterator[str]:
    for inner in walk(test):
        if isinstance(inner, (cst.Name, cst.Attribute)):
            text = dotted_text(inner)
            if text:
                yield text


def _is_touched(name: str, changed: set[str]) -> bool:
    """Whether the name, what it is an attribute of, or a part of it is among those that change."""
    return any(
        name == other or name.startswith(f"{other}.") or (name != "self" and other.startswith(f"{name}."))
        for other in changed
    )


def _opposite(test: cst.BaseExpression, flow: Flow) -> str | None:
    denied = isinstance(test, cst.UnaryOperation) and isinstance(test.operator, cst.Not)
    asked = test.expression if isinstance(test, cst.UnaryOperation) and denied else test
    text = on_one_line(flow.parsed.source_of(bare(asked)))
    if text is None or denied:
        return text
    return f"not {text}" if isinstance(asked, _SIMPLE) else f"not ({text})"
