"""What is called, and what comes back: torch's operations, modules, and the functions and classes of this file."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, NamedTuple

import libcst as cst

from nanlint.facts.calculate import value_made_by
from nanlint.facts.calls import bind_call, module_call
from nanlint.facts.literals import as_float
from nanlint.facts.naming import words_of
from nanlint.facts.python_functions import python_result
from nanlint.facts.values import KINDS, NOTHING, UNKNOWN, Call, Form, Kind, Value, join, joined, without_defaults

if TYPE_CHECKING:
    from nanlint.facts.evaluate import Evaluator

NO_TENSOR = KINDS - {Kind.UNKNOWN, Kind.TENSOR}
_OF_THE_PROJECT = frozenset({Kind.REFERENCE, Kind.CLASS, Kind.FUNCTION, Kind.INSTANCE})
_PYTHON = frozenset({"float", "super", "abs", "max", "min", "getattr", ".get", ".pop"})
_DIMENSIONS = frozenset({"dim", "dims", "dimension", "axis", "axes", "d", "ax"})
# So far back an array is looked for.
_DEEPEST = 6


class Outcome(NamedTuple):
    """One call, as one of the things that the called expression can be would have it."""

    call: Call | None
    value: Value


def outcome(node: cst.Call, function: Value, given: tuple[Value, ...], evaluator: Evaluator) -> Outcome:
    """The call that `node` is and what it returns, `function` being what is called."""
    if not function.choices and function.kind is not Kind.NONE:
        return _applied(node, function, given, evaluator)
    # None cannot be called, so `f = None` on another path says nothing here.
    callable_ones = [choice for choice in function.possible if choice.kind is not Kind.NONE] or [UNKNOWN]
    outcomes = [_applied(node, choice, given, evaluator) for choice in callable_ones]
    return Outcome(_agreed([one.call for one in outcomes]), joined([one.value for one in outcomes]))


def _agreed(calls: list[Call | None]) -> Call | None:
    """The call that all paths make; of two imports of one name the one from torch, since the other is the fallback."""
    functions = {call.function for call in calls if call is not None}
    if len(functions) == 1 and None not in calls:
        return calls[0]
    torch_ones = [call for call in calls if call is not None and call.function.startswith("torch.")]
    imported = all(call is not None and call.form is Form.FUNCTION for call in calls)
    return torch_ones[0] if imported and torch_ones else None


def _applied(node: cst.Call, function: Value, given: tuple[Value, ...], evaluator: Evaluator) -> Outcome:
    if function.kind is Kind.MODULE:
        call = module_call(node, function)
        if call is not None:
            return Outcome(call, value_made_by(call, evaluator))
    dotted = function.name if function.kind is Kind.REFERENCE else None
    call = bind_call(node, dotted, lambda receiver: _is_no_tensor(evaluator.values.get(receiver, UNKNOWN), evaluator))
    if call is None:
        # Something without a name is called, such as a lambda on the spot.
        return Outcome(None, function.parts[0] if function.kind is Kind.FUNCTION and function.parts else Value())
    call = _of_two_tensors(call, evaluator)
    is_followed = function.kind in _OF_THE_PROJECT and node is not evaluator.unused
    known = _from_the_project(function, call, evaluator) if is_followed else None
    if known is None and call.function in _PYTHON:
        known = _from_python(call, given, evaluator)
    return Outcome(call, known if known is not None else value_made_by(call, evaluator, given))


def _of_two_tensors(call: Call, evaluator: Evaluator) -> Call:
    """`torch.max(a, b)` of two tensors: what was bound as a dimension is the other one."""
    second = call.arguments.get("dim") if call.function in {"torch.max", "torch.min"} else None
    kind = evaluator.values.get(second, UNKNOWN).kind if second is not None else Kind.NUMBER
    if (
        second is None
        or "input" not in call.arguments
        or not (kind is Kind.TENSOR or (kind is Kind.UNKNOWN and _is_no_dimension(second, call)))
    ):
        return call
    return replace(call, arguments={"input": call.arguments["input"], "other": second})


def _is_no_dimension(second: cst.BaseExpression, call: Call) -> bool:
    """Of `torch.max(a, b)` nothing is known but that nobody calls a dimension so."""
    is_named = isinstance(call.node, cst.Call) and any(argument.keyword is not None for argument in call.node.args)
    return call.receiver is None and not is_named and _DIMENSIONS.isdisjoint(words_of(second))


def _is_no_tensor(value: Value, evaluator: Evaluator, depth: int = 0) -> bool:
    """Whether it is known to be something else: also an array of numpy's, or what its methods and operators make of one."""
    if value.kind in NO_TENSOR:
        return True
    made_by = value.made_by
    if made_by is None or value.kind is Kind.TENSOR or depth == _DEEPEST:
        return False
    if made_by.function.startswith("numpy."):
        return True
    operands = made_by.arguments.values() if made_by.form is Form.OPERATOR else (made_by.receiver,)
    values = (evaluator.values.get(operand, UNKNOWN) for operand in operands if operand is not None)
    return any(held.made_by is not None and _is_no_tensor(held, evaluator, depth + 1) for held in values)


def _from_the_project(function: Value, call: Call, evaluator: Evaluator) -> Value | None:
    """What a function of the project returns, or an object of one of this file's classes does when called."""
    if function.kind is Kind.REFERENCE and call.function == function.name:
        returned = evaluator.returned_by_import(function.name, call)
        return without_defaults(returned) if returned is not None else None
    if function.kind is Kind.CLASS:
        return Value(Kind.INSTANCE, call, call, name=function.name)
    if function.kind is Kind.FUNCTION:
        returned = function.parts[0] if function.parts else evaluator.returned_by(function.name, call)
        return without_defaults(returned) if returned is not None else None
    if function.kind is Kind.INSTANCE:
        returned = evaluator.returned_by_object(function, call)
        return without_defaults(returned) if returned is not None else None
    return None


def _from_python(call: Call, given: tuple[Value, ...], evaluator: Evaluator) -> Value | None:
    """`float("inf")`, `getattr(config, "clip", 1e6)`, `config.get("clip", 1e6)`."""
    if call.function == "float" and given:
        return as_float(given[0], call.node)
    if call.function == "super" and not given:
        parent = evaluator.parent_object()
        return parent.but(made_by=call) if parent is not None else None
    if call.function in {"abs", "max", "min"} and isinstance(call.node, cst.Call):
        return python_result(call, call.node, given)
    fallback = None
    if call.function == "getattr" and len(given) == 3:
        fallback = given[2]
    elif call.function in {".get", ".pop"} and len(given) == 2:
        fallback = given[1]
    if fallback is None or fallback.constant is NOTHING:
        return None
    return join(Value(Kind.UNKNOWN, call, call), fallback.but(assumed=True))
