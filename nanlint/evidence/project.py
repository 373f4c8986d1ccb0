"""The evidence that the whole project gives: its formats, and whether anybody uses the function."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from nanlint.evidence import table
from nanlint.evidence.levels import graded
from nanlint.ops.formats import AUTOCAST, SINGLE

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


def with_project(finding: Finding, words: ProjectWords, formats: tuple[str, ...] = ()) -> Finding:
    """The finding with what its project says of it; as it is if its rule states the level. `formats` are stated by the user."""
    if finding.matters is None:
        return finding
    if not breaks_in_half_alone(finding):
        return graded(finding, *_items(finding, words))
    half, place = _half(finding, words, formats)
    why = finding.why or place
    return replace(
        graded(finding, *_items(finding, words), *half, without=table.HALF_OPEN if table.HALF_USED in half else None),
        why=why,
    )


def _half(finding: Finding, words: ProjectWords, formats: tuple[str, ...]) -> tuple[tuple[Item, ...], str]:
    """Whether the project runs in a format in which the finding breaks, and the place that says so; nothing where nobody knows."""
    if formats:
        stated = [dtype for dtype in finding.dtypes if dtype in formats]
        return (
            ((table.HALF_USED,), f"the settings say that {stated[0]} is used") if stated else ((table.HALF_UNUSED,), "")
        )
    operation = finding.hazard.operation if finding.hazard is not None else ""
    switch = words.switch_of(finding.dtypes, is_whole=AUTOCAST.get(operation) == SINGLE)
    if switch is not None:
        return (table.HALF_USED,), f"{switch.dtype} is used ({switch.path}:{switch.line})"
    return ((table.HALF_UNUSED,) if not words.uses_half and words.trains else ()), ""


def _items(finding: Finding, words: ProjectWords) -> Iterator[Item]:
    name = _used_by(finding.function)
    # A library's public functions are used by others.
    if name and (words.trains or name.startswith("_")) and not words.is_used(name):
        yield table.NOBODY_CALLS


def _used_by(function: str) -> str:
    """The name by which other code would use a function: of `forward` and the like, that of the class."""
    owner, _, name = function.rpartition(".")
    is_called_by_others = name == "forward" or (name.startswith("__") and name.endswith("__"))
    return owner.rpartition(".")[2] if is_called_by_others else name
