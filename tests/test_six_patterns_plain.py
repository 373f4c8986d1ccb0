"""The six patterns in their plainest form are shown by default: a short file each, as somebody would try the command first."""

from __future__ import annotations

import pytest

import nanlint

PATTERNS = {
    "the sum of a mask": (
        "NAN101",
        """
import torch

def masked_mean(values: torch.Tensor, mask: torch.Tensor) -> torch.Tensor:
    return (values * mask).sum() / mask.sum()
""",
    ),
    "weights of any name": (
        "NAN101",
        """
import torch

def weighted(losses: torch.Tensor, q: torch.Tensor) -> torch.Tensor:
    return (losses * q).sum() / q.sum()
""",
    ),
    "a norm": (
        "NAN101",
        """
import torch

def unit(x: torch.Tensor) -> torch.Tensor:
    return x / x.norm(dim=-1, keepdim=True)
""",
    ),
    "max - min": (
        "NAN101",
        """
import torch

def scale(x: torch.Tensor) -> torch.Tensor:
    return (x - x.min()) / (x.max() - x.min())
""",
    ),
    "log without eps": (
        "NAN102",
        """
import torch

def nll(probs: torch.Tensor, target: torch.Tensor) -> torch.Tensor:
    return -(target * torch.log(probs)).sum(dim=-1).mean()
""",
    ),
    "clip after NaN check": (
        "NAN403",
        """
import torch
from torch import nn

def train(model: nn.Module, loader, optimizer: torch.optim.Optimizer) -> None:
    for x, y in loader:
        loss = nn.functional.cross_entropy(model(x), y)
        if torch.isnan(loss):
            continue
        optimizer.zero_grad()
        loss.backward()
        torch.nn.utils.clip_grad_norm_(model.parameters(), 1.0)
        optimizer.step()
""",
    ),
    "a bound of 1e6": (
        "NAN401",
        """
import torch

def step(model, optimizer, loss):
    loss.backward()
    torch.nn.utils.clip_grad_norm_(model.parameters(), 1e6)
    optimizer.step()
""",
    ),
    "a bound of 1e6 in a file without torch": (
        "NAN401",
        """
from transformers import Trainer, TrainingArguments

args = TrainingArguments(output_dir="out", max_grad_norm=1e6)
Trainer(model=None, args=args).train()
""",
    ),
    "tiny RMSNorm eps": (
        "NAN204",
        """
import torch
from torch import nn

class RMSNorm(nn.Module):
    def __init__(self, dim: int, eps: float = 1e-20) -> None:
        super().__init__()
        self.eps = eps
        self.weight = nn.Parameter(torch.ones(dim))

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        return x * torch.rsqrt(x.pow(2).mean(-1, keepdim=True) + self.eps) * self.weight
""",
    ),
    "scheduler state overriding the config": (
        "NAN501",
        """
import torch

def main(config, model):
    optimizer = torch.optim.AdamW(model.parameters(), lr=config.lr)
    scheduler = torch.optim.lr_scheduler.CosineAnnealingLR(optimizer, T_max=config.steps)
    state = torch.load(config.resume)
    model.load_state_dict(state["model"])
    optimizer.load_state_dict(state["optimizer"])
    scheduler.load_state_dict(state["scheduler"])
    return optimizer, scheduler
""",
    ),
}


@pytest.mark.parametrize(("code", "text"), PATTERNS.values(), ids=PATTERNS)
def test_the_plain_pattern_is_shown_by_default(code: str, text: str) -> None:
    assert code in [finding.code for finding in nanlint.check_source(text)]
