"""Rules that are shown training loops, on one file and the project around it."""

from __future__ import annotations

from dataclasses import replace
from functools import partial
from typing import TYPE_CHECKING

from nanlint.analysis.training_loop.loops import steps_without_backward, training_loops
from nanlint.engine.hazard_rules import with_import
from nanlint.engine.one_defect import function_at
from nanlint.engine.rules.border import findings_of
from nanlint.evidence import table
from nanlint.evidence.levels import graded
from nanlint.model import FileError

if TYPE_CHECKING:
    from nanlint.analysis.project.whole import FileInProject
    from nanlint.analysis.training_loop.loops import TrainingLoop
    from nanlint.engine.rules.ruleset import Ruleset
    from nanlint.model import Finding
    from nanlint.source.syntax.outline import Outline


def run_loop_rules(
    file: FileInProject, plan: Outline, path: str, ruleset: Ruleset, errors: list[FileError]
) -> list[Finding]:
    """What is found in the training loops of the file; each place is told once, however many loops lead there."""
    if not ruleset.for_loops:
        return []
    try:
        loops, steps = training_loops(file), steps_without_backward(file)
    except RecursionError:
        message = "the training loops are nested too deeply to be read; they were not checked"
        errors.append(FileError(path, None, message))
        return []
    told: dict[object, Finding] = {}
    for each in (*loops, *steps):
        for rule in ruleset.for_loops:
            check = rule.check_loop if each in loops else rule.check_step
            for finding in findings_of(rule, partial(check, each), path, partial(_line_of, each), errors):
                placed = replace(
                    finding, function=function_at(plan, finding.span.line), fix=with_import(finding.fix, plan)
                )
                judged = graded(placed, table.IN_THE_LOOP) if rule.severity is None else placed
                told.setdefault((finding.code, finding.span), judged)
    return list(told.values())


def _line_of(loop: TrainingLoop) -> int:
    return loop.events[0].span.line
