"""The loop of a segmentation project; the script that calls it is beside it."""

import logging

import torch
import torch.nn.functional as F

logger = logging.getLogger(__name__)


def dice(prediction, target):
    overlap = (prediction * target).sum((1, 2, 3))
    return 1 - (2 * overlap + 1) / (prediction.sum((1, 2, 3)) + target.sum((1, 2, 3)) + 1)


def train_one_epoch(model, criterion, data_loader, optimizer, lr_scheduler, device, epoch, cfg, scaler=None):
    model.train()
    skipped = 0
    for step, sample in enumerate(data_loader):
        image, mask = sample["image"].to(device), sample["mask"].to(device)
        output = model(image)
        loss = criterion(output, mask) + dice(output.sigmoid(), mask).mean()
        loss = loss / cfg["accumulate"]
        loss.backward()
        if (step + 1) % cfg["accumulate"] == 0:
            norm = torch.nn.utils.clip_grad_norm_(model.parameters(), cfg["clip"])
            if torch.isfinite(norm):
                optimizer.step()
                lr_scheduler.step()
            else:
                logger.warning("skipping a step: the norm is %s", norm.item())
                skipped += 1
            optimizer.zero_grad()
    return skipped
