"""The log of a run: a line of JSON for every step, written when the step is over. `docs/trace.md` has the format."""

from __future__ import annotations

import json
import math
import platform
import sys
from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING, Any

import torch

from nanlint import __version__
from nanlint.errors import UsageError

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from nanlint.trace.readings import Reading

    Scalar = torch.Tensor | float | Callable[[], Any]

SCHEMA = 1


class StepLog:
    """A file that is written to line by line; whoever reads it while the run goes on sees every step that is over."""

    def __init__(self, path: str) -> None:
        try:
            Path(path).parent.mkdir(parents=True, exist_ok=True)
            self._file = Path(path).open("w", encoding="utf-8", buffering=1)  # noqa: SIM115 - open for the time of the run
        except OSError as error:
            raise UsageError(f"cannot write the log {path}: {error.strerror}") from None
        head = {
            "schema": SCHEMA,
            "nanlint": __version__,
            "torch": str(torch.__version__),
            "python": platform.python_version(),
            "command": sys.argv,
        }
        self._file.write(json.dumps(head) + "\n")

    def write(self, reading: Reading) -> None:
        """One line; what is not known is left out."""
        entry = {name: _plain(value) for name, value in asdict(reading).items() if value not in (None, {}, False)}
        self._file.write(json.dumps(entry) + "\n")

    def close(self) -> None:
        """Nothing more comes."""
        self._file.close()


def _plain(value: Any) -> Any:
    """JSON has no NaN: what is not finite is a text."""
    if isinstance(value, dict):
        return {name: _plain(each) for name, each in value.items()}
    if isinstance(value, float) and not math.isfinite(value):
        return "NaN" if math.isnan(value) else "Infinity" if value > 0 else "-Infinity"
    return value


def read_scalars(scalars: Mapping[str, Scalar]) -> dict[str, float]:
    """The present values of what the user named: tensors of one element, numbers, or functions that return such."""
    return {name: _number(name, value() if callable(value) else value) for name, value in scalars.items()}


def _number(name: str, value: Any) -> float:
    try:
        return float(value)
    except (TypeError, ValueError, RuntimeError):
        kind = f"a tensor of shape {tuple(value.shape)}" if isinstance(value, torch.Tensor) else repr(value)
        raise UsageError(
            f"watch: scalars[{name!r}] is {kind}, not one number; give a function that returns one"
        ) from None
