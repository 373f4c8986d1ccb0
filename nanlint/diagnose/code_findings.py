"""What the linter says of code and configs, as clues; and what running the found code shows."""

from __future__ import annotations

import os
import time
from typing import TYPE_CHECKING

from nanlint.api import check_paths
from nanlint.diagnose.answer import CODE, CONFIG, LEARNING_RATE, Clue
from nanlint.model.verdict import VerdictKind
from nanlint.model.words import Severity
from nanlint.settings import SettingsFinder

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from nanlint.confirm.harness import Harness
    from nanlint.diagnose.project import Project
    from nanlint.model import Finding, Report

ABOUT_CONFIGS = ("NAN602", "NAN603")
ABOUT_RESUMING = ("NAN501",)
_NOT_A_CAUSE = frozenset({"NAN001"})
_LEVELS = {Severity.ERROR: 0, Severity.WARNING: 1, Severity.INFO: 2}
_AT_A_TIME = 2
_LOOPS = "NAN4"
"""Rules about the training loop: they let a NaN in or hide it."""
_SAVING = "NAN5"


def check_configs(project: Project) -> Report:
    """Conflicts and risky values, in config files and in Python's own configs."""
    return check_paths([project.root], select=list(ABOUT_CONFIGS), severity="info")


def check_code(project: Project) -> Report:
    """Everything that the linter finds, at every level."""
    return check_paths([project.root], severity="info")


def config_clue(finding: Finding) -> Clue:
    """A conflict of formats is one cause, whatever the number of files that take part in it."""
    is_conflict = finding.code == "NAN602"
    is_mild = finding.severity is Severity.INFO
    strength = "info" if is_mild else "conflict" if is_conflict else "risky-value"
    about = "precision" if is_conflict else f"{finding.path}:{finding.span.line}"
    first = finding.help or ("say one number format in all configs of the run" if is_conflict else f"change the value; nanlint explain {finding.code}")  # fmt: skip
    return Clue(
        CONFIG, about, strength, finding.message, _told(finding), first, finding.path, finding.span.line, finding.code
    )


def code_clue(finding: Finding) -> Clue | None:
    """What a finding in code speaks for; its verdict counts, if it has one."""
    if finding.code in _NOT_A_CAUSE or finding.code in ABOUT_CONFIGS:
        return None
    if finding.code in ABOUT_RESUMING:
        return Clue(
            LEARNING_RATE, "rate", "rate-code", finding.message, _told(finding), _first(finding),
            finding.path, finding.span.line, finding.code,
        )  # fmt: skip
    return Clue(
        CODE, f"{finding.path}:{finding.cell or ''}:{finding.span.line}", _strength(finding), finding.message,
        _told(finding), _first(finding), finding.path, finding.span.line, finding.code,
    )  # fmt: skip


def _strength(finding: Finding) -> str:
    verdict = finding.verdict
    if verdict is None or verdict.kind in {VerdictKind.NOT_RUNNABLE, VerdictKind.FLAKY}:
        return _as_read(finding)
    if verdict.kind is VerdictKind.NOT_REPRODUCED:
        return "not-reproduced" if finding.severity is not Severity.INFO else "info-not-reproduced"
    if verdict.kind is VerdictKind.REACHABLE:
        return "reachable" if finding.severity is not Severity.INFO else "info"
    if finding.code.startswith((_LOOPS, _SAVING)):
        return "loop-confirmed"
    return f"confirmed-{verdict.plausibility.value}" if verdict.plausibility else "confirmed-edge"


def _as_read(finding: Finding) -> str:
    """By its level, and by whether the rule is about where a NaN begins or about what becomes of it."""
    if finding.severity is Severity.INFO:
        return "info"
    if finding.code.startswith(_SAVING):
        return "saving"
    return "loop" if finding.code.startswith(_LOOPS) else finding.severity.value


def _told(finding: Finding) -> str:
    place = f"{finding.path}:{f'cell {finding.cell}:' if finding.cell else ''}{finding.span.line}"
    text = f"{finding.code} at {place}: {finding.message}"
    if finding.verdict is not None and finding.verdict.kind in {VerdictKind.CONFIRMED, VerdictKind.REACHABLE}:
        text += f"; {finding.verdict.kind.value}: {finding.verdict.reason}"
    return text


def _first(finding: Finding) -> str:
    if finding.help:
        return finding.help
    if finding.fix is not None:
        return f"{finding.fix.title} (nanlint check --diff --unsafe-fixes {finding.path})"
    return f"nanlint explain {finding.code} has what to write instead"


def likeliest_first(findings: Sequence[Finding]) -> list[Finding]:
    """What is run first when there is no time for all."""
    return sorted(findings, key=lambda one: (_LEVELS[one.severity], -(one.matters or 0.0), one.sort_key))


def confirmed(findings: Sequence[Finding], harness: Harness, until: float) -> Iterator[Finding]:
    """The findings with verdicts, one by one in the order given, as far as the time allows."""
    from nanlint.confirm.confirming import Confirmer  # noqa: PLC0415 - for this step only
    from nanlint.confirm.options import Options  # noqa: PLC0415 - same

    finder = SettingsFinder()
    confirmer = Confirmer(
        Options(device="auto", timeout=20.0),
        inputs_for=lambda path: finder.for_path(os.path.abspath(path)).confirm,  # noqa: PTH100 - settings' paths are strings
        harness=harness,
    )
    for start in range(0, len(findings), _AT_A_TIME):
        if time.monotonic() >= until:
            return
        yield from confirmer.confirm(findings[start : start + _AT_A_TIME])
