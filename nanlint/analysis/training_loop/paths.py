"""The ways through one round of a training loop: what happens in which order, and how the round ends.

Conditions are kept consistent along a path: what `if use_amp:` has decided, a second `if use_amp:` finds decided, and a flag
that was set to True is True until it is set again. A tree with too many ways has none: silence, not a guess.
"""

from __future__ import annotations

import ast
import re
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Union

from nanlint.analysis.name_hints import STOPPING
from nanlint.analysis.project.syntax_names import last_word
from nanlint.analysis.training_loop.conditions import decided, is_returned, opposite_at, reassigned, told
from nanlint.analysis.training_loop.event_tree_parts import Assigned, Attempt, Branch, Leave, Repeat, Scope
from nanlint.analysis.training_loop.events import Event, EventKind, renamed
from nanlint.analysis.training_loop.tree import truth_of
from nanlint.analysis.training_loop.written import Written
from nanlint.source.syntax.below import walk

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from nanlint.analysis.training_loop.checks.finite_checks import Check
    from nanlint.analysis.training_loop.event_tree_parts import Block, Item

# So many ways are looked at; a round with more is left alone.
_MOST = 600
_MOST_STEPS = 20_000

_ON_PATHS = frozenset(EventKind) - {EventKind.LOG, EventKind.FORWARD, EventKind.LOSS}
_AROUND = (ast.If, ast.Assert, ast.FunctionDef, ast.AsyncFunctionDef)


@dataclass(frozen=True, slots=True, eq=False)
class Decision(Written):
    """A condition on a path, with the answer that it has there."""

    check: Check | None
    truth: bool

    @property
    def test(self) -> ast.AST:
        """The condition, by which the decisions of several paths are known to be about one."""
        return self.node

    @property
    def thing(self) -> str:
        """What is asked about; "" where that is not whether something is finite."""
        return self.check.thing if self.check is not None else ""

    @property
    def subject(self) -> str:
        """What that is to training, as "loss"; "" as above."""
        return self.check.subject if self.check is not None else ""

    @property
    def is_bad(self) -> bool:
        """Whether something that is not finite was found here, for sure."""
        return self.check is not None and self.check.is_about_training and self.truth is self.check.bad_when

    @property
    def may_stop(self) -> bool:
        """Whether what is done about it may end the run, bring back a good state, or leave the bad part out."""
        around = next((each for each in self.code.around(self.node) if isinstance(each, _AROUND)), None)
        if not isinstance(around, ast.If):
            return False
        inside = [node for statement in around.body for node in walk(statement)]
        # `loss = loss[finite]` leaves out what is not finite.
        if any(isinstance(node, ast.Assign) and isinstance(node.value, ast.Subscript) for node in inside):
            return True
        return any(isinstance(node, ast.Call) and re.search(STOPPING, last_word(node).lower()) for node in inside)

    @property
    def is_returned(self) -> bool:
        """Whether the function around tells its caller of the answer."""
        return is_returned(self.node, self.code)

    def opposite_at(self, event: Event) -> str | None:
        """The opposite, to be asked in front of an event; None where it might be answered otherwise there."""
        is_here = event.code is self.code and not self.is_elsewhere
        return opposite_at(self.node, event.node, self.code) if is_here else None


Step = Union[Event, Decision]  # noqa: UP007 - the names are classes at run time


@dataclass(frozen=True, slots=True, eq=False)
class Path:
    """One way through a round: its steps in order, and how it ends."""

    steps: tuple[Step, ...]
    end: str = ""
    """"continue", "break", "return", "raise", "exit", or "" at the end of the body."""
    leave: Leave | None = None

    @property
    def framework(self) -> str:
        """The framework that makes a backward, a clip or a step on this way, by its name in the loop; "" for none."""
        parts = self.events(EventKind.BACKWARD, EventKind.CLIP, EventKind.STEP)
        return next((event.by or event.receiver for event in parts if event.is_framework), "")

    def places(self, *kinds: str) -> list[int]:
        """Where on the path events of these kinds are."""
        return [place for place, _ in self.each(*kinds)]

    def events(self, *kinds: str) -> list[Event]:
        """The events of these kinds, in order."""
        return [event for _, event in self.each(*kinds)]

    def after(self, place: int, *kinds: str) -> tuple[int, Event] | None:
        """The first event of these kinds behind a place, with its own place; None for none."""
        return next(((at, event) for at, event in self.each(*kinds) if at > place), None)

    def before(self, place: int, *kinds: str) -> tuple[int, Event] | None:
        """The last event of these kinds before a place, with its own place; None for none."""
        return next(((at, event) for at, event in reversed(list(self.each(*kinds))) if at < place), None)

    def each(self, *kinds: str) -> Iterator[tuple[int, Event]]:
        """The events of these kinds with their places, in order."""
        for place, step in enumerate(self.steps):
            if isinstance(step, Event) and step.kind in kinds:
                yield place, step

    def decisions(self, first: int, last: int) -> list[Decision]:
        """The conditions between two places, in order."""
        return [step for step in self.steps[max(first, 0) : last] if isinstance(step, Decision)]

    def between(self, first: int, last: int, *kinds: str) -> bool:
        """Whether an event of one of these kinds lies between two places."""
        return any(first < place < last for place in self.places(*kinds))

    @property
    def last_decision(self) -> Decision | None:
        """The condition behind which the path ends; None if there is none."""
        return next((step for step in reversed(self.steps) if isinstance(step, Decision)), None)

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
        if sum(len(state.steps) for state in following) > _MOST_STEPS:
            return None
        states = _distinct(following)
    return states


def _distinct(states: list[_State]) -> list[_State]:
    """The states less those that have met the same and know the same."""
    if len(states) == 1:
        return states
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
        return [replace(state, known=reassigned(state.known, item))]
    if isinstance(item, Branch):
        return _branched(item, state)
    if isinstance(item, Scope):
        return _returned(_through(item.body, [state]), item)
    if isinstance(item, Repeat):
        return _ended(_through(item.body, [state]), {"break", "continue"})
    return _attempted(item, state)


def _ended(states: list[_State] | None, ends: set[str]) -> list[_State] | None:
    """States that were left by one of `ends` go on behind what they left."""
    if states is None:
        return None
    return [replace(state, end="", leave=None) if state.end in ends else state for state in states]


def _returned(states: list[_State] | None, item: Scope) -> list[_State] | None:
    """States at the end of a function go on where it was called, and know its answer if that is written there."""
    if states is None:
        return None
    found: list[_State] = []
    for state in states:
        if state.end not in {"", "return"}:
            found.append(state)
            continue
        answer = _answer(state.leave)
        known = {text: truth for text, truth in state.known.items() if text != item.call}
        known = known if answer is None else {**known, item.call: answer}
        found.append(replace(state, end="", leave=None, known=known))
    return found


def _answer(leave: Leave | None) -> bool | None:
    """What a function returns, if that is True, False or None for all to see."""
    value = leave.node.value if leave is not None and isinstance(leave.node, ast.Return) else None
    return False if value is None else truth_of(value)


def _attempted(item: Attempt, state: _State) -> list[_State] | None:
    found = _through(item.body, [state])
    for handler in item.handlers:
        # Nobody knows how far the body came: the handler is entered from where the body began.
        other = _through(handler, [state]) if _matters(handler) else []
        found = [*found, *other] if found is not None and other is not None else None
    return found


def _branched(item: Branch, state: _State) -> list[_State] | None:
    if item.check is None and not _matters(item.then) and not _matters(item.otherwise):
        return [state]
    found: list[_State] = []
    for truth in _answers(item, state.known):
        decision = Decision(item.node, item.code, item.check, truth, called_from=item.called_from)
        known = {**state.known, **dict(told(item.node, item, truth=truth)), **_told_by_check(item, truth=truth)}
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
    answer = decided(item.node, known, item)
    check = item.check
    if answer is None and check is not None and check.is_complete and known.get(_finite_key(item)) is False:
        # What was found not to be finite still is not.
        return (check.bad_when,)
    return (True, False) if answer is None else (answer,)


def _finite_key(item: Branch) -> str:
    return f"finite {renamed(item.check.thing, item.names)}" if item.check is not None else ""


def _told_by_check(item: Branch, *, truth: bool) -> dict[str, bool]:
    if item.check is None or truth is not item.check.bad_when:
        return {}
    return {_finite_key(item): False}
