"""A triplet loss on distances by hand."""

import torch


def distance(a: torch.Tensor, b: torch.Tensor) -> torch.Tensor:
    return (a - b).pow(2).sum(dim=-1).sqrt()  # planted


def triplet(anchor: torch.Tensor, positive: torch.Tensor, negative: torch.Tensor, margin: float) -> torch.Tensor:
    return (distance(anchor, positive) - distance(anchor, negative) + margin).relu().mean()
