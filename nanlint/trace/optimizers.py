"""What an optimizer is, and what it did to a parameter whose gradient was finite."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import torch

from nanlint.trace.came_in import variable_of
from nanlint.trace.diagnose import from_the_start, parameter_state, what
from nanlint.trace.diagnosis import ELSEWHERE, OPTIMIZER, PARAMETER, Diagnosis
from nanlint.trace.measure import flaws_of, local_part, stats_of
from nanlint.trace.names import Names
from nanlint.trace.reasons import OPTIMIZER_EPS
from nanlint.trace.vitals import bad_parameters
from nanlint.trace.words import number

if TYPE_CHECKING:
    from nanlint.trace.places import Place
    from nanlint.trace.readings import Reading

SHOWN = ("lr", "betas", "momentum", "eps", "weight_decay")
UNDERSTOOD = ("SGD", "Adam", "AdamW", "RMSprop", "Adagrad")
"""Whose arithmetic is simple enough to rule them out."""
FAR = 1e6
"""Values this far from the end of the format do not pass it in one step."""
SQUARES = ("exp_avg_sq", "square_avg", "sum")
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
    name = names.of_tensor(bad[0]) or variable_of(bad[0]) or f"of shape {tuple(bad[0].shape)}"
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
    applied = next((reading for reading in blank.history if reading.step == step - 1), None)
    if applied is not None and applied.is_suspicious:
        blank.kind, blank.operation = ELSEWHERE, ""
        blank.reason = f"the gradients of step {step - 1} were not finite, and the step was made with them"
        return blank
    if not _can_spoil(optimizer, bad[0], applied):
        blank.kind, blank.operation, blank.places = ELSEWHERE, "", ()
        blank.reason = f"`{name}` holds {what(flaws)} although the gradients and the state of {described(optimizer)} are finite: something else wrote it"
        return blank
    blank.reason = (
        f"the gradients of step {step - 1} were finite, and {described(optimizer)} made {what(flaws)} of `{name}`"
    )
    if _divides_by_nothing(optimizer, bad[0]):
        blank.cause = OPTIMIZER_EPS
        blank.reason += ": it divides by sqrt(v) + eps, which is 0 in " + str(bad[0].dtype).removeprefix("torch.")
    return blank


def _can_spoil(optimizer: torch.optim.Optimizer, parameter: torch.Tensor, applied: Reading | None) -> bool:
    """Whether the last step can have made the parameter bad: by its state, a divisor of 0, or values near the end of the format."""
    if type(optimizer).__name__ not in UNDERSTOOD or applied is None or _divides_by_nothing(optimizer, parameter):
        return True
    state = optimizer.state.get(parameter, {})
    if any(isinstance(state.get(name), torch.Tensor) and flaws_of(local_part(state[name])) for name in MOMENTS):
        return True
    largest = stats_of("", parameter).largest
    step = (applied.gradient_norm or 0.0) * (applied.learning_rate or 0.0)
    return not max(largest, step) < torch.finfo(parameter.dtype).max / FAR


def _divides_by_nothing(optimizer: torch.optim.Optimizer, parameter: torch.Tensor) -> bool:
    """Whether the eps of an adaptive optimizer is 0 in the parameter's format, and so is what it is added to."""
    group = next(group for group in optimizer.param_groups if any(each is parameter for each in group["params"]))
    state = optimizer.state.get(parameter, {})
    squares = next((state[name] for name in SQUARES if isinstance(state.get(name), torch.Tensor)), None)
    if "eps" not in group or squares is None:
        return False
    eps = torch.tensor(float(group["eps"]), dtype=parameter.dtype)
    return not bool(eps) and bool((squares == 0).any())


def _moments(optimizer: torch.optim.Optimizer, parameter: torch.Tensor) -> tuple[Any, ...]:
    state = optimizer.state.get(parameter, {})
    return tuple(stats_of(name, state[name]) for name in MOMENTS if isinstance(state.get(name), torch.Tensor))
