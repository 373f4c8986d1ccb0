"""What nanlint finds in the moved hazards and guards: one project for each move, a folder for each item."""

from __future__ import annotations

import tempfile
from collections import defaultdict
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING

import nanlint
from tests.moved.material import draws, guards, hazards
from tests.moved.moves import GUARD_MOVES, HAZARD_MOVES, inline

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from tests.moved.moves import Files

Found = set[tuple[str, str]]
"""Rule and level."""


def found_in(items: Sequence[Files]) -> list[Found]:
    """Rule and level of everything that is found in each item."""
    found: dict[int, Found] = defaultdict(set)
    with tempfile.TemporaryDirectory(prefix="project-") as made:
        root = Path(made).resolve()
        (root / ".git").mkdir()
        for number, files in enumerate(items):
            folder = root / f"item_{number}"
            folder.mkdir()
            for name, text in files.items():
                (folder / name).write_text(text.replace("{folder}", folder.name), encoding="utf-8")
        report = nanlint.check_paths([root], severity="info", select=["ALL"], preview=True)
        if report.errors:
            raise AssertionError(report.errors)
        for finding in report.findings:
            number = int(Path(finding.path).resolve().relative_to(root).parts[0].removeprefix("item_"))
            found[number].add((finding.code, finding.severity.value))
    return [found[number] for number in range(len(items))]


@cache
def hazards_lost(seed: str) -> Mapping[str, list[str]]:
    """By move, the hazards that are not found at the level they have inline."""
    known = {cut.name: cut for cut in hazards()}
    drawn = [known[name] for name in draws()[f"{seed}:hazards"]]
    before = found_in([inline(cut) for cut in drawn])
    lost = {}
    for name, move in HAZARD_MOVES.items():
        after = found_in([move(cut) for cut in drawn])
        lost[name] = [
            f"{name}: {cut.name} {cut.code} {levels(old, cut.code)} becomes {levels(new, cut.code)}"
            for cut, old, new in zip(drawn, before, after, strict=True)
            if levels(old, cut.code) != levels(new, cut.code)
        ]
    return lost


def levels(found: Found, code: str) -> str:
    """The levels at which a rule has found something, as text."""
    return "+".join(sorted(level for one, level in found if one == code)) or "nothing"


@cache
def guards_lost(seed: str) -> Mapping[str, list[str]]:
    """By move, the guards that no longer silence their rule; beside a public function `info` is allowed."""
    known = {guard.cut.name: guard for guard in guards()}
    drawn = [known[name] for name in draws()[f"{seed}:guards"]]
    lost = {}
    for name, move in GUARD_MOVES.items():
        after = found_in([move(guard) for guard in drawn])
        allowed = {"nothing", "info"} if "public" in name else {"nothing"}
        lost[name] = [
            f"{name}: {guard.cut.name} {guard.cut.code} {levels(new, guard.cut.code)}"
            for guard, new in zip(drawn, after, strict=True)
            if levels(new, guard.cut.code) not in allowed
        ]
    return lost
