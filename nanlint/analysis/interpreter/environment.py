"""What each name holds at one point of a function, and what conditions have told on the way there."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from nanlint.analysis.interpreter.conditions import Told, apart, told
from nanlint.analysis.op_graph import ASSUMED, made_from
from nanlint.analysis.relations import SAME_NUMBERS, root
from nanlint.ops.interval import EVERYTHING, INF, Interval

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    from nanlint.analysis.op_graph import Value
    from nanlint.analysis.operation_results import Maker


class Guard(NamedTuple):
    """What is left of a value, by its key."""

    range: Interval
    strict: bool
    some: int
    presumed: bool = False
    assumed: bool = False


class Env:
    """Names and guards. A branch gets a copy; nobody changes the one it came from."""

    __slots__ = ("guards", "names")

    def __init__(self, names: Mapping[str, Value] | None = None, guards: Mapping[object, Guard] | None = None) -> None:
        self.names: dict[str, Value] = dict(names or {})
        self.guards: dict[object, Guard] = dict(guards or {})

    def copy(self) -> Env:
        """The same, to be changed on another path."""
        return Env(self.names, self.guards)

    def under(self, test: Value, *, holds: bool) -> Env:
        """The environment where `test` holds, or does not."""
        guards = None
        for bound in told(test, holds=holds):
            guards = guards if guards is not None else dict(self.guards)
            for key in {bound.value.key, root(bound.value).key}:
                guards[key] = _both(guards.get(key), bound)
        for pair, left in apart(test, holds=holds):
            guards = guards if guards is not None else dict(self.guards)
            guards[pair] = Guard(left, strict=True, some=0)
        return Env(self.names, guards if guards is not None else self.guards)

    def indexed(self, index: Value | None) -> Env:
        """The environment behind `x.gather(-1, n - 1)`, which raises unless n is at least 1."""
        op = made_from(index)
        less = op.operands.get("other") if op is not None and op.function == "torch.sub" else None
        if op is None or op.subject is None or less is None or less.number is None:
            return self
        bound = Told(op.subject, Interval(less.number, INF))
        return Env(self.names, {**self.guards, op.subject.key: _both(self.guards.get(op.subject.key), bound)})

    def seen(self, value: Value, maker: Maker) -> Value:
        """The value with what conditions have told about it."""
        guard = self.guards.get(value.key)
        if guard is None and value.op is not None and value.op.function in SAME_NUMBERS:
            guard = self._of_its_root(value)
        if guard is None:
            return self._seen_by_its_operands(value, maker)
        left = value.range
        if guard.range != EVERYTHING:
            from nanlint.analysis.interpreter.conditions import tightened  # noqa: PLC0415 - rarely needed

            left = tightened(left, Told(value, guard.range, guard.strict), value.dtype, value.kind)
        if left == value.range and value.some >= guard.some and value.presumed >= guard.presumed:
            return value
        seen = maker.guarded(value, left, some=guard.some, presumed=guard.presumed)
        if guard.assumed and seen.op is not None:
            seen.op.where = ASSUMED
        return seen

    def _of_its_root(self, value: Value) -> Guard | None:
        """What was told about a tensor holds for its views; in half a small number may have become 0."""
        whole = root(value)
        is_rounded = value.dtype in {"float16", "bfloat16"} and whole.dtype != value.dtype
        return self.guards.get(whole.key) if not is_rounded else None

    def _seen_by_its_operands(self, value: Value, maker: Maker) -> Value:
        """A difference of what is not equal is not 0; a quotient is no NaN where its denominator is not 0."""
        op = value.op
        if op is None or op.function not in {"torch.sub", "torch.div"}:
            return value
        operands = (op.operands.get("input"), op.operands.get("other"))
        if operands[0] is None or operands[1] is None:
            return value
        if op.function == "torch.sub":
            guard = self.guards.get((operands[0].key, operands[1].key))
            left = value.range.meet(guard.range) if guard is not None else value.range
            return maker.guarded(value, left) if left != value.range and not left.is_empty else value
        guard = self.guards.get(operands[1].key)
        is_safe = guard is not None and operands[1].range.has_zero and not guard.range.has_zero
        return maker.guarded(value, value.range.without_nan()) if is_safe else value


def _both(before: Guard | None, bound: Told) -> Guard:
    if before is None:
        return Guard(*bound[1:])
    left = before.range.meet(bound.range)
    reach = left if not left.is_empty else bound.range
    some, presumed = max(before.some, bound.some), before.presumed or bound.presumed
    return Guard(reach, before.strict or bound.strict, some, presumed, before.assumed or bound.assumed)


def meet(paths: Iterable[Env], maker: Maker, node: object, scope: object) -> Env:
    """What holds whichever path was taken; a name that only some have bound holds what they bound."""
    ends = list(paths)
    if len(ends) == 1:
        return ends[0]
    first = ends[0]
    names = dict(first.names)
    differ = {name for end in ends[1:] for name, _ in first.names.items() ^ end.names.items()}
    for name in sorted(differ):
        held = [end.seen(end.names[name], maker) for end in ends if name in end.names]
        names[name] = maker.join(held, node, scope)  # type: ignore[arg-type]
    guards: dict[object, Guard] = {}
    for key, guard in first.guards.items():
        others = [end.guards.get(key) for end in ends[1:]]
        known = [other for other in others if other is not None]
        if len(known) != len(others):
            continue
        reach = guard.range
        for other in known:
            reach = reach.join(other.range)
        some = min((guard.some, *(other.some for other in known)))
        if some or not (reach.low == -INF and reach.high == INF and not reach.nonzero):
            guards[key] = Guard(reach, guard.strict and all(other.strict for other in known), some)
    return Env(names, guards)
