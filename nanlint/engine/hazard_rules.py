"""Rules that are shown hazards, on one file and the project around it."""

# ruff: noqa: PTH100, PTH110, PTH120 - asked for every file; pathlib costs ten times as much

from __future__ import annotations

import os
import re
from dataclasses import replace
from functools import partial
from typing import TYPE_CHECKING

from nanlint.analysis.project.whole import WholeProject
from nanlint.engine.rule_border import findings_of
from nanlint.evidence.levels import graded
from nanlint.evidence.of_hazard import of_ends, of_hazard
from nanlint.hazards.find import hazards_in
from nanlint.model import Edit, Span
from nanlint.settings.project import project_root
from nanlint.source.file_imports import TORCH, line_for_torch
from nanlint.source.outline import MODULE

if TYPE_CHECKING:
    from nanlint.analysis.project.whole import FileInProject
    from nanlint.engine.ruleset import Ruleset
    from nanlint.hazards.hazard import Hazard
    from nanlint.model import FileError, Finding, Fix
    from nanlint.source.outline import Outline

_TORCH = re.compile(rf"\b{TORCH}\.")
_projects: dict[str, WholeProject] = {}
"""The projects that this process has read; processes that are forked from it find them here."""


def project_of(path: str) -> WholeProject:
    """The project that a file belongs to, read once; of a file that belongs to none, the folder that it stands in."""
    folder = os.path.dirname(os.path.abspath(path)) if os.path.exists(path) else ""
    root = project_root(folder) if folder else ""
    if (root or folder) not in _projects:
        _projects[root or folder] = WholeProject(root or folder, is_project=bool(root))
    return _projects[root or folder]


def forget_projects() -> None:
    """Let go of what was read: files may have changed since."""
    _projects.clear()


def file_in_project(path: str, text: str) -> FileInProject | None:
    """The file with the project around it; None if Python cannot read it."""
    return project_of(path).file(os.path.abspath(path) if os.path.exists(path) else path, text)


def with_consequence(finding: Finding, file: FileInProject) -> Finding:
    """A finding of a rule that knows its own function alone, with where the result goes in the project."""
    if finding.hazard is None or finding.matters is None:
        return finding
    op = file.op_at(finding.span.line, finding.span.end_line, finding.hazard.operation)
    return graded(finding, *of_ends(file.ends_of(op))) if op is not None else finding


def run_hazard_rules(
    file: FileInProject, plan: Outline, path: str, ruleset: Ruleset, errors: list[FileError]
) -> list[Finding]:
    """What the rules that watch for hazards find in a file."""
    watched = ruleset.watched
    found: list[Finding] = []
    for each, hazard in hazards_in(file, watched):
        for rule in ruleset.watching[each]:
            for finding in findings_of(rule, partial(rule.check, hazard), path, partial(_line_of, hazard), errors):
                function = hazard.outer_function.replace(MODULE, "")
                placed = replace(finding, function=function, fix=with_import(finding.fix, plan))
                found.append(graded(placed, *of_hazard(placed, hazard, plan)) if rule.severity is None else placed)
    return list({(finding.code, finding.span): finding for finding in found}.values())


def with_import(fix: Fix | None, plan: Outline) -> Fix | None:
    """The fix, and an import of torch if it writes that name where nothing binds it."""
    if fix is None or not any(_TORCH.search(edit.text) for edit in fix.edits):
        return fix
    line = line_for_torch(plan.tree)
    return replace(fix, edits=(Edit(Span(line, 1, line, 1), f"import {TORCH}\n"), *fix.edits)) if line else fix


def _line_of(hazard: Hazard) -> int:
    return hazard.span.line
