"""Weighted cross entropy."""

import torch


def weighted_nll(scores: torch.Tensor, target: torch.Tensor, weight: torch.Tensor) -> torch.Tensor:
    probabilities = torch.softmax(scores, dim=-1)
    chosen = probabilities.gather(-1, target.unsqueeze(-1)).squeeze(-1)
    return -(weight[target] * torch.log(chosen)).mean()  # planted
