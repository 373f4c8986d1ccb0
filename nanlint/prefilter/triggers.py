"""Which functions hold a word that some rule reacts to.

A trigger is a word: a name by which an operation is called, an operator, or the mark of a kind of statement (`[]=`). Which
words these are is said by the rules and the op table (`of_rules.py`). Values, names of variables and severities play no part.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from nanlint.prefilter.other_names import OtherNames
from nanlint.prefilter.torch_code import has_star_import

if TYPE_CHECKING:
    from collections.abc import Collection, Iterable

    from nanlint.source.syntax.outline import Outline

# Whether a byte can be part of a name; the letters outside ASCII can.
_JOINS = [byte > 127 or byte == ord("_") or chr(byte).isalnum() for byte in range(256)]


class Trigger(NamedTuple):
    """What one rule reacts to: one of `words` in a function and, if there are any, one of `beside` anywhere in the file."""

    words: frozenset[str]
    beside: frozenset[str] = frozenset()


class Prefilter:
    """The triggers of all selected rules, as one quick test on bytes and one test on an outline."""

    def __init__(self, triggers: Iterable[Trigger]) -> None:
        self._triggers = {trigger for trigger in triggers if trigger.words}
        self._quick = {(_in_bytes(words), _in_bytes(beside)) for words, beside in self._triggers}

    def admits(self, data: bytes) -> bool:
        """Whether a rule could fire anywhere in the file."""
        return any(
            (not words or _has_word(data, words)) and (not beside or _has_word(data, beside) or has_star_import(data))
            for words, beside in self._quick
        )

    def chunks(self, outline: Outline) -> list[str]:
        """The qualified names of the chunks in which a rule could fire, in reading order."""
        names = OtherNames(outline)
        is_open = bool(outline.stars)
        words = frozenset[str]().union(
            *(words for words, beside in self._triggers if is_open or not beside or names.mention(beside))
        )
        spelled = names.of(words)
        kept = [(chunk.first_line, name) for name, chunk in outline.chunks.items() if chunk.mentions(spelled)]
        return [name for _, name in sorted(kept)]


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
