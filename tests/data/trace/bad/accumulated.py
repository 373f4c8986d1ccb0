"""Four batches to a step, with dropout and batch norm; the second of them spoils the gradient only."""
import torch
from torch import nn
from torch.utils.data import DataLoader, TensorDataset

torch.manual_seed(0)
model = nn.Sequential(nn.Linear(4, 8), nn.BatchNorm1d(8), nn.Dropout(0.2), nn.Linear(8, 4))
optimizer = torch.optim.SGD(model.parameters(), lr=0.01)
inputs = torch.randn(96, 4)
marks = torch.ones(96, 1)
marks[5 * 8 : 6 * 8] = 0
loader = DataLoader(TensorDataset(inputs, marks), batch_size=8)


def distance(outputs, marks):
    return (outputs * marks).pow(2).sum(-1).sqrt().mean()  # origin: sqrt backward


for number, (x, mark) in enumerate(loader):
    loss = distance(model(x), mark) / 4
    loss.backward()
    if (number + 1) % 4 == 0:
        optimizer.step()
        optimizer.zero_grad()
