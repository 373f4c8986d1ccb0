"""Going on as if a bad batch had never come: random states, buffers, learning rates and scales are set back.

A bad step is refused before it is made, so weights and optimizer still are those of the last good step. Only a step that spoils
the weights although its gradients were finite needs a copy of both, which is made before every step: its cost is one copy of
weights and optimizer state, in memory and in time.
"""

from __future__ import annotations

import copy
import gc
from typing import TYPE_CHECKING, Any

import torch

from nanlint.trace.vitals import bad_parameters, parameters

if TYPE_CHECKING:
    from collections.abc import Iterable
    from pathlib import Path

    from nanlint.trace.marks import Mark, Marks


class Recovery:
    """The last good state of what is trained."""

    def __init__(self, marks: Marks) -> None:
        self._marks = marks
        self._mark: Mark | None = None
        """Where the step began."""
        self._copies: dict[int, _Copy] = {}
        self._settings: list[tuple[Any, Any]] = []
        """Schedulers and scalers, with the states that they are to have again."""
        self._groups: list[tuple[dict[str, Any], dict[str, Any]]] = []

    def begin(self, mark: Mark) -> None:
        """A model is called. The first call since the last step is where a bad step goes back to."""
        self.reset_settings()
        self._mark = self._mark or mark

    def before_good_step(self, optimizer: torch.optim.Optimizer) -> None:
        """Copy what the step is about to change."""
        self._mark = None
        self._copies.setdefault(id(optimizer), _Copy()).take(optimizer)

    def has_good_weights(self, optimizer: torch.optim.Optimizer) -> bool:
        """Whether the weights are finite, or a copy of finite ones is there."""
        return not bad_parameters(optimizer) or id(optimizer) in self._copies

    def go_to_disk(
        self, checkpoint: Path, model: torch.nn.Module, optimizer: torch.optim.Optimizer, scalers: Iterable[Any]
    ) -> list[str]:
        """Be what the checkpoint holds; what was put back."""
        from nanlint.trace.from_disk import restore  # noqa: PLC0415 - for those who have nothing better

        done = restore(checkpoint, model, optimizer, schedulers_of(optimizer), list(scalers))
        self._mark, self._copies, self._settings, self._groups = None, {}, [], []
        return done

    def go_back(self, optimizer: torch.optim.Optimizer, scalers: Iterable[Any]) -> None:
        """The step is bad: be where it began. What the script does to rates and scales until the next one is undone then."""
        if bad_parameters(optimizer) and id(optimizer) in self._copies:
            self._copies[id(optimizer)].restore(optimizer)
        if self._mark is not None:
            self._marks.return_to(self._mark)
        self._mark = None
        self._settings = [(each, copy.deepcopy(each.state_dict())) for each in (*schedulers_of(optimizer), *scalers)]
        self._groups = [
            (group, {name: value for name, value in group.items() if name != "params"})
            for group in optimizer.param_groups
        ]

    def reset_settings(self) -> None:
        """Undo what the script has done to schedulers, scalers and rates since the bad step."""
        for owner, state in self._settings:
            owner.load_state_dict(state)
        for group, values in self._groups:
            group.update(values)
        self._settings, self._groups = [], []


class _Copy:
    """Weights and state of one optimizer."""

    def __init__(self) -> None:
        self._weights: list[torch.Tensor] = []
        self._state: dict[int, dict[str, Any]] = {}

    @torch.no_grad()
    def take(self, optimizer: torch.optim.Optimizer) -> None:
        weights = [each.detach() for each in parameters(optimizer)]
        if len(weights) == len(self._weights):
            torch._foreach_copy_(self._weights, weights)
        else:
            self._weights = [each.clone() for each in weights]
        self._state = {id(each): _copied(optimizer.state.get(each, {})) for each in parameters(optimizer)}

    @torch.no_grad()
    def restore(self, optimizer: torch.optim.Optimizer) -> None:
        for weight, values in zip(parameters(optimizer), self._weights, strict=True):
            weight.copy_(values)
            state = self._state[id(weight)]
            if state:
                optimizer.state[weight] = _copied(state)
            else:
                optimizer.state.pop(weight, None)


def _copied(state: dict[str, Any]) -> dict[str, Any]:
    return {
        name: value.clone() if isinstance(value, torch.Tensor) else copy.copy(value) for name, value in state.items()
    }


def schedulers_of(optimizer: torch.optim.Optimizer) -> list[Any]:
    """The schedules that move its rate."""
    things = gc.get_objects()
    kinds = {kind for kind in set(map(type, things)) if issubclass(kind, torch.optim.lr_scheduler.LRScheduler)}
    return [thing for thing in things if type(thing) in kinds and getattr(thing, "optimizer", None) is optimizer]
