"""The forward pass is finite; the slope of the root at 0 is not."""
import torch
from torch import nn

torch.manual_seed(0)
model = nn.Sequential(nn.Linear(4, 8), nn.ReLU(), nn.Linear(8, 3))
optimizer = torch.optim.AdamW(model.parameters(), lr=1e-2)


def length(vector):
    return vector.pow(2).sum(-1).sqrt()  # origin: sqrt backward


for number in range(6):
    inputs = torch.randn(16, 4)
    outputs = model(inputs)
    if number == 4:
        outputs = outputs * 0
    loss = length(outputs).mean()
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
