"""Torch's own functions, patched while a script runs: each notes what it does, and one forward carries the fault.

The user's loop runs unchanged. The struck forward is the last one before the flagged line in the round of the fault; what it
returns goes through `Strike`, which adds to the value or multiplies the gradient.
"""

from __future__ import annotations

import contextlib
import dataclasses
import math
from typing import TYPE_CHECKING, Any
from unittest import mock

import torch
from torch.optim.optimizer import register_optimizer_step_post_hook, register_optimizer_step_pre_hook

from nanlint.confirm.worker.autocast import Emulation
from nanlint.confirm.worker.outcome import tensors_in
from nanlint.confirm.worker.training.log import MOST_FORWARDS, Enough

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from nanlint.confirm.worker.training.log import Log


@dataclasses.dataclass(frozen=True)
class Fault:
    """What goes wrong in forward number `at`: `added` to its result, the gradient `times` so much."""

    at: int = -1
    added: float = 0.0
    times: float = 1.0
    words: str = ""


class Strike(torch.autograd.Function):
    """The identity, but for a fault; one that is not finite strikes the first sample of a batch."""

    @staticmethod
    def forward(ctx: Any, x: torch.Tensor, fault: Fault) -> torch.Tensor:
        """Add what the fault adds."""
        ctx.times = _at_the_first(torch.ones_like(x), fault.times)
        return x + _at_the_first(torch.zeros_like(x), fault.added)

    @staticmethod
    def backward(ctx: Any, gradient: torch.Tensor) -> tuple[torch.Tensor, None]:
        """Multiply by what the fault multiplies."""
        return gradient * ctx.times, None


def _at_the_first(values: torch.Tensor, number: float) -> torch.Tensor:
    """The values with a number in their first row, or everywhere if it is finite."""
    (values[:1] if values.dim() and not math.isfinite(number) else values).fill_(number)
    return values


def struck(result: Any, fault: Fault) -> Any:
    """A result with the fault in every tensor that has a gradient."""
    if isinstance(result, torch.Tensor):
        return Strike.apply(result, fault) if result.requires_grad else result  # type: ignore[no-untyped-call] # untyped in torch
    if isinstance(result, (list, tuple)) and not hasattr(result, "_fields"):
        return type(result)(struck(part, fault) for part in result)
    if isinstance(result, dict):
        for key in list(result):
            result[key] = struck(result[key], fault)
        return result
    for name, value in list(getattr(result, "__dict__", {}).items()):
        if isinstance(value, torch.Tensor):
            setattr(result, name, struck(value, fault))
    return result


def has_gradient(result: Any) -> bool:
    """Whether a tensor of the result has one."""
    if isinstance(result, torch.Tensor):
        return result.requires_grad
    if isinstance(result, (list, tuple)):
        return any(map(has_gradient, result))
    return (
        any(has_gradient(value) for value in (result if isinstance(result, dict) else vars(result)).values())
        if (isinstance(result, dict) or hasattr(result, "__dict__")) and not isinstance(result, (type, torch.nn.Module))
        else False
    )


def norm_of(tensors: Iterable[torch.Tensor]) -> float:
    """The norm of all of them together, in double precision."""
    found = [one.detach().double().flatten() for one in tensors]
    return float(torch.cat(found).norm()) if found else 0.0


def gradients_of(parameters: Any) -> list[torch.Tensor]:
    """The gradients that there are."""
    found = [parameters] if isinstance(parameters, torch.Tensor) else list(parameters)
    return [one.grad for one in found if one.grad is not None]


@contextlib.contextmanager
def watched(log: Log, fault: Fault) -> Iterator[None]:
    """Note forwards, backwards, clips, steps and saves; strike one forward."""
    with contextlib.ExitStack() as stack:
        for one in (_forwards(log, fault), _backwards(log), *_clips(log), *_scalers(log), _schedules(log), _sums(log)):
            stack.enter_context(one)
        pre, post = _steps(log)
        for hook in (register_optimizer_step_pre_hook(pre), register_optimizer_step_post_hook(post)):
            stack.callback(hook.remove)
        # A run that is ended on the line of a `with` does not leave it.
        for kind in ("cpu", "cuda"):
            stack.callback(torch.set_autocast_enabled, kind, torch.is_autocast_enabled(kind))
        yield


def _forwards(log: Log, fault: Fault) -> Any:
    plain = torch.nn.Module.__call__
    depth = 0

    def call(self: Any, *args: Any, **kwargs: Any) -> Any:
        nonlocal depth
        depth += 1
        try:
            result = plain(self, *args, **kwargs)
        finally:
            depth -= 1
        if depth or not torch.is_grad_enabled() or next(self.parameters(), None) is None or not has_gradient(result):
            return result
        number, log.forwards = log.forwards, log.forwards + 1
        if number >= MOST_FORWARDS:
            raise Enough
        log.note("forward", number=number, dtypes={one.dtype for one in tensors_in(result)})
        if number != fault.at:
            return result
        log.note("fault", weights=set(map(id, self.parameters())))
        return struck(result, fault)

    return mock.patch.object(torch.nn.Module, "__call__", call)


def _backwards(log: Log) -> Any:
    plain = torch.Tensor.backward
    is_inside = False

    def backward(self: Any, *args: Any, **kwargs: Any) -> Any:
        nonlocal is_inside
        # Under a mode torch calls it a second time.
        if is_inside:
            return plain(self, *args, **kwargs)  # type: ignore[no-untyped-call] # untyped in torch
        log.note("backward", loss=float(self.detach().sum()), autocast=_is_autocast())
        is_inside = True
        try:
            return plain(self, *args, **kwargs)  # type: ignore[no-untyped-call] # same
        finally:
            is_inside = False

    return mock.patch.object(torch.Tensor, "backward", backward)


def _sums(log: Log) -> Any:
    """Tensors that processes add up: the other one's are those of its own run."""
    theirs = iter([entry.more["own"] for entry in log.partner.of("all_reduce")] if log.partner is not None else [])

    def all_reduce(tensor: torch.Tensor, *_: object, **__: object) -> None:
        log.note("all_reduce", own=tensor.detach().clone())
        with torch.no_grad():
            tensor.add_(next(theirs, torch.zeros_like(tensor)))

    return mock.patch.object(torch.distributed, "all_reduce", all_reduce)


def _is_autocast() -> bool:
    return bool(Emulation.entered) or torch.is_autocast_enabled("cuda") or torch.is_autocast_enabled("cpu")


def _clips(log: Log) -> list[Any]:
    made = []
    for name in ("clip_grad_norm_", "clip_grad_value_"):
        plain = getattr(torch.nn.utils, name)

        def clip(parameters: Any, *args: Any, _plain: Any = plain, **kwargs: Any) -> Any:
            found = [parameters] if isinstance(parameters, torch.Tensor) else list(parameters)
            before = norm_of(gradients_of(found))
            result = _plain(found, *args, **kwargs)
            log.note("clip", before=before, after=norm_of(gradients_of(found)))
            return result

        made += [mock.patch.object(torch.nn.utils, name, clip), mock.patch.object(torch.nn.utils.clip_grad, name, clip)]
    return made


def _scalers(log: Log) -> list[Any]:
    made = []
    for name in ("scale", "unscale_", "step", "update"):
        plain = getattr(torch.amp.GradScaler, name)

        def call(self: Any, *args: Any, _plain: Any = plain, _name: str = name, **kwargs: Any) -> Any:
            log.note(f"scaler.{_name}", scale=self.get_scale() if self.is_enabled() else 1.0)
            return _plain(self, *args, **kwargs)

        made.append(mock.patch.object(torch.amp.GradScaler, name, call))
    return made


def _schedules(log: Log) -> Any:
    plain = torch.optim.lr_scheduler.LRScheduler.step

    def step(self: Any, *args: Any, **kwargs: Any) -> Any:
        result = plain(self, *args, **kwargs)
        # Making a schedule takes its first step.
        kind = "scheduled" if getattr(self, "_is_initial", False) else "schedule"
        log.note(kind, rate=float(self.optimizer.param_groups[0]["lr"]))
        return result

    return mock.patch.object(torch.optim.lr_scheduler.LRScheduler, "step", step)


def _steps(log: Log) -> tuple[Any, Any]:
    before: dict[int, list[torch.Tensor]] = {}

    def pre(optimizer: Any, *_: object) -> None:
        weights = [weight for group in optimizer.param_groups for weight in group["params"]]
        before[id(optimizer)] = [weight.detach().clone() for weight in weights]
        norm = norm_of(gradients_of(weights))
        log.note("step", norm=norm, rate=float(optimizer.param_groups[0]["lr"]), optimizer=optimizer)

    def post(optimizer: Any, *_: object) -> None:
        weights = [weight for group in optimizer.param_groups for weight in group["params"]]
        old = before.pop(id(optimizer), [])
        moved = norm_of(new.detach() - one for new, one in zip(weights, old, strict=False))
        finite = all(bool(torch.isfinite(weight).all()) for weight in weights)
        log.note("stepped", moved=moved, finite=finite, weights=set(map(id, weights)))

    return pre, post
