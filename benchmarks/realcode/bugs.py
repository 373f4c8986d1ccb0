"""NaN bugs that maintainers shipped and later cured: the release with the fault, the release with the cure, the lines."""

from __future__ import annotations

import functools
import json
from typing import TYPE_CHECKING, Any

from benchmarks.realcode.archives import Release, unpacked
from benchmarks.realcode.corpus import HERE
from benchmarks.realcode.yardstick import Case, Side

if TYPE_CHECKING:
    from collections.abc import Mapping
    from pathlib import Path

CASES = HERE / "real-bugs.json"


def cases(work: Path, wheels: Path | None = None) -> list[Case]:
    """Every case of the data file; releases are unpacked in `work` when they are asked for."""
    entries: list[dict[str, Any]] = json.loads(CASES.read_text(encoding="utf-8"))
    return [_case(entry, work, wheels) for entry in entries]


def _case(entry: Mapping[str, Any], work: Path, wheels: Path | None) -> Case:
    def side(version: str, file: str, lines: str) -> Side:
        release, path = release_and_path(entry["package"], entry[version], entry[file])
        return Side(functools.partial(unpacked, release, work, wheels), path, tuple(entry[lines]))

    return Case(
        entry["id"],
        entry["class"],
        entry["static_visibility"],
        entry["mechanism"],
        side("version_bug", "file", "lines_bug"),
        side("version_fix", "file_fix", "lines_fix"),
        entry["direction"],
    )


def release_and_path(package: str, version: str, file: str) -> tuple[Release, str]:
    """The release that `file` is in, and its path there."""
    top, _, below = file.partition("/")
    # The data names files of an sdist with its top folder, those of a wheel as they are.
    if top.endswith(f"-{version}"):
        return Release(package, version, "sdist"), below
    return Release(package, version, "any"), file
