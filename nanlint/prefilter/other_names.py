"""Local names under which a word can be called: import aliases, `f = torch.log`, `self.act = nn.Sigmoid()`."""

from __future__ import annotations

from typing import TYPE_CHECKING

from nanlint.source.syntax.references import references, renamed

if TYPE_CHECKING:
    from nanlint.source.syntax.outline import Outline


class OtherNames:
    """The words of one file, and the names that it gives to them."""

    def __init__(self, outline: Outline) -> None:
        self._contents = [chunk.contents for chunk in outline.chunks.values()]
        self._imported = [(dotted.rpartition(".")[2], local) for local, dotted in outline.imports.items()]
        self._words = {word for word, _ in self._imported}.union(*(each.words for each in self._contents))

    def mention(self, words: frozenset[str]) -> bool:
        """Whether one of `words` stands in the file, imported or used."""
        return not self._words.isdisjoint(words)

    def of(self, words: frozenset[str]) -> set[str]:
        """Those of `words` that stand in the file, and all other names for them."""
        found = set(words & self._words)
        pending = list(found)
        given = self._given() if found else {}
        while pending:
            for name in given.get(pending.pop(), ()):
                # What a renamed function returns may be a wanted one too: `make = lambda: nn.Sigmoid()`, then `act = make()`.
                new = {name, f"{name}()"} - found
                found |= new
                pending += new
        return found

    def _given(self) -> dict[str, list[str]]:
        """Each word, or result of a function (`f()`) -> the names that it is assigned to or imported as."""
        given: dict[str, list[str]] = {}
        for word, local in self._imported:
            given.setdefault(word, []).append(local)
        for contents in self._contents:
            for targets, value in contents.renames:
                for source in references(value):
                    given.setdefault(source, []).extend(renamed(targets))
        return given
