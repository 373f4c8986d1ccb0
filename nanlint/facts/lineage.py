"""How the classes of one file hang together: what is above and below each, and which attributes it sets where."""

from __future__ import annotations

import ast
from functools import cached_property
from typing import TYPE_CHECKING

from nanlint.facts.constructors import copied_attributes

if TYPE_CHECKING:
    from nanlint.source.outline import Chunk, Outline


class Classes:
    """The classes of an outline."""

    def __init__(self, outline: Outline) -> None:
        self._outline = outline
        self._lineages: dict[str, list[str]] = {}
        self._below: dict[str, list[str]] | None = None
        """Class -> the classes that are made from it."""
        self._set_later: dict[tuple[str, str], bool] = {}
        self._setters: dict[tuple[str, str], str | None] = {}
        self._overriding: dict[tuple[str, str], list[str]] = {}
        self._copied: dict[str, frozenset[str]] = {}

    @cached_property
    def _methods(self) -> dict[str, list[Chunk]]:
        """Class -> its methods, without the constructor."""
        found: dict[str, list[Chunk]] = {}
        for chunk in self._outline.chunks.values():
            if chunk.owner and chunk.name not in {"__init__", chunk.owner}:
                found.setdefault(chunk.owner, []).append(chunk)
        return found

    def lineage(self, class_name: str) -> list[str]:
        """A class and the classes above it, as far as they are of this file."""
        if class_name not in self._lineages:
            self._lineages[class_name] = self._find_lineage(class_name)
        return self._lineages[class_name]

    def _find_lineage(self, class_name: str) -> list[str]:
        found: list[str] = []
        waiting = [class_name]
        while waiting:
            name = waiting.pop(0)
            node = self._outline.classes.get(name)
            if node is not None and name not in found:
                found.append(name)
                waiting = [*(base.id for base in node.bases if isinstance(base, ast.Name)), *waiting]
        return found

    def overriding(self, class_name: str, attribute: str) -> list[str]:
        """The classes below `class_name` that give the attribute themselves."""
        if self._below is None:
            self._below = {}
            for name in self._outline.classes:
                for above in self.lineage(name)[1:]:
                    self._below.setdefault(above, []).append(name)
        if class_name not in self._below:
            return []
        key = class_name, attribute
        if key not in self._overriding:
            self._overriding[key] = [name for name in self._below[class_name] if self._gives(name, attribute)]
        return self._overriding[key]

    def _gives(self, class_name: str, attribute: str) -> bool:
        chunks = self._outline.chunks
        constructor = chunks.get(f"{class_name}.__init__")
        return (
            f"{class_name}.{attribute}" in chunks
            or (constructor is not None and constructor.stores(attribute))
            or attribute in chunks[class_name].bound
            or self.sets_later(class_name, attribute)
        )

    def setter(self, class_name: str, attribute: str) -> str | None:
        """The class whose constructor alone sets the attribute; "" if nobody knows to what, None if no constructor does."""
        key = class_name, attribute
        if key not in self._setters:
            self._setters[key] = self._find_setter(class_name, attribute)
        return self._setters[key]

    def _find_setter(self, class_name: str, attribute: str) -> str | None:
        lineage = self.lineage(class_name)
        if any(self.sets_later(name, attribute) for name in lineage):
            return ""
        for name in lineage:
            constructor = self._outline.chunks.get(f"{name}.__init__")
            if constructor is not None and constructor.stores(attribute):
                return "" if attribute in self.copied(name) else name
        return None

    def copied(self, class_name: str) -> frozenset[str]:
        """The attributes that the constructor takes over from its arguments as they are."""
        if class_name not in self._copied:
            constructor = self._outline.chunks[f"{class_name}.__init__"]
            self._copied[class_name] = copied_attributes(constructor, self._outline.classes)
        return self._copied[class_name]

    def sets_later(self, class_name: str, attribute: str) -> bool:
        """Whether a method other than __init__ sets the attribute."""
        key = class_name, attribute
        if key not in self._set_later:
            self._set_later[key] = any(chunk.stores(attribute) for chunk in self._methods.get(class_name, ()))
        return self._set_later[key]
