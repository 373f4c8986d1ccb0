"""Causal masks are normal; a row of which everything is masked is not."""
import torch
from torch import nn

torch.manual_seed(0)


class Attention(nn.Module):
    def __init__(self):
        super().__init__()
        self.query, self.key = nn.Linear(8, 8), nn.Linear(8, 8)
        self.register_buffer("causal", torch.full((5, 5), float("-inf")).triu(1))

    def forward(self, x, padding):
        scores = self.query(x) @ self.key(x).transpose(-2, -1) + self.causal
        scores = scores.masked_fill(padding[:, None, :], float("-inf"))
        weights = scores.softmax(-1)  # origin: _softmax
        return weights @ x


model = nn.ModuleDict({"attention": Attention()})
optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
for number in range(5):
    padding = torch.zeros(2, 5, dtype=torch.bool)
    padding[1, 0 if number == 3 else 4] = True
    loss = model["attention"](torch.randn(2, 5, 8), padding).pow(2).mean()
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
