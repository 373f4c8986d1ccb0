"""Super-convergence: one cycle over the whole run."""

import torch
from torch import nn


def setup(model: nn.Module, cfg: dict, steps_per_epoch: int, resume_from=None):
    optimizer = torch.optim.AdamW(model.parameters(), lr=cfg["learning_rate"])
    schedule = torch.optim.lr_scheduler.OneCycleLR(
        optimizer,
        max_lr=cfg["learning_rate"],
        epochs=cfg["epochs"],
        steps_per_epoch=steps_per_epoch,
    )
    if resume_from is not None:
        ckpt = torch.load(resume_from, weights_only=True)
        model.load_state_dict(ckpt["model"])
        optimizer.load_state_dict(ckpt["optimizer"])  # expect: NAN501
        schedule.load_state_dict(ckpt["schedule"])  # expect: NAN501
    return optimizer, schedule
