"""Sets of words, each written as one text: a list of names reads like one, and a word more is a word more."""

from __future__ import annotations


def word_set(text: str) -> frozenset[str]:
    """The words of a text."""
    return frozenset(text.split())


def torch_names(text: str) -> frozenset[str]:
    """The words of a text as names in torch: `torch.add` of "add"."""
    return frozenset(f"torch.{word}" for word in text.split())
