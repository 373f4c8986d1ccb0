"""binary_cross_entropy refuses NaN with an exception that speaks of 0 and 1."""
import torch
from torch import nn

torch.manual_seed(0)
model = nn.Linear(4, 1)
optimizer = torch.optim.SGD(model.parameters(), lr=1e-2)

for number in range(5):
    inputs = torch.rand(8, 4) - float(number == 3)
    outputs = model(inputs.sqrt())  # origin: sqrt
    loss = nn.functional.binary_cross_entropy(outputs.sigmoid(), torch.ones(8, 1))
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
