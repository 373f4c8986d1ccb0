"""The sixth of twelve batches breaks the gradient, with a loader that fetches ahead."""
import sys

import torch
from accelerate import Accelerator
from torch import nn
from torch.utils.data import DataLoader, TensorDataset

accelerator = Accelerator(cpu=True, gradient_accumulation_steps=2 if "accumulate" in sys.argv else 1)
torch.manual_seed(0)
inputs, marks = torch.randn(96, 4), torch.ones(96, 1)
marks[40:48] = 0
model = nn.Sequential(nn.Linear(4, 8), nn.Dropout(0.1), nn.Linear(8, 3))
optimizer = torch.optim.AdamW(model.parameters(), lr=1e-3)
model, optimizer, loader = accelerator.prepare(model, optimizer, DataLoader(TensorDataset(inputs, marks), batch_size=8))
for x, mark in loader:
    with accelerator.accumulate(model):
        loss = (model(x) * mark).pow(2).sum(-1).sqrt().mean()  # origin: sqrt backward
        accelerator.backward(loss)
        accelerator.clip_grad_norm_(model.parameters(), 1.0)
        optimizer.step()
        optimizer.zero_grad()
