"""Runs a spelling under torch with the input or the fault that its witness.py gives."""

from __future__ import annotations

import importlib.util
import sys
from contextlib import contextmanager
from types import ModuleType
from typing import TYPE_CHECKING

import torch
from torch import nn

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from tests.six_patterns.material import Spelling


class StandInForLightningModule(nn.Module):
    """As much of a LightningModule as a training_step needs when it is called by hand."""

    def log(self, name: str, value: object) -> None:
        """Accept what is logged."""

    def save_hyperparameters(self) -> None:
        """Accept the wish; nothing here reads hparams."""


@contextmanager
def loaded(spelling: Spelling, variant: str) -> Iterator[ModuleType]:
    """The module a run starts in; what was imported for it is forgotten afterwards."""
    lightning = ModuleType("lightning")
    lightning.LightningModule = StandInForLightningModule  # type: ignore[attr-defined]
    root = spelling.folder / variant
    start = root / "train.py" if root.is_dir() else root.with_suffix(".py")
    before = dict(sys.modules)
    sys.modules.setdefault("lightning", lightning)
    sys.path.insert(0, str(start.parent))
    try:
        yield _module(f"spelling_{variant}", start)
    finally:
        sys.path.remove(str(start.parent))
        own = [name for name, module in sys.modules.items() if _is_from(module, spelling.folder)]
        for name in (*own, "lightning"):
            if name not in before:
                del sys.modules[name]


def observe(spelling: Spelling, variant: str, *arguments: object) -> object:
    """What the spelling's witness sees when `bad` or `guarded` runs."""
    torch.manual_seed(0)
    witness = _module("witness", spelling.folder / "witness.py")
    with loaded(spelling, variant) as code:
        return witness.observe(code, *arguments)


def _module(name: str, path: Path) -> ModuleType:
    spec = importlib.util.spec_from_file_location(name, path)
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    sys.modules[name] = module  # dataclasses look their module up
    spec.loader.exec_module(module)
    return module


def _is_from(module: ModuleType, folder: Path) -> bool:
    return (getattr(module, "__file__", None) or "").startswith(f"{folder}/")
