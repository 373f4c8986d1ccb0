"""It breaks when dropout leaves nothing over: random numbers of three kinds have to come again."""
import random

import numpy as np
import torch
from torch import nn

torch.manual_seed(1)
random.seed(1)
np.random.seed(1)
model, dropout = nn.Linear(4, 3), nn.Dropout(0.6)
optimizer = torch.optim.SGD(model.parameters(), lr=0.01)
for number in range(60):
    x = torch.randn(1, 4) + np.random.rand()
    loss = -dropout(model(x).abs() + random.random()).sum().log()  # origin: log
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
