"""What nothing keeps from anything: handed in or computed here, and no line tells which numbers it is.

A logarithm, a root or an exponential of such a thing may be right for reasons that stand elsewhere. At `info` it is told that they
do not stand here.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from nanlint.analysis import name_hints as named
from nanlint.facts.counting import behind
from nanlint.facts.names import dotted_text, names_in
from nanlint.facts.naming import thing_of, words_of
from nanlint.facts.silence import is_drawn
from nanlint.facts.values import UNKNOWN, Form, Kind
from nanlint.ops.interval import INF
from nanlint.ops.names import SIGNATURES

if TYPE_CHECKING:
    import libcst as cst

    from nanlint.facts.evaluate import Evaluator
    from nanlint.facts.values import Call, Value

# How torch calls what it fills with numbers that somebody chose.
_MADE = frozenset(
    f"torch.{name}" for name in ("tensor", "as_tensor", "zeros", "full", "logspace", "from_numpy", "empty", "Tensor", "finfo")
)  # fmt: skip
# A bound is a guard, whatever it is.
_GUARDING = frozenset(
    f"torch.{name}" for name in ("clamp", "clamp_min", "clamp_max", "maximum", "minimum", "masked_fill", "nan_to_num")
)  # fmt: skip
_SCALING = frozenset({"torch.mul", "torch.div", "torch.neg", "torch.add", "torch.sub"})
_GRIDS = frozenset({"arange", "linspace", "logspace", "meshgrid"})
_WHERE, _DIV, _DEEPEST = "torch.where", "torch.div", 6


def is_unkept(node: cst.BaseExpression | None, evaluator: Evaluator, depth: int = 0) -> bool:
    """Whether `node` is a tensor that was given to the function or computed here, of which nothing else is known."""
    value = evaluator.values.get(node, UNKNOWN) if node is not None else UNKNOWN
    # What may be NaN already is told of where it becomes that.
    is_sound = not value.range.nan or _is_quotient_of_unknown(value, evaluator)
    is_open = value.range.low == -INF and value.range.high == INF and value.range.has_zero and is_sound
    if node is None or not is_open or value.learnable or value.kind not in {Kind.TENSOR, Kind.UNKNOWN}:
        return False
    is_counted = not named.COUNTED.isdisjoint(words_of(node)) or _is_of_grid(node, evaluator)
    if is_counted or is_kept(node) or is_chosen(node, evaluator) or is_drawn(node, evaluator):
        return False
    return _is_open_by_making(value, evaluator, depth)


def _is_of_grid(node: cst.BaseExpression, evaluator: Evaluator) -> bool:
    """`-math.log(10000) * torch.arange(half) / half`: somebody laid it out."""
    return any(not _GRIDS.isdisjoint(words_of(inner)) for inner in behind(node, evaluator))


def _is_quotient_of_unknown(value: Value, evaluator: Evaluator) -> bool:
    """Whether all that makes it NaN is that nobody knows what it was divided by."""
    below = (
        value.made_by.arguments.get("other") if value.made_by is not None and value.made_by.function == _DIV else None
    )
    return below is not None and not evaluator.values.get(below, UNKNOWN).is_known


def _is_open_by_making(value: Value, evaluator: Evaluator, depth: int) -> bool:
    # A bound on one of the paths that meet here is there for all who need it.
    if any(choice.origin is not None and choice.origin.function in _GUARDING for choice in value.choices):
        return False
    made_by = value.origin
    if made_by is None or depth == _DEEPEST:
        return True
    # How a helper's result comes about is not seen from here.
    is_helper = made_by.form is Form.FUNCTION and made_by.function not in SIGNATURES
    if made_by.node not in evaluator.values or is_helper or made_by.function in _MADE | _GUARDING:
        return False
    if made_by.function == _WHERE:
        return _is_open_choice(made_by, evaluator, depth)
    if made_by.function not in _SCALING:
        return True
    # What is added may be a guard under any name; of a product or a difference one side is enough, of a quotient what is divided.
    parts = [made_by.subject] if made_by.function == _DIV else list(made_by.arguments.values())
    judge = all if made_by.function == "torch.add" else any
    return judge(is_unkept(part, evaluator, depth + 1) for part in parts)


def _is_open_choice(where: Call, evaluator: Evaluator, depth: int) -> bool:
    """`where(label == 1, p, 1 - p)`: as open as what is picked from, unless the condition is about that."""
    condition, *picked = (where.arguments.get(name) for name in ("condition", "input", "other"))
    names = [names_in(node) if node is not None else set() for node in (condition, *picked)]
    is_about_it = not names[0] or any(not names[0].isdisjoint(other) for other in names[1:])
    return not is_about_it and all(is_unkept(part, evaluator, depth + 1) for part in picked)


def is_kept(node: cst.BaseExpression) -> bool:
    """Whether it is a setting, a buffer or a part of the object."""
    return (dotted_text(thing_of(node)) or "").startswith("self.")


def is_chosen(node: cst.BaseExpression, evaluator: Evaluator) -> bool:
    """Whether it is called, or a power of what is called, as numbers are that somebody chose."""
    made_by = evaluator.values.get(node, UNKNOWN).made_by
    base = made_by.subject if made_by is not None and made_by.function == "torch.pow" else None
    return any(not named.CHOSEN.isdisjoint(words_of(each)) for each in (node, base) if each is not None)
