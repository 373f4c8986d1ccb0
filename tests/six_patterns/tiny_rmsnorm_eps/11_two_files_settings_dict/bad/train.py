"""The model and its training step."""

import torch
from torch import nn

from settings import MODEL, OPTIMIZER


class Residual(nn.Module):
    def __init__(self, width: int, rms_norm_eps: float) -> None:
        super().__init__()
        self.norm = nn.RMSNorm(width, eps=rms_norm_eps)  # expect: NAN204
        self.body = nn.Linear(width, width)

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        return x + self.body(self.norm(x)).relu()


def build() -> tuple[nn.Module, torch.optim.Optimizer]:
    width, eps = MODEL["width"], MODEL["rms_norm_eps"]
    net = nn.Sequential(*[Residual(width, eps) for _ in range(MODEL["depth"])])
    return net, torch.optim.AdamW(net.parameters(), **OPTIMIZER)
