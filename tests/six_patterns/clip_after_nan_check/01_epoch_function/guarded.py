"""One epoch of training."""

import torch
from torch import nn


def train_epoch(model: nn.Module, loader, criterion, optimizer: torch.optim.Optimizer) -> float:
    model.train()
    total, batches = 0.0, 0
    for inputs, targets in loader:
        optimizer.zero_grad()
        loss = criterion(model(inputs), targets)
        if not torch.isfinite(loss):
            print("skipping a batch: the loss is not finite")
            continue
        loss.backward()
        norm = torch.nn.utils.clip_grad_norm_(model.parameters(), max_norm=1.0)
        if not torch.isfinite(norm):
            print("skipping a batch: the gradient is not finite")
            continue
        optimizer.step()
        total += loss.item()
        batches += 1
    return total / max(batches, 1)
