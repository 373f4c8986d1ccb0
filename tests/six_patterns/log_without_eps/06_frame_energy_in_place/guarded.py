"""Voice activity features: log energy per frame."""

import torch
from torch import nn


class EnergyTrack(nn.Module):
    def __init__(self, frame: int = 160) -> None:
        super().__init__()
        self.frame = frame
        self.smooth = nn.Conv1d(1, 8, kernel_size=3, padding=1)

    def energy(self, wave: torch.Tensor) -> torch.Tensor:
        frames = wave.unfold(-1, self.frame, self.frame)
        level = frames.pow(2).mean(dim=-1)
        level.clamp_(min=1e-8).log_()
        return level

    def forward(self, wave: torch.Tensor) -> torch.Tensor:
        return self.smooth(self.energy(wave).unsqueeze(1))
