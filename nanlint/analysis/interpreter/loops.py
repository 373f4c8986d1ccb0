"""Loops: what holds in any round. A loop is interpreted until what its names hold at the start of a round holds at its end."""

from __future__ import annotations

import ast
from dataclasses import replace
from typing import TYPE_CHECKING, NamedTuple

from nanlint.analysis.interpreter.assignments import Assignments
from nanlint.analysis.interpreter.environment import Env, meet
from nanlint.analysis.op_graph import JOIN, NOTHING, Op, Value
from nanlint.analysis.project.index import dotted
from nanlint.analysis.storage import storages
from nanlint.ops.interval import FINITE, INF, Interval

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from nanlint.analysis.project.index import CallSite, Function

Loop = ast.For | ast.AsyncFor | ast.While
# What is learned in one pass is tried in the next; after the last nothing is expected of what is not settled.
_MOST_PASSES = 3
_NOT_EXPECTED = 99


class Expected(NamedTuple):
    """What a name is expected to hold at the start of any round."""

    level: int
    """Which of `_widenings` of what it held before the loop."""
    kind: str
    dtype: str
    detached: bool
    same: bool
    """It stands for the same function, layer or object all the time."""
    memory: frozenset[str] = frozenset()
    """Names of before the loop in whose memory it may lie since an earlier round."""


class Loops(Assignments):
    """Interprets loops. What was learned of an inner loop is kept, so that a pass of the outer one does not learn it again."""

    _breaks: list[Env]
    _continues: list[Env]
    _returns: list[Value]
    _expected: dict[int, dict[str, Expected]]
    _assigned: dict[int, frozenset[str]]
    sites: list[tuple[Function, CallSite]]

    def for_loop(self, node: ast.For | ast.AsyncFor) -> bool:
        """A loop over something; whether control reaches its end."""
        source = self.evaluate(node.iter)
        return self._loop(node, lambda: self.bind(node.target, self.taken_from(source, node.iter)))

    def while_loop(self, node: ast.While) -> bool:
        """A loop with a condition; whether control reaches its end."""

        def enter() -> None:
            self.env = self.where(self.evaluate(node.test), holds=True)

        return self._loop(node, enter)

    def _loop(self, node: Loop, enter: Callable[[], None]) -> bool:
        before, outer = self.env, (self._breaks, self._continues)
        if id(node) not in self._assigned:
            self._assigned[id(node)] = frozenset(assigned(node))
        expected = self._expected.setdefault(id(node), {})
        for name in self._assigned[id(node)]:
            held = before.names.get(name)
            if held is not None and name not in expected:
                expected[name] = Expected(0, held.kind, held.dtype, held.detached, same=True)
        for attempt in range(_MOST_PASSES):
            noted = self._notes()
            changes = self.changes_seen
            rounds = self._pass(node, before, expected, enter)
            learned = self._learn(expected, before, rounds, is_last=attempt >= _MOST_PASSES - 2)
            if self.changes_seen > changes:
                learned |= self._learn_memory(expected, before, rounds)
            if not learned or attempt == _MOST_PASSES - 1:
                break
            self._forget(noted)
        is_endless = isinstance(node, ast.While) and isinstance(node.test, ast.Constant) and bool(node.test.value)
        breaks = self._breaks
        self._breaks, self._continues = outer
        return self._after_loop(node, [] if is_endless else [*rounds, before], breaks)

    def _pass(self, node: Loop, before: Env, expected: dict[str, Expected], enter: Callable[[], None]) -> list[Env]:
        """Interpret the body once; the environments at the ends of a round."""
        self._breaks, self._continues = [], []
        start = {name: self._widened(name, before, what) for name, what in expected.items() if name in before.names}
        gone = {before.names[name].key for name in start}
        self.env = Env(
            {**before.names, **start}, {key: guard for key, guard in before.guards.items() if key not in gone}
        )
        enter()
        rounds = [self.env] if self.run_body(node.body) else []
        rounds = [self.env, *self._continues] if rounds else self._continues
        for name, value in start.items():
            for place, end in enumerate(rounds):
                held = end.names.get(name)
                if held is not None and held is not value and value.op is not None:
                    value.op.operands = {**value.op.operands, f"round {place}": held}
        return rounds

    def _learn(self, expected: dict[str, Expected], before: Env, rounds: list[Env], *, is_last: bool) -> bool:
        """Whether some name holds something else at the end of a round than was expected at its start."""
        learned = False
        for end in rounds:
            for name, held in before.names.items():
                now = end.names.get(name)
                if now is None or now is held:
                    continue
                what = expected.get(name) or Expected(0, held.kind, held.dtype, held.detached, same=True)
                more = self._expected_after(what, held, end.seen(now, self.maker), is_last=is_last)
                if name not in expected or more != what:
                    expected[name] = more
                    learned = True
        return learned

    def _learn_memory(self, expected: dict[str, Expected], before: Env, rounds: list[Env]) -> bool:
        """Whether a name may lie, from the second round on, where another lay before the loop: `current = other`."""
        owners: dict[Op, str] = {}
        for name in sorted(before.names):
            owners.update(dict.fromkeys(storages(before.names[name]), name))
        learned = False
        for name, what in list(expected.items()):
            ends = [end.names[name] for end in rounds if name in end.names and name in before.names]
            found = {owners[op] for now in ends for op in storages(now) if op in owners}
            if not found <= what.memory | {name} and any(
                not storages(now) <= storages(before.names[name]) for now in ends
            ):
                expected[name] = what._replace(memory=what.memory | found - {name})
                learned = True
        return learned

    def _expected_after(self, what: Expected, held: Value, now: Value, *, is_last: bool) -> Expected:
        same = what.same and now.target is held.target and now.name == held.name and now.kind is held.kind
        level = what.level
        reaches = _widenings(held.range)
        while level < len(reaches) and not now.range.is_subset(reaches[level]):
            level = level + 1 if not is_last else _NOT_EXPECTED
        level = min(level, len(reaches))
        kind = what.kind if now.kind is what.kind else "unknown"
        dtype = what.dtype if now.dtype == what.dtype else ""
        return Expected(level, kind, dtype, what.detached and now.detached, same, what.memory)

    def _widened(self, name: str, before: Env, what: Expected) -> Value:
        """What a name holds at the start of any round."""
        value = before.names[name]
        others = {f"earlier {other}": before.names[other] for other in sorted(what.memory) if other in before.names}
        op = Op(JOIN, {"0": value, **others}, None, self.function)
        op.where = name
        widened = value.but(op=op, constant=NOTHING, parts=(), keys=(), some=0)
        widened.key = object()
        reaches = _widenings(value.range)
        widened.range = reaches[what.level] if what.level < len(reaches) else FINITE
        widened.kind, widened.dtype, widened.detached = what.kind, what.dtype, what.detached
        if value.kind in {"none", "tuple", "dict"}:
            widened.kind = "unknown"
        if not what.same:
            widened.kind, widened.target, widened.name = (
                ("unknown" if value.target or value.name else what.kind),
                None,
                "",
            )
        return widened

    def _after_loop(self, node: Loop, ends: list[Env], breaks: list[Env]) -> bool:
        """The loop ends, its `else` runs, unless it was left by a break."""
        left = list(breaks)
        if ends:
            self.env = meet(ends, self.maker, node, self.function)
            if isinstance(node, ast.While):
                self.env = self.where(self.evaluate(node.test), holds=False)
            if self.run_body(node.orelse):
                left.append(self.env)
        if left:
            self.env = meet(left, self.maker, node, self.function)
        return bool(left)

    # -- what a pass has noted ------------------------------------------------------------------------------------

    def _notes(self) -> tuple[int, int, int, int, dict[str, int]]:
        function = self.function
        stores = {name: len(values) for name, values in function.stores.items()}
        return len(self._returns), len(function.ops), len(function.sinks), len(self.sites), stores

    def _forget(self, noted: tuple[int, int, int, int, dict[str, int]]) -> None:
        """What was interpreted with the wrong expectation did not happen."""
        returns, ops, sinks, sites, stores = noted
        del self._returns[returns:], self.function.ops[ops:], self.function.sinks[sinks:]
        for name, values in self.function.stores.items():
            del values[stores.get(name, 0) :]
        for called, site in reversed(self.sites[sites:]):
            if called.calls and called.calls[-1] is site:
                called.calls.pop()
            elif site in called.calls:
                called.calls.remove(site)
        del self.sites[sites:]

    def run_body(self, body: list[ast.stmt]) -> bool:
        """Interpret statements in order; False when control does not reach their end."""
        raise NotImplementedError


def _widenings(start: Interval) -> list[Interval]:
    """What a name may hold in any round, if it held `start` before the first: each more than the one before; beyond them, anything."""
    infinite = {"plus_inf": start.plus_inf, "minus_inf": start.minus_inf, "nan": start.nan}
    found = []
    if start.low > -INF and not start.is_empty:
        upward = Interval(start.low, INF, nonzero=start.nonzero, integer=start.integer, **infinite)
        found += [upward, replace(upward, integer=False)]
        if start.low >= 0:
            found += [Interval(0.0, INF, nonzero=True, **infinite)] if start.low > 0 or start.nonzero else []
            found.append(Interval(0.0, INF, **infinite))
    if start.high < INF and not start.is_empty:
        found.append(Interval(-INF, start.high, **infinite))
    return found


def assigned(node: ast.AST) -> Iterator[str]:
    """The names and attributes that are assigned or changed in place below a statement, those of inner functions left out."""
    waiting: list[ast.AST] = [node]
    while waiting:
        node = waiting.pop()
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef | ast.Lambda):
            continue
        if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store):
            yield node.id
        elif isinstance(node, ast.Attribute) and isinstance(node.ctx, ast.Store):
            yield dotted(node)
        elif isinstance(node, ast.Subscript) and isinstance(node.ctx, ast.Store):
            yield dotted(node.value)
        elif isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute) and node.func.attr.endswith("_"):
            yield dotted(node.func.value)
        waiting.extend(ast.iter_child_nodes(node))
