"""One file of whatever format becomes a tree of dictionaries, lists, numbers and saved tensors.

The format is told by the first bytes, not by the name: people call everything .bin.
"""

from __future__ import annotations

import json
import struct
from typing import TYPE_CHECKING, Any

from nanlint.checkpoint.array_files import read_npy, read_npz, read_safetensors
from nanlint.checkpoint.reading import Reading
from nanlint.checkpoint.region import Region, UnreadableCheckpoint, map_file
from nanlint.checkpoint.tar_files import imports_of_tar
from nanlint.checkpoint.torch_files import is_legacy, read_legacy, read_plain, read_zip
from nanlint.checkpoint.zips import MAGIC

if TYPE_CHECKING:
    from pathlib import Path

SUFFIXES = frozenset(
    {".pt", ".pth", ".bin", ".ckpt", ".safetensors", ".npy", ".npz", ".tar", ".pkl", ".pickle", ".th", ".pkt"}
)
"""What is looked for in folders; a file that is named is read whatever it is called."""


class UnknownFormat(UnreadableCheckpoint):
    """The file is something else; among the files of a folder that is no fault."""


_TAR_MAGIC = b"ustar"
_TRUST = "; with --trust torch loads it, which runs whatever code is in it"


def read_file(path: Path, *, trust: bool = False, reading: Reading | None = None) -> Any:
    """What is in the file, without running anything of it; with `trust`, torch may load what cannot be read so.

    `reading` is told what was seen, also of a file that cannot be read to its end.
    """
    region = map_file(path)
    reading = reading or Reading()
    reading.size += len(region)
    try:
        return _read(path, region, reading, trust=trust)
    except (ValueError, IndexError, KeyError, TypeError, AttributeError, OverflowError, struct.error) as error:
        # What a damaged file makes of a number, a key or a list is for the reader of its format to stumble over.
        raise UnreadableCheckpoint(f"is damaged: {type(error).__name__}: {error}") from None


def _read(path: Path, region: Region, reading: Reading, *, trust: bool) -> Any:
    start = bytes(region.view[:8])
    if start.startswith(MAGIC):
        return read_npz(region, reading) if path.suffix == ".npz" else read_zip(region, reading)
    if start.startswith(b"\x93NUMPY"):
        return read_npy(region, reading)
    if path.suffix == ".safetensors":
        return read_safetensors(region)
    if path.suffix == ".json":
        return _read_json(region)
    return _read_pickled(path, region, reading, trust=trust)


def _read_json(region: Region) -> Any:
    try:
        return json.loads(bytes(region.view))
    except (ValueError, RecursionError) as error:
        raise UnreadableCheckpoint(f"is no JSON: {error}") from None


def _read_pickled(path: Path, region: Region, reading: Reading, *, trust: bool) -> Any:
    if is_legacy(region):
        return read_legacy(region, reading)
    if bytes(region.view[257:262]) == _TAR_MAGIC:
        imports_of_tar(region, reading)
        if trust:
            return _load_for_real(path)
        raise UnreadableCheckpoint(
            f"is a tar file, which torch wrote before 2017 and which can only be unpickled for real{_TRUST}"
        )
    if _is_pickle(region):
        return read_plain(region, reading)
    if trust:
        return _load_for_real(path)
    raise UnknownFormat(
        f"is no checkpoint that we know: it begins with {bytes(region.view[:8])!r} (torch, safetensors and numpy files are read)"
    )


def _is_pickle(region: Region) -> bool:
    """Whether it begins as every pickle since 2003 does."""
    first = bytes(region.view[:2])
    return first[:1] == b"\x80" and b"\x02" <= first[1:] <= b"\x05"


def _load_for_real(path: Path) -> Any:
    """What torch makes of the file; its tensors become ours, over the memory that torch has put them in."""
    from nanlint.checkpoint.trusted import load_for_real  # noqa: PLC0415 - needs torch, and is asked for once in a blue moon

    return load_for_real(path)
