"""What the tree of a training loop is made of: events, and the conditions, loops, calls and exits around them."""

from __future__ import annotations

import ast
from dataclasses import dataclass
from typing import TYPE_CHECKING, Union

from nanlint.analysis.training_loop.events import Event
from nanlint.analysis.training_loop.written import Written

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from nanlint.analysis.training_loop.checks.finite_checks import Check


@dataclass(frozen=True, slots=True, eq=False)
class Branch(Written):
    """`if test: then else: otherwise`, `node` being the test; `check` is set where that asks whether something is finite."""

    check: Check | None
    then: Block
    otherwise: Block
    names: Mapping[str, str]


@dataclass(frozen=True, slots=True, eq=False)
class Repeat:
    """A loop of any kind."""

    body: Block


@dataclass(frozen=True, slots=True, eq=False)
class Scope:
    """The body of a function that is called here: a `return` in it ends it alone."""

    call: str
    """The text of the call: what stands for its answer in a condition."""
    body: Block


@dataclass(frozen=True, slots=True, eq=False)
class Attempt:
    """`try`: the body, or one of the handlers, and then what follows in any case."""

    body: Block
    handlers: tuple[Block, ...]


@dataclass(frozen=True, slots=True, eq=False)
class Leave(Written):
    """`continue`, `break`, `return`, `raise` or `exit`."""

    how: str

    @property
    def is_quiet(self) -> bool:
        """Whether nobody outside sees that something went wrong: all but an exception and an exit with a status."""
        call = self.node.value if self.how == "exit" and isinstance(self.node, ast.Expr) else None
        status = [getattr(each, "value", 1) for each in call.args] if isinstance(call, ast.Call) else []
        return self.how != "raise" and not any(status)


@dataclass(frozen=True, slots=True, eq=False)
class Assigned:
    """Names that get a new value: True, False or None where that is written, else something nobody knows."""

    names: frozenset[str]
    truth: bool | None
    source: str = ""
    """The text of what they get, where that may be the answer of a function."""


Item = Union[Event, Branch, Repeat, Scope, Attempt, Leave, Assigned]  # noqa: UP007 - a name in front of `|` must be known
Block = tuple[Item, ...]


def items_in(block: Block) -> Iterator[Item]:
    """Every item of a block, with those inside it, in reading order."""
    for item in block:
        yield item
        for inner in _blocks(item):
            yield from items_in(inner)


def events_in(block: Block) -> Iterator[Event]:
    """Every event of a block, in reading order."""
    return (item for item in items_in(block) if isinstance(item, Event))


def branches_in(block: Block) -> Iterator[Branch]:
    """Every condition of a block, in reading order."""
    return (item for item in items_in(block) if isinstance(item, Branch))


def repeats_in(block: Block) -> Iterator[Repeat]:
    """The outermost loops of a block."""
    for item in block:
        if isinstance(item, Repeat):
            yield item
        else:
            for inner in _blocks(item):
                yield from repeats_in(inner)


def _blocks(item: Item) -> tuple[Block, ...]:
    if isinstance(item, Branch):
        return item.then, item.otherwise
    if isinstance(item, Attempt):
        return item.body, *item.handlers
    return (item.body,) if isinstance(item, Repeat | Scope) else ()
