"""Scripts that only run what other files train: they load a model, test it or show what it makes, and nothing imports them."""

from __future__ import annotations

import ast
import re
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from nanlint.analysis.project.definitions import Module

_TRAINS = re.compile(r"backward|autograd\.grad|\.step\(|\.fit\(|Trainer|optimizer|\btrain\w*\(|training_step")
_LOADS = re.compile(r"load_state_dict|torch\.load|load_model|from_pretrained|load_from_checkpoint")
# What it writes may be what others train on.
_WRITES = re.compile(r"torch\.save|np\.save|savez|\bh5py\b|pickle\.dump|\.tofile\(|\.to_csv\(|to_parquet")
_STARTS = ast.For | ast.While | ast.With


def only_runs_a_model(module: Module) -> bool:
    """Whether a file is started by itself and loads what was trained, and neither trains nor writes data."""
    text = module.text
    if _TRAINS.search(text) or _WRITES.search(text) or not _LOADS.search(text):
        return False
    return "__main__" in text or any(isinstance(each, _STARTS) for each in getattr(module.body.node, "body", ()))
