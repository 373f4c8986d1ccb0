"""A function that raises when the loss is not finite."""
import torch
from torch import nn

torch.manual_seed(0)
model = nn.Sequential(nn.Linear(4, 8), nn.ReLU(), nn.Linear(8, 3))
optimizer = torch.optim.AdamW(model.parameters(), lr=1e-2)


def train_step(inputs):
    loss = -torch.log(model(inputs).sigmoid()).mean()  # origin: log
    if not torch.isfinite(loss):
        raise RuntimeError(f"loss is {loss.item()}")
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()


for number in range(6):
    train_step(torch.randn(16, 4) * (1e5 if number == 3 else 1))
