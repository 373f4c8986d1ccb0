"""Batches from worker processes."""
import torch
from torch import nn
from torch.utils.data import DataLoader, TensorDataset

if __name__ == "__main__":
    torch.manual_seed(0)
    model = nn.Linear(4, 2)
    optimizer = torch.optim.SGD(model.parameters(), lr=0.01)
    inputs = torch.randn(64, 4)
    inputs[40:48] *= 1e5
    loader = DataLoader(TensorDataset(inputs), batch_size=8, num_workers=2, shuffle=False)
    for (x,) in loader:
        loss = torch.exp(model(x)).mean()  # origin: exp
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
