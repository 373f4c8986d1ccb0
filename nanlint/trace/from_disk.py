"""Going back to a checkpoint on disk: the last clean one that `nanlint checkpoint` names, where memory holds no good state.

The file is read as data first, and then loaded by torch with `weights_only`: nothing in it is run.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import torch

from nanlint.checkpoint.diagnosis import Request, diagnose
from nanlint.checkpoint.layout import checkpoints
from nanlint.checkpoint.series import in_order
from nanlint.errors import NanlintError

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence
    from pathlib import Path

_DEEPEST = 3
_PREFIXES = ("", "module.", "_orig_mod.", "model.")
"""What DataParallel, torch.compile and Lightning put before the names of weights."""


def last_clean(folder: Path) -> Path:
    """The checkpoint to go back to; raises NanlintError if there is none in one file."""
    series = in_order([diagnose(each, Request()) for each in checkpoints([folder]) if len(each.files) == 1])
    found = series.last_clean
    if found is None:
        raise NanlintError(f"{folder} holds no clean checkpoint to roll back to")
    return found.checkpoint.files[0]


def restore(
    path: Path,
    model: torch.nn.Module,
    optimizer: torch.optim.Optimizer,
    schedulers: Sequence[Any],
    scalers: Sequence[Any],
) -> list[str]:
    """Put back what the checkpoint holds, and say what that was; raises NanlintError if the weights are not in it."""
    try:
        saved = torch.load(path, map_location="cpu", weights_only=True)
    except Exception as error:  # noqa: BLE001 - pickle and torch raise what they like
        raise NanlintError(f"{path} cannot be loaded to roll back to: {str(error).splitlines()[0]:.160}") from None
    states = list(_mappings(saved, 0))
    weights = next((found for state in states if (found := _weights_for(model, state))), None)
    if weights is None:
        raise NanlintError(f"{path} does not hold the weights of this model; nothing was rolled back")
    model.load_state_dict(weights)
    done = ["model"]
    groups = next((state for state in states if {"state", "param_groups"} <= state.keys()), None)
    if groups is not None:
        optimizer.load_state_dict(groups)
        done.append("optimizer")
    else:
        optimizer.state.clear()
    done += _put_back(schedulers, [state for state in states if "last_epoch" in state], "scheduler")
    done += _put_back(scalers, [state for state in states if {"scale", "growth_factor"} <= state.keys()], "scaler")
    return done


def _put_back(owners: Sequence[Any], states: Sequence[dict[str, Any]], name: str) -> list[str]:
    for owner, state in zip(owners, states, strict=False):
        owner.load_state_dict(state)
    return [name] if owners and states else []


def _mappings(value: Any, depth: int) -> Iterator[dict[str, Any]]:
    """The dictionaries of a checkpoint, outermost first."""
    if isinstance(value, dict):
        yield value
        if depth < _DEEPEST and not {"state", "param_groups"} <= value.keys():
            for inner in value.values():
                yield from _mappings(inner, depth + 1)
    elif isinstance(value, list) and depth < _DEEPEST:
        for inner in value:
            yield from _mappings(inner, depth + 1)


def _weights_for(model: torch.nn.Module, state: dict[str, Any]) -> dict[str, Any] | None:
    """The weights under the model's own names, if all of them are there in their shapes."""
    wanted = {name: tuple(value.shape) for name, value in model.state_dict().items() if isinstance(value, torch.Tensor)}
    for prefix in _PREFIXES:
        held = {name: state.get(prefix + name) for name in wanted}
        if wanted and all(isinstance(value, torch.Tensor) and tuple(value.shape) == wanted[name] for name, value in held.items()):  # fmt: skip
            return held
    return None
