"""The nearest right word, for every error that a typing mistake can cause."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterable


def did_you_mean(wrong: str, right: Iterable[str]) -> str:
    """`; did you mean X?` to append to a message, or nothing when no word is near."""
    from difflib import get_close_matches  # noqa: PLC0415 - only an error pays for it

    # The dashes of an option make it no nearer to another.
    by_folded = {word.lower().lstrip("-"): word for word in right}
    near = get_close_matches(wrong.lower().lstrip("-"), by_folded, n=1, cutoff=0.55)
    return f"; did you mean {by_folded[near[0]]}?" if near else ""
