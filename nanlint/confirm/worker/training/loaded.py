"""What a script loads from a file that is not here: tensors of the recipe, or the states of an older run.

The older run had a learning rate ten times as high and a loss scale of 2048, so that one sees what a resumed run takes over.
"""

from __future__ import annotations

import contextlib
import re
from typing import TYPE_CHECKING, Any
from unittest import mock

import torch

from nanlint.confirm.worker.training.recipes import LOADED, SAMPLES, part

if TYPE_CHECKING:
    from collections.abc import Iterator

    from nanlint.confirm.worker.training.log import Log

Json = dict[str, Any]
OLD_SCALE = 2048.0
OLD_RATE = 10.0
"""How many times the rate of the older run is that of this one."""
_COUNTS = re.compile(r"epoch|step|iter|best|global|count|index")
_STATES = re.compile(r"model|state|optim|opt$|sched|scaler|ema|net|weights|amp")


class OldState(dict[str, Any]):
    """The saved state of something; `load_state_dict` knows what to make of it."""


class OldFile:
    """A file of an older run: asked by a key it has counts, states or data, asked as a tensor it is one."""

    def __init__(self, recipe: Json) -> None:
        self.__dict__["recipe"] = recipe
        self.__dict__["data"] = part(recipe, LOADED, SAMPLES)

    def __getitem__(self, key: Any) -> Any:
        if not isinstance(key, str):
            return self.data[key]
        if key in self.recipe["parts"]:
            return part(self.recipe, key, SAMPLES)
        if _COUNTS.search(key):
            return 0
        return OldState() if _STATES.search(key) else part(self.recipe, key, SAMPLES)

    def get(self, key: str, default: object = None) -> Any:
        """As of a dictionary."""
        del default
        return self[key]

    def __contains__(self, key: object) -> bool:
        return isinstance(key, str)

    def __len__(self) -> int:
        return SAMPLES

    def __getattr__(self, name: str) -> Any:
        return getattr(self.__dict__["data"], name)


@contextlib.contextmanager
def states_that_load(log: Log) -> Iterator[None]:
    """Let `load_state_dict` take what an older run would have saved; the log notes what was restored."""
    with contextlib.ExitStack() as stack:
        for owner, word, old in (
            (torch.nn.Module, "model", lambda thing: thing.state_dict()),
            (torch.optim.Optimizer, "optimizer", _old_optimizer),
            (torch.optim.lr_scheduler.LRScheduler, "scheduler", _old_schedule),
            (torch.amp.GradScaler, "scaler", _old_scaler),
        ):
            stack.enter_context(_taking(owner, word, old, log))
        yield


def _taking(owner: type, word: str, old: Any, log: Log) -> Any:
    plain = owner.load_state_dict  # type: ignore[attr-defined] # each of the four has it

    def load_state_dict(self: Any, state: Any, *args: Any, **kwargs: Any) -> Any:
        before = rates(self)
        # A key that nobody knows gives data, a name that says nothing a setting; a state is always a dictionary.
        stands_in = state is not None and (isinstance(state, OldState) or not isinstance(state, dict))
        result = plain(self, old(self) if stands_in else state, *args, **kwargs)
        log.note("restored", what=word, before=before, thing=self)
        return result

    return mock.patch.object(owner, "load_state_dict", load_state_dict)


def rates(thing: Any) -> list[float]:
    """The rates that a schedule goes by, or those of an optimizer."""
    groups = getattr(thing, "param_groups", [])
    return [float(rate) for rate in getattr(thing, "base_lrs", [group["lr"] for group in groups])]


def _old_optimizer(optimizer: Any) -> Json:
    state: Json = optimizer.state_dict()
    groups = [
        {**group, **{key: OLD_RATE * group[key] for key in ("lr", "initial_lr", "max_lr", "min_lr") if key in group}}
        for group in state["param_groups"]
    ]
    return {**state, "param_groups": groups}


def _old_schedule(scheduler: Any) -> Json:
    state: Json = scheduler.state_dict()
    changed: Json = {key: [OLD_RATE * rate for rate in state[key]] for key in ("base_lrs", "_last_lr") if key in state}
    return {**state, **changed, "last_epoch": state.get("last_epoch", 0) + 1}


def _old_scaler(scaler: Any) -> Json:
    return {**scaler.state_dict(), "scale": OLD_SCALE}
