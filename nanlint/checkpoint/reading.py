"""What the reading of one checkpoint may cost, and which imports were seen on the way.

A few bytes can ask for any amount of work: one container copied a million times, a pickle in a pickle in a pickle, a
thousand tensors over the same bytes. So all that files make us build, look at and unpack is added up, for the files of
one checkpoint together, and what is far more than they hold is given up.
"""

from __future__ import annotations

from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from nanlint.errors import NanlintError

if TYPE_CHECKING:
    from collections.abc import Iterator

MEGABYTE = 1 << 20

MOST_BUILT = 208 * MEGABYTE
"""Memory for what is built from small files; 100,000 tensors take about 120 MB. Large files get a 64th of their size on top."""

MOST_LOOKED_AT = 64 * MEGABYTE
"""Bytes of values that are looked at however small the files are; on top comes eight times what they hold."""

MOST_UNPACKED = 1 << 30
"""Bytes that compressed arrays may unfold into, piece by piece; on top comes four times the size of the files."""

MOST_OPERATIONS = 10_000_000
"""Of all pickles together. A checkpoint of 100,000 tensors has about 3 million."""

MOST_INSIDE = 4
"""Pickles inside of each other; a tensor in a plain pickle is two."""

LONGEST_NAME = 300

OBJECT, ENTRY, POINTER = 250, 40, 8
"""What an object, an entry of a dictionary and an element of a list take in memory, about."""


class UnreadableCheckpoint(NanlintError):  # noqa: N818 - named like UnreadableSource, for what it is
    """One file is no checkpoint that can be read; the message says why, and the other files are read all the same."""


def damaged(what: str) -> UnreadableCheckpoint:
    """For a file that is not as it was saved."""
    return UnreadableCheckpoint(f"is damaged: {what}; copy it again, or resume from an earlier one")


def hostile(what: str) -> UnreadableCheckpoint:
    """For a file that was made to waste time or memory."""
    return UnreadableCheckpoint(f"{what}, as no checkpoint does; do not load it unless you trust whoever made it")


@dataclass
class Reading:
    """Kept while the files of one checkpoint are read and judged."""

    size: int = 0
    """Bytes of the files."""
    file: str = ""
    """The one that is being read, as the report calls it."""
    imports: set[tuple[str, str, str]] = field(default_factory=set)
    """What the pickles would import if they were loaded for real: file, module and attribute."""
    _built: int = 0
    _looked_at: int = 0
    _unpacked: int = 0
    _operations: int = 0
    _inside: int = 0

    def build(self, amount: int) -> None:
        """Add memory that is about to be filled."""
        self._built += amount
        if self._built > MOST_BUILT + self.size // 64:
            raise hostile(f"has {self.size:,} bytes and would fill more than {self._built // MEGABYTE:,} MB of memory")

    def look(self, amount: int) -> None:
        """Add bytes that are about to be looked at."""
        self._looked_at += amount
        if self._looked_at > MOST_LOOKED_AT + 8 * self.size:
            raise hostile(f"has {self.size:,} bytes and asks for more than {self._looked_at:,} to be read")

    def unpack(self, amount: int) -> None:
        """Add bytes that were compressed."""
        self._unpacked += amount
        if self._unpacked > MOST_UNPACKED + 4 * self.size:
            raise hostile(f"has {self.size:,} bytes and unpacks into more than {self._unpacked:,}")

    def operate(self, amount: int) -> None:
        """Add one operation of a pickle, and the memory that it fills."""
        self._operations += 1
        self._built += amount
        if self._operations > MOST_OPERATIONS:
            raise hostile(f"has pickles of more than {MOST_OPERATIONS:,} operations")
        if self._built > MOST_BUILT:
            self.build(0)

    @contextmanager
    def inside(self) -> Iterator[None]:
        """A pickle, perhaps in another one."""
        self._inside += 1
        try:
            if self._inside > MOST_INSIDE:
                raise hostile(f"has more than {MOST_INSIDE} pickles inside of each other")
            yield
        finally:
            self._inside -= 1

    def note(self, module: str, attribute: str) -> str:
        """An import, and its full name; of a very long one, the beginning."""
        short = module[:LONGEST_NAME], attribute[:LONGEST_NAME]
        self.imports.add((self.file, *short))
        return ".".join(short)
