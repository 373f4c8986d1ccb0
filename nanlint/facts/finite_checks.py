"""Conditions that ask whether a loss, a gradient or a norm is finite: about what, catching what, and which answer is bad.

`if not torch.isfinite(norm):`, `assert not loss.isnan()`, `has_nan = any(...)` and then `if has_nan:`, helpers whose name
says what they look for. What is done about it is a matter of paths, which this module does not know.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING
from weakref import WeakKeyDictionary

import libcst as cst

from nanlint.analysis.name_hints import words_in
from nanlint.facts.context import compared
from nanlint.facts.names import dotted_text
from nanlint.facts.naming import loop_source_of, thing_of, words_of
from nanlint.facts.values import UNKNOWN
from nanlint.facts.written import text_of
from nanlint.source.walk import walk

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from nanlint.facts.flow import Flow
    from nanlint.facts.values import Call

NAN, INF = "nan", "inf"
BOTH = frozenset({NAN, INF})

_ASKED = {
    **dict.fromkeys(("torch.isnan", "math.isnan", "numpy.isnan", "jax.numpy.isnan"), frozenset({NAN})),
    **dict.fromkeys(("torch.isinf", "math.isinf", "numpy.isinf"), frozenset({INF})),
}
_FINITE = frozenset({"torch.isfinite", "math.isfinite", "numpy.isfinite", "cmath.isfinite"})
_CARRIERS = frozenset(
    {"any", "all", "item", "bool", "sum", "max", "min", "cpu", "detach", "float", "int", "to", "tolist", "numpy"}
)
_FOR_BAD = frozenset(
    {"nan", "nans", "isnan", "inf", "isinf", "overflow", "overflows", "nonfinite", "diverged", "infinite"}
)
_FOR_GOOD = frozenset({"finite", "isfinite"})
_GRADIENTS = frozenset({"grad", "grads", "gradient", "gradients"})
_NORMS = frozenset({"norm", "norms", "gnorm", "gradnorm"})
# `f0_norm` and `weight_norm` are something else.
_NORMS_OF = _NORMS | _GRADIENTS | {
    "total", "global", "g", "d", "clip", "clipped", "unclipped", "model", "param", "params", "parameter", "parameters", "gen", "disc",
    "generator", "discriminator", "critic", "actor", "policy", "max", "inf", "local", "l",
}  # fmt: skip
_LOSSES = frozenset({"loss", "losses", "objective"})
_PARAMETERS = frozenset({"param", "params", "parameter", "parameters"})
# `loss_weight` is no loss, `loss_meter` a record of them.
_ELSE = frozenset(
    {"weight", "fn", "func", "mask", "scale", "scaler", "type", "layer", "best", "lowest", "min", "prev", "last", "old"}
)
_ASIDE = frozenset({"best", "val", "valid", "validation", "eval", "test"})
# How many names a condition is followed through.
_NAMES = 3


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
    test: cst.BaseExpression, flow: Flow, names: int = _NAMES
) -> Check | None:
    """The check that a condition makes; None if it asks something else."""
    if isinstance(test, cst.UnaryOperation) and isinstance(test.operator, (cst.Not, cst.BitInvert)):
        inner = check_of(test.expression, flow, names)
        return replace(inner, bad_when=not inner.bad_when) if inner is not None else None
    if isinstance(test, cst.BooleanOperation):
        return _combined(test, flow, names)
    if isinstance(test, cst.BinaryOperation) and isinstance(test.operator, (cst.BitOr, cst.BitAnd)):
        return _combined(test, flow, names)
    if isinstance(test, cst.Comparison):
        return _compared(test, flow, names)
    if isinstance(test, (cst.GeneratorExp, cst.ListComp)):
        return check_of(test.elt, flow, names)
    if isinstance(test, cst.NamedExpr):
        return check_of(test.value, flow, names)
    if isinstance(test, cst.Call):
        return _asked(test, flow, names)
    if isinstance(test, (cst.Name, cst.Attribute)) and names > 0:
        return _through_name(test, flow, names - 1)
    return None


# -- shapes of conditions ----------------------------------------------------------------------------------------


def _combined(test: cst.BooleanOperation | cst.BinaryOperation, flow: Flow, names: int) -> Check | None:
    is_or = isinstance(test.operator, (cst.Or, cst.BitOr))
    sides = [side for side in _operands(test) if not _is_benign(side)]
    found = [check for side in sides if (check := check_of(side, flow, names)) is not None]
    if not found:
        return None
    first = found[0]
    # `isnan(x) or isinf(x)` is True for either; `isfinite(x) and isfinite(y)` is False.
    decides = first.bad_when is is_or
    catches = frozenset[str]().union(*(check.catches for check in found)) if decides else first.catches
    sure = all(check.is_sure for check in found) and (decides or len(found) == len(sides))
    trained = next((check for check in found if check.is_about_training), first)
    return replace(trained, catches=catches, bad_when=first.bad_when, is_sure=sure)


def _operands(test: cst.BaseExpression) -> Iterator[cst.BaseExpression]:
    if isinstance(test, (cst.BooleanOperation, cst.BinaryOperation)):
        yield from _operands(test.left)
        yield from _operands(test.right)
    else:
        yield test


def _is_benign(test: cst.BaseExpression) -> bool:
    """`p.grad is not None` and `p.requires_grad` take nothing away from the check beside them."""
    if isinstance(test, cst.Comparison):
        sides = compared(test)
        return sides is not None and sides.sign == "is not" and dotted_text(sides.right) == "None"
    return isinstance(test, cst.Attribute) and test.attr.value == "requires_grad"


def _compared(test: cst.Comparison, flow: Flow, names: int) -> Check | None:
    sides = compared(test)
    if sides is None:
        return None
    if text_of(sides.left) == text_of(sides.right):
        return _about(sides.left, flow, frozenset({NAN}), bad_when=sides.sign == "!=")
    number = flow.values.get(sides.right, UNKNOWN)
    constant = number.constant
    inner = check_of(sides.left, flow, names)
    if inner is not None and (constant in {0, 1} or isinstance(constant, bool)):
        asks_for_more = sides.sign in {">", ">=", "!="} or (sides.sign in {"==", "is"} and constant == 1)
        return inner if asks_for_more else replace(inner, bad_when=not inner.bad_when)
    # `loss > 1e6` is True for inf; `loss < 1e6` is False for NaN too.
    is_limit = number.number is not None and number.number >= 100 and subject_of(sides.left, flow) != "other"
    if is_limit and sides.sign in {">", ">="}:
        return _about(sides.left, flow, frozenset({INF}), bad_when=True)
    if is_limit and sides.sign in {"<", "<="}:
        return _about(sides.left, flow, BOTH, bad_when=False)
    return None


def _asked(test: cst.Call, flow: Flow, names: int) -> Check | None:
    call = flow.calls.get(test)
    if call is None:
        return None
    asked = call.subject if call.subject is not None else call.receiver
    if call.function in _ASKED and asked is not None:
        return _about(asked, flow, _ASKED[call.function], bad_when=True)
    if call.function in _FINITE and asked is not None:
        return _about(asked, flow, BOTH, bad_when=False)
    word = call.function.rpartition(".")[2]
    if word in _CARRIERS:
        inside = test.func.value if isinstance(test.func, cst.Attribute) and not test.args else None
        inner = inside if inside is not None else call.subject or call.receiver
        return check_of(inner, flow, names) if inner is not None else None
    return _named_helper(test, word, flow)


def _named_helper(test: cst.Call, word: str, flow: Flow) -> Check | None:
    """`has_nan_or_inf(loss)`, `self.is_finite(loss)`: a helper that says what it looks for."""
    words = words_in(word)
    is_bad, is_good = bool(words & _FOR_BAD), bool(words & _FOR_GOOD)
    if not is_bad and not is_good:
        return None
    negated = bool(words & {"no", "not", "non"})
    bad_when = (is_bad and not is_good) is not (negated and "nonfinite" not in words)
    if not test.args:
        subject = "gradients" if words & _GRADIENTS else "other"
        return Check(subject, text_of(test), BOTH, bad_when)
    return _about(test.args[0].value, flow, BOTH, bad_when=bad_when)


def _through_name(node: cst.Name | cst.Attribute, flow: Flow, names: int) -> Check | None:
    """A name for a check: by what it is assigned, or by what it is called."""
    text = text_of(node)
    assigned = _assignments(flow).get(text, [])
    for value in assigned[: -_MOST_ASSIGNED - 1 : -1]:
        found = check_of(value, flow, names)
        if found is not None:
            return found
    words = set(words_of(node))
    is_bad = bool(words & _FOR_BAD)
    if not assigned or not (is_bad or words & _FOR_GOOD):
        return None
    return Check(_subject_of_words(words, ()) or "other", text, BOTH, bad_when=is_bad)


_MOST_ASSIGNED = 50  # the last of them
_assigned: WeakKeyDictionary[Flow, dict[str, list[cst.BaseExpression]]] = WeakKeyDictionary()


def _assignments(flow: Flow) -> dict[str, list[cst.BaseExpression]]:
    """Every name of the chunk with what is assigned to it, in order."""
    if flow not in _assigned:
        found: dict[str, list[cst.BaseExpression]] = {}
        for node in walk(flow.parsed.module):
            if isinstance(node, cst.Assign):
                for target in node.targets:
                    found.setdefault(dotted_text(target.target) or "", []).append(node.value)
        _assigned[flow] = found
    return _assigned[flow]


# -- what it is about --------------------------------------------------------------------------------------------


def _about(node: cst.BaseExpression, flow: Flow, catches: frozenset[str], *, bad_when: bool) -> Check:
    return Check(subject_of(node, flow), text_of(thing_of(node)), catches, bad_when)


def subject_of(node: cst.BaseExpression, flow: Flow) -> str:
    """What an expression is to training: "loss", "gradients", "norm", "parameters", or "other"."""
    thing = thing_of(node)
    made_by = flow.values.get(thing, UNKNOWN).origin
    if made_by is not None and made_by.function.rpartition(".")[2] in {"clip_grad_norm_", "clip_grad_norm"}:
        return "norm"
    words = list(words_of(thing))
    around = _around(thing, flow)
    source = loop_source_of(thing, around) if isinstance(thing, cst.Name) else None
    if source is not None:
        words += words_of(source)
    named = _subject_of_words(set(words), words)
    if named == "norm" and _is_normalised(made_by, flow):
        return "other"
    if named:
        return named
    if text_of(thing) in _backward_starts(flow):
        return "loss"
    source = _read_from(thing, flow)
    return subject_of(source, flow) if source is not None else "other"


def _is_normalised(made_by: Call | None, flow: Flow) -> bool:
    """`norm = (data - mean) / std` is data, and `1 / x.norm()` a factor: a norm by neither but its name."""
    if made_by is None or made_by.function != "torch.div" or made_by.subject is None:
        return False
    above = flow.values.get(made_by.subject, UNKNOWN)
    return above.number is not None or (above.origin is not None and above.origin.function == "torch.sub")


def _read_from(node: cst.BaseExpression, flow: Flow) -> cst.BaseExpression | None:
    """`loss`, if `node` is a name for `loss.item()` or `float(loss.detach())`; None for anything else."""
    made_by = flow.values.get(node, UNKNOWN).made_by
    if not isinstance(node, cst.Name) or made_by is None or not isinstance(made_by.node, cst.Call):
        return None
    inner = thing_of(made_by.node)
    return inner if inner is not made_by.node and made_by.node in flow.values else None


def _subject_of_words(words: set[str], ordered: Iterable[str]) -> str:
    last = next(reversed(list(ordered)), "")
    # `norm_min` is a bound that something is brought between.
    if last in _ELSE or words & _ASIDE or (last in {"min", "max"} and "norm" in words):
        return "other"
    for subject, known in (("norm", _NORMS), ("gradients", _GRADIENTS), ("loss", _LOSSES), ("parameters", _PARAMETERS)):
        if words & known:
            return subject if subject != "norm" or words & _GRADIENTS or words <= _NORMS_OF else "other"
    return ""


def _around(node: cst.CSTNode, flow: Flow) -> Iterator[cst.CSTNode]:
    parents = flow.parsed.parents
    around = parents.get(node)
    while around is not None:
        yield around
        around = parents.get(around)


def _backward_starts(flow: Flow) -> set[str]:
    """The texts of what a backward of the chunk starts from."""
    found: set[str] = set()
    for call in flow.calls.values():
        if call.function == ".backward" and call.receiver is not None:
            found.add(text_of(thing_of(call.receiver)))
    return found
