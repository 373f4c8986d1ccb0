"""A learning rate that lets the weights grow until a product overflows."""
import torch
from torch import nn

torch.manual_seed(0)
model = nn.Sequential(nn.Linear(4, 16), nn.Linear(16, 1))
optimizer = torch.optim.SGD(model.parameters(), lr=10.0)
inputs = torch.randn(32, 4)
for number in range(200):
    loss = model(inputs).pow(2).mean()  # origin: addmm
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
