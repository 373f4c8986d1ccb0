"""Bytes of a file that is mapped into memory and not loaded.

Every reader of this package cuts its pieces out of a `Region`, which refuses a piece that the file does not have: a
truncated checkpoint is noticed here. What was looked at is handed back to the system, so that a large file costs
little memory.
"""

from __future__ import annotations

import contextlib
import io
import mmap
import stat
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from nanlint.checkpoint.reading import Reading, UnreadableCheckpoint

if TYPE_CHECKING:
    from pathlib import Path


@dataclass(frozen=True)
class Region:
    """A stretch of bytes, and the mapping they belong to."""

    view: memoryview
    mapping: mmap.mmap | None = field(default=None, repr=False)
    reading: Reading = field(default_factory=Reading, repr=False, compare=False)
    """What reading it has cost so far, and which imports were seen."""

    def __len__(self) -> int:
        return len(self.view)

    def part(self, start: int, length: int, what: str) -> Region:
        """The bytes from `start` on; `what` names them in the complaint about a file that is too short."""
        if start < 0 or length < 0 or start + length > len(self):
            raise UnreadableCheckpoint(
                f"is truncated or damaged: {what} should end at byte {start + length:,} of {len(self):,}; "
                "copy it again, or resume from an earlier one"
            )
        return Region(self.view[start : start + length], self.mapping, self.reading)

    def bytes_at(self, start: int, length: int, what: str) -> bytes:
        """The bytes themselves, for headers."""
        return bytes(self.part(start, length, what).view)

    def forget(self) -> None:
        """Give the pages that were looked at back to the system."""
        if self.mapping is not None and hasattr(self.mapping, "madvise"):
            self.mapping.madvise(mmap.MADV_DONTNEED)


def map_file(path: Path, reading: Reading) -> Region:
    """The whole file, which `reading` is told of. It is mapped copy-on-write: torch wants a writable buffer, and nothing reaches the disk."""
    try:
        if not stat.S_ISREG(path.stat().st_mode):
            raise UnreadableCheckpoint("is no file but a folder, a pipe or a device; name a file")
        with path.open("rb") as file:
            mapping = mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_COPY)
    except ValueError:
        raise UnreadableCheckpoint(
            "is empty (0 bytes): the run that saved it was stopped, or the disk was full; resume from an earlier one"
        ) from None
    except OSError as error:
        raise UnreadableCheckpoint(f"cannot be read: {error.strerror or error}") from None
    with contextlib.suppress(AttributeError, OSError):
        mapping.madvise(mmap.MADV_SEQUENTIAL)
    reading.size += len(mapping)
    return Region(memoryview(mapping), mapping, reading)


class RegionFile(io.RawIOBase):
    """A region as the file object that the standard library's readers want."""

    def __init__(self, region: Region) -> None:
        super().__init__()
        self._view = region.view
        self._at = 0

    def readable(self) -> bool:
        """Yes."""
        return True

    def seekable(self) -> bool:
        """Yes."""
        return True

    def tell(self) -> int:
        """Where the next byte is read."""
        return self._at

    def seek(self, offset: int, whence: int = io.SEEK_SET) -> int:
        """Go to a place, as `io` defines it."""
        origin = {io.SEEK_SET: 0, io.SEEK_CUR: self._at, io.SEEK_END: len(self._view)}[whence]
        if origin + offset < 0:
            raise OSError("before the beginning of the file")
        self._at = origin + offset
        return self._at

    def readinto(self, buffer: bytearray | memoryview) -> int:  # type: ignore[override]  # any buffer that io hands over
        """Fill the buffer as far as there are bytes."""
        piece = self._view[self._at : self._at + len(buffer)]
        buffer[: len(piece)] = piece
        self._at += len(piece)
        return len(piece)


class PickleFile:
    """A region as the file that `pickletools` reads: long strings of bytes stay where they are, as views."""

    LONG = 1 << 16

    def __init__(self, region: Region, start: int = 0) -> None:
        self._region = region
        self._view = region.view
        self._at = start
        self._forgotten = start

    def tell(self) -> int:
        """Where the next byte is read."""
        return self._at

    def read(self, count: int) -> bytes | memoryview:
        """The next bytes, fewer at the end of the file."""
        piece = self._view[self._at : self._at + count]
        self._at += len(piece)
        if self._at > self._forgotten + SMALL_PICKLE:
            self._region.forget()
            self._forgotten = self._at
        return piece if len(piece) > self.LONG else bytes(piece)

    def readline(self, most: int) -> bytes:
        """The bytes up to and with the next line feed, `most` at most."""
        pieces = []
        while most > 0 and (piece := bytes(self._view[self._at : self._at + min(most, 4096)])):
            piece = piece[: piece.find(b"\n") + 1 or None]
            pieces.append(piece)
            self._at += len(piece)
            most = 0 if piece.endswith(b"\n") else most - len(piece)
        return b"".join(pieces)


class ShortReads:
    """The file of a pickle for everything that becomes text or a number in memory, which is short."""

    LONGEST = 16 << 20

    def __init__(self, file: PickleFile | io.BytesIO) -> None:
        self._file = file

    def read(self, count: int) -> bytes | memoryview:
        """The next bytes."""
        if count > self.LONGEST:
            raise UnreadableCheckpoint(
                f"has a text of {count:,} bytes in its pickle, and {self.LONGEST:,} are read; "
                "save arrays with numpy.save, tensors with torch.save"
            )
        return self._file.read(count)

    def readline(self) -> bytes:
        """The next line; one that is too long has no end, and is refused by whoever reads it."""
        return self._file.readline(self.LONGEST)


SMALL_PICKLE = 16 << 20
"""Bytes up to which a pickle is copied into memory, where the standard library reads it four times faster."""


def pickle_file(region: Region, start: int) -> PickleFile | io.BytesIO:
    """The region as a file for `pickletools`, at `start`."""
    if len(region) > SMALL_PICKLE:
        return PickleFile(region, start)
    file = io.BytesIO(region.view)
    file.seek(start)
    return file
