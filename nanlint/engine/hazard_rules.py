"""Rules that are shown hazards, on one file and the project around it."""

# ruff: noqa: PTH - asked for every file

from __future__ import annotations

import os
from dataclasses import replace
from typing import TYPE_CHECKING

from nanlint.analysis.project.whole import WholeProject
from nanlint.engine.rule_border import findings_of
from nanlint.evidence.levels import graded
from nanlint.evidence.of_hazard import of_hazard
from nanlint.hazards.find import hazards_in
from nanlint.settings.project import project_root
from nanlint.settings.resolved import DEFAULT_EXCLUDE

if TYPE_CHECKING:
    from nanlint.engine.ruleset import Ruleset
    from nanlint.model import FileError, Finding
    from nanlint.source.outline import Outline

_projects: dict[str, WholeProject] = {}
"""The projects that this process has read; processes that are forked from it find them here."""


def project_of(path: str) -> WholeProject:
    """The project that a file belongs to, read once; of a file that belongs to none, just that file."""
    root = project_root(os.path.dirname(os.path.abspath(path))) if os.path.exists(path) else ""
    if root not in _projects:
        _projects[root] = WholeProject(root, frozenset(DEFAULT_EXCLUDE))
    return _projects[root]


def forget_projects() -> None:
    """Let go of what was read: files may have changed since."""
    _projects.clear()


def run_hazard_rules(text: str, plan: Outline, path: str, ruleset: Ruleset, errors: list[FileError]) -> list[Finding]:
    """What the rules that watch for hazards find in a file."""
    watched = ruleset.watched
    file = project_of(path).file(os.path.abspath(path) if os.path.exists(path) else path, text) if watched else None
    if file is None:
        return []
    found: list[Finding] = []
    for each, hazard in hazards_in(file, watched):
        for rule in ruleset.watching[each]:
            line = hazard.span.line
            told = findings_of(rule, lambda rule=rule, hazard=hazard: rule.check(hazard), path, lambda line=line: line, errors)  # type: ignore[misc]
            for finding in told:
                placed = replace(finding, function=hazard.outer_function if hazard.outer_function != "<module>" else "")
                found.append(graded(placed, *of_hazard(placed, hazard, plan)) if rule.severity is None else placed)
    return list({(finding.code, finding.span): finding for finding in found}.values())
