"""`nanlint check`: find, report, and on request fix, suppress or remember."""

from __future__ import annotations

import os
import sys
from typing import TYPE_CHECKING, TextIO

from nanlint.cli.check_options import EPILOG, add_options, plan_of
from nanlint.cli.terminal import Waiting, wants_colour
from nanlint.engine.check_paths import Run
from nanlint.errors import ExitCode, UsageError
from nanlint.model import Severity
from nanlint.settings.paths import shown_path

if TYPE_CHECKING:
    import argparse

    from nanlint.model import Report
    from nanlint.source.discover import Discovery

__all__ = ["EPILOG", "add_options", "run"]


def run(options: argparse.Namespace, out: TextIO, err: TextIO) -> ExitCode:
    """Check what the user named; the exit code says whether something was found."""
    session = Run(plan_of(options, sys.stdin))
    if options.show_settings:
        from nanlint.settings.show import show_settings  # noqa: PLC0415 - for this option only

        show_settings(session.settings, out)
        return ExitCode.CLEAN
    discovery = session.discover()
    named = {shown_path(os.path.abspath(path)) for path in options.paths}
    missing = [error for error in discovery.errors if error.path in named]
    if missing:
        raise UsageError("\n".join(f"{error.path}: {error.message}" for error in missing))
    if options.show_files:
        out.writelines(f"{file.path}\n" for file in discovery.files)
        return ExitCode.CLEAN
    return _check(session, discovery, options, (out, err))


def _check(
    session: Run, discovery: Discovery, options: argparse.Namespace, streams: tuple[TextIO, TextIO]
) -> ExitCode:
    out, err = streams
    waiting = Waiting(err, shown=not options.quiet)
    try:
        results = session.check(discovery, waiting)
    finally:
        waiting.stop()
    settings = session.settings
    if options.diff or options.add_ignores is not None or settings.fix:
        from nanlint.cli.rewrite import rewrite  # noqa: PLC0415 - for runs that change files

        code = rewrite(session, discovery, results, options, streams)
        if code is not None:
            return code
    report = session.assemble(discovery, results)
    if options.write_baseline is not None or settings.baseline:
        from nanlint.cli.known import with_baseline  # noqa: PLC0415 - for runs with a baseline

        report = with_baseline(report, session, discovery, options, err)
    if options.verbose:
        err.write(f"{len(discovery.files)} files, {session.recalled} from the cache in {session.cache_folder}\n")
    _print(report, session, options, streams)
    return exit_code(report, settings.fail_on, options)


def exit_code(report: Report, fail_on: str, options: argparse.Namespace) -> ExitCode:
    """1 for findings at or above `fail_on`; files that could not be checked make it 2 only with --strict."""
    if options.strict and report.errors:
        return ExitCode.FAILED
    mildest = Severity(fail_on).rank
    failing = any(finding.severity.rank >= mildest for finding in report.findings)
    return ExitCode.FINDINGS if failing and not options.exit_zero else ExitCode.CLEAN


def _print(report: Report, session: Run, options: argparse.Namespace, streams: tuple[TextIO, TextIO]) -> None:
    out, err = streams
    from nanlint.report import FOR_PEOPLE, render, render_statistics  # noqa: PLC0415 - `run` may end without a report

    chosen = session.settings.output_format or ("full" if out.isatty() and not options.output_file else "concise")
    coloured = wants_colour(options.color, out)
    if options.output_file:
        try:
            with open(options.output_file, "w", encoding="utf-8", newline="\n") as file:
                render(report, chosen, file, colour=options.color == "always", closing=not options.quiet)
        except OSError as error:
            raise UsageError(f"--output-file {options.output_file}: {error.strerror}") from None
    elif not (options.statistics and chosen in FOR_PEOPLE):
        render(report, chosen, out, colour=coloured, closing=not options.quiet)
    if options.statistics:
        # Beside a report for programs the table must not spoil stdout.
        table_out = out if chosen in FOR_PEOPLE or options.output_file else err
        render_statistics(report, table_out, colour=wants_colour(options.color, table_out))
