"""Clips of audio as the network wants them: zero mean, unit variance."""

import numpy as np
import torch
from torch.utils.data import Dataset


def standardise(wave: np.ndarray) -> np.ndarray:
    centred = wave - np.mean(wave)
    return centred / np.maximum(np.std(centred), 1e-5)


class Clips(Dataset):
    def __init__(self, waves: list[np.ndarray], seconds: float = 2.0, rate: int = 16_000) -> None:
        self.waves = waves
        self.length = int(seconds * rate)

    def __len__(self) -> int:
        return len(self.waves)

    def __getitem__(self, index: int) -> torch.Tensor:
        wave = self.waves[index][: self.length].astype(np.float32)
        wave = np.pad(wave, (0, self.length - len(wave)))
        return torch.from_numpy(standardise(wave))
