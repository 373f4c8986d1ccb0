"""The very last step of the run is the bad one."""
import torch
from torch import nn

torch.manual_seed(0)
model = nn.Sequential(nn.Linear(4, 8), nn.ReLU(), nn.Linear(8, 3))
optimizer = torch.optim.AdamW(model.parameters(), lr=1e-2)

for number in range(4):
    outputs = model(torch.randn(16, 4))
    loss = (outputs * (number != 3)).pow(2).sum(-1).sqrt().mean()  # origin: sqrt backward
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
