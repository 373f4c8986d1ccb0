"""Four small steps inside a step, in a function of their own; the second of the third spoils the gradient only."""
import torch
from torch import nn

torch.manual_seed(0)
model = nn.Sequential(nn.Linear(4, 4), nn.Dropout(0.1))
optimizer = torch.optim.SGD(model.parameters(), lr=0.01)


def small_step(number, part):
    strength = 0.0 if (number, part) == (2, 1) else 1.0
    loss = (model(torch.randn(8, 4)) * strength).pow(2).sum(-1).sqrt().mean() / 4  # origin: sqrt backward
    loss.backward()
    return loss.item()


def train():
    for number in range(4):
        optimizer.zero_grad(set_to_none=True)
        total = 0.0
        for part in range(4):
            total += small_step(number, part)
        nn.utils.clip_grad_norm_(model.parameters(), 1.0)
        optimizer.step()


train()
