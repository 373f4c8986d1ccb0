"""Causal -inf masks, finfo.min masks, NaN in a metric and infinity as the first best loss."""
import torch
from torch import nn

torch.manual_seed(0)
model = nn.Linear(8, 8)
optimizer = torch.optim.SGD(model.parameters(), lr=0.01)
best = float("inf")
for number in range(5):
    x = torch.randn(2, 5, 8)
    scores = model(x) @ x.transpose(-2, -1)
    scores = scores.masked_fill(torch.ones(5, 5, dtype=torch.bool).triu(1), float("-inf"))
    padding = torch.zeros(2, 1, 5)
    padding[:, :, 4] = torch.finfo(torch.float32).min
    loss = ((scores.softmax(-1) + (model(x) @ x.transpose(-2, -1) + padding).softmax(-1)) @ x).pow(2).mean()
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
    with torch.no_grad():
        metric = torch.zeros(3) / torch.zeros(3)
        best = min(best, loss.item())
print("done", metric.isnan().sum().item())
