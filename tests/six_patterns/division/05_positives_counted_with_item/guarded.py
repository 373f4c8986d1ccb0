"""Head of a one-stage detector."""

import torch
import torch.nn.functional as F
from torch import nn


class AnchorHead(nn.Module):
    def __init__(self, channels: int, box_weight: float = 2.0) -> None:
        super().__init__()
        self.classify = nn.Linear(channels, 1)
        self.regress = nn.Linear(channels, 4)
        self.box_weight = box_weight

    def losses(self, features: torch.Tensor, matched: torch.Tensor, boxes: torch.Tensor) -> dict[str, torch.Tensor]:
        foreground = matched >= 0
        n_fg = max(foreground.sum().item(), 1)
        offsets = self.regress(features)
        box_error = F.smooth_l1_loss(offsets[foreground], boxes[foreground], reduction="sum")
        object_error = F.binary_cross_entropy_with_logits(
            self.classify(features).squeeze(-1), foreground.float(), reduction="sum"
        )
        box_error /= n_fg
        return {"box": self.box_weight * box_error, "object": object_error / features.size(0)}
