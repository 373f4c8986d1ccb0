"""One file of whatever format becomes a tree of dictionaries, lists, numbers and saved tensors.

The format is told by the first bytes, not by the name: people call everything .bin.
"""

from __future__ import annotations

import struct
from typing import TYPE_CHECKING, Any

from nanlint.checkpoint.array_files import read_json, read_npy, read_npz, read_safetensors
from nanlint.checkpoint.reading import Reading, UnreadableCheckpoint, damaged
from nanlint.checkpoint.region import Region, map_file
from nanlint.checkpoint.tar_files import note_imports_of_tar
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

_NOT_THE_FILE = {
    b"version https://git-lfs": "is a Git LFS pointer, not the checkpoint itself; run git lfs pull",
    b"<!DOCTYPE": "is a web page, not the checkpoint itself: the download failed or wants a login; download it again",
    b"<!doctype": "is a web page, not the checkpoint itself: the download failed or wants a login; download it again",
    b"<html": "is a web page, not the checkpoint itself: the download failed or wants a login; download it again",
    b"\x1f\x8b": "is compressed with gzip; unpack it with gunzip",
    bytes(16): "begins with zeros: it was never written to its end; copy it again, or resume from an earlier one",
}
"""What stands in a checkpoint's place, by its first bytes."""

_OLD_PICKLE = frozenset(b"()[]{}cdilFILMNSUVXGK")
"""The first bytes of a pickle of protocol 0 or 1, which has no mark of its own."""


def read_file(path: Path, reading: Reading, *, trust: bool = False) -> Any:
    """What is in the file, without running anything of it; with `trust`, torch may load what cannot be read so.

    What the pickles in it would import is noted in `reading`, whether or not the file can be read to its end.
    """
    region = map_file(path, reading)
    try:
        return _read(path, region, trust=trust)
    except (ValueError, IndexError, KeyError, TypeError, AttributeError, OverflowError, struct.error) as error:
        # What a damaged file makes of a number, a key or a list is for the reader of its format to stumble over.
        raise damaged(f"{type(error).__name__}: {error!s:.120}") from None


def _read(path: Path, region: Region, *, trust: bool) -> Any:
    start = bytes(region.view[:32])
    if start.startswith(MAGIC):
        return read_npz(region) if path.suffix == ".npz" else read_zip(region)
    if start.startswith(b"\x93NUMPY"):
        return read_npy(region)
    for beginning, told in _NOT_THE_FILE.items():
        if start.startswith(beginning):
            raise UnreadableCheckpoint(told)
    if path.suffix == ".safetensors":
        return read_safetensors(region)
    if path.suffix == ".json":
        return read_json(region, "it")
    return _read_pickled(path, region, trust=trust)


def _read_pickled(path: Path, region: Region, *, trust: bool) -> Any:
    if is_legacy(region):
        return read_legacy(region)
    if bytes(region.view[257:262]) == _TAR_MAGIC:
        note_imports_of_tar(region)
        if trust:
            return _load_for_real(path)
        raise UnreadableCheckpoint(
            f"is a tar file, which torch wrote before 2017 and which can only be unpickled for real{_TRUST}"
        )
    if _is_pickle(region):
        return read_plain(region)
    if region.view[0] in _OLD_PICKLE:
        try:
            return read_plain(region)
        except UnreadableCheckpoint:
            pass  # a text that begins like one
    if trust:
        return _load_for_real(path)
    raise UnknownFormat(
        f"is no checkpoint that we know: it begins with {bytes(region.view[:8])!r} (torch, safetensors and numpy files are read)"
    )


def _is_pickle(region: Region) -> bool:
    """Whether it begins as every pickle since 2003 does, unless an older protocol was asked for."""
    first = bytes(region.view[:2])
    return first[:1] == b"\x80" and b"\x02" <= first[1:] <= b"\x05"


def _load_for_real(path: Path) -> Any:
    """What torch makes of the file; its tensors become ours, over the memory that torch has put them in."""
    from nanlint.checkpoint.trusted import load_for_real  # noqa: PLC0415 - needs torch, and is asked for once in a blue moon

    return load_for_real(path)
