"""What `torch.save` writes: a zip file with a pickle and one member per storage, and before torch 1.6 a row of pickles.

Both are read as data. A TorchScript file is a zip of the same make. The oldest format, a tar file, is refused.
"""

from __future__ import annotations

import contextlib
import itertools
import struct
import zipfile
from typing import TYPE_CHECKING, Any

from nanlint.checkpoint.pickles import note_imports, read_pickle
from nanlint.checkpoint.reading import ENTRY, UnreadableCheckpoint, damaged
from nanlint.checkpoint.rebuild import BUILDERS, dtype_name
from nanlint.checkpoint.region import Region
from nanlint.checkpoint.saved import ITEM_BYTES, Storage, is_count, plain
from nanlint.checkpoint.zips import MAGIC, Member, directory, packed, stored, unpacked

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from nanlint.checkpoint.zips import Directory

LEGACY_MAGIC = 0x1950A86A20F9469CFC6C
_LEGACY_PROTOCOL = 1001
_MOST_PIECES = 16
"""Megabytes of a compressed pickle, which torch never makes."""


def read_zip(region: Region) -> Any:
    """The object in a zip file of torch's, its tensors as places in the file."""
    archive = directory(region)
    pickled = [name for name in archive if name.endswith("/data.pkl")]
    for name, info in archive.items():
        if name.endswith(".pkl") and [name] != pickled:
            _note_imports(region, info)
    if len(pickled) != 1:
        raise UnreadableCheckpoint(
            f"is a zip file that torch did not write (it has {len(pickled)} data.pkl and not one); unpack it and name what is inside"
        )
    folder = pickled[0].removesuffix("data.pkl")
    _refuse_big_endian(region, archive, folder)
    try:
        state = stored(region, archive, pickled[0])
    except UnreadableCheckpoint:
        _note_imports(region, archive[pickled[0]])
        raise

    known: dict[tuple[str, str], Storage] = {}

    def storage(identity: Any) -> Storage:
        _, kind, key, _, items = identity[:5]
        name, dtype = plain(key), dtype_name(kind)
        if (name, dtype) not in known:
            known[name, dtype] = _storage(region, dtype, name, items, Member(region, archive, f"{folder}data/{name}"))
        return known[name, dtype]

    return read_pickle(state, 0, _builders(region), storage)[0]


def _note_imports(region: Region, info: zipfile.ZipInfo) -> None:
    """The imports of a pickle that is of no interest, or that is refused: torch may load it all the same."""
    with contextlib.suppress(UnreadableCheckpoint):
        if info.compress_type == zipfile.ZIP_STORED:
            note_imports(packed(region, info))
        else:
            pieces = itertools.islice(unpacked(region, info), _MOST_PIECES)
            note_imports(Region(memoryview(b"".join(pieces)), reading=region.reading))


def _refuse_big_endian(region: Region, archive: Directory, folder: str) -> None:
    order = archive.get(f"{folder}byteorder")
    if order is not None and bytes(stored(region, archive, order.filename).view) == b"big":
        raise UnreadableCheckpoint("was saved on a big-endian machine; load it there and save it as safetensors")


def _storage(region: Region, dtype: str, key: str, items: Any, locate: Callable[[], Region]) -> Storage:
    if not is_count(items):
        raise damaged(f"storage {key} has {plain(items)} elements")
    region.reading.build(3 * ENTRY)
    return Storage(dtype, items, key, locate)


def is_legacy(region: Region) -> bool:
    """Whether the file begins with the pickled magic number of torch before 1.6."""
    return LEGACY_MAGIC.to_bytes(10, "little") in bytes(region.view[:32])


def read_legacy(region: Region) -> Any:
    """The object in a file of torch before 1.6: four pickles, the keys of the storages, their data."""
    places: dict[str, Region] = {}
    known: dict[str, Storage] = {}

    def storage(identity: Any) -> Any:
        if identity[0] == "module":
            return identity[1]  # class and source of a pickled module; the source is of no interest here
        _, kind, key, _, items, view = identity
        name = plain(key)
        if name not in known:
            known[name] = _storage(region, dtype_name(kind), name, items, lambda: _placed(places, name))
        return known[name] if view is None else _view(region, known[name], view)

    _, at = read_pickle(region, 0, {})
    version, at = read_pickle(region, at, {})
    if version != _LEGACY_PROTOCOL:
        raise UnreadableCheckpoint(f"has version {plain(version)} of torch's old format; known is {_LEGACY_PROTOCOL}")
    _, at = read_pickle(region, at, {})
    tree, at = read_pickle(region, at, _builders(region), storage)
    keys, at = read_pickle(region, at, {})
    for key in map(plain, keys if isinstance(keys, list) else ()):
        if key in places:
            raise damaged(f"it has the data of storage {key} twice")
        (items,) = struct.unpack("<q", region.bytes_at(at, 8, f"the size of storage {key}"))
        size = ITEM_BYTES.get(known[key].dtype, 1) if key in known else 1
        places[key] = region.part(at + 8, items * size, f"the data of storage {key}")
        at += 8 + items * size
    return tree


def _placed(places: Mapping[str, Region], key: str) -> Region:
    if key not in places:
        raise damaged(f"the data of storage {key} is missing")
    return places[key]


def _view(region: Region, root: Storage, view: Any) -> Storage:
    """A storage that is a stretch of another, as very old files have them."""
    key, offset, items = view
    size = ITEM_BYTES.get(root.dtype, 1)
    name = plain(key)
    if not is_count(offset):
        raise damaged(f"storage {name} begins at element {plain(offset)}")
    return _storage(
        region, root.dtype, name, items, lambda: root.region().part(offset * size, items * size, f"view {name}")
    )


def read_plain(region: Region) -> Any:
    """The object in a plain pickle, as `pickle.dump` writes it; tensors in it are files of torch's in a string of bytes."""
    return read_pickle(region, 0, _builders(region))[0]


def _builders(region: Region) -> dict[str, Callable[..., Any]]:
    def from_bytes(data: Any) -> Any:
        view = memoryview(data).cast("B")
        region.reading.look(len(view))
        inner = Region(view, reading=region.reading)
        return read_zip(inner) if view[:4] == MAGIC else read_legacy(inner)

    return {**BUILDERS, "torch.storage._load_from_bytes": from_bytes}
