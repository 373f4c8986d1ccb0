"""Dice loss inside a region of interest."""

import torch


def ratio(part: torch.Tensor, whole: torch.Tensor) -> torch.Tensor:
    return part / whole.clamp_min(1e-6)


def dice_loss(logits: torch.Tensor, truth: torch.Tensor, roi: torch.Tensor) -> torch.Tensor:
    """`roi` is 1 inside the organ's bounding box, per slice."""
    inside = torch.sigmoid(logits) * roi
    wanted = truth * roi
    overlap = (inside * wanted).flatten(1).sum(-1)
    area = inside.flatten(1).sum(-1) + wanted.flatten(1).sum(-1)
    return 1 - ratio(2 * overlap, area).mean()


def train_step(net, optimizer, scan):
    optimizer.zero_grad(set_to_none=True)
    objective = dice_loss(net(scan["image"]), scan["truth"], scan["roi"])
    objective.backward()
    optimizer.step()
