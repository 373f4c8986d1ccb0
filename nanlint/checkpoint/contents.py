"""What the parts of a checkpoint are: model and EMA weights, buffers, optimizers, schedulers, loss scalers, counters.

They are known by their shape, not by the key they are saved under: a dictionary with `state` and `param_groups` is an
optimizer wherever it lies. That covers torch's own loops, Lightning, the Hugging Face Trainer, Accelerate and DeepSpeed.
"""

from __future__ import annotations

import enum
import math
import re
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from nanlint.checkpoint.reading import ENTRY, OBJECT, Reading
from nanlint.checkpoint.saved import LARGEST, Opaque, SavedTensor, is_inexact
from nanlint.checkpoint.walk import shown, walk

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence


class Role(str, enum.Enum):
    """What a tensor is for."""

    PARAMETER = "parameter"
    BUFFER = "buffer"
    EMA = "ema"
    OPTIMIZER = "optimizer"
    OTHER = "other"


@dataclass(frozen=True, slots=True)
class Part:
    """A dictionary that was recognised, and the path to it."""

    path: tuple[str, ...]
    state: Mapping[Any, Any]
    file: str = ""

    @property
    def name(self) -> str:
        """The path as a user knows it."""
        return shown(self.path) if self.path else self.file


@dataclass(frozen=True, slots=True)
class Entry:
    """A tensor with its place and its role."""

    path: tuple[str, ...]
    tensor: SavedTensor
    role: Role
    file: str = ""
    parameter: str = ""
    """Of optimizer state: the parameter's key."""
    slot: str = ""
    """Of optimizer state: exp_avg, exp_avg_sq, momentum_buffer."""

    @property
    def name(self) -> str:
        """The path as a user knows it."""
        return shown(self.path)


@dataclass
class Counted:
    """How many there are, and what the first one is called."""

    first: str = ""
    count: int = 0

    def add(self, path: tuple[str, ...]) -> None:
        """One more."""
        self.first = self.first or shown(path)
        self.count += 1


@dataclass
class Contents:
    """All of one checkpoint, from one file or several."""

    entries: list[Entry] = field(default_factory=list)
    optimizers: list[Part] = field(default_factory=list)
    schedulers: list[Part] = field(default_factory=list)
    scalers: list[Part] = field(default_factory=list)
    nans: Counted = field(default_factory=Counted)
    """Plain numbers that are NaN, such as a logged loss."""
    in_lists: Counted = field(default_factory=Counted)
    """Numbers in lists that are not finite."""
    counters: dict[str, int] = field(default_factory=dict)
    reading: Reading = field(default_factory=Reading)


SCALES = ("scale", "loss_scale", "cur_scale")
_SCALER_COMPANIONS = frozenset(
    {"growth_factor", "_growth_tracker", "unskipped", "cur_iter", "growth_interval", "scale_window"}
)
_SCHEDULER_KEYS = frozenset({"base_lrs", "_last_lr", "lr_lambdas", "_schedulers", "num_bad_epochs"})

_BUFFER = re.compile(
    r"(running_(mean|var)|num_batches_tracked|inv_freq|position_ids|token_type_ids|freqs(_cis|_cos|_sin)?|cos_cached|sin_cached"
    r"|(causal|attn|attention)?_?mask\w*|masked_bias|relative_position_index|rope|alibi\w*|scale_factor|zero_point|min_val|max_val)$"
)
_EMA = re.compile(r"(^|[._])(ema|swa|shadow|averaged|avg_model)(_\w*)?([.]|$)", re.IGNORECASE)
_COUNTERS = {
    "global_step": "step", "step": "step", "global_steps": "step", "iteration": "step", "iter": "step", "iter_num": "step",
    "num_updates": "step", "n_iter": "step", "epoch": "epoch", "current_epoch": "epoch",
}  # fmt: skip


def sort_out(tree: Any, file: str, into: Contents) -> None:
    """Add what is in one file to the contents of its checkpoint."""
    optimizers: dict[tuple[str, ...], Part] = {}
    groups: set[int] = set()
    named: set[int] = set()
    for path, value in walk(tree):
        if isinstance(value, SavedTensor):
            # A few tensors have a second name; millions of names are a cheap way to keep us busy, so they cost more.
            into.reading.build(4 * ENTRY if id(value) not in named else 4 * OBJECT)
            named.add(id(value))
            into.entries.append(_entry(path, value, file, optimizers))
        elif isinstance(value, float):
            if math.isnan(value):
                into.nans.add(path)
            if path and path[-1].isdigit():
                into.in_lists.add(path)
        elif isinstance(state := value.state if isinstance(value, Opaque) else value, dict):
            into.reading.build(ENTRY)
            part = Part(path, state, file)
            if not _is_optimizer(state):
                _recognise(part, into)
            elif id(state["param_groups"]) not in groups:
                groups.add(id(state["param_groups"]))
                optimizers[path] = part
    into.optimizers += optimizers.values()
    _count(tree, into.counters)


def _is_optimizer(state: Mapping[Any, Any]) -> bool:
    return isinstance(state.get("param_groups"), list) and "state" in state


def _recognise(part: Part, into: Contents) -> None:
    """Put a dictionary where it belongs, if it is one of those that we know."""
    keys = part.state.keys()
    if any(key in keys for key in SCALES) and _SCALER_COMPANIONS & keys:
        into.scalers.append(part)
    elif _SCHEDULER_KEYS & keys and not (into.schedulers and _is_below(part.path, into.schedulers[-1].path)):
        into.schedulers.append(part)


def _is_below(path: Sequence[str], other: Sequence[str]) -> bool:
    return len(path) > len(other) and tuple(path[: len(other)]) == tuple(other)


def _entry(path: tuple[str, ...], tensor: SavedTensor, file: str, optimizers: Mapping[tuple[str, ...], Part]) -> Entry:
    for length in range(len(path)) if optimizers else ():
        if path[:length] in optimizers:
            rest = path[length:]
            parameter, slot = (rest[1], rest[2]) if len(rest) > 2 and rest[0] == "state" else ("", rest[-1])
            return Entry(path, tensor, Role.OPTIMIZER, file, parameter, slot)
    return Entry(path, tensor, _role(path, tensor), file)


def _role(path: tuple[str, ...], tensor: SavedTensor) -> Role:
    name = ".".join(path)
    if not is_inexact(tensor.dtype):
        return Role.OTHER
    if _EMA.search(name):
        return Role.EMA
    if "_buffers" in path or _BUFFER.search(name):
        return Role.BUFFER
    if re.search(r"fp32_(flat_)?groups|single_partition_of_fp32", name):
        return Role.OPTIMIZER
    return Role.PARAMETER


def _count(tree: Any, counters: dict[str, int]) -> None:
    """Steps and epochs, from the top of the tree and one level below."""
    if not isinstance(tree, dict):
        return
    levels = [tree, *(value for value in tree.values() if isinstance(value, dict) and len(value) < 50)]
    for level in levels:
        for key, value in level.items():
            kind = _COUNTERS.get(key) if isinstance(key, str) else None
            if kind and isinstance(value, int | float) and not isinstance(value, bool) and 0 <= value < LARGEST:
                counters.setdefault(kind, int(value))
