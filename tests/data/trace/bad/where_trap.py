"""The bad branch is thrown away in the forward pass and not in the backward."""
import torch
from torch import nn

torch.manual_seed(0)
model = nn.Sequential(nn.Linear(4, 8), nn.ReLU(), nn.Linear(8, 3))
optimizer = torch.optim.AdamW(model.parameters(), lr=1e-2)

for number in range(2):
    outputs = model(torch.randn(16, 4)).abs() * (torch.rand(16, 3) > 0.2)
    safe = torch.where(outputs > 0, outputs.log(), outputs)  # origin: log backward
    loss = safe.mean()
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
