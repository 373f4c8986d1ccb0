"""What newer versions of numpy and torch have taken away, put back: code that was written for older ones runs as it did."""

from __future__ import annotations

import contextlib
import sys
import types
from typing import Any

import torch

_OF_NUMPY: dict[str, Any] = {
    "int": int,
    "float": float,
    "complex": complex,
    "object": object,
    "str": str,
    "long": int,
    "unicode": str,
    "Inf": float("inf"),
    "Infinity": float("inf"),
    "infty": float("inf"),
    "NaN": float("nan"),
    "NAN": float("nan"),
}
_RENAMED = {
    "bool": "bool_",
    "float_": "float64",
    "complex_": "complex128",
    "product": "prod",
    "cumproduct": "cumprod",
    "alltrue": "all",
    "sometrue": "any",
    "round_": "round",
    "trapz": "trapezoid",
    "in1d": "isin",
    "row_stack": "vstack",
}


def restore() -> None:
    """Put back what is gone; what is there stays as it is."""
    with contextlib.suppress(ImportError):
        import numpy as np  # noqa: PLC0415 - torch runs without it, too

        kept = vars(np)
        for name, thing in _OF_NUMPY.items():
            kept.setdefault(name, thing)
        for name, newer in _RENAMED.items():
            kept.setdefault(name, getattr(np, newer, None))
    vars(torch).update(symeig=_symeig, solve=_solve)
    six: Any = types.ModuleType("torch._six")
    vars(six).update(string_classes=(str, bytes), int_classes=int, inf=float("inf"), nan=float("nan"))
    sys.modules.setdefault(six.__name__, six)


def _symeig(x: torch.Tensor, eigenvectors: bool = False, upper: bool = True) -> Any:  # noqa: FBT001, FBT002 - torch's own signature
    values, vectors = torch.linalg.eigh(x, UPLO="U" if upper else "L")
    return values, vectors if eigenvectors else x.new_empty(0)


def _solve(b: torch.Tensor, a: torch.Tensor) -> Any:
    return torch.linalg.solve(a, b), a
