"""The evidence that the whole project gives: its formats, and whether anybody uses the function."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from nanlint.evidence import table
from nanlint.evidence.levels import graded
from nanlint.word_sets import word_set

if TYPE_CHECKING:
    from collections.abc import Iterator

    from nanlint.evidence.table import Item
    from nanlint.model import Finding
    from nanlint.source.projects.words import ProjectWords

_HALVES = word_set("float16 bfloat16")
_NONE = "none"
_TRAINED = frozenset(item.name for item in (table.REACHES_BACKWARD, table.IN_A_LOSS, table.BACKWARD_IN_FILE))


def cannot_be_run(finding: Finding, words: ProjectWords, formats: tuple[str, ...] = ()) -> bool:
    """Whether no format that it breaks in is one of the project's: by the settings, or as nothing there can switch one on."""
    if table.HALF_ALONE.name not in finding.evidence:
        return False
    return not set(formats) & set(finding.dtypes) if formats else words.is_without_half(is_whole=_is_saved(finding))


def _is_saved(finding: Finding) -> bool:
    """Whether it breaks only where the tensors themselves are half, not under autocast."""
    return finding.hazard is not None and bool(finding.hazard.autocast)


def with_project(finding: Finding, words: ProjectWords, formats: tuple[str, ...] = ()) -> Finding:
    """The finding with what its project says of it; as it is if its rule states the level. `formats` are stated by the user."""
    if finding.matters is None:
        return finding
    if table.HALF_ALONE.name not in finding.evidence:
        return graded(finding, *_items(finding, words))
    dtype, place = _used(finding, words, formats)
    more = [*_items(finding, words), *([table.HALF_UNUSED] if dtype == _NONE else [])]
    # In a project that trains in float16 not everything is run in it: what reaches what is trained is taken to be.
    # Where some of it runs under autocast, the tensors that are half themselves may be those of another script.
    is_elsewhere = _is_saved(finding) and words.casts and not formats
    is_run = dtype in _HALVES and not is_elsewhere and not _TRAINED.isdisjoint(finding.evidence)
    judged = graded(finding, *more, without=(table.HALF_ALONE, table.HALF_UNUSED) if is_run else ())
    return replace(judged, why=finding.why or place)


def _used(finding: Finding, words: ProjectWords, formats: tuple[str, ...]) -> tuple[str, str]:
    """The format in which the finding breaks and the project runs, with the place that says so; empty where nobody knows."""
    if formats:
        stated = next((dtype for dtype in finding.dtypes if dtype in formats), _NONE)
        return stated, f"the settings say that {stated} is used" if stated != _NONE else ""
    if cannot_be_run(finding, words):
        return _NONE, ""
    switch = words.switch_of(finding.dtypes, is_whole=_is_saved(finding))
    if switch is not None:
        return switch.dtype, f"{switch.dtype} is used ({switch.path}:{switch.line})"
    return _NONE if not words.uses_half else "", ""


def _items(finding: Finding, words: ProjectWords) -> Iterator[Item]:
    users = finding.hazard.users.split() if finding.hazard is not None else []
    names = {_used_by(each) for each in users or [finding.function]}
    # A library's public functions are used by others, and what holds a backward is where a run begins.
    is_trained = table.REACHES_BACKWARD.name in finding.evidence
    if not is_trained and all(
        name and (words.trains or name.startswith("_")) and not words.is_used(name) for name in names
    ):
        yield table.NOBODY_CALLS


def _used_by(function: str) -> str:
    """The name by which other code would use a function: of `forward` and the like, that of the class."""
    owner, _, name = function.rpartition(".")
    is_called_by_others = name == "forward" or (name.startswith("__") and name.endswith("__"))
    return owner.rpartition(".")[2] if is_called_by_others else name
