"""Loop of a multimodal model; clipping can be switched off in the config."""

import torch
from torch.nn.utils import clip_grad_norm_


def optimise(trainer, optimizer, config, batch) -> float:
    loss = trainer(batch)
    (loss * config.loss_scale).backward()
    if config.grad_clip_norm and config.grad_clip_norm > 0:
        norm = clip_grad_norm_(trainer.parameters(), config.grad_clip_norm)
    else:
        norm = clip_grad_norm_(trainer.parameters(), 1.0)
    if not torch.isfinite(norm):
        optimizer.zero_grad()
        return float("nan")
    optimizer.step()
    optimizer.zero_grad()
    return norm.item()
