"""Training under autocast, from a config object."""

from dataclasses import dataclass

import torch
from torch import nn


@dataclass(frozen=True)
class RunConfig:
    lr: float = 3e-4
    max_norm: float = 1.0
    device: str = "cpu"


class Run:
    def __init__(self, model: nn.Module, config: RunConfig) -> None:
        self.model, self.config = model, config
        self.optimizer = torch.optim.AdamW(model.parameters(), lr=config.lr)

    def step(self, x: torch.Tensor, y: torch.Tensor) -> bool:
        self.optimizer.zero_grad()
        with torch.autocast(self.config.device, dtype=torch.bfloat16):
            loss = nn.functional.cross_entropy(self.model(x).float(), y)
        if not loss.isfinite().all():
            return False
        loss.backward()
        torch.nn.utils.clip_grad_norm_(self.model.parameters(), self.config.max_norm)  # expect: NAN403
        self.optimizer.step()
        return True
