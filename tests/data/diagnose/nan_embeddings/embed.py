"""Writes cache/*.pt: mean of the token embeddings of each text."""

import torch


def pooled(tokens: torch.Tensor, mask: torch.Tensor) -> torch.Tensor:
    kept = mask.unsqueeze(-1).float()
    return (tokens * kept).sum(dim=1) / kept.sum(dim=1).clamp(min=1.0)
