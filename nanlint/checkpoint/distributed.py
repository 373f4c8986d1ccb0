"""A folder of `torch.distributed.checkpoint`: an index, `.metadata`, and files of shards, each shard a small torch file.

The index is a pickle and is read as data like any other. It says how the flat names were nested, so that model,
optimizer and counters are found where the run had them; a tensor in several shards becomes a list of them.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from nanlint.checkpoint.array_files import inside
from nanlint.checkpoint.reading import Reading, UnreadableCheckpoint, damaged
from nanlint.checkpoint.region import Region, map_file
from nanlint.checkpoint.saved import Opaque, is_count, plain
from nanlint.checkpoint.torch_files import is_legacy, read_legacy, read_plain, read_zip
from nanlint.checkpoint.walk import DEEPEST

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

INDEX_NAME = ".metadata"
SHARD_SUFFIX = ".distcp"


def read_distributed(index: Path, reading: Reading) -> dict[Any, Any]:
    """The nested state that the index at `index` describes."""
    try:
        return _nested(index, reading)
    except (TypeError, KeyError, AttributeError, ValueError) as error:
        raise damaged(f"{type(error).__name__}: {error!s:.120}") from None


def _nested(index: Path, reading: Reading) -> dict[Any, Any]:
    content = read_plain(map_file(index, reading))
    state = content.state if isinstance(content, Opaque) else None
    if not isinstance(state, dict) or not isinstance(state.get("storage_data"), dict):
        raise UnreadableCheckpoint("is no index of torch.distributed.checkpoint: it names no shards")
    nesting = state["planner_data"] if isinstance(state.get("planner_data"), dict) else {}
    tree: dict[Any, Any] = {}
    for name, values in _collected(state["storage_data"], index.parent, reading).items():
        _put(tree, _path(nesting.get(name), name), values)
    return _with_lists(tree)


def _path(nested: Any, name: str) -> tuple[Any, ...]:
    """The keys that lead to a value, if they are plain; else its flat name alone."""
    if (
        isinstance(nested, tuple)
        and 0 < len(nested) <= DEEPEST
        and all(isinstance(part, str) or is_count(part) for part in nested)
    ):
        return nested
    return (name,)


def _collected(places: dict[Any, Any], folder: Path, reading: Reading) -> dict[str, list[Any]]:
    """What is saved under each name, shard by shard."""
    files: dict[str, Region] = {}
    left: dict[str, int] = {}
    found: dict[str, list[Any]] = {}
    for key, place in places.items():
        name, file, start, length = _told(key, place)
        if file not in files:
            files[file] = map_file(_inside(folder, file), reading)
            left[file] = len(files[file])
        shard = files[file].part(start, length, f"`{plain(name)}` in {plain(file)}")
        left[file] -= length
        if left[file] < 0:
            raise damaged(f"its shards in {plain(file)} overlap")
        found.setdefault(name, []).append(_shard(shard))
    return found


def _told(key: Any, place: Any) -> tuple[str, str, int, int]:
    """Name, file, start and length of a shard."""
    if not isinstance(key, Opaque) or not isinstance(place, Opaque) or place.state.get("transform_descriptors"):
        raise UnreadableCheckpoint(
            "has shards that are compressed or encrypted, or an index of a newer torch; load it with torch and save one file"
        )
    name, file = key.state["fqn"], place.state["relative_path"]
    start, length = place.state["offset"], place.state["length"]
    if not isinstance(name, str) or not isinstance(file, str) or not is_count(start) or not is_count(length):
        raise damaged(f"a shard is {plain(name)} in {plain(file)}, {plain(length)} bytes from {plain(start)} on")
    return name, file, start, length


def _inside(folder: Path, name: str) -> Path:
    """The file of that name in the folder, and nowhere else."""
    path = inside(folder, name)
    if not path.is_file():
        raise UnreadableCheckpoint(f"names the file {plain(name)}, which is not there; copy it beside the index")
    return path


def _shard(region: Region) -> Any:
    return read_legacy(region) if is_legacy(region) else read_zip(region)


def _put(tree: dict[Any, Any], path: tuple[Any, ...], values: list[Any]) -> None:
    for part in path[:-1]:
        inner = tree.setdefault(part, {})
        tree = inner if isinstance(inner, dict) else {}
    tree[path[-1]] = values[0] if len(values) == 1 else values


def _with_lists(tree: dict[Any, Any]) -> dict[Any, Any]:
    """The tree with parameter groups as the list that they were."""
    return dict(_listed(tree))


def _listed(tree: dict[Any, Any]) -> Iterator[tuple[Any, Any]]:
    for key, value in tree.items():
        inner = _with_lists(value) if isinstance(value, dict) else value
        yield key, list(inner.values()) if key == "param_groups" and isinstance(inner, dict) else inner
