"""Batches by hand from an iterator."""
import torch
from torch import nn
from torch.utils.data import DataLoader, TensorDataset

torch.manual_seed(0)
model = nn.Sequential(nn.Linear(4, 4), nn.Dropout(0.5), nn.Linear(4, 2))
optimizer = torch.optim.SGD(model.parameters(), lr=1e-2)
data = torch.randn(48, 4)
data[32:40] = 0
batches = iter(DataLoader(TensorDataset(data), batch_size=8))


def train():
    for step in range(6):
        (x,) = next(batches)
        norms = x.sum(-1) / x.norm(dim=-1)  # origin: div
        loss = (model(x).mean(-1) * norms).mean()
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()


train()
