"""Repeats the operations behind a value with other values for the parameters, so that a helper's result is known as if written there."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING

from nanlint.analysis.interpreter.conditions import AND, IS_NONE, NOT, OR
from nanlint.analysis.op_graph import (
    ARRAY,
    ASSUMED,
    ATTRIBUTE,
    CALL,
    DICT,
    ELEMENT,
    GUARDED,
    JOIN,
    LITERAL,
    NOTHING,
    PARAMETER,
    TENSOR,
    TEXT,
    TUPLE,
    UNKNOWN,
    Op,
    Value,
)
from nanlint.analysis.operation_results import INDICES
from nanlint.analysis.selection import SUBSCRIPT, range_of_each
from nanlint.ops.interval import FINITE, INF, Interval

if TYPE_CHECKING:
    from collections.abc import Mapping

    from nanlint.analysis.interpreter.expressions import Expressions
    from nanlint.analysis.project.graph import Graph
    from nanlint.analysis.project.index import Function

# A result that takes more operations than this is not repeated at the call.
_LONGEST = 120
_DEEPEST = 60
_ANSWERS = frozenset({AND, OR, NOT, IS_NONE})
_MOST_LOOKED_AT = 600
# Loops in loops, as far as they are followed.
_MOST_LOOPS = 3
ROUND = "round"


class Replay:
    """Repeats the operations behind a value with other values for the parameters of a function, or with what all callers pass."""

    def __init__(  # noqa: PLR0913 - a call is all of this
        self,
        graph: Graph,
        arguments: Mapping[str, Value],
        function: Function | None,
        call: Op | None,
        *,
        is_whole: bool,
        caller: Expressions | None = None,
    ) -> None:
        self._graph = graph
        self._caller = caller
        self._arguments = arguments
        self._function = function
        self._call = call
        self._is_whole = is_whole
        self._known: dict[int, Value] = {}
        self._kept: list[Value] = []
        self._taken: dict[Op, Value] = {}
        """What the names of a loop are taken to hold at the start of each round."""
        self._left = _LONGEST
        self._depth = 0
        self._freed: set[int] = set()
        """Values that rest on a default which the caller overrides: what was known of them before is not true here."""
        self._overrides = function is not None and any(
            _is_overridden(known, arguments.get(name)) for name, known in function.parameters.items()
        )
        self.made: list[Op] = []

    def of(self, value: Value) -> Value:
        """The value, repeated; itself where nothing of it changes."""
        held = self._known.get(id(value))
        if held is None:
            self._known[id(value)] = value  # for circles, which loops make
            self._kept.append(value)
            self._depth += 1
            is_near = self._depth < _DEEPEST and len(self._known) < _MOST_LOOKED_AT
            held = self._repeat(value) if is_near else self._left_alone(value)
            self._depth -= 1
            self._known[id(value)] = held
            self._kept.append(held)
        return held

    def _repeat(self, value: Value) -> Value:  # noqa: PLR0911 - one way out for each kind of value
        op = value.op
        if op is None or op.function == LITERAL:
            return value
        if op.function == PARAMETER:
            return self._parameter(value, op)
        if value.kind in {TUPLE, DICT} and value.parts:
            parts = tuple(self.of(part) for part in value.parts)
            return (
                value.but(parts=parts)
                if any(one is not other for one, other in zip(parts, value.parts, strict=True))
                else value
            )
        if op.function == CALL and self._call is not None:
            return self._left_alone(value)
        if op.function == JOIN and any(name.startswith(ROUND) for name in op.operands):
            kept = self._taken.get(op) or self._kept_by_loop(op)
            if kept is not None:
                return kept
        operands = {name: self.of(each) for name, each in op.operands.items()}
        if all(operands[name] is each for name, each in op.operands.items()):
            return value
        self._left -= 1
        if self._left < 0:
            return self._left_alone(value)
        is_freed = any(id(each) in self._freed for each in operands.values())
        made = self._made_again(value, op, operands, is_freed=is_freed)
        if is_freed:
            self._freed.add(id(made))
        return made

    def _kept_by_loop(self, op: Op) -> Value | None:
        """What a loop was given, if no round makes more of it: taken to be so, each round must leave it so."""
        first = [self.of(each) for name, each in op.operands.items() if not name.startswith(ROUND)]
        entering = self._graph.maker.join(first, op.node, op.scope)
        if not entering.is_known or len(self._taken) == _MOST_LOOPS:
            return None
        known, count = self._known, len(self.made)
        self._known, self._taken[op] = {}, entering
        rounds = [self.of(each) for name, each in op.operands.items() if name.startswith(ROUND)]
        self._known = known
        del self._taken[op]
        if all(each.range.is_subset(entering.range) for each in rounds):
            return self._graph.maker.join([*first, *rounds], op.node, op.scope).but(range=entering.range)
        del self.made[count:]
        return None

    def _left_alone(self, value: Value) -> Value:
        """What is not repeated: as it was, unless that may rest on a default which does not hold here."""
        if not (self._overrides or self._freed) or not value.is_known:
            return value
        return value.but(range=FINITE, key=object())

    def _made_again(self, value: Value, op: Op, operands: dict[str, Value], *, is_freed: bool) -> Value:
        if op.function == ELEMENT:
            taken = _taken_from(operands, value)
            return taken if taken is not None else self._computed(SUBSCRIPT, value, op, operands, is_freed=is_freed)
        again = self._passed_on if op.function.startswith("<") else partial(self._computed, op.function)
        return again(value, op, operands, is_freed=is_freed)

    def _passed_on(self, value: Value, op: Op, operands: dict[str, Value], *, is_freed: bool) -> Value:
        """What only guards, joins, asks or holds."""
        maker = self._graph.maker
        if op.function == GUARDED:
            inner = operands["input"]
            if is_freed and op.where == ASSUMED:
                return inner
            left = inner.range.meet(_told(op, value) if is_freed else value.range)
            left = left if not left.is_empty else inner.range if is_freed else value.range
            return maker.guarded(inner, left, op.node, some=value.some, presumed=value.presumed)
        if op.function == JOIN:
            made = maker.join(list(operands.values()), op.node, op.scope)
            is_one = op.where in {"", AND, OR}
            return made if is_one else value.but(range=FINITE if is_freed else value.range, op=made.op)
        if op.function in _ANSWERS:
            return value.but(op=Op(op.function, operands, op.node, op.scope), key=object())
        is_held = op.function == ATTRIBUTE and "stored" in operands
        return operands["stored"].but(op=op, key=op) if is_held else value

    def _computed(self, function: str, value: Value, op: Op, operands: dict[str, Value], *, is_freed: bool) -> Value:
        """What an operation makes of other operands, in the region of the caller."""
        maker = self._graph.maker
        caller = self._caller
        # Autocast and no_grad of the caller hold in here, unless the function says otherwise.
        is_stated = caller is None or (op.scope is not None and bool(op.scope.autocasts))
        autocast, device = ("", "") if is_stated or caller is None else (caller.autocast, caller.autocast_device)
        recorded = op.recorded and (caller is None or caller.recorded)
        made = maker.make(
            function, operands, op.node, op.scope, recorded=recorded, operator=value.kind is not TENSOR, module=op.module, rest=op.rest,
            autocast=autocast,
        )  # fmt: skip
        if made.kind is TUPLE and value.kind is not TUPLE and made.parts:
            made = made.parts[value.name == INDICES]
        if made.op is not None:
            made.op.copy_of, made.op.nodes, made.op.in_place = op, op.nodes, op.in_place
            made.op.autocast = op.autocast or device
            self.made.append(made.op)
        if made.kind is UNKNOWN and value.kind is not UNKNOWN:
            made.kind = value.kind
        if not is_freed:
            # Both are true: what was known before, and what is known with these arguments.
            both = made.range.meet(value.range)
            made.range = both if not both.is_empty else made.range
        made.dtype = made.dtype or value.dtype
        made.some = max(made.some, value.some)
        # What the caller has asked of an equal computation holds for this one.
        return caller.env.seen(made, maker) if caller is not None and caller.env.guards else made

    def _parameter(self, value: Value, op: Op) -> Value:  # noqa: PLR0911 - with one caller, with all, or with none
        if self._function is not None:
            if op.scope is not self._function:
                return value
            passed = self._arguments.get(op.where)
            if passed is None and value.assumed and not self._is_whole:
                return value.but(assumed=True)
            if passed is not None and _is_overridden(value, passed):
                self._freed.add(id(passed))
            return passed if passed is not None else value
        if op.scope is None:
            return value
        passed = self._graph.passed(op.scope, op.where)
        if passed is None:
            return value
        again = self.of(passed)
        # That they computed it says more than its range.
        is_passed_on = again.op is None or (again.op.function.startswith("<") and again.op.function != JOIN)
        if again.range == value.range and again.kind is value.kind and is_passed_on:
            return value
        if _is_overridden(value, again):
            self._freed.add(id(again))
            return again
        left = again.range.meet(value.range) if not value.assumed else again.range
        return again.but(range=left if not left.is_empty else again.range)


def _is_overridden(known: Value, passed: Value | None) -> bool:
    """Whether a caller passes something else than the default."""
    return known.assumed and passed is not None and not passed.range.is_subset(known.range)


def _told(op: Op, value: Value) -> Interval:
    """What a guard told beyond what the value was where nobody passed anything."""
    before = op.subject.range if op.subject is not None else FINITE
    low = value.range.low if value.range.low > before.low else -INF
    high = value.range.high if value.range.high < before.high else INF
    nonzero = not value.range.has_zero and before.has_zero
    return Interval(low, high, minus_inf=low == -INF, plus_inf=high == INF, nan=value.range.nan, nonzero=nonzero)


def _taken_from(operands: Mapping[str, Value], value: Value) -> Value | None:
    """What is taken out of something that a caller passes: a part of a tuple; None for numbers of a tensor, which are to be computed."""
    base, index = operands.get("input"), operands.get("index")
    if base is None:
        return value
    part = base.part(index.constant) if index is not None and index.constant is not NOTHING else None
    if base.kind in {TENSOR, ARRAY} and (index is None or index.kind is not TEXT):
        return None
    # Each of `[f(x) for x in xs]` is what f returns.
    known = range_of_each(base)
    return part if part is not None else value.but(range=known) if known != FINITE else value
