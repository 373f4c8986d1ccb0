"""The ways through one round of a training loop: what happens in which order, and how the round ends.

Conditions are kept consistent along a path: what `if use_amp:` has decided, a second `if use_amp:` finds decided, and a flag
that was set to True is True until it is set again. A tree with too many ways has none: silence, not a guess.
"""

from __future__ import annotations

import re
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Union

import libcst as cst

from nanlint.facts.context import compared
from nanlint.facts.environment import text_of
from nanlint.facts.loop_events import Event, EventKind, renamed, shortened
from nanlint.facts.loop_tree import Assigned, Attempt, Branch, Leave, Repeat, Scope
from nanlint.facts.names import dotted_text
from nanlint.source.walk import walk

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from nanlint.facts.finite_checks import Check
    from nanlint.facts.flow import Flow
    from nanlint.facts.loop_tree import Block, Item
    from nanlint.model import Span

# So many ways are looked at; a round with more is left alone.
_MOST = 600

_ON_PATHS = frozenset(EventKind) - {EventKind.LOG, EventKind.FORWARD, EventKind.LOSS}
_STOPPING = re.compile(r"exit|abort|raise|stop|fail|restore|load|reset|rollback|handle|recover|terminate|on_nan|reinit")
_NAME = re.compile(r"[A-Za-z_][\w.]*")


@dataclass(frozen=True, slots=True, eq=False)
class Decision:
    """A condition on a path, with the answer that it has there."""

    test: cst.BaseExpression
    flow: Flow
    check: Check | None
    truth: bool

    @property
    def is_bad(self) -> bool:
        """Whether something that is not finite was found here, for sure."""
        return self.check is not None and self.check.is_about_training and self.truth is self.check.bad_when

    @property
    def may_stop(self) -> bool:
        """Whether what is done about it calls something that may end the run, or bring back a good state."""
        around = self.flow.parsed.parents.get(self.test)
        while around is not None and not isinstance(around, (cst.If, cst.Assert, cst.FunctionDef)):
            around = self.flow.parsed.parents.get(around)
        if not isinstance(around, cst.If):
            return False
        calls = [node for node in walk(around.body) if isinstance(node, cst.Call)]
        return any(_STOPPING.search((dotted_text(call.func) or "").rpartition(".")[2].lower()) for call in calls)

    @property
    def span(self) -> Span:
        """Where the condition stands in the file."""
        return self.flow.parsed.span_of(self.test)

    @property
    def text(self) -> str:
        """The condition, on one line."""
        return " ".join(self.flow.parsed.source_of(self.test).split())

    def quote(self, longest: int = 40) -> str:
        """The condition, short enough for a message."""
        return shortened(self.text, longest)


Step = Union[Event, Decision]


@dataclass(frozen=True, slots=True, eq=False)
class Path:
    """One way through a round: its steps in order, and how it ends."""

    steps: tuple[Step, ...]
    end: str = ""
    """"continue", "break", "return", "raise", "exit", or "" at the end of the body."""
    leave: Leave | None = None

    @property
    def goes_on(self) -> bool:
        """Whether another round follows."""
        return self.end in {"", "continue"}

    def places(self, *kinds: str) -> list[int]:
        """Where on the path events of these kinds are."""
        return [place for place, step in enumerate(self.steps) if isinstance(step, Event) and step.kind in kinds]

    def events(self, *kinds: str) -> list[Event]:
        """The events of these kinds, in order."""
        return [step for step in self.steps if isinstance(step, Event) and step.kind in kinds]

    def between(self, first: int, last: int, *kinds: str) -> bool:
        """Whether an event of one of these kinds lies between two places."""
        return any(first < place < last for place in self.places(*kinds))

    def checks(self) -> Iterator[tuple[int, Decision]]:
        """Every decision about finiteness, with its place."""
        for place, step in enumerate(self.steps):
            if isinstance(step, Decision) and step.check is not None and step.check.is_about_training:
                yield place, step


def paths_through(body: Block) -> tuple[Path, ...]:
    """Every way through `body`; () when there are too many."""
    states = _through(body, [_State()])
    if states is None:
        return ()
    return tuple(Path(state.steps, state.end, state.leave) for state in states)


@dataclass(frozen=True, slots=True, eq=False)
class _State:
    """A path under way: what was met so far, and which conditions are decided."""

    steps: tuple[Step, ...] = ()
    known: Mapping[str, bool] = field(default_factory=dict)
    end: str = ""
    leave: Leave | None = None


def _through(block: Block, states: list[_State]) -> list[_State] | None:
    """The states after `block`; None when they become too many."""
    for item in block:
        following: list[_State] = []
        for state in states:
            if state.end:
                following.append(state)
                continue
            after = _after(item, state)
            if after is None or len(following) + len(after) > _MOST:
                return None
            following += after
        states = _distinct(following)
    return states


def _distinct(states: list[_State]) -> list[_State]:
    """The states less those that have met the same and know the same."""
    found: dict[object, _State] = {}
    for state in states:
        key = (tuple(map(id, state.steps)), frozenset(state.known.items()), state.end, id(state.leave))
        found.setdefault(key, state)
    return list(found.values())


def _after(item: Item, state: _State) -> list[_State] | None:  # noqa: PLR0911 - one case per kind of item
    if isinstance(item, Event):
        return [replace(state, steps=(*state.steps, item))] if item.kind in _ON_PATHS else [state]
    if isinstance(item, Leave):
        return [replace(state, end=item.how, leave=item)]
    if isinstance(item, Assigned):
        return [replace(state, known=_reassigned(state.known, item))]
    if isinstance(item, Branch):
        return _branched(item, state)
    if isinstance(item, Scope):
        return _ended(_through(item.body, [state]), {"return"})
    if isinstance(item, Repeat):
        return _ended(_through(item.body, [state]), {"break", "continue"})
    return _attempted(item, state)


def _ended(states: list[_State] | None, ends: set[str]) -> list[_State] | None:
    """States that were left by one of `ends` go on behind what they left."""
    if states is None:
        return None
    return [replace(state, end="", leave=None) if state.end in ends else state for state in states]


def _attempted(item: Attempt, state: _State) -> list[_State] | None:
    found = _through(item.body, [state])
    for handler in item.handlers:
        # Nobody knows how far the body came: the handler is entered from where the body began.
        other = _through(handler, [state]) if _matters(handler) else []
        found = [*found, *other] if found is not None and other is not None else None
    return found


def _branched(item: Branch, state: _State) -> list[_State] | None:
    answers = _answers(item, state.known)
    if not _matters(item.then) and not _matters(item.otherwise) and item.check is None:
        return [state]
    found: list[_State] = []
    for truth in answers:
        decision = Decision(item.test, item.flow, item.check, truth)
        known = {**state.known, **dict(_told(item.test, truth, item.names)), **_told_by_check(item, truth)}
        start = replace(state, steps=(*state.steps, decision), known=known)
        after = _through(item.then if truth else item.otherwise, [start])
        if after is None:
            return None
        found += after
    return found


def _matters(block: Block) -> bool:
    """Whether it makes a difference to the paths that this is run."""
    return any(_item_matters(item) for item in block)


def _item_matters(item: Item) -> bool:
    if isinstance(item, Event):
        return item.kind in _ON_PATHS
    if isinstance(item, Assigned):
        return item.truth is not None
    if isinstance(item, Branch):
        return _matters(item.then) or _matters(item.otherwise) or item.check is not None
    if isinstance(item, Attempt):
        return any(_matters(block) for block in (item.body, *item.handlers))
    return isinstance(item, Leave) or _matters(item.body)


# -- what conditions tell ----------------------------------------------------------------------------------------


def _answers(item: Branch, known: Mapping[str, bool]) -> tuple[bool, ...]:
    decided = _decided(item.test, known, item.names)
    if decided is None and item.check is not None and item.check.is_sure and item.check.is_about_training:
        # What was found not to be finite still is not.
        if known.get(_finite_key(item)) is False and len(item.check.catches) > 1:
            decided = item.check.bad_when
    return (True, False) if decided is None else (decided,)


def _finite_key(item: Branch) -> str:
    return f"finite {renamed(item.check.thing, item.names)}" if item.check is not None else ""


def _told_by_check(item: Branch, truth: bool) -> dict[str, bool]:  # noqa: FBT001 - the answer to the condition
    if item.check is None or truth is not item.check.bad_when:
        return {}
    return {_finite_key(item): False}


def _decided(test: cst.BaseExpression, known: Mapping[str, bool], names: Mapping[str, str]) -> bool | None:
    """The answer that a condition must have, given what is known; None if it can have either."""
    if isinstance(test, cst.UnaryOperation) and isinstance(test.operator, cst.Not):
        inner = _decided(test.expression, known, names)
        return None if inner is None else not inner
    if isinstance(test, cst.BooleanOperation):
        sides = [_decided(side, known, names) for side in (test.left, test.right)]
        decisive = isinstance(test.operator, cst.Or)
        if decisive in sides:
            return decisive
        return None if None in sides else not decisive
    word = dotted_text(test)
    if word in {"True", "False"}:
        return word == "True"
    atom, sense = _atom(test, names)
    return None if atom not in known else known[atom] is sense


def _told(test: cst.BaseExpression, truth: bool, names: Mapping[str, str]) -> Iterator[tuple[str, bool]]:  # noqa: FBT001
    """What is known after a condition was answered."""
    if isinstance(test, cst.UnaryOperation) and isinstance(test.operator, cst.Not):
        yield from _told(test.expression, not truth, names)
        return
    if isinstance(test, cst.BooleanOperation):
        if truth is isinstance(test.operator, cst.And):
            yield from _told(test.left, truth, names)
            yield from _told(test.right, truth, names)
        else:
            yield renamed(text_of(test), names), truth
        return
    atom, sense = _atom(test, names)
    yield atom, truth is sense


def _atom(test: cst.BaseExpression, names: Mapping[str, str]) -> tuple[str, bool]:
    """The text that a simple condition is known by, and whether it is written in that sense: `x is None` denies `x`."""
    sides = compared(test) if isinstance(test, cst.Comparison) else None
    if sides is not None and sides.sign in {"is", "is not", "==", "!="}:
        left, right = renamed(text_of(sides.left), names), renamed(text_of(sides.right), names)
        is_positive = sides.sign in {"is", "=="}
        if right == "None":
            return left, not is_positive
        if right in {"True", "False"}:
            return left, is_positive is (right == "True")
        return f"{left}=={right}", is_positive
    return renamed(text_of(test), names), True


def _reassigned(known: Mapping[str, bool], item: Assigned) -> Mapping[str, bool]:
    """What is still known after names were assigned."""
    if not known and item.truth is None:
        return known
    kept = {text: truth for text, truth in known.items() if item.names.isdisjoint(_prefixes(text))}
    if item.truth is not None:
        kept.update(dict.fromkeys(item.names, item.truth))
    return kept


def _prefixes(text: str) -> Iterator[str]:
    """Every name and attribute that a condition reads: a, a.b and c of `a.b > c`."""
    for match in _NAME.finditer(text):
        parts = match[0].split(".")
        for count in range(1, len(parts) + 1):
            yield ".".join(parts[:count])
