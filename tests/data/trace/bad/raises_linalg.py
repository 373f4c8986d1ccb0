"""eigh does not converge, because its matrix is NaN."""
import torch
from torch import nn

torch.manual_seed(0)
model = nn.Linear(4, 4)
optimizer = torch.optim.SGD(model.parameters(), lr=1e-2)


def train():
    for number in range(4):
        outputs = model(torch.randn(8, 4) * (number != 2))
        centred = outputs - outputs.mean(0)
        unit = centred / centred.norm(dim=0)  # origin: div
        loss = torch.linalg.eigh(unit.T @ unit)[0].max()
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()


train()
