"""Small batches are added up before each update."""

import torch
from torch import nn


def train(model: nn.Module, loader, optimizer, scheduler, accumulate: int, grad_clip: float) -> int:
    updates = 0
    optimizer.zero_grad()
    for i, batch in enumerate(loader):
        loss = model(batch).mean() / accumulate
        if torch.isnan(loss) or torch.isinf(loss):
            optimizer.zero_grad()
            continue
        loss.backward()
        if (i + 1) % accumulate == 0:
            if grad_clip > 0:
                torch.nn.utils.clip_grad_norm_(model.parameters(), grad_clip)  # expect: NAN403
            optimizer.step()
            scheduler.step()
            optimizer.zero_grad()
            updates += 1
    return updates
