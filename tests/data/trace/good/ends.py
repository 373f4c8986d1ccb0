"""An exit code, an else branch and a break of its own."""
import sys

import torch
from torch import nn

model = nn.Linear(2, 1)
optimizer = torch.optim.SGD(model.parameters(), lr=0.01)
seen = []
for epoch in range(3):
    for number in range(10):
        if number == 1:
            continue
        if number == 4:
            break
        optimizer.zero_grad()
        model(torch.ones(1, 2)).sum().backward()
        optimizer.step()
        seen.append(number)
    else:
        seen.append("else")
print(seen)
sys.exit(7)
