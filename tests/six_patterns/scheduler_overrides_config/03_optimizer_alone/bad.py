"""Fine-tuning at a constant rate; there is no scheduler."""

from dataclasses import dataclass

import torch
from torch import nn


@dataclass
class FinetuneConfig:
    lr: float = 1e-4
    weight_decay: float = 0.01
    checkpoint: str | None = None


def prepare(net: nn.Module, cfg: FinetuneConfig) -> torch.optim.Optimizer:
    optimizer = torch.optim.AdamW(net.parameters(), lr=cfg.lr, weight_decay=cfg.weight_decay)
    if cfg.checkpoint is not None:
        saved = torch.load(cfg.checkpoint, map_location="cpu", weights_only=True)
        net.load_state_dict(saved["net"])
        optimizer.load_state_dict(saved["optimizer"])  # expect: NAN501
    return optimizer


def finetune(net: nn.Module, cfg: FinetuneConfig, batches) -> None:
    optimizer = prepare(net, cfg)
    for x, y in batches:
        optimizer.zero_grad()
        nn.functional.l1_loss(net(x), y).backward()
        optimizer.step()
