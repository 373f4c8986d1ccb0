"""Sparse gradients."""
import torch
from torch import nn

torch.manual_seed(0)
table = nn.Embedding(10, 4, sparse=True)
optimizer = torch.optim.SparseAdam(table.parameters(), lr=1e-2)
for number in range(4):
    rows = table(torch.randint(0, 10, (6,)))
    if number == 2:
        rows = rows * 0
    loss = rows.norm(p=2, dim=-1).add(rows.abs().sum().pow(0.5)).mean()  # origin: pow backward
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
