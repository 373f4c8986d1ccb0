"""What the chunks of a file hand over to each other: attributes, the module's and the classes' names, functions' results.

Looked up by name, so that only chunks which mention a name that somebody asks for are read. For the same reason a word is
looked for by chunks first: nothing need be followed from one that neither holds it nor mentions what a holder hands over.
"""

from __future__ import annotations

import ast
from functools import cached_property, lru_cache
from typing import TYPE_CHECKING

from nanlint.source.flows import Flows
from nanlint.source.kinds import ANYTHING, BY_NAME, HUGE, INVERSE, NUMBER_KINDS, POWERS, ROOT, is_number_elsewhere
from nanlint.source.makeup import OWN
from nanlint.source.outline import MODULE
from nanlint.source.references import CALLED

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence

    from nanlint.source.outline import Outline

    WordsBehind = Callable[[str, Sequence[ast.AST]], set[str]]

Place = tuple[str, "ast.AST"]
"""A node, and the chunk in which its names mean something."""
APART = "@"
"""Before a chunk: what an object returns is behind its class, but of the names there those alone that made it are followed."""
# Words that a slice finds in a chunk that holds no such word: those that names tell, and the annotation of a parameter
# without one.
_ANYWHERE = BY_NAME | {ANYTHING, "Tensor"}
# How a slice calls other words of a chunk.
_ALSO_CALLED = {HUGE: {"**"}, ROOT: POWERS, INVERSE: POWERS, "neg": {"-"}, "positive": {"+"}}

_RETURNING = (ast.Return, ast.Yield, ast.YieldFrom)

# What is in more chunks than this, or comes to them, is in most.
_MOST_REACHED = 8


class Handed:
    """What is handed over in one file."""

    def __init__(self, outline: Outline) -> None:
        self._outline = outline
        self._flows: dict[str, Flows] = {}
        self._places: dict[str, list[Place]] = {}
        self._places_apart: dict[str, list[Place]] = {}
        self._reached: dict[frozenset[str], set[str]] = {}
        self._returned: dict[str, set[str]] = {}

    @cached_property
    def words(self) -> list[tuple[str, set[str]]]:
        """Each chunk, and the words in it."""
        return [(name, chunk.words) for name, chunk in self._outline.chunks.items()]

    @cached_property
    def _by_name(self) -> dict[str, list[str]]:
        """What a chunk is called by others (`f`, `self.f`, `Class` for its `forward`) -> the chunks that are called so."""
        found: dict[str, list[str]] = {}
        for name, chunk in self._outline.chunks.items():
            found.setdefault((OWN if chunk.owner else "") + chunk.name, []).append(name)
            if chunk.name in CALLED:
                found.setdefault(chunk.owner.rpartition(".")[2], []).append(name)
        return found

    @cached_property
    def _aliases(self) -> dict[str, set[str]]:
        """A word -> the names under which it is imported; a constant of another file may be any number."""
        found: dict[str, set[str]] = {}
        for local, dotted in self._outline.imports.items():
            for word in (dotted.rpartition(".")[2], *(NUMBER_KINDS if is_number_elsewhere(dotted) else ())):
                found.setdefault(word, set()).add(local)
        return found

    @cached_property
    def _changing(self) -> dict[str, list[str]]:
        """An attribute -> the chunks that set it, or change something in it."""
        found: dict[str, list[str]] = {}
        for name, chunk in self._outline.chunks.items():
            for attribute in chunk.contents.handed_attributes:
                found.setdefault(attribute, []).append(name)
        return found

    @cached_property
    def _set_in_classes(self) -> dict[str, list[Place]]:
        """What the statements of class bodies set."""
        found: dict[str, list[Place]] = {}
        for chunk in self._outline.classes:
            for name, values in self.flows_of(chunk).values.items():
                found.setdefault(name, []).extend((chunk, value) for value in values)
        return found

    def flows_of(self, chunk: str) -> Flows:
        """What is handed to the names of one chunk."""
        if chunk not in self._flows:
            self._flows[chunk] = Flows(self._outline.chunks[chunk])
        return self._flows[chunk]

    def to(self, name: str, *, is_apart: bool = False) -> Sequence[Place]:
        """All that chunks hand over under a name (`x`, `self.x`)."""
        if name not in self._places:
            self._places[name] = list(self._given(name))
        if not is_apart:
            return self._places[name]
        if name not in self._places_apart:
            self._places_apart[name] = [
                (APART + chunk.removeprefix(APART), value) for chunk, value in self._places[name]
            ]
        return self._places_apart[name]

    def _given(self, name: str) -> Iterator[Place]:
        for chunk in self._by_name.get(name, ()):
            is_called = self._outline.chunks[chunk].name == name.removeprefix(OWN)
            for value in self.flows_of(chunk).results:
                yield chunk if is_called else APART + chunk, value
        if not name.startswith(OWN):
            for value in self.flows_of(MODULE).values.get(name, ()):
                yield MODULE, value
            return
        bare = name.removeprefix(OWN)
        for chunk in self._changing.get(bare, ()):
            for value in self.flows_of(chunk).attributes.get(name, ()):
                yield chunk, value
        yield from self._set_in_classes.get(bare, ())

    def may_reach(self, home: str, wanted: frozenset[str], words_behind: WordsBehind) -> bool:
        """Whether one of these words may be behind an operation in the chunk called `home`.

        `words_behind` tells the words behind some nodes of a chunk. It is not kept: whoever has it has this object, too, and
        such a circle would hold all trees in memory.
        """
        spelled = _spelled(wanted)
        if spelled is None or not spelled.isdisjoint(self._outline.chunks[home].words):
            return True
        if wanted not in self._reached:
            self._reached[wanted] = self._reached_from(spelled, wanted, words_behind)
        reached = self._reached[wanted]
        return len(reached) > _MOST_REACHED or home in reached

    def _reached_from(self, spelled: frozenset[str], wanted: frozenset[str], words_behind: WordsBehind) -> set[str]:
        """The chunks that hold such a word, or mention what another of them hands over; some of them if there are many."""
        spelled = spelled.union(*(self._aliases[word] for word in wanted & self._aliases.keys()))
        reached = {chunk for chunk, words in self.words if not spelled.isdisjoint(words)}
        pending = list(reached)
        while pending and len(reached) <= _MOST_REACHED:
            handed = self._handed_by(pending.pop(), wanted, words_behind)
            more = [chunk for chunk, words in self.words if chunk not in reached and not handed.isdisjoint(words)]
            reached.update(more)
            pending += more
        return reached

    def _words_returned(self, name: str, words_behind: WordsBehind) -> set[str]:
        """The words behind what a method returns."""
        if name not in self._returned:
            self._returned[name] = words_behind(APART + name, self.flows_of(name).results)
        return self._returned[name]

    def _handed_by(self, name: str, wanted: frozenset[str], words_behind: WordsBehind) -> set[str]:
        """The names under which a chunk hands something over that such a word may be behind."""
        chunk = self._outline.chunks[name]
        contents = chunk.contents
        handed = contents.handed_attributes
        if any(isinstance(node, _RETURNING) and node.value is not None for node in contents.nodes):
            handed.add(chunk.name)
        if name == MODULE or name in self._outline.classes:
            handed |= self.flows_of(name).values.keys()
        # `self.gate = Gate()`, then `self.gate(x)`.
        if chunk.name in CALLED and not wanted.isdisjoint(self._words_returned(name, words_behind)):
            handed.add(chunk.owner.rpartition(".")[2])
        return handed


@lru_cache(maxsize=1024)
def _spelled(wanted: frozenset[str]) -> frozenset[str] | None:
    """How words that a slice looks for stand in a chunk; None if they need not."""
    if not wanted.isdisjoint(_ANYWHERE):
        return None
    return wanted.union(*(_ALSO_CALLED[word] for word in wanted & _ALSO_CALLED.keys()))
