"""Adam without eps divides 0 by 0: gradients are finite, weights are not."""
import torch
from torch import nn

torch.manual_seed(0)
model = nn.Linear(4, 2)
optimizer = torch.optim.Adam(model.parameters(), lr=1e-2, eps=0.0)
for number in range(5):
    inputs = torch.randn(8, 4)
    if number == 0:
        inputs[:, 2] = 0
    loss = model(inputs).pow(2).mean()
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()  # origin: optimizer.step
