"""What `torch.save` writes: a zip file with a pickle and one member per storage, and before torch 1.6 a row of pickles.

Both are read as data. A TorchScript file is a zip of the same make. The oldest format, a tar file, is refused.
"""

from __future__ import annotations

import struct
from typing import TYPE_CHECKING, Any

from nanlint.checkpoint.pickles import imports_of, read_pickle
from nanlint.checkpoint.rebuild import BUILDERS, dtype_name
from nanlint.checkpoint.region import Region, UnreadableCheckpoint
from nanlint.checkpoint.saved import ITEM_BYTES, Storage, plain
from nanlint.checkpoint.zips import MAGIC, directory, stored

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from nanlint.checkpoint.reading import Reading
    from nanlint.checkpoint.zips import Directory

LEGACY_MAGIC = 0x1950A86A20F9469CFC6C
_LEGACY_PROTOCOL = 1001


def read_zip(region: Region, reading: Reading) -> Any:
    """The object in a zip file of torch's, its tensors as places in the file."""
    archive = directory(region)
    pickled = [name for name in archive if name.endswith("/data.pkl")]
    if len(pickled) != 1:
        raise UnreadableCheckpoint(
            "is a zip file that torch did not write (it has no data.pkl); unpack it and name what is inside"
        )
    folder = pickled[0].removesuffix("data.pkl")
    _refuse_big_endian(region, archive, folder)

    known: dict[tuple[str, str], Storage] = {}

    def storage(identity: Any) -> Storage:
        _, kind, key, _, items = identity[:5]
        key = plain(key) if not isinstance(key, str) else key
        made = _storage(kind, str(key), items, lambda: stored(region, archive, f"{folder}data/{key}"))
        return known.setdefault((made.key, made.dtype), made)

    for name in archive:
        if name.endswith(".pkl") and name != pickled[0]:
            imports_of(stored(region, archive, name), reading)
    return read_pickle(stored(region, archive, pickled[0]), 0, _builders(reading), storage, reading)[0]


def _refuse_big_endian(region: Region, archive: Directory, folder: str) -> None:
    order = archive.get(f"{folder}byteorder")
    if order is not None and bytes(stored(region, archive, order.filename).view) == b"big":
        raise UnreadableCheckpoint("was saved on a big-endian machine; load it there and save it as safetensors")


def _storage(kind: Any, key: str, items: Any, locate: Callable[[], Region]) -> Storage:
    if not isinstance(items, int) or items < 0:
        raise UnreadableCheckpoint(f"is damaged: storage {key:.100} has {plain(items)} elements")
    return Storage(dtype_name(kind), items, key, locate)


def is_legacy(region: Region) -> bool:
    """Whether the file begins with the pickled magic number of torch before 1.6."""
    return LEGACY_MAGIC.to_bytes(10, "little") in bytes(region.view[:32])


def read_legacy(region: Region, reading: Reading) -> Any:
    """The object in a file of torch before 1.6: four pickles, the keys of the storages, their data."""
    places: dict[str, Region] = {}
    known: dict[str, Storage] = {}

    def storage(identity: Any) -> Any:
        if identity[0] == "module":
            return identity[1]  # class and source of a pickled module; the source is of no interest here
        _, kind, key, _, items, view = identity
        name = key if isinstance(key, str) else plain(key)
        root = known.setdefault(name, _storage(kind, name, items, lambda: _placed(places, name)))
        return root if view is None else _view(root, view)

    _, at = read_pickle(region, 0, {}, None, reading)
    version, at = read_pickle(region, at, {}, None, reading)
    if version != _LEGACY_PROTOCOL:
        raise UnreadableCheckpoint(f"has version {plain(version)} of torch's old format; known is {_LEGACY_PROTOCOL}")
    _, at = read_pickle(region, at, {}, None, reading)
    tree, at = read_pickle(region, at, _builders(reading), storage, reading)
    keys, at = read_pickle(region, at, {}, None, reading)
    for key in keys:
        if not isinstance(key, str):
            raise UnreadableCheckpoint(f"is damaged: {plain(key)} is no key of a storage")
        (items,) = struct.unpack("<q", region.bytes_at(at, 8, f"the size of storage {key}"))
        size = ITEM_BYTES.get(known[key].dtype, 1) if key in known else 1
        places[str(key)] = region.part(at + 8, items * size, f"the data of storage {key}")
        at += 8 + items * size
    return tree


def _placed(places: Mapping[str, Region], key: str) -> Region:
    if key not in places:
        raise UnreadableCheckpoint(f"is damaged: the data of storage {key} is missing")
    return places[key]


def _view(root: Storage, view: Any) -> Storage:
    """A storage that is a stretch of another, as very old files have them."""
    key, offset, items = view
    if type(offset) is not int or type(items) is not int:
        raise UnreadableCheckpoint(
            f"is damaged: a view of a storage is at {plain(offset)} and has {plain(items)} elements"
        )
    size = ITEM_BYTES.get(root.dtype, 1)
    name = plain(key)
    return _storage(root.dtype, name, items, lambda: root.region().part(offset * size, items * size, f"view {name}"))


def read_plain(region: Region, reading: Reading) -> Any:
    """The object in a plain pickle, as `pickle.dump` writes it; tensors in it are files of torch's in a string of bytes."""
    return read_pickle(region, 0, _builders(reading), None, reading)[0]


def _builders(reading: Reading) -> dict[str, Callable[..., Any]]:
    def from_bytes(data: Any) -> Any:
        view = memoryview(data).cast("B")
        reading.spend(len(view))
        return read_zip(Region(view), reading) if view[:4] == MAGIC else read_legacy(Region(view), reading)

    return {**BUILDERS, "torch.storage._load_from_bytes": from_bytes}
