"""Members of a zip file as stretches of the mapped file; what is compressed is unpacked piece by piece.

The checksum of a member is compared when its bytes are first asked for; torch writes 0 where it was told to make none.
"""

from __future__ import annotations

import struct
import zipfile
import zlib
from typing import TYPE_CHECKING

from nanlint.checkpoint.reading import UnreadableCheckpoint, damaged, hostile
from nanlint.checkpoint.region import Region, RegionFile

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    Directory = Mapping[str, zipfile.ZipInfo]

MAGIC = b"PK\x03\x04"
_SUMMED = 16 << 20
"""Bytes that are summed up together."""

_LONGEST_DIRECTORY = 16 << 20
"""100,000 storages need about 10 MB."""
_MEMBER = 400
"""Bytes of memory that a member of the directory takes, about."""

_ENCRYPTED = 1
_LOCAL_HEADER = struct.Struct("<4s22xHH")
_FAILURES = (zipfile.BadZipFile, NotImplementedError, OSError, ValueError, RuntimeError, EOFError, struct.error)


class _DirectoryFile(RegionFile):
    """A zip file of which nobody reads more than a directory at once."""

    def read(self, size: int = -1, /) -> bytes:
        """The next bytes."""
        if size > _LONGEST_DIRECTORY:
            raise hostile(f"has a zip directory of {size:,} bytes")
        return super().read(size) or b""


def directory(region: Region) -> Directory:
    """The members by name, each in bytes of its own."""
    try:
        with zipfile.ZipFile(_DirectoryFile(region)) as archive:
            members = archive.infolist()
    except _FAILURES as error:
        raise UnreadableCheckpoint(
            f"is truncated or damaged: {error} (a zip file keeps its directory at the end; {len(region):,} bytes are here); "
            "copy it again, or resume from an earlier one"
        ) from None
    region.reading.build(_MEMBER * len(members))
    found = {info.filename: info for info in members}
    if len(found) < len(members):
        raise damaged("its zip directory has two members of one name, and programs differ in which they read")
    _refuse_overlaps(members)
    return found


def _refuse_overlaps(members: list[zipfile.ZipInfo]) -> None:
    end, before = 0, ""
    for info in sorted(members, key=lambda info: info.header_offset):
        if info.header_offset < end:
            raise damaged(f"its members {before:.100} and {info.filename:.100} overlap")
        end = info.header_offset + _LOCAL_HEADER.size + len(info.filename) + info.compress_size
        before = info.filename


def is_stored(info: zipfile.ZipInfo) -> bool:
    """Whether the bytes of the member are in the file as they are."""
    return info.compress_type == zipfile.ZIP_STORED and not info.flag_bits & _ENCRYPTED


def place(region: Region, members: Directory, name: str) -> Region:
    """The bytes of a member that is not compressed, whatever its checksum says."""
    info = members.get(name)
    if info is None:
        raise damaged(f"it has no member {name:.200}")
    if not is_stored(info):
        raise UnreadableCheckpoint(
            f"has the compressed member {name:.200}, which torch.save never makes; unpack it and zip it with -0"
        )
    return packed(region, info)


def stored(region: Region, members: Directory, name: str) -> Region:
    """The bytes of a member that is not compressed, if they are those that were saved."""
    found = place(region, members, name)
    compare(members[name], _checksum(found))
    return found


def packed(region: Region, info: zipfile.ZipInfo) -> Region:
    """The bytes of a member as they lie in the file."""
    header = region.bytes_at(info.header_offset, _LOCAL_HEADER.size, f"the header of {info.filename:.200}")
    mark, name_length, extra_length = _LOCAL_HEADER.unpack(header)
    if mark != MAGIC:
        raise damaged(f"the member {info.filename:.200} is not where the directory says")
    start = info.header_offset + _LOCAL_HEADER.size + name_length + extra_length
    return region.part(start, info.compress_size, f"the member {info.filename:.200}")


def _checksum(region: Region) -> int:
    checksum = 0
    for start in range(0, len(region), _SUMMED):
        checksum = zlib.crc32(region.view[start : start + _SUMMED], checksum)
        if len(region) > _SUMMED:
            region.forget()
    return checksum


def compare(info: zipfile.ZipInfo, checksum: int) -> None:
    """Refuse a member whose bytes are not those that were saved."""
    if info.CRC not in {0, checksum}:
        raise damaged(
            f"the bytes of {info.filename:.200} are not those that were saved (CRC {checksum:08x}, not {info.CRC:08x})"
        )


def unpacked(region: Region, info: zipfile.ZipInfo, step: int = 1 << 20) -> Iterator[bytes]:
    """A deflated member in pieces of at most `step` bytes; there is never more of it in memory than one."""
    if info.compress_type != zipfile.ZIP_DEFLATED:
        raise UnreadableCheckpoint(
            f"has the member {info.filename:.200}, which is encrypted or not compressed as numpy does it; save it with numpy.savez"
        )
    compressed, machine, checksum = packed(region, info).view, zlib.decompressobj(-zlib.MAX_WBITS), 0
    try:
        for start in range(0, len(compressed), step):
            waiting, piece = bytes(compressed[start : start + step]), b""
            while waiting or len(piece) == step:
                piece = machine.decompress(waiting, step)
                waiting = machine.unconsumed_tail
                region.reading.unpack(len(piece))
                checksum = zlib.crc32(piece, checksum)
                yield piece
    except zlib.error as error:
        raise damaged(f"the member {info.filename:.200} cannot be unpacked ({error})") from None
    compare(info, checksum)


class Member:
    """The bytes of a member from `start` on: looked for, and compared with the checksum, once."""

    __slots__ = ("_found", "_members", "_name", "_region", "_start")

    def __init__(self, region: Region, members: Directory, name: str, start: int = 0) -> None:
        self._region, self._members, self._name, self._start = region, members, name, start
        self._found: Region | UnreadableCheckpoint | None = None

    def __call__(self) -> Region:
        """The bytes, or the complaint about them."""
        if self._found is None:
            try:
                whole = stored(self._region, self._members, self._name)
                self._found = whole.part(self._start, len(whole) - self._start, f"the member {self._name:.200}")
            except UnreadableCheckpoint as error:
                self._found = error.with_traceback(None)
        if isinstance(self._found, UnreadableCheckpoint):
            raise self._found
        return self._found
