"""A GradScaler that starts too high and skips its first steps."""
import torch
from torch import nn

torch.manual_seed(0)
model = nn.Linear(4, 4)
optimizer = torch.optim.AdamW(model.parameters(), lr=1e-3)
scaler = torch.amp.GradScaler("cpu", init_scale=2.0**24)
skips = 0
for number in range(24):
    with torch.autocast("cpu", torch.float16):
        loss = (model(torch.randn(16, 4)) * 8).pow(2).mean()
    optimizer.zero_grad()
    scaler.scale(loss).backward()
    before = scaler.get_scale()
    scaler.step(optimizer)
    scaler.update()
    skips += scaler.get_scale() < before
print("done", skips > 4)
