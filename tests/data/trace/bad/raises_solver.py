"""A solver that halves its step until the error is small gives up at an infinity, and says nothing of it."""
import torch
from torch import nn

torch.manual_seed(0)
field = nn.Linear(2, 2)
optimizer = torch.optim.SGD(field.parameters(), lr=0.01)


def solve(start, scale):
    size = 1.0
    slope = field(start) / scale  # origin: div
    while not bool((slope * size).abs().max() < 10):
        size /= 2
        assert size > 1e-3, f"step underflow {size}"
    return start + size * slope


for step in range(6):
    scale = torch.tensor(float(step != 3))
    loss = solve(torch.randn(4, 2), scale).pow(2).mean()
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
