"""Averages over what was measured."""

import torch


def average(values: torch.Tensor, measured: torch.Tensor) -> torch.Tensor:
    """Mean of `values` over the places that have a measurement, per series."""
    held = torch.where(measured, values, 0.0)
    n = measured.sum(dim=1)
    n[n == 0] = 1
    return held.sum(dim=1) / n
