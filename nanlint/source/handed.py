"""What the chunks of a file hand over to each other: attributes, the module's and the classes' names, functions' results.

Looked up by name, so that only chunks which mention a name that somebody asks for are read.
"""

from __future__ import annotations

from functools import cached_property
from typing import TYPE_CHECKING

from nanlint.source.flows import Flows, results_in
from nanlint.source.makeup import OWN
from nanlint.source.outline import MODULE
from nanlint.source.references import CALLED

if TYPE_CHECKING:
    import ast
    from collections.abc import Iterator, Sequence

    from nanlint.source.outline import Outline

Place = tuple[str, "ast.AST"]
"""A node, and the chunk in which its names mean something."""
APART = "@"
"""Before a chunk: what an object returns is behind its class, but of the names there those alone that made it are followed."""


class Handed:
    """What is handed over in one file."""

    def __init__(self, outline: Outline) -> None:
        self._outline = outline
        self._flows: dict[str, Flows] = {}
        self._places: dict[str, list[Place]] = {}
        self._places_apart: dict[str, list[Place]] = {}

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
            holder = self._outline.chunks[chunk]
            is_called = holder.name == name.removeprefix(OWN)
            for value in results_in(holder.contents.nodes):
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
