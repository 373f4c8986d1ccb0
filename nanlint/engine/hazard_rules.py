"""Rules that are shown hazards, on one file and the project around it."""

# ruff: noqa: PTH100, PTH110, PTH120 - asked for every file; pathlib costs ten times as much

from __future__ import annotations

import os
import re
from dataclasses import replace
from functools import partial
from typing import TYPE_CHECKING

from nanlint.analysis.project.whole import WholeProject
from nanlint.engine.one_defect import with_evidence_of
from nanlint.engine.rules.border import findings_of
from nanlint.evidence.levels import graded
from nanlint.evidence.of_hazard import of_hazard
from nanlint.evidence.table import NOTHING_KNOWN
from nanlint.hazards.find import hazards_in
from nanlint.model import Edit, Span
from nanlint.settings.project import project_root
from nanlint.source.syntax.file_imports import TORCH, line_for_torch
from nanlint.source.syntax.outline import MODULE

if TYPE_CHECKING:
    from collections.abc import Callable

    from nanlint.analysis.project.whole import FileInProject
    from nanlint.engine.rules.ruleset import Ruleset
    from nanlint.hazards.calls import Seen
    from nanlint.hazards.hazard import Hazard
    from nanlint.model import FileError, Finding, Fix
    from nanlint.rule import Rule
    from nanlint.source.syntax.outline import Outline

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


def run_hazard_rules(
    file: FileInProject, plan: Outline, path: str, ruleset: Ruleset, errors: list[FileError]
) -> list[Finding]:
    """What the rules that watch for hazards find in a file."""
    found: list[Finding] = []
    for each, seen in hazards_in(file, ruleset.watched):
        for rule in ruleset.watching[each]:
            told = partial(_told, rule, plan=plan, path=path, errors=errors)
            found += _through_calls(seen, told, is_graded=rule.severity is None)
    return list({(finding.code, finding.span): finding for finding in found}.values())


def _told(rule: Rule, hazard: Hazard, *, plan: Outline, path: str, errors: list[FileError]) -> list[Finding]:
    """What one rule says of one hazard, with the level that its evidence adds up to."""
    function = hazard.outer_function.replace(MODULE, "")
    findings = findings_of(rule, partial(rule.check, hazard), path, partial(_line_of, hazard), errors)
    placed = [replace(each, function=function, fix=with_import(each.fix, plan)) for each in findings]
    return [graded(each, *of_hazard(each, hazard, plan)) if rule.severity is None else each for each in placed]


def _through_calls(seen: Seen, told: Callable[[Hazard], list[Finding]], *, is_graded: bool) -> list[Finding]:
    """One finding for each place: as it is written there, with the evidence of the call that is hit hardest.

    What no call in the project breaks is safe if nobody else can call it, and information if somebody may.
    """
    own = told(seen.own) if seen.own is not None and not (seen.is_decided and not seen.called) else []
    # A fix rests on what is written in the function, and not on what one call passes.
    called = [replace(each, fix=None) for hazard in seen.called for each in told(hazard)]
    worst = {each.span: each for each in sorted(called, key=lambda each: each.severity.rank)}
    if not is_graded:
        return list({**worst, **{each.span: each for each in own}}.values())
    if seen.is_decided:
        own = [each for each in own if each.span in worst]
    elif seen.is_complete:
        own = [graded(each, NOTHING_KNOWN) if each.span not in worst else each for each in own]
    for each in own:
        hit = worst.get(each.span)
        is_worse = hit is not None and hit.severity.rank > each.severity.rank
        worst[each.span] = with_evidence_of(each, hit) if hit is not None and (seen.is_complete or is_worse) else each
    return list(worst.values())


def with_import(fix: Fix | None, plan: Outline) -> Fix | None:
    """The fix, and an import of torch if it writes that name where nothing binds it."""
    if fix is None or not any(_TORCH.search(edit.text) for edit in fix.edits):
        return fix
    line = line_for_torch(plan.tree)
    return replace(fix, edits=(Edit(Span(line, 1, line, 1), f"import {TORCH}\n"), *fix.edits)) if line else fix


def _line_of(hazard: Hazard) -> int:
    return hazard.span.line
