"""Reductions that all heads share."""

import torch


def reduce_loss(values: torch.Tensor, weights: torch.Tensor, avg_factor: torch.Tensor) -> torch.Tensor:
    """Weighted sum over all anchors of all images, per `avg_factor`."""
    return torch.sum(values * weights) / avg_factor  # expect: NAN101
