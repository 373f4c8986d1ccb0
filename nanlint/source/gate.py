"""Which chunks of a file libcst gets to see: cheapest test first, and never too strict.

The gate knows words, not values. It is built from the words that the selected rules react to (the spellings of their
operations in the op table), so no list is kept by hand. It reports nothing and may only be too generous: a property
test over real packages compares a gated run with an ungated one.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import TYPE_CHECKING

from nanlint.source.slices import Slices

if TYPE_CHECKING:
    from collections.abc import Collection, Iterable

    from nanlint.source.outline import Outline

# A file that names none of these is no PyTorch code, gated or not.
TORCH_AND_KIN = re.compile(rb"torch|lightning|accelerate|deepspeed")

# Whether a byte can be part of a name; the letters outside ASCII can.
_JOINS = [byte > 127 or byte == ord("_") or chr(byte).isalnum() for byte in range(256)]

# What may stand between `import` and `*`.
_GAP = b" \t\f\\\r\n"

_ANYTHING = (frozenset[bytes](), frozenset[bytes]())


@dataclass(frozen=True, slots=True)
class Interest:
    """What one rule needs to find in a chunk before it could fire: one of `words`, and one of `beside` in the file.

    With `beneath`, a word of each of its sets must be behind the operands of one of the operations called `words`.
    """

    words: frozenset[str]
    beside: frozenset[str] = frozenset()
    beneath: tuple[frozenset[str], ...] = ()


class Gate:
    """The words of all selected rules, as one quick test on bytes and one test on an outline."""

    def __init__(self, interests: Iterable[Interest], through: frozenset[str] = frozenset()) -> None:
        self._through = through
        self._interests = tuple(interest for interest in interests if interest.words)
        self._quick = {(_in_bytes(interest.words), _in_bytes(interest.beside)) for interest in self._interests}

    def admits(self, data: bytes) -> bool:
        """Whether a rule could fire anywhere in the file."""
        if _ANYTHING in self._quick:
            return True
        return any(
            (not beside or _has_word(data, beside) or _has_star_import(data)) and (not words or _has_word(data, words))
            for words, beside in self._quick
        )

    def chunks(self, outline: Outline) -> list[str]:
        """The qualified names of the chunks in which a rule could fire, in reading order."""
        everything = set[str]().union(*(chunk.words for chunk in outline.chunks.values()))
        everything.update(name.rpartition(".")[2] for name in outline.imports.values())
        interests = [
            interest
            for interest in self._interests
            if not any(everything.isdisjoint(words) for words in (interest.beside, *interest.beneath) if words)
            or outline.stars
        ]
        kept = _holding(frozenset().union(*(each.words for each in interests if not each.beneath)), outline)
        slices = Slices(outline, self._through)
        for interest in interests:
            if interest.beneath:
                words = interest.words | _aliases(outline, interest.words)
                for name in _holding(words, outline) - kept:
                    if slices.any_holds(name, words, interest.beneath):
                        kept.add(name)
        return sorted(kept, key=lambda name: (outline.chunks[name].first_line, name))


def _holding(words: frozenset[str], outline: Outline) -> set[str]:
    """The chunks in which one of `words`, or another name for it, occurs."""
    wanted = words | _aliases(outline, words)
    return {name for name, chunk in outline.chunks.items() if not wanted.isdisjoint(chunk.words)}


def _in_bytes(words: Collection[str]) -> frozenset[bytes]:
    """`words` as they stand in a file; empty, which asks for nothing, with an operator among them: no file lacks those."""
    return frozenset(word.encode() for word in words) if all(word.isidentifier() for word in words) else frozenset()


def _has_word(data: bytes, words: Iterable[bytes]) -> bool:
    """Whether one of `words` occurs, and not as part of a longer one; four times as fast as a regular expression."""
    for word in words:
        start = data.find(word)
        while start >= 0:
            end = start + len(word)
            joined_before = start > 0 and _JOINS[data[start - 1]]
            joined_after = end < len(data) and _JOINS[data[end]]
            if not joined_before and not joined_after:
                return True
            start = data.find(word, end)
    return False


def _has_star_import(data: bytes) -> bool:
    return any(rest.lstrip(_GAP).startswith(b"*") for rest in data.split(b"import")[1:])


def _aliases(outline: Outline, wanted: Collection[str]) -> set[str]:
    """Local names under which a wanted word can be called: import aliases, `f = torch.log`, `self.act = nn.Sigmoid()`."""
    found = {local for local, dotted in outline.imports.items() if dotted.rpartition(".")[2] in wanted}
    renames = [rename for chunk in outline.chunks.values() for rename in chunk.renames]
    renamed: set[str] = set()
    while True:
        # What a renamed function returns may be a wanted one too: `make = lambda: nn.Sigmoid()`, then `act = make()`.
        known = {*wanted, *found, *renamed, *(f"{name}()" for name in renamed)}
        more = {target for target, sources in renames if target not in known and not known.isdisjoint(sources)}
        if not more:
            return found | renamed
        renamed |= more
