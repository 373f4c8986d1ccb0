"""The gradient norm before it was clipped: what `clip_grad_norm_` computes anyway, noted and not yet read."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import torch
from torch.nn.utils import clip_grad

if TYPE_CHECKING:
    from collections.abc import Callable

SHARED = "_clip_grads_with_norm_"
"""What all public functions of torch 2.6 and newer end in, with the norm in hand."""


class Clipping:
    """Notes the norms of one step; `install` stands between torch's clipping and whoever calls it."""

    def __init__(self) -> None:
        self.norms: list[torch.Tensor] = []
        self._originals: list[tuple[Any, str, Any]] = []

    def install(self) -> None:
        """From now on, every clipping of this process."""
        if hasattr(clip_grad, SHARED):
            self._replace(clip_grad, SHARED, self._before_scaling)
        else:
            for place in (clip_grad, torch.nn.utils):
                self._replace(place, "clip_grad_norm_", self._after_clipping)
        for place in (clip_grad, torch.nn.utils):
            self._replace(place, "clip_grad_value_", self._before_values)

    def remove(self) -> None:
        """Leave clipping alone again."""
        for place, name, original in reversed(self._originals):
            setattr(place, name, original)
        self._originals.clear()

    def _replace(self, place: Any, name: str, make: Callable[[Any], Any]) -> None:
        original = getattr(place, name)
        self._originals.append((place, name, original))
        setattr(place, name, make(original))

    def _before_scaling(self, original: Any) -> Any:
        def clip(parameters: Any, max_norm: Any, total_norm: torch.Tensor, *args: Any, **options: Any) -> Any:
            self.norms.append(total_norm.detach())
            return original(parameters, max_norm, total_norm, *args, **options)

        return clip

    def _after_clipping(self, original: Any) -> Any:
        def clip(*args: Any, **options: Any) -> Any:
            norm = original(*args, **options)
            self.norms.append(norm.detach())
            return norm

        return clip

    def _before_values(self, original: Any) -> Any:
        def clip(parameters: Any, *args: Any, **options: Any) -> Any:
            parameters = [parameters] if isinstance(parameters, torch.Tensor) else list(parameters)
            gradients = [parameter.grad for parameter in parameters if parameter.grad is not None]
            if gradients:
                with torch.no_grad():
                    lengths = [torch.linalg.vector_norm(gradient) for gradient in gradients]
                    self.norms.append(torch.linalg.vector_norm(torch.stack(lengths)))
            return original(parameters, *args, **options)

        return clip
