"""Which chunks of a file libcst gets to see: cheapest test first, and never too strict.

The gate knows words, not values. It is built from the words that the selected rules react to (the spellings of their
operations in the op table), so no list is kept by hand. It reports nothing and may only be too generous: a property
test over real packages compares a gated run with an ungated one.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Iterable
from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from nanlint.source.outline import Outline

# A file that names none of these is no PyTorch code, gated or not.
TORCH_AND_KIN = re.compile(rb"torch|lightning|accelerate|deepspeed")


@dataclass(frozen=True, slots=True)
class Interest:
    """What one rule needs to find in a chunk before it could fire: one of `words`, and one of `beside` in the file."""

    words: frozenset[str]
    beside: frozenset[str] = frozenset()


class Gate:
    """The words of all selected rules, as one quick test on bytes and one test on an outline."""

    def __init__(self, interests: Iterable[Interest]) -> None:
        self._interests = tuple(interests)
        names = sorted({word for interest in self._interests for word in interest.words if word.isidentifier()})
        operators = {word for interest in self._interests for word in interest.words} - set(names)
        # An operator is in every file, so the quick test has nothing to say then.
        self._trigger = None if operators or not names else re.compile(rb"\b(?:%s)\b" % "|".join(names).encode())

    def admits(self, data: bytes) -> bool:
        """Whether a rule could fire anywhere in the file."""
        return bool(self._interests) and (self._trigger is None or self._trigger.search(data) is not None)

    def chunks(self, outline: Outline) -> list[str]:
        """The qualified names of the chunks in which a rule could fire, in reading order."""
        everything = set[str]().union(*(chunk.words for chunk in outline.chunks.values()))
        everything.update(name.rpartition(".")[2] for name in outline.imports.values())
        wanted: set[str] = set()
        for interest in self._interests:
            if not interest.beside or not everything.isdisjoint(interest.beside) or outline.stars:
                wanted |= interest.words
        wanted |= _aliases(outline, wanted)
        kept = [(chunk.first_line, name) for name, chunk in outline.chunks.items() if chunk.words & wanted]
        return [name for _, name in sorted(kept)]


def _aliases(outline: Outline, wanted: Collection[str]) -> set[str]:
    """Local names under which a wanted word can be called: import aliases, `f = torch.log`, `self.act = nn.Sigmoid()`."""
    found = {local for local, dotted in outline.imports.items() if dotted.rpartition(".")[2] in wanted}
    while True:
        known = found | set(wanted)
        more = {
            target
            for chunk in outline.chunks.values()
            for target, sources in chunk.renames
            if target not in known and not known.isdisjoint(sources)
        }
        if not more:
            return found
        found |= more
