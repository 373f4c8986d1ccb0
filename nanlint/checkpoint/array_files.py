"""The formats that hold arrays and no objects: safetensors, alone or as an index of shards, and numpy's .npy and .npz."""

from __future__ import annotations

import ast
import json
import struct
from typing import TYPE_CHECKING, Any

from nanlint.checkpoint.pickles import imports_of
from nanlint.checkpoint.rebuild import numpy_dtype
from nanlint.checkpoint.region import Region, UnreadableCheckpoint
from nanlint.checkpoint.saved import ITEM_BYTES, SavedTensor, Storage, contiguous
from nanlint.checkpoint.zips import LARGEST_UNPACKED, directory, is_stored, stored, unpacked

if TYPE_CHECKING:
    import zipfile
    from collections.abc import Callable
    from pathlib import Path

    from nanlint.checkpoint.reading import Reading

_LONGEST_HEADER = 100_000_000
_LONGEST_ARRAY_HEADER = 1 << 16

_SAFETENSORS_DTYPES = {
    "F64": "float64", "F32": "float32", "F16": "float16", "BF16": "bfloat16",
    "F8_E4M3": "float8_e4m3fn", "F8_E5M2": "float8_e5m2", "F8_E8M0": "float8_e8m0fnu", "C64": "complex64",
    "I64": "int64", "I32": "int32", "I16": "int16", "I8": "int8",
    "U64": "uint64", "U32": "uint32", "U16": "uint16", "U8": "uint8", "BOOL": "bool",
}  # fmt: skip


def read_safetensors(region: Region) -> dict[str, Any]:
    """The tensors of a safetensors file by name: eight bytes of length, a JSON header, the data."""
    (length,) = struct.unpack("<Q", region.bytes_at(0, 8, "the length of the header"))
    if length > _LONGEST_HEADER:
        raise UnreadableCheckpoint(f"is no safetensors file: its header would be {length:,} bytes long")
    header = _json(region.bytes_at(8, length, "the header"), "its header")
    data = region.part(8 + length, len(region) - 8 - length, "the data")
    return {name: _tensor(name, entry, data) for name, entry in header.items() if name != "__metadata__"}


def _tensor(name: str, entry: Any, data: Region) -> SavedTensor:
    try:
        dtype = _SAFETENSORS_DTYPES.get(entry["dtype"], str(entry["dtype"]))
        shape = tuple(map(int, entry["shape"]))
        start, end = map(int, entry["data_offsets"])
    except (KeyError, TypeError, ValueError):
        raise UnreadableCheckpoint(f"is damaged: its header describes `{name}` as {entry!r:.80}") from None
    items = (end - start) // ITEM_BYTES.get(dtype, 1)
    # Whether the bytes are there is asked at once: the end of a truncated file is missing, not its header.
    piece = data.part(start, end - start, f"`{name}`")
    storage = Storage(dtype, items, name, lambda: piece)
    tensor = SavedTensor(dtype, shape, contiguous(shape), 0, storage)
    return tensor.checked() if dtype in ITEM_BYTES else tensor


def shards_of(index: Path) -> list[Path]:
    """The files that an index of shards names, all in its own folder."""
    try:
        content = _json(index.read_bytes(), "it")
    except OSError as error:
        raise UnreadableCheckpoint(f"cannot be read: {error.strerror or error}") from None
    names = content.get("weight_map")
    if not isinstance(names, dict):
        raise UnreadableCheckpoint("is no index of shards: it has no weight_map")
    shards = [index.parent / str(name) for name in dict.fromkeys(names.values())]
    missing = [shard.name for shard in shards if not shard.is_file()]
    if missing:
        raise UnreadableCheckpoint(
            f"names {len(missing)} of {len(shards)} shards that are not there ({missing[0]}); copy them beside it"
        )
    return shards


def _json(text: bytes, what: str) -> dict[str, Any]:
    try:
        content = json.loads(text)
    except (ValueError, RecursionError) as error:
        raise UnreadableCheckpoint(f"is damaged: {what} is no JSON ({error})") from None
    if not isinstance(content, dict):
        raise UnreadableCheckpoint(f"is damaged: {what} is no JSON object")
    return content


def read_npy(region: Region, reading: Reading) -> SavedTensor:
    """The array of a .npy file."""
    start, header = _header(region)
    data = region.part(start, len(region) - start, "the data")
    if b"O" in header:
        imports_of(data, reading)
    return _array(header, len(data), lambda: data)


def _header(region: Region) -> tuple[int, bytes]:
    """Where the data of a .npy file begins, and what stands before it."""
    major = region.bytes_at(0, 8, "the header")[6]
    width = 2 if major == 1 else 4
    length = int.from_bytes(region.bytes_at(8, width, "the header"), "little")
    return 8 + width + length, region.bytes_at(8 + width, length, "the header")


def _array(header: bytes, size: int, locate: Callable[[], Region]) -> SavedTensor:
    try:
        fields = ast.literal_eval(header.decode("latin1").strip())
        descr, shape, fortran = fields["descr"], tuple(map(int, fields["shape"])), fields["fortran_order"]
    except (ValueError, SyntaxError, KeyError, TypeError, MemoryError, RecursionError):
        raise UnreadableCheckpoint("is damaged: the header of the array cannot be read") from None
    if "O" in str(descr):
        raise UnreadableCheckpoint("holds Python objects, which numpy can only unpickle; save its arrays as numbers")
    dtype, big_endian = numpy_dtype(str(descr))
    stride = tuple(reversed(contiguous(tuple(reversed(shape))))) if fortran else contiguous(shape)
    if dtype not in ITEM_BYTES:
        return SavedTensor(dtype, shape, stride)
    storage = Storage(dtype, size // ITEM_BYTES[dtype], "of the array", locate)
    return SavedTensor(dtype, shape, stride, 0, storage, big_endian).checked()


def read_npz(region: Region, reading: Reading) -> dict[str, SavedTensor]:
    """The arrays of a .npz file by name; compressed ones are unpacked one by one, when somebody looks."""
    members = directory(region)
    arrays = {name: info for name, info in members.items() if name.endswith(".npy")}
    return {
        name.removesuffix(".npy"): read_npy(stored(region, members, name), reading)
        if is_stored(info)
        else _compressed(region, info)
        for name, info in arrays.items()
    }


def _compressed(region: Region, info: zipfile.ZipInfo) -> SavedTensor:
    if info.file_size > LARGEST_UNPACKED:
        raise UnreadableCheckpoint(
            f"would unpack {info.filename} to {info.file_size:,} bytes in memory; save it with numpy.savez, which does not compress"
        )
    start, header = _header(unpacked(region, info, _LONGEST_ARRAY_HEADER))
    length = info.file_size - start
    return _array(header, length, lambda: unpacked(region, info).part(start, length, info.filename))
