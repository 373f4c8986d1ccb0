"""Contrastive loss of two views, one anchor at a time."""

import torch
import torch.nn.functional as F


class ViewContrast:
    def __init__(self, args) -> None:
        self.tau = args.tau
        self.projector = torch.nn.Linear(args.width, args.width)

    def similarity(self, a: torch.Tensor, b: torch.Tensor) -> torch.Tensor:
        return self.projector(a) @ self.projector(b).T / self.tau

    def loss(self, first: torch.Tensor, second: torch.Tensor) -> torch.Tensor:
        scores = self.similarity(first, second)
        return F.cross_entropy(scores, torch.arange(len(scores), device=scores.device))
