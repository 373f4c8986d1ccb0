"""What is called, and what comes back: torch's operations, modules, and the functions and classes of this file."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, NamedTuple

from nanlint.facts.calculate import value_made_by
from nanlint.facts.calls import bind_call, module_call
from nanlint.facts.literals import as_float
from nanlint.facts.values import NOTHING, UNKNOWN, Call, Form, Kind, Value, join, joined, without_defaults

if TYPE_CHECKING:
    import libcst as cst

    from nanlint.facts.evaluate import Evaluator

NO_TENSOR = frozenset(Kind) - {Kind.UNKNOWN, Kind.TENSOR}


class Outcome(NamedTuple):
    """One call, as one of the things that the called expression can be would have it."""

    call: Call | None
    value: Value


def outcome(node: cst.Call, function: Value, given: tuple[Value, ...], evaluator: Evaluator) -> Outcome:
    """The call that `node` is and what it returns, `function` being what is called."""
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
    call = bind_call(node, dotted, lambda receiver: evaluator.values.get(receiver, UNKNOWN).kind in NO_TENSOR)
    if call is None:
        # Something without a name is called, such as a lambda on the spot.
        return Outcome(None, function.parts[0] if function.kind is Kind.FUNCTION and function.parts else Value())
    known = _from_this_file(function, call, evaluator) or _from_python(call, given, evaluator)
    return Outcome(call, known if known is not None else value_made_by(call, evaluator, given))


def _from_this_file(function: Value, call: Call, evaluator: Evaluator) -> Value | None:
    """What a function of this file returns, or an object of one of its classes does when called."""
    if function.kind is Kind.CLASS:
        return Value(Kind.INSTANCE, call, call, name=function.name)
    if function.kind is Kind.FUNCTION:
        returned = function.parts[0] if function.parts else evaluator.returned_by(function.name)
        return without_defaults(returned) if returned is not None else None
    if function.kind is Kind.INSTANCE:
        returned = evaluator.returned_by_object(function.name)
        return without_defaults(returned) if returned is not None else None
    return None


def _from_python(call: Call, given: tuple[Value, ...], evaluator: Evaluator) -> Value | None:
    """`float("inf")`, `getattr(config, "clip", 1e6)`, `config.get("clip", 1e6)`."""
    if call.function == "float" and given:
        return as_float(given[0], call.node)
    if call.function == "super" and not given:
        return evaluator.parent_object()
    fallback = None
    if call.function == "getattr" and len(given) == 3:
        fallback = given[2]
    elif call.function in {".get", ".pop"} and len(given) == 2:
        fallback = given[1]
    if fallback is None or fallback.constant is NOTHING:
        return None
    return join(Value(Kind.UNKNOWN, call, call), replace(fallback, assumed=True))
