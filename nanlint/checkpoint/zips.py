"""Members of a zip file as stretches of the mapped file; a compressed one is unpacked up to a limit, if asked for."""

from __future__ import annotations

import struct
import zipfile
import zlib
from typing import TYPE_CHECKING

from nanlint.checkpoint.region import Region, RegionFile, UnreadableCheckpoint

if TYPE_CHECKING:
    from collections.abc import Mapping

    Directory = Mapping[str, zipfile.ZipInfo]

MAGIC = b"PK\x03\x04"
LARGEST_UNPACKED = 1 << 30
"""1 GB: what is compressed has to be unpacked into memory, and a few bytes can unfold into any number of them."""

_ENCRYPTED = 1
_LOCAL_HEADER = struct.Struct("<4s22xHH")
_FAILURES = (
    zipfile.BadZipFile,
    NotImplementedError,
    OSError,
    ValueError,
    RuntimeError,
    EOFError,
    struct.error,
    zlib.error,
)


def directory(region: Region) -> Directory:
    """The members by name."""
    try:
        with zipfile.ZipFile(RegionFile(region)) as archive:
            return {info.filename: info for info in archive.infolist()}
    except _FAILURES as error:
        raise UnreadableCheckpoint(
            f"is truncated or damaged: {error} (a zip file keeps its directory at the end; {len(region):,} bytes are here); "
            "copy it again, or resume from an earlier one"
        ) from None


def is_stored(info: zipfile.ZipInfo) -> bool:
    """Whether the bytes of the member are in the file as they are."""
    return info.compress_type == zipfile.ZIP_STORED and not info.flag_bits & _ENCRYPTED


def stored(region: Region, members: Directory, name: str) -> Region:
    """The bytes of a member that is not compressed."""
    info = members.get(name)
    if info is None:
        raise UnreadableCheckpoint(f"is damaged: it has no member {name}; copy it again, or resume from an earlier one")
    if not is_stored(info):
        raise UnreadableCheckpoint(
            f"has the compressed member {name}, which torch.save never makes; unpack it and zip it with -0"
        )
    header = region.bytes_at(info.header_offset, _LOCAL_HEADER.size, f"the header of {name}")
    mark, name_length, extra_length = _LOCAL_HEADER.unpack(header)
    if mark != MAGIC:
        raise UnreadableCheckpoint(f"is damaged: the member {name} is not where the directory says")
    start = info.header_offset + _LOCAL_HEADER.size + name_length + extra_length
    return region.part(start, info.file_size, f"the member {name}")


def unpacked(region: Region, info: zipfile.ZipInfo, most: int = LARGEST_UNPACKED) -> Region:
    """The first `most` bytes of a compressed member, in memory; nothing is unpacked beyond them."""
    try:
        with zipfile.ZipFile(RegionFile(region)) as archive, archive.open(info) as member:
            return Region(memoryview(member.read(most)))
    except _FAILURES as error:
        raise UnreadableCheckpoint(f"is damaged: the member {info.filename} cannot be unpacked ({error})") from None
