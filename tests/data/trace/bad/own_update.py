"""Weights are updated by hand; the gradient is NaN before the loss is."""
import torch
from torch import nn

torch.manual_seed(0)
model = nn.Linear(4, 3)
for number in range(6):
    outputs = model(torch.randn(8, 4))
    loss = (outputs * (number != 3)).pow(2).sum(-1).sqrt().mean()  # origin: sqrt backward
    model.zero_grad()
    loss.backward()
    for parameter in model.parameters():
        parameter.data.add_(parameter.grad, alpha=-0.01)
