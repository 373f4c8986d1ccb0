"""What float16 does to code that does not say which dtype it runs in: which eps is relied on, and what passes its end.

Judgements on the shape of code. Whether a model is ever run in float16 is nobody's to know here, so all of it is for `info`.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from nanlint.facts.values import UNKNOWN, Call, Kind

if TYPE_CHECKING:
    import libcst as cst

    from nanlint.facts.evaluate import Evaluator

# What breaks at 0, with the operand that must not be 0. Numbers have functions of their own: these are given tensors.
_STEEP = {f"torch.{name}": "input" for name in ("log", "log2", "log10", "sqrt", "rsqrt", "reciprocal")}
_QUOTIENT, _POWER = "torch.div", "torch.pow"
# What is above it needs no eps.
_NEXT_TO_0 = 1e-3


def is_relied_on(floor: Call, value: cst.BaseExpression, evaluator: Evaluator) -> bool:
    """Whether something here divides by what `floor` keeps from 0, or takes a root or logarithm of it.

    `value` is what is kept from 0. Of a quotient it must be a tensor: a number is not rounded to float16.
    """
    held = evaluator.values.get(value, UNKNOWN)
    if held.kind not in {Kind.TENSOR, Kind.UNKNOWN} or held.range.integer or held.range.low > _NEXT_TO_0:
        return False
    breaking = [operand for call in evaluator.calls.values() for operand in _operands(call, evaluator)]
    users = [call for call, operand in breaking if _is_made_by(operand, floor, evaluator)]
    return any(held.kind is Kind.TENSOR or call.function in _STEEP for call in users)


def _is_made_by(operand: cst.BaseExpression, floor: Call, evaluator: Evaluator) -> bool:
    """As it is written, or under a name."""
    return operand is floor.node or evaluator.values.get(operand, UNKNOWN).origin is floor


def _operands(call: Call, evaluator: Evaluator) -> list[tuple[Call, cst.BaseExpression]]:
    """The operand at which `call` breaks if it is 0, or none."""
    name = "other" if call.function == _QUOTIENT else _STEEP.get(call.function, "")
    if call.function == _POWER:
        exponent = call.arguments.get("exponent")
        number = evaluator.values.get(exponent, UNKNOWN).number if exponent is not None else None
        name = "input" if number is not None and number < 1 else ""
    operand = call.arguments.get(name)
    return [(call, operand)] if operand is not None else []


def needs_less_than_one(ceiling: Call, functions: tuple[str, ...], evaluator: Evaluator) -> bool:
    """Whether one of these operations is given what `ceiling` keeps below 1, or what is left to 1 of it: `log(1 - p)`, `log1p(-p)`."""
    calls = [call for call in evaluator.calls.values() if call.function in functions and call.subject is not None]
    given = [operand for call in calls if (operand := call.subject) is not None]
    less = [rest for operand in given if (rest := _rest(operand, evaluator)) is not None]
    return any(evaluator.values.get(operand, UNKNOWN).origin is ceiling for operand in (*given, *less))


def _rest(node: cst.BaseExpression, evaluator: Evaluator) -> cst.BaseExpression | None:
    """`p` of `1 - p` and of `-p`."""
    made_by = evaluator.values.get(node, UNKNOWN).made_by
    if made_by is None or made_by.subject is None:
        return None
    if made_by.function == "torch.neg":
        return made_by.subject
    whole = evaluator.values.get(made_by.subject, UNKNOWN)
    is_one = whole.number == 1 or (whole.made_by is not None and whole.made_by.function == "torch.ones_like")
    return made_by.arguments.get("other") if made_by.function == "torch.sub" and is_one else None
