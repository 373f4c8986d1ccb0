"""A graph network whose adjacency matrix is sparse, which has no memory of its own to measure."""
import torch
from torch import nn

torch.manual_seed(0)
links = torch.randint(0, 12, (2, 40))
adjacency = torch.sparse_coo_tensor(links, torch.rand(40), (12, 12)).coalesce()
features, labels = torch.randn(12, 4), torch.randint(0, 3, (12,))
layer = nn.Linear(4, 3)
optimizer = torch.optim.Adam(layer.parameters(), lr=0.01)

for epoch in range(6):
    optimizer.zero_grad()
    mixed = torch.spmm(adjacency, layer(features))
    mixed = mixed / (mixed * (epoch != 3)).abs().sum()  # origin: div
    loss = nn.functional.cross_entropy(mixed, labels)
    loss.backward()
    optimizer.step()
