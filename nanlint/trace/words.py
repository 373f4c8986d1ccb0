"""Numbers as people read them."""

from __future__ import annotations


def number(value: float | None) -> str:
    """Four digits are enough to recognise a value by."""
    return "-" if value is None else f"{value:.4g}"
