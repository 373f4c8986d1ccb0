"""What an optimizer is, and what it did to a parameter whose gradient was finite."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import torch

from nanlint.trace.diagnose import from_the_start, parameter_state, what
from nanlint.trace.diagnosis import OPTIMIZER, PARAMETER, Diagnosis
from nanlint.trace.measure import flaws_of, local_part, stats_of
from nanlint.trace.names import Names
from nanlint.trace.reasons import number
from nanlint.trace.vitals import bad_parameters

if TYPE_CHECKING:
    from nanlint.trace.places import Place

SHOWN = ("lr", "betas", "momentum", "eps", "weight_decay")
MOMENTS = ("exp_avg", "exp_avg_sq", "max_exp_avg_sq", "square_avg", "momentum_buffer", "sum")


def described(optimizer: torch.optim.Optimizer) -> str:
    """`AdamW(lr=0.001, eps=1e-08)`."""
    group = optimizer.param_groups[0] if optimizer.param_groups else {}
    options = ", ".join(f"{name}={_shown(group[name])}" for name in SHOWN if name in group)
    return f"{type(optimizer).__name__}({options})"


def _shown(value: Any) -> str:
    return number(float(value)) if isinstance(value, (float, torch.Tensor)) else str(value)


def spoiled(blank: Diagnosis, optimizer: torch.optim.Optimizer, step: int, places: tuple[Place, ...]) -> Diagnosis:
    """`blank` completed for a parameter that is not finite itself: by the step before `step`, or from the start."""
    names = Names.gather()
    bad = bad_parameters(optimizer)
    name = names.of_tensor(bad[0]) or f"of shape {tuple(bad[0].shape)}"
    flaws = flaws_of(local_part(bad[0]))
    blank.parameters = tuple(parameter_state(names.of_tensor(each) or "?", each) for each in bad[:6])
    blank.inputs = _moments(optimizer, bad[0])
    blank.module = names.of_module(names.owners.get(id(bad[0])))
    blank.symptom = f"{len(bad)} parameters are not finite, first `{name}`"
    if step <= 1:
        blank.kind = PARAMETER
        blank.reason = from_the_start(name, flaws)
        return blank
    blank.kind, blank.step, blank.places, blank.operation = OPTIMIZER, step - 1, places, "optimizer.step"
    blank.reason = (
        f"the gradients of step {step - 1} were finite, and {described(optimizer)} made {what(flaws)} of `{name}`"
    )
    return blank


def _moments(optimizer: torch.optim.Optimizer, parameter: torch.Tensor) -> tuple[Any, ...]:
    state = optimizer.state.get(parameter, {})
    return tuple(stats_of(name, state[name]) for name in MOMENTS if isinstance(state.get(name), torch.Tensor))
