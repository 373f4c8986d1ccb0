"""What an operation's operands are made of, as far as names tell: the words behind them.

An operand is followed through names, views and elementwise operations, up to where something else is made: a sum, a
matrix product, what a module of another file returns. The slice is generous in all else. It knows no order and no scopes within a
chunk: whatever is assigned to a name anywhere in it, or to an attribute anywhere in the file, or returned by a function
of the file, is behind that name.
"""

from __future__ import annotations

import ast
import math
from typing import TYPE_CHECKING

from nanlint.source.below import all_below
from nanlint.source.filled import FILLING_ALL, Filled, filled_in
from nanlint.source.flows import Flows, loop_sources
from nanlint.source.handed import APART, Handed, Place
from nanlint.source.kinds import ANYTHING, INHERITED
from nanlint.source.makeup import OWN, Makeups, Telling, makers_of, operands_of
from nanlint.source.outline import MODULE

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from nanlint.source.outline import Outline

_Key = tuple[str, str]

# A question that leads further than this in a chunk, at least and for each of its nodes, costs more than libcst would: code written by hand stays far below.
LEAST_STEPS, STEPS_PER_NODE = 5000, 20


class TooFar(RecursionError):  # noqa: N818 - it says what happened
    """Looking behind names has taken too many steps; as with what is nested too deeply, the analysis gets to look."""


class Slices:
    """The slices of one file's operations, computed where they are asked for."""

    def __init__(self, outline: Outline, through: frozenset[str], telling: Telling | None = None) -> None:
        self._outline = outline
        self._makeups = Makeups(through, Telling() if telling is None else telling, outline.imports)
        self._handed = Handed(outline)
        self._loops: dict[str, dict[str, list[ast.AST]]] = {}
        self._filled: dict[str, Filled] = {}
        self._words: dict[ast.AST, set[str] | None] = {}
        """Each operation -> the words behind its operands; None if there are too many."""
        self._named: dict[_Key, set[str]] = {}
        """Each name of a chunk -> all words behind it, of those that an operand goes by."""
        self._steps: dict[_Key, tuple[set[str], set[_Key]]] = {}
        self._left = math.inf

    def begin(self, home: str) -> None:
        """A new question is asked of the operations in the chunk called `home`."""
        self._left = LEAST_STEPS + STEPS_PER_NODE * len(self.nodes_of(home))

    def spend(self, steps: int) -> None:
        """Note that a question has led this far; raises TooFar where it leads nowhere."""
        self._left -= steps
        if self._left < 0:
            raise TooFar

    def may_hold(self, home: str, place: ast.AST, beneath: Sequence[frozenset[str]]) -> bool:
        """Whether there is a word of each set of `beneath` behind an operation in the chunk called `home`."""
        if place not in self._words:
            try:
                self._words[place] = self._words_behind(home, operands_of(place))
            except RecursionError:
                self._words[place] = None
        words = self._words[place]
        if words is not None:
            for wanted in beneath:
                if wanted.isdisjoint(words):
                    return False
        return True

    def _words_behind(self, home: str, operands: Sequence[ast.AST]) -> set[str]:
        words = {ANYTHING}
        for operand in operands:
            makeup = self._makeups[operand]
            words |= makeup.words
            for name in makeup.names:
                words |= self._words_of_name(home, name)
        return words

    def _words_of_name(self, home: str, name: str) -> set[str]:
        """All words behind a name; the operands of a function have most names in common."""
        start = _key(home, name)
        if start in self._named:
            return self._named[start]
        words: set[str] = set()
        pending, seen = [start], {start}
        while pending:
            key = pending.pop()
            if key in self._named:
                words |= self._named[key]
                continue
            said, names = self._steps[key] if key in self._steps else self._step(key)
            words |= said
            further = names - seen
            if further:
                seen |= further
                pending += further
        self._named[start] = words
        return words

    def _step(self, key: _Key) -> tuple[set[str], set[_Key]]:
        """The words in what is handed to a name, and the names in it."""
        words: set[str] = set()
        names: set[_Key] = set()
        given = self._behind(*key)
        for chunk, value in given:
            makeup = self._makeups[value]
            words |= makeup.words
            for each in makers_of(value) if chunk.startswith(APART) else makeup.names:
                names.add(_key(chunk, each))
        if not given and key[1].startswith(OWN):
            words.add(INHERITED)
        self._steps[key] = words, names
        return words, names

    def given_to(self, home: str, name: str) -> Sequence[Place]:
        """Everything that may be in a name or an attribute (`self.x`) that is read in the chunk called `home`."""
        return self._behind(*_key(home, name))

    def function_of(self, home: str) -> str:
        """What the chunk called `home` is called by itself."""
        return self._outline.chunks[home].name

    def nodes_of(self, home: str) -> Sequence[ast.AST]:
        """The operations and assignments of a chunk."""
        return self._outline.chunks[home.removeprefix(APART)].contents.nodes

    def all_nodes_of(self, home: str) -> Iterator[ast.AST]:
        """Every node of a chunk."""
        return all_below(self._outline.chunks[home.removeprefix(APART)].node)

    def statements_of(self, home: str) -> Sequence[ast.stmt]:
        """The statements of a function, without those inside of them; none of anything else."""
        node = self._outline.chunks[home].node
        return node.body if isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef)) else ()

    def loop_sources(self, home: str) -> dict[str, list[ast.AST]]:
        """Each name that a loop or a comprehension of the chunk sets -> what it runs over."""
        if home not in self._loops:
            self._loops[home] = loop_sources(self.nodes_of(home))
        return self._loops[home]

    def holds(self, home: str, words: frozenset[str]) -> bool:
        """Whether one of `words` is in a chunk."""
        return not words.isdisjoint(self._outline.chunks[home.removeprefix(APART)].words)

    def is_filled(self, name: str) -> bool:
        """Whether a call in the file fills what is kept under this name."""
        for chunk, words in self._handed.words:
            if name in words or not FILLING_ALL.isdisjoint(words):
                if chunk not in self._filled:
                    self._filled[chunk] = filled_in(self.nodes_of(chunk))
                if self._filled[chunk].everything or name in self._filled[chunk].names:
                    return True
        return False

    def is_imported(self, name: str) -> bool:
        """Whether an import binds the name."""
        return name in self._outline.imports

    def may_be_imported(self, name: str) -> bool:
        """Whether an import may bind the name; one with a star may bind any."""
        return name in self._outline.imports or bool(self._outline.stars)

    def meaning_of(self, name: str) -> str:
        """The last word of what was imported under a name; the name itself if nothing was."""
        return self._outline.imports.get(name, name).rpartition(".")[2]

    def is_bound(self, home: str, name: str) -> bool:
        """Whether a name of Python's own means something else here."""
        return self.may_be_imported(name) or bool(self.given_to(home, name))

    def words_of(self, home: str, node: ast.AST) -> set[str]:
        """The words behind `node`, which stands in the chunk called `home`."""
        return self._words_behind(home.removeprefix(APART), [node])

    def words_of_each(self, home: str, place: ast.AST) -> list[set[str]]:
        """The words behind each of the operands of an operation."""
        return [self._words_behind(home, [operand]) for operand in operands_of(place)]

    def _behind(self, chunk: str, name: str) -> Sequence[Place]:
        """Everything that may flow into a name or an attribute, or is returned by the function called so."""
        handed = self._handed.to(name, is_apart=chunk.startswith(APART))
        # Attributes are nobody's own.
        values = None if name.startswith(OWN) else self.flows_of(chunk).values.get(name)
        if not values:
            return handed
        found = [(chunk, value) for value in values]
        return [*found, *handed] if handed else found

    def flows_of(self, name: str) -> Flows:
        """What is handed to the names of one chunk."""
        return self._handed.flows_of(name.removeprefix(APART))


def _key(chunk: str, name: str) -> _Key:
    """The attributes of an object are the same in all its methods."""
    if not name.startswith(OWN):
        return chunk, name
    return (APART + MODULE if chunk.startswith(APART) else MODULE), name
