"""Mean aggregation over the neighbours of a graph's nodes."""

import torch
from torch import nn


class MeanConv(nn.Module):
    def __init__(self, width: int) -> None:
        super().__init__()
        self.own = nn.Linear(width, width)
        self.other = nn.Linear(width, width, bias=False)

    def forward(self, h: torch.Tensor, edges: torch.Tensor) -> torch.Tensor:
        source, target = edges
        nodes = h.size(0)
        degree = torch.bincount(target, minlength=nodes).to(h.dtype)
        gathered = torch.zeros_like(h).index_add(0, target, h[source])
        average = gathered * degree.reciprocal().unsqueeze(-1)  # expect: NAN101
        return torch.relu(self.own(h) + self.other(average))
