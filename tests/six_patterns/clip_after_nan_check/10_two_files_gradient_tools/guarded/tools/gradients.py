"""What the trainers do with gradients."""

from collections.abc import Iterable

import torch


def limit(parameters: Iterable[torch.nn.Parameter], bound: float) -> torch.Tensor:
    """Bring the gradient's norm down to `bound`, and say what it was."""
    return torch.nn.utils.clip_grad_norm_(list(parameters), bound)
