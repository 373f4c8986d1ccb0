"""The evidence that the whole project gives: its formats, and whether anybody uses the function."""

from __future__ import annotations

from typing import TYPE_CHECKING

from nanlint.evidence import table
from nanlint.evidence.levels import graded

if TYPE_CHECKING:
    from collections.abc import Iterator

    from nanlint.evidence.table import Item
    from nanlint.model import Finding
    from nanlint.source.project_words import ProjectWords

_HALVES = frozenset({"float16", "bfloat16"})


def breaks_in_half_alone(finding: Finding) -> bool:
    """Whether float16 or bfloat16 is needed, and the code at hand does not say that it computes in one of them."""
    return (
        bool(finding.dtypes) and _HALVES.issuperset(finding.dtypes) and table.RANGE_REACHES.name not in finding.evidence
    )


def with_project(finding: Finding, words: ProjectWords) -> Finding:
    """The finding with what its project says of it; as it is if its rule states the level."""
    return graded(finding, *_items(finding, words)) if finding.matters is not None else finding


def _items(finding: Finding, words: ProjectWords) -> Iterator[Item]:
    if breaks_in_half_alone(finding) and not words.uses_half:
        yield table.HALF_UNUSED
    name = _used_by(finding.function)
    # A library's public functions are used by others.
    if name and (words.trains or name.startswith("_")) and not words.is_used(name):
        yield table.NOBODY_CALLS


def _used_by(function: str) -> str:
    """The name by which other code would use a function: of `forward` and the like, that of the class."""
    owner, _, name = function.rpartition(".")
    is_called_by_others = name == "forward" or (name.startswith("__") and name.endswith("__"))
    return owner.rpartition(".")[2] if is_called_by_others else name
