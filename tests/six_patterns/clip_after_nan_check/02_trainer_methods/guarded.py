"""Trainer whose step is spread over methods."""

import logging

import torch
from torch import nn

logger = logging.getLogger(__name__)


class Trainer:
    def __init__(self, model: nn.Module, lr: float, max_norm: float = 0.5) -> None:
        self.model = model
        self.max_norm = max_norm
        self.optimizer = torch.optim.Adam(model.parameters(), lr=lr)
        self.skipped = 0

    def _healthy(self, loss: torch.Tensor) -> bool:
        return bool(torch.isfinite(loss).all())

    def _update(self) -> None:
        nn.utils.clip_grad_norm_(self.model.parameters(), self.max_norm, error_if_nonfinite=True)
        self.optimizer.step()

    def train_step(self, batch: tuple[torch.Tensor, torch.Tensor]) -> float:
        x, y = batch
        self.optimizer.zero_grad(set_to_none=True)
        loss = nn.functional.l1_loss(self.model(x), y)
        if not self._healthy(loss):
            self.skipped += 1
            logger.warning("loss %s, batch skipped", loss.item())
            return float("nan")
        loss.backward()
        self._update()
        return loss.item()
