"""A square that float16 cannot hold, under autocast."""
import torch
from torch import nn

torch.manual_seed(0)
model = nn.Linear(4, 4)
optimizer = torch.optim.SGD(model.parameters(), lr=1e-3)
for number in range(5):
    inputs = torch.randn(8, 4) * (3000 if number == 3 else 1)
    with torch.autocast("cpu", torch.float16):
        outputs = model(inputs)
        energy = outputs * outputs  # origin: mul
    loss = energy.float().mean()
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
