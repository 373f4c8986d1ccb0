"""Depth maps for the network: scaled to [0, 1], each by its own range."""

import torch
from torch.utils.data import Dataset


class DepthFrames(Dataset):
    def __init__(self, frames: list[torch.Tensor], augment=None) -> None:
        self.frames = frames
        self.augment = augment

    def __len__(self) -> int:
        return len(self.frames)

    def __getitem__(self, index: int) -> torch.Tensor:
        frame = self.frames[index].clone().float()
        near = frame.amin()
        far = frame.amax()
        frame.sub_(near)
        if far > near:
            frame.div_(far - near)
        if self.augment is not None:
            frame = self.augment(frame)
        return frame.unsqueeze(0)
