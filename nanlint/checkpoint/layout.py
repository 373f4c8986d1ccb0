"""Which files make one checkpoint, and which checkpoints a folder holds.

A loop of one's own saves a file; Lightning a .ckpt; the Hugging Face Trainer, Accelerate and DeepSpeed a folder with
model, optimizer and scheduler in files of their own.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import TYPE_CHECKING

from nanlint.checkpoint.distributed import INDEX_NAME, SHARD_SUFFIX
from nanlint.checkpoint.read import SUFFIXES
from nanlint.errors import UsageError

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator
    from pathlib import Path

INDEX = ".index.json"
_PART = re.compile(
    r"(pytorch_model|model|adapter_model|diffusion_pytorch_model|optimizer|optim|(lr_)?scheduler|scaler|ema|ema_model)(-\d+-of-\d+)?"
    r"|(rng_state|random_states|custom_checkpoint)(_\d+)?|training_args|trainer_state"
    r"|mp_rank_\d+_model_states|\w*zero_pp_rank_\d+\w*|\w*_optim_states",
)
# Accelerate numbers the second model and optimizer of a checkpoint; elsewhere `model_2.pt` is a later one of a run.
_NUMBERED_PART = re.compile(r"(pytorch_model|model|optimizer|scheduler|sampler)_\d+")
_OF_ACCELERATE = re.compile(r"random_states_\d+\.pkl")
_BELONGS_BELOW = re.compile(r"global_step\d+|pytorch_model_fsdp_\d+|optimizer_\d+")
_LAYOUTS = (
    ("DeepSpeed", re.compile(r"mp_rank_\d+_model_states\.pt|\w*zero_pp_rank\w*\.pt")),
    ("torch.distributed.checkpoint", re.compile(r".*\.distcp")),
    ("Hugging Face Trainer", re.compile(r"trainer_state\.json|training_args\.bin")),
    ("Accelerate", re.compile(r"random_states_\d+\.pkl|optimizer\.bin|custom_checkpoint_\d+\.pkl")),
)
_NOT_LOOKED_INTO = frozenset({"__pycache__", "node_modules", "wandb", "site-packages"})
_DEEPEST = 6


@dataclass(frozen=True)
class Checkpoint:
    """What is loaded together."""

    path: Path
    files: tuple[Path, ...]
    layout: str
    is_named: bool = True
    """Whether the user named this very file; what lies in a folder may be something else."""


def checkpoints(paths: Iterable[Path]) -> list[Checkpoint]:
    """The checkpoints at the paths, each once."""
    found = [checkpoint for path in paths for checkpoint in _at(path)]
    return list({checkpoint.path.resolve(): checkpoint for checkpoint in reversed(found)}.values())[::-1]


def _at(path: Path) -> Iterator[Checkpoint]:
    if path.is_dir():
        inside = list(_in_folder(path, 0))
        if not inside:
            raise UsageError(
                f"{path} holds no checkpoint (looked for {', '.join(sorted(SUFFIXES))} and the folders of Trainer, Accelerate, DeepSpeed and torch.distributed)"
            )
        yield from inside
    elif path.exists():
        yield Checkpoint(path, (path,), "sharded" if path.name.endswith(INDEX) else "file")
    else:
        raise UsageError(f"{path} is not there")


def _in_folder(folder: Path, depth: int) -> Iterator[Checkpoint]:
    try:
        inside = sorted(folder.iterdir(), key=lambda path: _natural(path.name))
    except OSError as error:
        if not depth:
            raise UsageError(f"{folder} cannot be read: {error.strerror or error}") from None
        # Told as unreadable beside the others, which are looked at.
        yield Checkpoint(folder, (folder,), "file", is_named=False)
        return
    here = [path for path in inside if not path.name.startswith(".")]
    files, folders = [path for path in here if path.is_file()], [path for path in here if path.is_dir()]
    numbered = any(_OF_ACCELERATE.fullmatch(path.name) for path in files)
    parts = [path for path in files if _is_part(path) or (numbered and _NUMBERED_PART.fullmatch(path.stem))]
    joined: list[Path] = []
    if any(path.suffix != ".json" for path in parts):
        joined = [path for path in folders if _BELONGS_BELOW.fullmatch(path.name)]
        below = [path for inner in joined for path in sorted(inner.iterdir()) if path.is_file() and _is_part(path)]
        yield Checkpoint(folder, _without_shards_twice([*parts, *below]), _layout_of([*parts, *below]), is_named=False)
    yield from (
        Checkpoint(path, (path,), "file", is_named=False)
        for path in files
        if path not in parts and path.suffix in SUFFIXES
    )
    for inner in folders:
        if inner not in joined and inner.name not in _NOT_LOOKED_INTO and depth < _DEEPEST and not inner.is_symlink():
            yield from _in_folder(inner, depth + 1)


def _is_part(path: Path) -> bool:
    if path.suffix == SHARD_SUFFIX or path.name.endswith(INDEX) or path.name == "trainer_state.json":
        return True
    return path.suffix in SUFFIXES and _PART.fullmatch(path.stem) is not None


def _without_shards_twice(parts: list[Path]) -> tuple[Path, ...]:
    """An index is read for the shards that it names, so a shard that lies beside it is not a part of its own."""
    stems = [path.name.removesuffix(INDEX).rpartition(".")[0] for path in parts if path.name.endswith(INDEX)]
    indexes = {path.with_name(INDEX_NAME) for path in parts if path.suffix == SHARD_SUFFIX}
    indexed = {index.parent for index in indexes if index.is_file()}
    left = [path for path in parts if path.suffix != SHARD_SUFFIX or path.parent not in indexed]
    whole = [
        path for path in left if not any(re.match(re.escape(stem) + r"-\d+-of-\d+\.", path.name) for stem in stems)
    ]
    return (*whole, *sorted(folder / INDEX_NAME for folder in indexed))


def _layout_of(parts: list[Path]) -> str:
    return next((name for name, pattern in _LAYOUTS if any(pattern.fullmatch(path.name) for path in parts)), "folder")


def _natural(name: str) -> list[tuple[int, str]]:
    """`step_9` before `step_10`."""
    return [(int(part), "") if part.isdecimal() else (-1, part) for part in re.split(r"(\d+)", name)]


def number_in(path: Path) -> int | None:
    """The step or the epoch that a name tells: `epoch=3-step=1200.ckpt`, `checkpoint-500`, `model_0029.pth`."""
    for word in ("step", "iter", "epoch", "checkpoint", "ckpt"):
        found = re.findall(rf"{word}s?[-_=]?(\d+)", path.name.lower())
        if found:
            return int(found[-1])
    numbers = re.findall(r"\d+", path.stem)
    return int(numbers[-1]) if numbers else None
