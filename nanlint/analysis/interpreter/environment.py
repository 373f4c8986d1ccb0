"""What each name holds at one point of a function, and what conditions have told on the way there."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from nanlint.analysis.interpreter.conditions import Told, told
from nanlint.analysis.relations import SAME_NUMBERS, root
from nanlint.ops.interval import EVERYTHING, INF, Interval

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    from nanlint.analysis.make import Maker
    from nanlint.analysis.op_graph import Value


class Guard(NamedTuple):
    """What is left of a value, by its key."""

    range: Interval
    strict: bool
    some: bool


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
        return Env(self.names, guards if guards is not None else self.guards)

    def seen(self, value: Value, maker: Maker) -> Value:
        """The value with what conditions have told about it."""
        guard = self.guards.get(value.key)
        if guard is None and value.op is not None and value.op.function in SAME_NUMBERS:
            guard = self._of_its_root(value)
        if guard is None:
            return value
        left = value.range
        if guard.range != EVERYTHING:
            from nanlint.analysis.interpreter.conditions import tightened  # noqa: PLC0415 - rarely needed

            left = tightened(left, Told(value, guard.range, guard.strict), value.dtype, value.kind)
        if left == value.range and (value.some or not guard.some):
            return value
        return maker.guarded(value, left, some=guard.some)

    def _of_its_root(self, value: Value) -> Guard | None:
        """What was told about a tensor holds for its views; in half a small number may have become 0."""
        whole = root(value)
        is_rounded = value.dtype in {"float16", "bfloat16"} and whole.dtype != value.dtype
        return self.guards.get(whole.key) if not is_rounded else None


def _both(before: Guard | None, bound: Told) -> Guard:
    if before is None:
        return Guard(bound.range, bound.strict, bound.some)
    left = before.range.meet(bound.range)
    return Guard(left if not left.is_empty else bound.range, before.strict or bound.strict, before.some or bound.some)


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
        some = guard.some and all(other.some for other in known)
        if some or not (reach.low == -INF and reach.high == INF and not reach.nonzero):
            guards[key] = Guard(reach, guard.strict and all(other.strict for other in known), some)
    return Env(names, guards)
