"""`nanlint confirm`: check, run what is found, and print the verdicts."""

from __future__ import annotations

import sys
from collections import Counter
from typing import TYPE_CHECKING, TextIO

from nanlint.cli.checking.options import plan_of
from nanlint.cli.checking.output import print_report
from nanlint.cli.confirm_options import EPILOG, add_options, places_of
from nanlint.cli.local_rules import say_left_out
from nanlint.cli.running_options import running_options
from nanlint.cli.terminal import Waiting
from nanlint.engine.check_paths import Run
from nanlint.errors import ExitCode, UsageError
from nanlint.model.verdict import VerdictKind
from nanlint.report import FOR_PEOPLE
from nanlint.report.wording import place
from nanlint.settings.paths import shown_path
from nanlint.source.discover import STDIN

if TYPE_CHECKING:
    import argparse
    from collections.abc import Callable, Iterator

    from nanlint.cli.confirm_options import Place
    from nanlint.model import Finding, Report

__all__ = ["EPILOG", "add_options", "run"]


def run(options: argparse.Namespace, out: TextIO, err: TextIO) -> ExitCode:
    """Check what the user named and run what is found; the exit code says whether something was confirmed."""
    from nanlint.cli.checking.verdicts import is_confirmed, with_verdicts  # noqa: PLC0415 - torch may be missing, the help is not

    running_options(options)
    if STDIN in options.paths:
        raise UsageError("confirm runs files; it cannot run what comes through stdin")
    options.paths, places = places_of(options.paths)
    session = Run(plan_of(options, sys.stdin))
    discovery = session.discover()
    say_left_out(session.finder, err)
    if options.show_files:
        out.writelines(f"{file.path}\n" for file in discovery.files)
        return ExitCode.CLEAN
    waiting = Waiting(err, shown=not options.quiet)
    try:
        results = session.check(discovery, waiting)
    finally:
        waiting.stop()
    everything = session.assemble(discovery, results)
    report = _narrowed(everything, places)
    err.writelines(f"nanlint: {line}\n" for line in _without_finding(everything, places))
    report = _every_level(report, lambda whole: with_verdicts(whole, session, options, err, jobs=options.jobs))
    chosen = session.settings.output_format or ("full" if out.isatty() and not options.output_file else "concise")
    for_people = chosen in FOR_PEOPLE and not options.output_file
    if report.findings or report.hidden or not (for_people and (everything.findings or everything.hidden)):
        print_report(report, chosen, options, (out, err))
    if for_people and not options.quiet and report.findings:
        out.writelines(f"{line}\n" for line in summary(report, getattr(options, "device", "auto")))
    named = {shown_path(path) for path in options.paths}
    if any(error.path in named for error in discovery.errors):
        return ExitCode.FAILED
    confirmed = any(map(is_confirmed, report.findings))
    return ExitCode.FINDINGS if confirmed and not options.exit_zero else ExitCode.CLEAN


def _every_level(report: Report, confirm: Callable[[Report], Report]) -> Report:
    """The report with verdicts on findings of every level; of the levels that are not shown, what failed is."""
    shown = set(map(_key, report.findings))
    whole = confirm(report._replace(findings=(*report.findings, *report.hidden)))
    seen_to_fail = {VerdictKind.CONFIRMED, VerdictKind.REACHABLE}
    failed = {_key(one) for one in whole.findings if one.verdict is not None and one.verdict.kind in seen_to_fail}
    findings = tuple(one for one in whole.findings if _key(one) in shown | failed)
    hidden = tuple(one for one in whole.findings if _key(one) not in shown | failed)
    return whole._replace(findings=findings, hidden=hidden)


def _key(finding: Finding) -> tuple[object, ...]:
    return finding.path, finding.cell, finding.code, finding.span


def _narrowed(report: Report, places: dict[str, set[Place]]) -> Report:
    """The findings at the places that were asked for; all of them in files that were named without one."""
    if not places:
        return report
    wanted = {shown_path(path): asked for path, asked in places.items()}

    def is_wanted(one: Finding) -> bool:
        return one.path not in wanted or any(_is_at(one, at) for at in wanted[one.path])

    return report._replace(
        findings=tuple(filter(is_wanted, report.findings)), hidden=tuple(filter(is_wanted, report.hidden))
    )


def _without_finding(report: Report, places: dict[str, set[Place]]) -> Iterator[str]:
    """What to say of places at which nothing was found."""
    for path, asked in places.items():
        found = [one for one in report.findings if one.path == shown_path(path)]
        hidden = [one for one in report.hidden if one.path == shown_path(path)]
        lines = (place(one).removeprefix(f"{one.path}:").rpartition(":")[0] for one in found + hidden)
        there = ", ".join(dict.fromkeys(lines))
        for at in sorted(asked, key=str):
            milder = next((one.severity.value for one in hidden if _is_at(one, at)), "")
            if any(_is_at(one, at) for one in found):
                continue
            if not milder:
                where = f"it finds something at {there}" if there else "it finds nothing in the file"
                yield f"{path}:{_written(at)}: check finds nothing there; {where}"


def _written(at: Place) -> str:
    cell, line = at
    return ":".join([*([f"cell {cell}"] if cell else []), *([str(line)] if line else [])])


def _is_at(finding: Finding, place: Place) -> bool:
    cell, line = place
    return finding.cell == cell and (line is None or finding.span.line <= line <= finding.span.end_line)


def summary(report: Report, device: str = "") -> list[str]:
    """A table: verdicts by rule; and where the code ran, if the user left that to us."""
    verdicts = [(finding.code, finding.verdict) for finding in report.findings if finding.verdict is not None]
    counts = Counter((code, verdict.kind.value) for code, verdict in verdicts)
    kinds = [kind.value for kind in VerdictKind if any(kind is verdict.kind for _, verdict in verdicts)]
    if not kinds:
        return []
    rows = [f"{code:8}" + "".join(f"{counts[code, kind] or '':>16}" for kind in kinds) for code, _ in verdicts]
    lines = ["", f"{'rule':8}" + "".join(f"{kind:>16}" for kind in kinds), *sorted(set(rows))]
    ran = {(verdict.device or "").partition(" ")[0] for _, verdict in verdicts} - {""}
    if device == "auto" and ran == {"cpu"}:
        lines += ["", "Run on the CPU: torch sees no GPU here. A GPU adds up in other orders and formats."]
    return [line.rstrip() for line in lines]
