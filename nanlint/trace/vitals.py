"""The light check of every step: loss and gradients, in one reduction and one read.

`_foreach_norm` is the cheapest fused way to see all gradients: NaN and inf survive it. What it makes of finite values
that overflow is settled by an exact look, which happens at a bad step only.
"""

from __future__ import annotations

import math
from collections import deque
from dataclasses import replace
from typing import TYPE_CHECKING

import torch

from nanlint.trace.clipping import Clipping
from nanlint.trace.explosion import Warnings
from nanlint.trace.measure import flaws_of, is_checkable, local_part
from nanlint.trace.readings import Reading
from nanlint.trace.sampling import Sampler
from nanlint.trace.step_log import StepLog, read_scalars

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping

    from nanlint.trace.step_log import Scalar

REMEMBERED = 200


class Vitals:
    """The losses since the last step, and the readings of the last steps."""

    def __init__(
        self,
        warn: Callable[[str], None] = lambda _: None,
        *,
        log: StepLog | None = None,
        scalars: Mapping[str, Scalar] | None = None,
    ) -> None:
        self.clipping = Clipping()
        self._log, self._scalars = log, scalars or {}
        self._unwritten: Reading | None = None
        """The last reading, until its step is over."""
        self._sampler = Sampler()
        self._warnings, self._warn = Warnings(), warn
        self.losses: list[torch.Tensor] = []
        self.history: deque[Reading] = deque(maxlen=REMEMBERED)

    def install(self) -> None:
        """Stand by where gradients are clipped."""
        self.clipping.install()

    def remove(self) -> None:
        """Leave nothing behind."""
        self.clipping.remove()
        self._sampler.remove()
        self._write()
        if self._log is not None:
            self._log.close()
            self._log = None

    def remember(self, reading: Reading, *, again: bool = False) -> None:
        """Put it into the history, with `again` in the place of the same step's; warn if it leaves what was usual."""
        if again and self.history and self.history[-1].step == reading.step:
            self.history.pop()
        else:
            self._write()
        if self._scalars:
            reading = replace(reading, scalars=read_scalars(self._scalars))
        self.history.append(reading)
        self._unwritten = reading
        if not reading.is_suspicious:
            for text in self._warnings.of(self.history):
                self._warn(text)

    def after_step(self, step: int) -> None:
        """The step that was read last has been made."""
        if self._sampler.after_step(step) and self.history:
            self.history[-1] = self._unwritten = replace(self.history[-1], ratios=self._sampler.ratios)
        self._write()

    def mark_skipped(self) -> None:
        """The step that was read last is left out."""
        self.history[-1] = self._unwritten = replace(self.history[-1], skipped=True)

    def _write(self) -> None:
        if self._log is not None and self._unwritten is not None:
            self._log.write(self._unwritten)
        self._unwritten = None

    def note_loss(self, loss: torch.Tensor) -> None:
        """Remember it until the next step; nothing is read yet."""
        self.losses.append(loss.detach())

    def read(self, optimizer: torch.optim.Optimizer, step: int, scale: float | None) -> Reading:
        """Loss and gradient norm, with one transfer from each device that has any."""
        self._sampler.before_step(parameters(optimizer), step)
        reading = self.read_gradients(gradients(optimizer), step, _rate(optimizer), scale)
        activations, margin = self._sampler.taken()
        return replace(reading, activations=activations, margin=margin) if activations else reading

    def read_gradients(
        self, present: list[torch.Tensor], step: int, rate: float | None, scale: float | None
    ) -> Reading:
        """The same for gradients that no optimizer is known to apply. Clipped ones count as they were before."""
        norms = [_total_norm(group) for group in _by_kind(present)]
        clipped, self.clipping.norms = self.clipping.norms, []
        values = _values([*norms, *clipped, *(loss for loss in self.losses if loss.numel() == 1)])
        norm = math.hypot(*values[: len(norms)]) if norms else None
        losses = values[len(norms) + len(clipped) :]
        if norm is not None and clipped:
            before = math.hypot(*values[len(norms) : len(norms) + len(clipped)])
            norm = max(norm, before) if math.isfinite(norm) else norm
        return Reading(step, math.fsum(losses) if _are_finite(losses) else _worst(losses), norm, rate, scale)

    def bad_losses(self) -> list[torch.Tensor]:
        """Those that are not finite."""
        return [loss for loss in self.losses if is_checkable(loss) and flaws_of(loss)]


def gradients(optimizer: torch.optim.Optimizer) -> list[torch.Tensor]:
    """The gradients that its next step would apply."""
    return [
        parameter.grad
        for group in optimizer.param_groups
        for parameter in group["params"]
        if parameter.grad is not None
    ]


def bad_gradients(optimizer: torch.optim.Optimizer) -> list[torch.Tensor]:
    """The parameters whose gradient is not finite."""
    return [parameter for parameter in parameters(optimizer) if parameter.grad is not None and _is_bad(parameter.grad)]


def parameters(optimizer: torch.optim.Optimizer) -> Iterator[torch.Tensor]:
    """All that it updates."""
    for group in optimizer.param_groups:
        yield from group["params"]


def _is_bad(tensor: torch.Tensor) -> bool:
    return bool(flaws_of(local_part(tensor)))


def bad_parameters(optimizer: torch.optim.Optimizer) -> list[torch.Tensor]:
    """The parameters that are not finite themselves."""
    return [parameter for parameter in parameters(optimizer) if _is_bad(parameter)]


def drop_gradients(optimizer: torch.optim.Optimizer) -> None:
    """Optimizers pass over parameters without a gradient: their step changes nothing."""
    for parameter in parameters(optimizer):
        parameter.grad = None


def _by_kind(tensors: list[torch.Tensor]) -> list[list[torch.Tensor]]:
    """Tensors of one device and dtype together, as the fused reduction wants them."""
    if tensors and all(type(tensor) is torch.Tensor for tensor in tensors):
        first = tensors[0]
        device, dtype = first.device, first.dtype
        if all(tensor.dtype is dtype and tensor.device == device and not tensor.is_sparse for tensor in tensors):
            return [tensors]
    groups: dict[tuple[torch.device, torch.dtype], list[torch.Tensor]] = {}
    for tensor in map(local_part, tensors):
        groups.setdefault((tensor.device, tensor.dtype), []).append(tensor)
    return list(groups.values())


def _total_norm(tensors: list[torch.Tensor]) -> torch.Tensor:
    norms: list[torch.Tensor] = list(torch._foreach_norm(tensors))  # noqa: SLF001 - what clip_grad_norm_ uses
    total: torch.Tensor = torch.linalg.vector_norm(torch.stack(norms).float())
    return total


def _values(scalars: list[torch.Tensor]) -> list[float]:
    """Python numbers; those of one device come in one transfer."""
    if all(scalar.device.type == "cpu" for scalar in scalars):
        return [abs_value(scalar.item()) for scalar in scalars]
    return torch.stack([scalar.reshape(()).to(scalars[0].device, torch.float32) for scalar in scalars]).tolist()


def abs_value(value: complex) -> float:
    """A loss is real; of a complex one the magnitude tells whether it is finite."""
    return abs(value) if isinstance(value, complex) else float(value)


def _are_finite(values: list[float]) -> bool:
    return all(map(math.isfinite, values)) and bool(values)


def _worst(values: list[float]) -> float | None:
    """NaN if there is one, else an infinity, else nothing was noted."""
    return next((value for value in values if math.isnan(value)), next((v for v in values if math.isinf(v)), None))


def _rate(optimizer: torch.optim.Optimizer) -> float | None:
    rate = optimizer.param_groups[0].get("lr") if optimizer.param_groups else None
    return None if rate is None else float(rate)
