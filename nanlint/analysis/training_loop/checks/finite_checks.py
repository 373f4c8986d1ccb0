"""Conditions that ask whether a loss, a gradient or a norm is finite: about what, catching what, and which answer is bad.

`if not torch.isfinite(norm):`, `assert not loss.isnan()`, `has_nan = any(...)` and then `if has_nan:`, helpers whose name
says what they look for. What is done about it is a matter of paths, which this module does not know.
"""

from __future__ import annotations

import ast
import re
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from nanlint.analysis.name_hints import (
    FOR_BAD,
    FOR_GOOD,
    GRADIENTS,
    NO_LOSSES,
    NORMS,
    NORMS_OF,
    OBJECTIVES,
    PARAMETERS,
    TRAINING_WORDS,
    VALIDATION,
    words_in,
)
from nanlint.analysis.op_graph import made_from, name_of
from nanlint.analysis.project.syntax_names import last_word
from nanlint.analysis.training_loop.naming import loop_source_of, thing_of, words_of
from nanlint.source.syntax.below import given_to
from nanlint.word_sets import word_set

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping

    from nanlint.analysis.op_graph import Op
    from nanlint.analysis.training_loop.code import Code

NAN, INF = "nan", "inf"
BOTH = frozenset({NAN, INF})

_ASKED = {"isnan": frozenset({NAN}), "isinf": frozenset({INF}), "isfinite": BOTH}
_CARRIERS = word_set("any all item bool sum max min cpu detach float int to tolist numpy")
# How many names a condition is followed through, and how many of the values that each was assigned.
_NAMES, _MOST_ASSIGNED = 3, 50
_LARGE = 100


@dataclass(frozen=True, slots=True)
class Check:
    """A condition about finiteness."""

    subject: str
    """What is asked about: "loss", "gradients", "norm", "parameters", or "other"."""
    thing: str
    """Its text, as in `loss` of `torch.isnan(loss.detach())`."""
    catches: frozenset[str]
    bad_when: bool
    """The truth of the condition for what is not finite."""
    is_sure: bool = True
    """Whether the condition always has that truth then: `debug and isnan(loss)` has not."""

    @property
    def is_complete(self) -> bool:
        """Whether neither NaN nor inf gets past it."""
        return self.catches == BOTH and self.is_sure

    @property
    def is_about_training(self) -> bool:
        """Whether it is about a loss, a gradient, a norm or a parameter, and not about data."""
        return self.subject != "other"


def check_of(  # noqa: PLR0911 - one case per kind of node
    test: ast.AST, code: Code, names: int = _NAMES
) -> Check | None:
    """The check that a condition makes; None if it asks something else."""
    if isinstance(test, ast.UnaryOp) and isinstance(test.op, ast.Not | ast.Invert):
        inner = check_of(test.operand, code, names)
        return replace(inner, bad_when=not inner.bad_when) if inner is not None else None
    if isinstance(test, ast.BoolOp | ast.BinOp):
        return _combined(test, code, names) if isinstance(test.op, ast.And | ast.Or | ast.BitOr | ast.BitAnd) else None
    if isinstance(test, ast.Compare):
        return _compared(test, code, names)
    if isinstance(test, ast.GeneratorExp | ast.ListComp):
        return check_of(test.elt, code, names)
    if isinstance(test, ast.NamedExpr):
        return check_of(test.value, code, names)
    if isinstance(test, ast.Call):
        return _asked(test, code, names)
    if isinstance(test, ast.Name | ast.Attribute) and names > 0:
        return _through_name(test, code, names - 1)
    return None


# -- shapes of conditions ----------------------------------------------------------------------------------------


def _combined(test: ast.BoolOp | ast.BinOp, code: Code, names: int) -> Check | None:
    is_or = isinstance(test.op, ast.Or | ast.BitOr)
    sides = [side for side in _operands(test) if not _is_benign(side)]
    found = [check for side in sides if (check := check_of(side, code, names)) is not None]
    if not found:
        return None
    first = found[0]
    # `isnan(x) or isinf(x)` is True for either; `isfinite(x) and isfinite(y)` is False.
    decides = first.bad_when is is_or
    catches = frozenset[str]().union(*(check.catches for check in found)) if decides else first.catches
    sure = all(check.is_sure for check in found) and (decides or len(found) == len(sides))
    trained = next((check for check in found if check.is_about_training), first)
    return replace(trained, catches=catches, bad_when=first.bad_when, is_sure=sure)


def _operands(test: ast.expr) -> Iterator[ast.expr]:
    inside = (
        test.values if isinstance(test, ast.BoolOp) else [test.left, test.right] if isinstance(test, ast.BinOp) else []
    )
    for side in inside:
        yield from _operands(side)
    if not inside:
        yield test


def _is_benign(test: ast.expr) -> bool:
    """`p.grad is not None` and `p.requires_grad` take nothing away from the check beside them."""
    if isinstance(test, ast.Compare):
        return isinstance(test.ops[0], ast.IsNot) and _is_none(test.comparators[0])
    return isinstance(test, ast.Attribute) and test.attr == "requires_grad"


def _is_none(node: ast.expr) -> bool:
    return isinstance(node, ast.Constant) and node.value is None


def _compared(test: ast.Compare, code: Code, names: int) -> Check | None:
    if len(test.ops) != 1:
        return None
    left, sign, right = code.sides_of(test)
    if code.text_of(left) == code.text_of(right):
        return _about(left, code, frozenset({NAN}), bad_when=isinstance(sign, ast.NotEq))
    number, inner = code.number_of(right), check_of(left, code, names)
    if inner is not None and number in {0, 1}:
        asks_for_more = isinstance(sign, ast.Gt | ast.GtE | ast.NotEq | ast.IsNot)
        asks_for_more = asks_for_more or (isinstance(sign, ast.Eq | ast.Is) and number == 1)
        return inner if asks_for_more else replace(inner, bad_when=not inner.bad_when)
    # `loss > 1e6` is True for inf; `loss < 1e6` is False for NaN too.
    is_limit = number is not None and number >= _LARGE and subject_of(left, code) != "other"
    if is_limit and isinstance(sign, ast.Gt | ast.GtE):
        return _about(left, code, frozenset({INF}), bad_when=True)
    if is_limit and isinstance(sign, ast.Lt | ast.LtE):
        return _about(left, code, BOTH, bad_when=False)
    return None


def _asked(test: ast.Call, code: Code, names: int) -> Check | None:
    root, _, word = code.function_of(test).rpartition(".")
    asked = code.asked_by(test)
    is_known = root in {"torch", "math", "cmath", "numpy", "jax.numpy"} or (not root and not test.args)
    if word in _ASKED and is_known and asked is not None:
        return _about(asked, code, _ASKED[word], bad_when=word != "isfinite")
    word = last_word(test)
    if word in _CARRIERS:
        inside = test.func.value if isinstance(test.func, ast.Attribute) and not test.args else None
        inner = inside if inside is not None else asked
        return check_of(inner, code, names) if inner is not None else None
    return _answered_by(test, code, names) or _named_helper(test, word, code)


def _answered_by(test: ast.Call, code: Code, names: int) -> Check | None:
    """`self._healthy(loss)`: what a function of the project answers that does nothing but ask whether something is finite."""
    callee = code.callee_at(test)
    returned = [node.value for node in code.called(callee).nodes if isinstance(node, ast.Return)] if callee else []
    if callee is None or len(returned) != 1 or returned[0] is None or names == 0:
        return None
    inner = check_of(returned[0], code.called(callee), names - 1)
    given = code.passed_for(test, callee).get(inner.thing) if inner is not None else None
    if inner is None or given is None:
        return inner if inner is not None and inner.is_about_training else None
    return replace(inner, subject=subject_of(given, code), thing=code.text_of(thing_of(given)))


def _named_helper(test: ast.Call, word: str, code: Code) -> Check | None:
    """`has_nan_or_inf(loss)`, `self.is_finite(loss)`: a helper that says what it looks for."""
    words = words_in(word)
    is_bad, is_good = bool(words & FOR_BAD), bool(words & FOR_GOOD)
    if not is_bad and not is_good:
        return None
    negated = bool(words & {"no", "not", "non"})
    bad_when = (is_bad and not is_good) is not (negated and "nonfinite" not in words)
    given = given_to(test)
    if not given:
        subject = "gradients" if words & GRADIENTS else "other"
        return Check(subject, code.text_of(test), BOTH, bad_when)
    return _about(given[0], code, BOTH, bad_when=bad_when)


def _through_name(node: ast.Name | ast.Attribute, code: Code, names: int) -> Check | None:
    """A name for a check: by what it is assigned, or by what it is called."""
    text = code.text_of(node)
    assigned = code.assigned.get(text, [])
    for value in assigned[: -_MOST_ASSIGNED - 1 : -1]:
        found = check_of(value, code, names)
        if found is not None:
            return found
    words = set(words_of(node))
    is_bad = bool(words & FOR_BAD)
    if not assigned or not (is_bad or words & FOR_GOOD):
        return None
    return Check(_subject_of_words(words, ()) or "other", text, BOTH, bad_when=is_bad)


def as_called(check: Check, names: Mapping[str, str]) -> Check:
    """A check that a helper makes of its parameter, as one of what the caller passes; `names` are the caller's words for parameters."""
    words = re.findall(r"[a-z]+", names.get(check.thing, "").rpartition(".")[2].lower())
    subject = _subject_of_words(set(words), words) if check.subject == "other" else ""
    return replace(check, subject=subject) if subject else check


# -- what it is about --------------------------------------------------------------------------------------------


def _about(node: ast.AST, code: Code, catches: frozenset[str], *, bad_when: bool) -> Check:
    return Check(subject_of(node, code), code.text_of(thing_of(node)), catches, bad_when)


def subject_of(node: ast.AST, code: Code) -> str:
    """What an expression is to training: "loss", "gradients", "norm", "parameters", or "other"."""
    thing = thing_of(node)
    made_by = code.made_by(thing)
    if made_by is not None and name_of(made_by).rpartition(".")[2] in {"clip_grad_norm_", "clip_grad_norm"}:
        return "norm"
    words = list(words_of(thing))
    source = loop_source_of(thing.id, code.around(thing)) if isinstance(thing, ast.Name) else None
    if source is not None:
        words += words_of(source)
    named = _subject_of_words(set(words), words)
    if named == "norm" and _is_normalised(made_by):
        return "other"
    if named:
        return named
    if code.text_of(thing) in _backward_starts(code):
        return "loss"
    read = _read_from(thing, made_by, code)
    return subject_of(read, code) if read is not None else "other"


def subject_if_trained(node: ast.AST, code: Code) -> tuple[str, bool]:
    """As `subject_of`, and what a loss of a validation would be if it were trained; and whether it is one of those."""
    words = words_of(thing_of(node))
    is_aside = bool(VALIDATION & {*words, *code.function.name.lower().split("_")})
    subject = subject_of(node, code)
    if words == ("norm",) and TRAINING_WORDS.isdisjoint(code.words):
        return "other", is_aside  # the order of a norm
    if subject == "other" and VALIDATION & set(words):
        subject = _subject_of_words(set(words) - VALIDATION, words) or "other"
    return subject, is_aside


def _is_normalised(made_by: Op | None) -> bool:
    """`norm = (data - mean) / std` is data, and `1 / x.norm()` a factor: a norm by neither but its name."""
    if made_by is None or made_by.function != "torch.div" or made_by.subject is None:
        return False
    above = made_from(made_by.subject)
    return made_by.subject.number is not None or (above is not None and above.function == "torch.sub")


def _read_from(node: ast.AST, made_by: Op | None, code: Code) -> ast.AST | None:
    """`loss`, if `node` is a name for `loss.item()` or `float(loss.detach())`; None for anything else."""
    made = made_by.node if made_by is not None else None
    if not isinstance(node, ast.Name) or not isinstance(made, ast.Call) or made not in code.parents:
        return None
    inner = thing_of(made)
    return inner if inner is not made else None


def _subject_of_words(words: set[str], ordered: Iterable[str]) -> str:
    last = next(reversed(list(ordered)), "")
    # `norm_min` is a bound that something is brought between.
    if last in NO_LOSSES or words & VALIDATION or (last in {"min", "max"} and "norm" in words):
        return "other"
    for subject, known in (("norm", NORMS), ("gradients", GRADIENTS), ("loss", OBJECTIVES), ("parameters", PARAMETERS)):
        if words & known:
            return subject if subject != "norm" or words & GRADIENTS or words <= NORMS_OF else "other"
    return ""


def _backward_starts(code: Code) -> set[str]:
    """The texts of what a backward of the function starts from; `y.mean().backward()` without a step tries a model out."""
    calls = [node for node in code.nodes if isinstance(node, ast.Call) and last_word(node) == "backward"]
    receivers = [receiver for call in calls if (receiver := code.receiver_of(call)) is not None]
    if "step" not in code.words:
        receivers = [
            each for each in receivers if not (isinstance(each, ast.Call) and last_word(each) in {"mean", "sum"})
        ]
    return {code.text_of(thing_of(receiver)) for receiver in receivers}
