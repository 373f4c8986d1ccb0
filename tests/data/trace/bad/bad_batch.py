"""The data itself holds a NaN."""
import torch
from torch import nn
from torch.utils.data import DataLoader, TensorDataset

torch.manual_seed(0)
model = nn.Linear(4, 2)
optimizer = torch.optim.SGD(model.parameters(), lr=1e-2)
data = torch.randn(48, 4)
data[30, 1] = float("nan")
for (x,) in DataLoader(TensorDataset(data), batch_size=8):
    loss = model(x).pow(2).mean()  # origin: addmm
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
