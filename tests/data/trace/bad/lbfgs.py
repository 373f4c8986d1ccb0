"""The optimizer calls a closure, several times a step."""
import torch
from torch import nn

torch.manual_seed(0)
model = nn.Sequential(nn.Linear(4, 8), nn.ReLU(), nn.Linear(8, 3))
optimizer = torch.optim.AdamW(model.parameters(), lr=1e-2)

optimizer = torch.optim.LBFGS(model.parameters(), lr=1.0, max_iter=4)
inputs = torch.randn(16, 4)
for number in range(4):
    shift = 1e3 if number == 2 else 0.0

    def closure():
        optimizer.zero_grad()
        loss = torch.exp(model(inputs) + shift).mean()  # origin: exp
        loss.backward()
        return loss

    optimizer.step(closure)
