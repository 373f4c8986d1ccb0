"""What `nanlint check` prints, and where: the report, the table of --statistics, the account of --verbose."""

# pathlib is not imported on a clean run.
# ruff: noqa: PTH110, PTH113, PTH123

from __future__ import annotations

import os
from typing import TYPE_CHECKING, TextIO

from nanlint.cli.terminal import wants_colour
from nanlint.errors import UsageError
from nanlint.report import FOR_PEOPLE, render
from nanlint.report.closing import closing_line
from nanlint.report.wording import counted, printable
from nanlint.settings.paths import shown_path

if TYPE_CHECKING:
    import argparse
    from collections.abc import Iterator

    from nanlint.engine.check_paths import Run
    from nanlint.model import Report
    from nanlint.source.discover import Discovery


def print_report(report: Report, chosen: str, options: argparse.Namespace, streams: tuple[TextIO, TextIO]) -> None:
    """Print the report in the chosen format, or write it to --output-file and print how the run ended."""
    out, err = streams
    report = report._replace(explains_levels=options.explain_level)
    if report.hidden:
        report = report._replace(command=_same_run(options))
    chosen = chosen or ("full" if out.isatty() and not options.output_file else "concise")
    if options.output_file:
        _write(report, chosen, options)
        if options.statistics:
            _print_statistics(report, options, out)
        elif not options.quiet:
            out.write(f"{closing_line(report)}\n")
    elif chosen in FOR_PEOPLE and options.statistics:
        _print_statistics(report, options, out)
    else:
        if chosen not in FOR_PEOPLE:
            _speak_utf8(out)
        render(
            report,
            chosen,
            out,
            colour=wants_colour(options.color, out),
            closing=not options.quiet,
        )
        if options.statistics:
            # Beside a report for programs the table must not spoil stdout.
            _print_statistics(report, options, err)


_DECIDING = ("config", "isolated", "select", "extend_select", "ignore", "preview", "include", "exclude", "extend_exclude",
             "force_exclude", "respect_gitignore", "baseline", "stdin_filename")  # fmt: skip
"""The options that decide what is found; how it is shown, fixed and run is another question."""
_MANY_PATHS = 5


def _same_run(options: argparse.Namespace) -> str:
    """The command that finds the same again; a long list of paths, as hooks pass them, is left to the reader."""
    from shlex import join  # noqa: PLC0415 - for runs that hide something

    words = ["nanlint", options.command]
    for name in _DECIDING:
        flag, value = f"--{name.replace('_', '-')}", getattr(options, name, None)
        if isinstance(value, bool):
            is_default = not value and name == "isolated"
            words += [] if is_default else [flag if value else f"--no-{flag.removeprefix('--')}"]
        elif value:
            words += [flag, ",".join(value) if isinstance(value, list) else value]
    paths = options.paths if len(options.paths) <= _MANY_PATHS else ["..."]
    return printable(join([*words, *paths]))


def _print_statistics(report: Report, options: argparse.Namespace, out: TextIO) -> None:
    """The table, then what could not be checked and the closing line: these are no statistics, and never left out."""
    from nanlint.report import render_statistics  # noqa: PLC0415 - for this option only

    render_statistics(report, out, colour=wants_colour(options.color, out))
    render(report._replace(findings=()), "concise", out, closing=False)
    if not options.quiet:
        out.write(f"{closing_line(report)}\n")


def _speak_utf8(out: TextIO) -> None:
    """What programs read is UTF-8 by its own standard, whatever the terminal speaks."""
    reconfigure = getattr(out, "reconfigure", None)
    if reconfigure is not None:
        reconfigure(encoding="utf-8")


def _write(report: Report, chosen: str, options: argparse.Namespace) -> None:
    """Write the report to a file, which is the old one or the new one and never a part."""
    from io import StringIO  # noqa: PLC0415 - for this option only

    from nanlint.source.read import UnwritableSource  # noqa: PLC0415 - as above
    from nanlint.source.write import write_atomically  # noqa: PLC0415 - as above

    text = StringIO()
    render(
        report,
        chosen,
        text,
        colour=options.color == "always",
        closing=not options.quiet,
    )
    data = text.getvalue().encode("utf-8", "surrogatepass")
    path = options.output_file
    try:
        if os.path.exists(path) and not os.path.isfile(path):  # a pipe, a terminal, /dev/null
            with open(path, "wb") as file:
                file.write(data)
        else:
            write_atomically(path, data)
    except OSError as error:
        raise UsageError(f"--output-file {path}: {error.strerror}") from None
    except UnwritableSource as error:
        raise UsageError(f"--output-file {path}: {error}") from None


def account(session: Run, discovery: Discovery) -> Iterator[str]:
    """What --verbose tells: settings, rules, files, cache."""
    configs = sorted({file.settings.config for file in discovery.files if file.settings.config})
    yield f"settings: {', '.join(map(shown_path, configs)) or 'defaults, no settings file'}"
    rulesets = {id(file.settings): session.checker.ruleset(file.settings) for file in discovery.files}
    yield f"rules: {', '.join(sorted({code for ruleset in rulesets.values() for code in ruleset.rules})) or 'none'}"
    if session.memory is None:
        yield f"files: {counted(len(discovery.files), 'file')}; no cache"
    else:
        recalled, folder = session.memory.recalled, shown_path(session.cache_folder)
        yield f"files: {counted(len(discovery.files), 'file')}, {recalled} of them from the cache in {folder}"
