"""GradScaler skips the step and hides that the loss itself is NaN."""
import torch
from torch import nn

torch.manual_seed(0)
model = nn.Sequential(nn.Linear(4, 8), nn.ReLU(), nn.Linear(8, 3))
optimizer = torch.optim.AdamW(model.parameters(), lr=1e-3)
scaler = torch.amp.GradScaler("cpu", init_scale=1024.0)


def spread(x):
    return (x - x).mean() / x.std().mul(0)  # origin: div


for number in range(6):
    inputs = torch.randn(16, 4)
    with torch.autocast("cpu", torch.bfloat16):
        outputs = model(inputs)
        loss = outputs.float().pow(2).mean()
        if number == 3:
            loss = loss + spread(outputs.float())
    optimizer.zero_grad()
    scaler.scale(loss).backward()
    scaler.unscale_(optimizer)
    nn.utils.clip_grad_norm_(model.parameters(), 1.0)
    scaler.step(optimizer)
    scaler.update()
