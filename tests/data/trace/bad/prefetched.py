"""The next batch is fetched before the step of this one."""
import torch
from torch import nn

torch.manual_seed(0)
model = nn.Sequential(nn.Linear(4, 8), nn.ReLU(), nn.Linear(8, 3))
optimizer = torch.optim.AdamW(model.parameters(), lr=1e-2)


def batch(number):
    return torch.randn(16, 4) * (1e5 if number == 3 else 1)


number = 0
inputs = batch(0)
while True:
    loss = -torch.log(model(inputs).sigmoid()).mean()  # origin: log
    number += 1
    inputs = batch(number)
    optimizer.zero_grad(set_to_none=True)
    loss.backward()
    optimizer.step()
    if number > 6:
        break
