"""A loop that passes over batches with a bad loss."""
import torch
from torch import nn

torch.manual_seed(0)
model = nn.Sequential(nn.Linear(4, 8), nn.ReLU(), nn.Linear(8, 3))
optimizer = torch.optim.AdamW(model.parameters(), lr=1e-2)

for number in range(6):
    inputs = torch.randn(16, 4) * (1e5 if number == 3 else 1)
    loss = -torch.log(model(inputs).sigmoid()).mean()  # origin: log
    if torch.isnan(loss) or torch.isinf(loss):
        continue
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
