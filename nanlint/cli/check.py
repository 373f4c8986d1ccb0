"""`nanlint check`: find, report, and on request fix, suppress or remember."""

# pathlib is not imported on a clean run.
# ruff: noqa: PTH100, PTH109, PTH112

from __future__ import annotations

import os
import sys
from typing import TYPE_CHECKING, TextIO

from nanlint.cli.checking.options import EPILOG, add_options, plan_of
from nanlint.cli.local_rules import say_left_out
from nanlint.cli.terminal import Waiting
from nanlint.engine.check_paths import Run
from nanlint.errors import ExitCode, UsageError
from nanlint.model import Severity
from nanlint.settings.paths import shown_path
from nanlint.source.discover import STDIN

if TYPE_CHECKING:
    import argparse
    from collections.abc import Iterable

    from nanlint.engine.check_file import FileResult
    from nanlint.model import FileError, Report
    from nanlint.settings import Settings
    from nanlint.source.discover import Discovery

__all__ = ["EPILOG", "add_options", "run"]


def run(options: argparse.Namespace, out: TextIO, err: TextIO) -> ExitCode:
    """Check what the user named; the exit code says whether something was found."""
    session = Run(plan_of(options, sys.stdin))
    if options.show_settings:
        from nanlint.settings.show import show_settings  # noqa: PLC0415 - for this option only

        show_settings(_settings_of_first(session), out)
        return ExitCode.CLEAN
    discovery = session.discover()
    say_left_out(session.finder, err)
    if options.show_files:
        out.writelines(f"{file.path}\n" for file in discovery.files)
        err.writelines(f"{line}\n" for line in _error_lines(discovery.errors))
        return ExitCode.FAILED if _named_in_vain(discovery, options) else ExitCode.CLEAN
    return _check(session, discovery, options, (out, err))


def _settings_of_first(session: Run) -> Settings:
    """The settings of the first path, a file or a folder; of the working directory if none is named."""
    first = next(iter(session.plan.paths), "")
    if first == STDIN:
        first = session.plan.stdin_filename
    if not first:
        return session.settings
    path = os.path.abspath(first)
    return session.finder.for_directory(path) if os.path.isdir(path) else session.finder.for_path(path)


def _check(session: Run, discovery: Discovery, options: argparse.Namespace, streams: tuple[TextIO, TextIO]) -> ExitCode:
    out, err = streams
    results = _results(session, discovery, options, err)
    diffs: list[str] = []
    rewriting = options.diff or options.add_ignores or options.interactive or options.fix or options.fix_only
    if session.settings.fix and not rewriting and not options.quiet:
        where = session.settings.origin("fix")
        err.write(f"nanlint: {where}: files are changed only when --fix is on the command line; nothing was changed\n")
    if rewriting:
        from nanlint.cli.checking.rewrite import print_stdin, rewrite  # noqa: PLC0415 - for runs that change files

        diffs = rewrite(session, discovery, results, options, err)
        if session.plan.stdin is not None and not options.diff:
            print_stdin(session, out)
            out = err
    report = session.assemble(discovery, results)
    failed = _named_in_vain(discovery, options) or (options.strict and bool(report.errors))
    if failed and options.write_baseline is not None:
        err.writelines(f"{line}\n" for line in _error_lines(report.errors))
        raise UsageError("--write-baseline: the run failed, so no baseline was written; mend the above and run again")
    if options.diff or options.fix_only:
        out.writelines(diffs)
        err.writelines(f"{line}\n" for line in _error_lines(report.errors))
        if options.fix_only and not options.quiet:
            err.write(f"{_fixed_and_left(report)}\n")
        found = bool(diffs)
    else:
        report = _without_known(report, session, discovery, options, err)
        if options.confirm:
            from nanlint.cli.checking.verdicts import with_verdicts  # noqa: PLC0415 - for this option only

            report = with_verdicts(report, session, options, err)
        from nanlint.cli.checking.output import print_report  # noqa: PLC0415 - a run may end without a report

        print_report(report, session.settings.output_format, options, (out, err))
        found = _is_failing(report, session.settings.fail_on)
    if failed:
        return ExitCode.FAILED
    return ExitCode.FINDINGS if found and not options.exit_zero else ExitCode.CLEAN


def _results(session: Run, discovery: Discovery, options: argparse.Namespace, err: TextIO) -> dict[str, FileResult]:
    waiting = Waiting(err, shown=not options.quiet)
    try:
        results = session.check(discovery, waiting)
    finally:
        waiting.stop()
    if options.verbose:
        from nanlint.cli.checking.output import account  # noqa: PLC0415 - for this option only

        err.writelines(f"{line}\n" for line in account(session, discovery))
    if not options.quiet and any(result.noqa for result in results.values()):
        from nanlint.cli.checking.beside_ruff import warning  # noqa: PLC0415 - few repositories use noqa for us

        text = warning(os.getcwd())
        err.write(f"warning: {text}\n" if text else "")
    return results


def _fixed_and_left(report: Report) -> str:
    from nanlint.report.wording import counted  # noqa: PLC0415 - as below

    fixed = counted(report.summary.fixed, "problem")
    return f"Fixed {fixed} ({len(report.findings)} remaining)."


def _named_in_vain(discovery: Discovery, options: argparse.Namespace) -> bool:
    """Whether a path that the user named could not be read: a mistake in the command line, not in one file."""
    named = {shown_path(path) for path in options.paths} if discovery.errors else set()
    return any(error.path in named for error in discovery.errors)


def _error_lines(errors: Iterable[FileError]) -> list[str]:
    from nanlint.report.wording import error_place, one_line  # noqa: PLC0415 - a report has its own way to tell errors

    return [f"{error_place(error)}: {one_line(error.message)}" for error in errors]


def _without_known(
    report: Report, session: Run, discovery: Discovery, options: argparse.Namespace, err: TextIO
) -> Report:
    if options.write_baseline is None and not session.settings.baseline:
        return report
    from nanlint.cli.checking.known import with_baseline  # noqa: PLC0415 - for runs with a baseline

    return with_baseline(report, session, discovery, options, err)


def _is_failing(report: Report, fail_on: str) -> bool:
    mildest = Severity(fail_on).rank
    return any(finding.severity.rank >= mildest for finding in report.findings)
