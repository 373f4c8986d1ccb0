"""Checkpoints for tests: what was read of one, and training runs that leave some behind."""

from __future__ import annotations

import json
import struct
from typing import TYPE_CHECKING, Any

import torch

from nanlint.checkpoint.diagnosis import Diagnosis, Request, diagnose
from nanlint.checkpoint.layout import checkpoints
from nanlint.checkpoint.stated import Config, Stated

if TYPE_CHECKING:
    from collections.abc import Mapping
    from pathlib import Path

SAFETENSORS_DTYPES = {torch.float32: "F32", torch.float16: "F16", torch.bfloat16: "BF16", torch.int64: "I64"}


def diagnosis(path: Path, *, lr: float | None = None, trust: bool = False) -> Diagnosis:
    """What is known of the one checkpoint at `path`."""
    config = Config() if lr is None else Config((Stated("lr", lr, "--lr"),))
    (found,) = checkpoints([path])
    return diagnose(found, Request(config, trust=trust))


def saved(folder: Path, state: object, *, name: str = "state.pt", zipped: bool = True) -> Path:
    """The state in a file, in torch's format of today or in that before 1.6."""
    path = folder / name
    torch.save(state, path, _use_new_zipfile_serialization=zipped)
    return path


def told(found: Diagnosis, *levels: str) -> list[tuple[str, str]]:
    """Kind and name of the symptoms, of all levels or of those that are named."""
    return [(each.kind, each.name) for each in found.symptoms if not levels or each.level in levels]


def message(found: Diagnosis, kind: str) -> str:
    """What the one symptom of a kind says."""
    (symptom,) = (each for each in found.symptoms if each.kind == kind)
    return symptom.message


def write_safetensors(path: Path, tensors: Mapping[str, torch.Tensor]) -> Path:
    """The tensors as a safetensors file, written by hand: the library is no dependency of ours."""
    header: dict[str, Any] = {"__metadata__": {"format": "pt"}}
    data = b""
    for name, tensor in tensors.items():
        raw = bytes(tensor.contiguous().reshape(-1).view(torch.uint8).numpy().tobytes()) if tensor.numel() else b""
        header[name] = {
            "dtype": SAFETENSORS_DTYPES[tensor.dtype],
            "shape": list(tensor.shape),
            "data_offsets": [len(data), len(data) + len(raw)],
        }
        data += raw
    text = json.dumps(header).encode()
    path.write_bytes(struct.pack("<Q", len(text)) + text + data)
    return path


class Run:
    """A small training run with Adam, whose state can be looked at and spoiled."""

    def __init__(self, lr: float = 1e-3) -> None:
        torch.manual_seed(0)
        self.last = torch.nn.Linear(8, 2)
        self.model = torch.nn.Sequential(torch.nn.Linear(4, 8), torch.nn.BatchNorm1d(8), self.last)
        self.optimizer = torch.optim.AdamW(self.model.parameters(), lr=lr)
        self.steps = 0

    def train(self, steps: int = 3) -> Run:
        """Take steps."""
        for _ in range(steps):
            self.optimizer.zero_grad()
            self.model(torch.randn(6, 4)).square().mean().backward()
            self.optimizer.step()
            self.steps += 1
        return self

    def spoil(self) -> None:
        """Put a NaN into a weight."""
        with torch.no_grad():
            self.last.weight[1, 3] = torch.nan

    def state(self) -> dict[str, Any]:
        """What a loop saves."""
        return {"model": self.model.state_dict(), "optimizer": self.optimizer.state_dict(), "global_step": self.steps}
