"""GradScaler, watched: its skips are normal, a loss that is not finite before scaling is not.

A scaler that still skips when its scale is below 1 no longer fights an overflow of its own making.
"""

from __future__ import annotations

import weakref
from typing import TYPE_CHECKING, Any

from torch.amp.grad_scaler import GradScaler

if TYPE_CHECKING:
    from collections.abc import Callable

    import torch

HOPELESS_SCALE = 1.0


class Scaling:
    """The scalers of the run; `install` has them tell what they do."""

    def __init__(self, note_loss: Callable[[torch.Tensor], None], skipped: Callable[[Any, float], None]) -> None:
        self.scale: float | None = None
        """The last scale that was seen."""
        self._note_loss = note_loss
        self._skipped = skipped
        self._stepping: dict[str, Any] | None = None
        self._scaled: list[weakref.ref[torch.Tensor]] = []
        self._scalers: weakref.WeakSet[GradScaler] = weakref.WeakSet()
        self._originals: tuple[Any, Any] = (GradScaler.scale, GradScaler._maybe_opt_step)  # noqa: SLF001 - where it decides to skip

    def install(self) -> None:
        """Every scaler of this process, from now on."""
        scale, maybe_step = self._originals

        def watched_scale(scaler: GradScaler, outputs: Any) -> Any:
            result = scale(scaler, outputs)
            self._note_scaled(scaler, outputs, result)
            return result

        def watched_step(scaler: GradScaler, optimizer: Any, state: dict[str, Any], *args: Any, **options: Any) -> Any:
            if sum(flag.item() for flag in state["found_inf_per_device"].values()):
                self.scale = scaler.get_scale()
                self._skipped(optimizer, self.scale)
                return None
            self._stepping = state
            try:
                return maybe_step(scaler, optimizer, state, *args, **options)
            finally:
                self._stepping = None

        GradScaler.scale = watched_scale  # type: ignore[method-assign, assignment] # the one place all scalers pass
        GradScaler._maybe_opt_step = watched_step  # type: ignore[method-assign, assignment] # noqa: SLF001 - same

    def remove(self) -> None:
        """Leave the scalers alone again."""
        GradScaler.scale, GradScaler._maybe_opt_step = self._originals  # type: ignore[method-assign] # noqa: SLF001 - as it was

    def _note_scaled(self, scaler: GradScaler, outputs: Any, result: Any) -> None:
        if not scaler.is_enabled() or not hasattr(outputs, "detach"):
            return
        self._scalers.add(scaler)
        self.scale = self.scale or scaler._init_scale  # noqa: SLF001 - reading the present one would wait for the device
        self._note_loss(outputs)
        self._scaled = [*(known for known in self._scaled if known() is not None), weakref.ref(result)]

    @property
    def scalers(self) -> list[GradScaler]:
        """Those that have scaled a loss."""
        return list(self._scalers)

    def is_scaled(self, tensor: torch.Tensor) -> bool:
        """Whether a scaler made this loss, whose unscaled twin is known already."""
        return any(known() is tensor for known in self._scaled)

    def tell_skip(self) -> None:
        """Let the scaler that is in the middle of a step know that it is left out, so that it backs off."""
        if self._stepping is not None:
            for flag in self._stepping["found_inf_per_device"].values():
                flag.fill_(1.0)

    def forget_step(self) -> None:
        """Let the scalers begin the step anew, as if nothing had been unscaled."""
        for scaler in self._scalers:
            scaler._per_optimizer_states.clear()  # noqa: SLF001 - update() does the same
