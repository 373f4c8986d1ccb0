"""What Python's own functions make of numbers: `max(n, 1)` is at least 1, `abs(x)` is not negative."""

from __future__ import annotations

from typing import TYPE_CHECKING

from nanlint.facts.values import Call, Form, Kind, Value
from nanlint.ops.arithmetic import absolute, maximum, minimum

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    import libcst as cst

    from nanlint.ops.interval import Interval

_OF_TWO: Mapping[str, Callable[[Interval, Interval], Interval]] = {"max": maximum, "min": minimum}


def python_result(call: Call, node: cst.Call, given: tuple[Value, ...]) -> Value | None:
    """The value of a call of `max`, `min` or `abs`; None for other functions, and for `max(values)`."""
    if call.form is not Form.FUNCTION or any(argument.star or argument.keyword is not None for argument in node.args):
        return None
    kinds = {value.kind for value in given}
    kind = kinds.pop() if len(kinds) == 1 else Kind.UNKNOWN
    if call.function == "abs" and len(given) == 1:
        return Value(kind, call, call, range=absolute(given[0].range), dtype=given[0].dtype, detached=given[0].detached)
    of_two = _OF_TWO.get(call.function)
    if of_two is None or len(given) < 2:
        return None
    reach = given[0].range
    for value in given[1:]:
        reach = of_two(reach, value.range)
    return Value(kind, call, call, range=reach)
