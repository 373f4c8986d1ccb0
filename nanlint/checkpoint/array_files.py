"""The formats that hold arrays and no objects: safetensors, alone or as an index of shards, and numpy's .npy and .npz."""

from __future__ import annotations

import ast
import json
import struct
from typing import TYPE_CHECKING, Any

from nanlint.checkpoint.pickles import note_imports
from nanlint.checkpoint.reading import ENTRY, OBJECT, Reading, UnreadableCheckpoint, damaged, hostile
from nanlint.checkpoint.rebuild import numpy_dtype
from nanlint.checkpoint.region import Region
from nanlint.checkpoint.saved import ITEM_BYTES, SavedTensor, Storage, contiguous, is_count, plain, sizes
from nanlint.checkpoint.zips import Member, directory, is_stored, place, unpacked

if TYPE_CHECKING:
    import zipfile
    from collections.abc import Callable, Iterator
    from pathlib import Path

    from nanlint.checkpoint.zips import Directory

MOST_SHARDS = 10_000
"""The largest models have some hundreds."""
_LONGEST_HEADER = 100_000_000
"""The limit of the format itself."""
_LONGEST_ARRAY_HEADER = 10_000
"""numpy's own limit."""
_FIRST = 1 << 16
"""Bytes of a compressed array that are unpacked for its header."""
_BLOCK = 16 << 20
"""Bytes of a compressed array that are looked at together; whole values, whatever their size."""

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
        raise UnreadableCheckpoint(
            f"is no safetensors file, or damaged: its header would be {length:,} bytes long; copy it again"
        )
    header = json_object(region.part(8, length, "the header"), "its header")
    data = region.part(8 + length, len(region) - 8 - length, "the data")
    described = {name: entry for name, entry in header.items() if name != "__metadata__"}
    _refuse_overlaps({name: _offsets(name, entry) for name, entry in described.items()})
    return {name: _tensor(name, entry, data) for name, entry in described.items()}


def _offsets(name: str, entry: Any) -> tuple[int, int]:
    offsets = entry.get("data_offsets") if isinstance(entry, dict) else None
    if not isinstance(offsets, list) or len(offsets) != 2 or not all(map(is_count, offsets)) or offsets[1] < offsets[0]:
        raise damaged(f"its header does not say where `{plain(name)}` is")
    return offsets[0], offsets[1]


def _refuse_overlaps(places: dict[str, tuple[int, int]]) -> None:
    end, before = 0, ""
    for name, (start, stop) in sorted(places.items(), key=lambda item: item[1]):
        if start < end and start < stop:
            raise damaged(f"its tensors `{plain(before)}` and `{plain(name)}` overlap")
        end, before = (stop, name) if stop > end else (end, before)


def _tensor(name: str, entry: dict[str, Any], data: Region) -> SavedTensor:
    kind = entry.get("dtype")
    if not isinstance(kind, str):
        raise damaged(f"its header does not say what `{plain(name)}` holds")
    dtype, shape, (start, end) = _SAFETENSORS_DTYPES.get(kind, kind), sizes(entry.get("shape")), _offsets(name, entry)
    data.reading.build(OBJECT)
    # Whether the bytes are there is asked at once: the end of a truncated file is missing, not its header.
    piece = data.part(start, end - start, f"`{plain(name)}`")
    if dtype not in ITEM_BYTES:
        return SavedTensor(dtype, shape, contiguous(shape))
    storage = Storage(dtype, (end - start) // ITEM_BYTES[dtype], name, lambda: piece)
    tensor = SavedTensor(dtype, shape, contiguous(shape), 0, storage).checked()
    if tensor.bytes != end - start:
        raise damaged(f"`{plain(name)}` of shape {plain(shape)} needs {tensor.bytes:,} bytes and has {end - start:,}")
    return tensor


def shards_of(index: Region, folder: Path) -> list[Path]:
    """The files that an index of shards names, all in its own folder."""
    names = json_object(index, "it").get("weight_map")
    if not isinstance(names, dict):
        raise UnreadableCheckpoint("is no index of shards: it has no weight_map; name the files of the weights instead")
    wrong = next((name for name in names.values() if not isinstance(name, str)), None)
    if wrong is not None:
        raise damaged(f"its weight_map names {plain(wrong)} where a file should be")
    files = dict.fromkeys(names.values())
    if len(files) > MOST_SHARDS:
        raise hostile(f"names {len(files):,} shards")
    shards = [inside(folder, name) for name in files]
    missing = [shard.name for shard in shards if not shard.is_file()]
    if missing:
        raise UnreadableCheckpoint(
            f"names {len(missing)} of {len(shards)} shards that are not there ({plain(missing[0])}); copy them beside it"
        )
    return shards


def inside(folder: Path, name: str) -> Path:
    """The file of that name in the folder, and nowhere else; Hugging Face's cache has links to its own blobs there."""
    path = folder / name
    if name != path.name or name == "..":
        raise UnreadableCheckpoint(f"names the file {plain(name)}, which is not in its own folder; do not load it")
    target, own = path.resolve(), folder.resolve()
    blobs = own.parent.parent / "blobs" if own.parent.name == "snapshots" else own
    if target.parent not in {own, blobs}:
        raise UnreadableCheckpoint(f"names the file {plain(name)}, a link out of its own folder; copy the file there")
    return path


def json_object(region: Region, what: str) -> dict[str, Any]:
    """The JSON object in the region; `what` names it in a complaint."""
    content = read_json(region, what)
    if not isinstance(content, dict):
        raise damaged(f"{what} is no JSON object")
    return content


def read_json(region: Region, what: str) -> Any:
    """The JSON in the region. Its memory is counted before it is parsed: three bytes can become a dictionary."""
    _count_json(region.view, region.reading)
    try:
        return json.loads(bytes(region.view))
    except (ValueError, RecursionError) as error:
        raise damaged(f"{what} is no JSON ({error!s:.120})") from None


def _count_json(view: memoryview, reading: Reading) -> None:
    reading.build(4 * len(view))
    text = bytes(view)
    reading.build(2 * ENTRY * (text.count(b"[") + text.count(b",")) + 5 * ENTRY * text.count(b"{"))


def read_npy(region: Region) -> SavedTensor:
    """The array of a .npy file."""
    start, header = _header(region)
    data = region.part(start, len(region) - start, "the data")
    return _array(header, data, len(data), lambda: data)


def _header(region: Region) -> tuple[int, bytes]:
    """Where the data of a .npy file begins, and what stands before it."""
    major = region.bytes_at(0, 8, "the header")[6]
    width = 2 if major == 1 else 4
    length = int.from_bytes(region.bytes_at(8, width, "the header"), "little")
    if length > _LONGEST_ARRAY_HEADER:
        raise damaged(f"the header of the array would be {length:,} bytes long")
    return 8 + width + length, region.bytes_at(8 + width, length, "the header")


def _array(
    header: bytes,
    data: Region,
    size: int,
    locate: Callable[[], Region],
    pieces: Callable[[], Iterator[Region]] | None = None,
) -> SavedTensor:
    try:
        fields = ast.literal_eval(header.decode("latin1").strip())
        descr, shape, fortran = fields["descr"], sizes(fields["shape"]), fields["fortran_order"]
    except (ValueError, SyntaxError, KeyError, TypeError, MemoryError, RecursionError):
        raise damaged("the header of the array cannot be read") from None
    if "O" in str(descr):
        note_imports(data)
        raise UnreadableCheckpoint("holds Python objects, which numpy can only unpickle; save its arrays as numbers")
    dtype, big_endian = numpy_dtype(str(descr))
    stride = tuple(reversed(contiguous(tuple(reversed(shape))))) if fortran else contiguous(shape)
    data.reading.build(OBJECT)
    if dtype not in ITEM_BYTES:
        return SavedTensor(dtype, shape, stride)
    storage = Storage(dtype, size // ITEM_BYTES[dtype], "of the array", locate, pieces)
    return SavedTensor(dtype, shape, stride, 0, storage, big_endian).checked()


def read_npz(region: Region) -> dict[str, SavedTensor]:
    """The arrays of a .npz file by name; compressed ones are unpacked one by one, when somebody looks."""
    members = directory(region)
    arrays = {name: info for name, info in members.items() if name.endswith(".npy")}
    return {
        name.removesuffix(".npy"): _plain_member(region, members, name)
        if is_stored(info)
        else _compressed(region, info)
        for name, info in arrays.items()
    }


def _plain_member(region: Region, members: Directory, name: str) -> SavedTensor:
    whole = place(region, members, name)
    start, header = _header(whole)
    length = len(whole) - start
    return _array(header, whole.part(start, length, name), length, Member(region, members, name, start))


def _compressed(region: Region, info: zipfile.ZipInfo) -> SavedTensor:
    first = Region(memoryview(next(unpacked(region, info, _FIRST), b"")), reading=region.reading)
    start, header = _header(first)
    data = first.part(start, len(first) - start, info.filename)
    value = Region(memoryview(bytes(data.view[:16])))
    return _array(header, data, info.file_size - start, lambda: value, lambda: _blocks(region, info, start))


def _blocks(region: Region, info: zipfile.ZipInfo, start: int) -> Iterator[Region]:
    """The values of a compressed array; as many as the directory says."""
    waiting, left = bytearray(), info.file_size
    for piece in unpacked(region, info):
        waiting += piece
        left -= len(piece)
        while len(waiting) >= _BLOCK + start:
            yield Region(memoryview(bytes(waiting[start : _BLOCK + start])), reading=region.reading)
            del waiting[: _BLOCK + start]
            start = 0
    if left:
        raise damaged(f"{info.filename:.200} does not have the {info.file_size:,} bytes that the directory says")
    yield Region(memoryview(bytes(waiting[start:])), reading=region.reading)
