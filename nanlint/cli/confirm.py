"""`nanlint confirm`: check, run what is found, and print the verdicts."""

from __future__ import annotations

import sys
from dataclasses import replace
from typing import TYPE_CHECKING, TextIO

from nanlint.cli.check_options import plan_of
from nanlint.cli.check_output import print_report
from nanlint.cli.confirm_options import EPILOG, add_options, places_of
from nanlint.cli.running_options import running_options
from nanlint.cli.terminal import Waiting
from nanlint.engine.check_paths import Run
from nanlint.errors import ExitCode, UsageError
from nanlint.report import FOR_PEOPLE
from nanlint.settings.paths import shown_path
from nanlint.source.discover import STDIN

if TYPE_CHECKING:
    import argparse

    from nanlint.cli.confirm_options import Place
    from nanlint.model import Finding, Report

__all__ = ["EPILOG", "add_options", "run"]


def run(options: argparse.Namespace, out: TextIO, err: TextIO) -> ExitCode:
    """Check what the user named and run what is found; the exit code says whether something was confirmed."""
    from nanlint.cli.verdicts import is_confirmed, with_verdicts  # noqa: PLC0415 - torch may be missing, the help is not

    running_options(options)
    if STDIN in options.paths:
        raise UsageError("confirm runs files; it cannot run what comes through stdin")
    options.paths, places = places_of(options.paths)
    session = Run(plan_of(options, sys.stdin))
    discovery = session.discover()
    if options.show_files:
        out.writelines(f"{file.path}\n" for file in discovery.files)
        return ExitCode.CLEAN
    waiting = Waiting(err, shown=not options.quiet)
    try:
        results = session.check(discovery, waiting)
    finally:
        waiting.stop()
    report = _narrowed(session.assemble(discovery, results), places)
    report = with_verdicts(report, session, options, err)
    chosen = session.settings.output_format or ("full" if out.isatty() and not options.output_file else "concise")
    print_report(report, chosen, options, (out, err))
    if chosen in FOR_PEOPLE and not options.quiet and not options.output_file and report.findings:
        out.writelines(f"{line}\n" for line in summary(report))
    named = {shown_path(path) for path in options.paths}
    if any(error.path in named for error in discovery.errors):
        return ExitCode.FAILED
    confirmed = any(map(is_confirmed, report.findings))
    return ExitCode.FINDINGS if confirmed and not options.exit_zero else ExitCode.CLEAN


def _narrowed(report: Report, places: dict[str, set[Place]]) -> Report:
    """The findings at the places that were asked for; all of them in files that were named without one."""
    if not places:
        return report
    wanted = {shown_path(path): asked for path, asked in places.items()}
    kept = (one for one in report.findings if one.path not in wanted or any(_is_at(one, at) for at in wanted[one.path]))
    return replace(report, findings=tuple(kept))


def _is_at(finding: Finding, place: Place) -> bool:
    cell, line = place
    return finding.cell == cell and (line is None or finding.span.line <= line <= finding.span.end_line)


def summary(report: Report) -> list[str]:
    """A table: verdicts by rule, with the levels they were reached on."""
    rows: dict[str, dict[str, int]] = {}
    for finding in report.findings:
        if finding.verdict is not None:
            row = rows.setdefault(finding.code, {})
            row[finding.verdict.kind.value] = row.get(finding.verdict.kind.value, 0) + 1
    kinds = [kind for kind in _KINDS if any(kind in row for row in rows.values())]
    if not kinds:
        return []
    lines = ["", f"{'rule':8}" + "".join(f"{kind:>16}" for kind in kinds)]
    cells = {code: "".join(f"{row.get(kind, 0) or '':>16}" for kind in kinds) for code, row in rows.items()}
    return [*lines, *(f"{code:8}{cells[code]}" for code in sorted(cells))]


_KINDS = ("confirmed", "reachable", "flaky", "not-reproduced", "not-runnable")
