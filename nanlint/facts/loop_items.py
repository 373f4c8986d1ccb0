"""What the tree of a training loop is made of: events, and the conditions, loops, calls and exits around them."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Union

from nanlint.facts.loop_edits import line_before
from nanlint.facts.loop_events import Event

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    import libcst as cst

    from nanlint.facts.finite_checks import Check
    from nanlint.facts.flow import Flow
    from nanlint.model import Edit, Span


@dataclass(frozen=True, slots=True, eq=False)
class Branch:
    """`if test: then else: otherwise`; `check` is set where the test asks whether something is finite."""

    test: cst.BaseExpression
    flow: Flow
    check: Check | None
    then: Block
    otherwise: Block
    names: Mapping[str, str]


@dataclass(frozen=True, slots=True, eq=False)
class Repeat:
    """A loop of any kind."""

    node: cst.For | cst.While
    flow: Flow
    body: Block


@dataclass(frozen=True, slots=True, eq=False)
class Scope:
    """The body of a function of this file that is called here: a `return` in it ends it alone."""

    call: str
    """The text of the call: what stands for its answer in a condition."""
    body: Block


@dataclass(frozen=True, slots=True, eq=False)
class Attempt:
    """`try`: the body, or one of the handlers, and then what follows in any case."""

    body: Block
    handlers: tuple[Block, ...]


@dataclass(frozen=True, slots=True, eq=False)
class Leave:
    """`continue`, `break`, `return`, `raise` or `exit`."""

    how: str
    node: cst.CSTNode
    flow: Flow

    @property
    def span(self) -> Span:
        """Where it stands in the file."""
        return self.flow.parsed.span_of(self.node)

    def line_before(self, *lines: str) -> Edit | None:
        """Write statements on lines of their own above it; None where it shares its line."""
        return line_before(self.node, self.flow, *lines)


@dataclass(frozen=True, slots=True, eq=False)
class Assigned:
    """Names that get a new value: True, False or None where that is written, else something nobody knows."""

    names: frozenset[str]
    truth: bool | None
    source: str = ""
    """The text of what they get, where that may be the answer of a function."""


Item = Union[Event, Branch, Repeat, Scope, Attempt, Leave, Assigned]  # noqa: UP007 - a name in front of `|` must be known
Block = tuple[Item, ...]


def events_in(block: Block) -> Iterator[Event]:
    """Every event of a block, in reading order."""
    for item in block:
        if isinstance(item, Event):
            yield item
        else:
            for inner in _blocks(item):
                yield from events_in(inner)


def repeats_in(block: Block) -> Iterator[Repeat]:
    """The outermost loops of a block."""
    for item in block:
        if isinstance(item, Repeat):
            yield item
        else:
            for inner in _blocks(item):
                yield from repeats_in(inner)


def branches_in(block: Block) -> Iterator[Branch]:
    """Every condition of a block, in reading order."""
    for item in block:
        if isinstance(item, Branch):
            yield item
        for inner in _blocks(item):
            yield from branches_in(inner)


def _blocks(item: Item) -> tuple[Block, ...]:
    if isinstance(item, Branch):
        return item.then, item.otherwise
    if isinstance(item, Attempt):
        return item.body, *item.handlers
    return (item.body,) if isinstance(item, (Repeat, Scope)) else ()


def items_in(block: Block) -> Iterator[Item]:
    """Every item of a block, with those inside it, in reading order."""
    for item in block:
        yield item
        for inner in _blocks(item):
            yield from items_in(inner)
