"""NaN bugs that maintainers shipped and later cured: the release with the fault, the release with the cure, the lines.

The judgement alone: which findings count as having found the fault, and which as noise about the cure.
"""

from __future__ import annotations

import ast
import json
from dataclasses import dataclass
from typing import TYPE_CHECKING

from benchmarks.realcode.archives import Release
from benchmarks.realcode.corpus import HERE, Found

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence
    from pathlib import Path

CASES = HERE / "real-bugs.json"
# A statement over several lines is named by one of them, and a finding may start on another.
SLACK_LINES = 1


@dataclass(frozen=True, slots=True)
class Side:
    """One release of a case: the file that matters, and the lines in it."""

    release: Release
    file: str
    lines: tuple[int, ...]


@dataclass(frozen=True, slots=True)
class Case:
    """One bug. `visibility` says what it takes to see it: local, local+dtype, semantic or loop."""

    id: str
    kind: str
    visibility: str
    function: str
    mechanism: str
    faulty: Side
    cured: Side


@dataclass(frozen=True, slots=True)
class Judgement:
    """What nanlint makes of one case. `nearby` are rules that fired in the faulty function on other lines."""

    case: Case
    found: tuple[str, ...] = ()
    nearby: tuple[str, ...] = ()
    noisy: tuple[str, ...] = ()
    still: tuple[str, ...] = ()
    """Rules that flag the very text of the fault in the cured function, if not on the cured lines."""
    by_function: bool = False
    """The lines of the data do not lie in the function, so the whole function counts."""
    failure: str = ""


def cases(path: Path = CASES) -> list[Case]:
    """Every case of the data file."""
    return [_case(entry) for entry in json.loads(path.read_text(encoding="utf-8"))]


def _case(entry: dict[str, object]) -> Case:
    def side(version: str, file: str, lines: str) -> Side:
        return _side(str(entry["package"]), str(entry[version]), str(entry[file]), entry[lines])

    return Case(
        str(entry["id"]),
        str(entry["class"]),
        str(entry["static_visibility"]),
        str(entry["function"]),
        str(entry["mechanism"]),
        side("version_bug", "file", "lines_bug"),
        side("version_fix", "file_fix", "lines_fix"),
    )


def _side(package: str, version: str, file: str, lines: object) -> Side:
    assert isinstance(lines, list)
    top, _, below = file.partition("/")
    # The data names files of an sdist with its top folder, those of a wheel as they are.
    if top.endswith(f"-{version}"):
        return Side(Release(package, version, "sdist"), below, tuple(lines))
    return Side(Release(package, version, "any"), file, tuple(lines))


def judge(case: Case, before: Sequence[Found], after: Sequence[Found], sources: tuple[str, str]) -> Judgement:
    """Compare the findings in the faulty file (`before`) and in the cured one (`after`) with the lines of the case."""
    extent, cured_extent = (function_lines(source, case.function) for source in sources)
    by_function = bool(extent) and not any(line in extent for line in case.faulty.lines)
    there = [finding for finding in before if finding.line in extent]
    hits = there if by_function else [finding for finding in before if touches(finding, case.faulty.lines)]
    found = _rules(hits)
    on_cure = [finding for finding in after if touches(finding, case.cured.lines)]
    # What fired on the fault must be silent about the cure; where nothing did, every finding on the cured lines is noise.
    noisy = [finding for finding in on_cure if finding.rule in found or not found]
    flagged = {(finding.rule, finding.code) for finding in hits}
    still = [finding for finding in after if finding.line in cured_extent and (finding.rule, finding.code) in flagged]
    return Judgement(
        case,
        found=found,
        nearby=() if found else _rules(there),
        noisy=_rules(noisy),
        still=_rules(finding for finding in still if finding not in noisy),
        by_function=by_function,
    )


def touches(finding: Found, lines: Iterable[int]) -> bool:
    """Whether the finding lies on one of `lines` or beside it."""
    return any(
        finding.line - SLACK_LINES <= line <= max(finding.line, finding.end_line) + SLACK_LINES for line in lines
    )


def _rules(findings: Iterable[Found]) -> tuple[str, ...]:
    return tuple(sorted({finding.rule for finding in findings}))


def function_lines(source: str, qualname: str) -> range:
    """The lines of the function, decorators included; none where the file has no such function."""
    try:
        bodies: list[ast.AST] = [ast.parse(source)]
    except SyntaxError:
        return range(0)
    for name in qualname.split("."):
        bodies = [
            node
            for body in bodies
            for node in ast.walk(body)
            if getattr(node, "name", None) == name and node is not body
        ]
    for node in bodies:
        if isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef)):
            first = min([node.lineno, *(decorator.lineno for decorator in node.decorator_list)])
            return range(first, (node.end_lineno or node.lineno) + 1)
    return range(0)
