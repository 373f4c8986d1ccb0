"""A report with verdicts: what `nanlint confirm` and `nanlint check --confirm` share."""

from __future__ import annotations

import time
from collections import Counter
from typing import TYPE_CHECKING, Any, TextIO

from nanlint.cli.running_options import running_options
from nanlint.confirm.confirming import Confirmer
from nanlint.engine.fixing.edits import apply_edits
from nanlint.model import Applicability
from nanlint.model.verdict import VerdictKind
from nanlint.settings.paths import shown_path

if TYPE_CHECKING:
    import argparse
    from collections.abc import Sequence

    from rich.progress import Progress

    from nanlint.engine.check_paths import Run
    from nanlint.model import Finding, Report

_REFRESH = 0.1
NOT_RUN = frozenset({"NAN001"})
"""Rules about comments: there is nothing to run."""


def with_verdicts(report: Report, session: Run, options: argparse.Namespace, err: TextIO, *, jobs: int = 0) -> Report:
    """The report with a verdict on every finding that can be run, so many at a time; what is proven comes first."""
    runnable = [finding for finding in report.findings if finding.code not in NOT_RUN]
    confirmer = Confirmer(
        running_options(options),
        jobs=jobs,
        inputs_for=lambda path: session.finder.for_path(_absolute(path)).confirm,
        fixed=fixed_text,
        uses_half=session.uses_half,
        save_to=getattr(options, "save", ""),
    )
    bar = _Bar(err, len(runnable), shown=not options.quiet)
    try:
        done = confirmer.confirm(runnable, bar.note)
    finally:
        bar.stop()
    if options.verbose:
        err.writelines(f"{line}\n" for line in walls_told(done))
    verdicts = dict(zip(map(id, runnable), done, strict=True))
    findings = tuple(sorted((verdicts.get(id(finding), finding) for finding in report.findings), key=_is_unproven))
    left = sum(finding.verdict is None for finding in done)
    if left:
        minutes = f"{confirmer.options.budget:g} minutes"
        err.write(f"nanlint: {left} findings were not run: the budget of {minutes} was used up (--budget)\n")
    if not options.confirmed_only:
        return report._replace(findings=findings)
    confirmed = tuple(finding for finding in findings if is_confirmed(finding))
    summary = report.summary._replace(unconfirmed=len(findings) - len(confirmed))
    return report._replace(findings=confirmed, summary=summary)


def walls_told(findings: Sequence[Finding]) -> list[str]:
    """What --verbose tells of the walls around the code that was run."""
    stood = {finding.verdict.walls for finding in findings if finding.verdict is not None and finding.verdict.walls}
    return [f"walls: {', '.join(walls)}" for walls in sorted(stood)]


def _absolute(path: str) -> str:
    import os  # noqa: PLC0415 - for this question only

    return os.path.abspath(path)  # noqa: PTH100 - the settings' paths are strings


def _is_unproven(finding: Finding) -> bool:
    """False, which sorts first, for what was seen to fail."""
    return not is_confirmed(finding)


def is_confirmed(finding: Finding) -> bool:
    """Whether the finding was seen to fail."""
    return finding.verdict is not None and finding.verdict.kind is VerdictKind.CONFIRMED


def fixed_text(finding: Finding, text: str) -> str | None:
    """The file with the finding's fix applied; None if it has none that can be applied."""
    if finding.fix is None or finding.fix.applicability is Applicability.SHOW:
        return None
    changed, applied, _ = apply_edits(text, [finding.fix])
    return changed if applied else None


class _Bar:
    """Progress with the counts of verdicts, on a terminal only; drawn when a verdict comes and never by a thread."""

    def __init__(self, err: TextIO, total: int, *, shown: bool) -> None:
        self.counts: Counter[str] = Counter()
        self.total = total
        self.next = time.monotonic()
        self.bar: Progress | None = _progress(err, total) if shown and err.isatty() and total else None

    def note(self, finding: Finding, done: int) -> None:
        """Count a verdict, and draw."""
        if finding.verdict is not None:
            self.counts[finding.verdict.kind.value] += 1
        if self.bar is None or (time.monotonic() < self.next and done < self.total):
            return
        told = ", ".join(f"{self.counts[kind.value]} {kind.value}" for kind in VerdictKind if self.counts[kind.value])
        self.bar.update(
            self.bar.task_ids[0], completed=done, description=f"{shown_path(finding.path)}  {told}", refresh=True
        )
        self.next = time.monotonic() + _REFRESH

    def stop(self) -> None:
        """Take the bar away."""
        if self.bar is not None:
            self.bar.stop()


def _progress(err: TextIO, total: int) -> Any:
    from rich.console import Console  # noqa: PLC0415 - for those who wait
    from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeRemainingColumn  # noqa: PLC0415 - same

    columns = (TextColumn("{task.description}"), BarColumn(), MofNCompleteColumn(), TimeRemainingColumn())
    bar = Progress(*columns, console=Console(file=err), transient=True, auto_refresh=False)
    bar.add_task("starting the child process", total=total)
    bar.start()
    return bar
