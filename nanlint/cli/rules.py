"""`nanlint rules`: every rule in a table, or as JSON."""

from __future__ import annotations

from dataclasses import asdict
from typing import TYPE_CHECKING, TextIO

from nanlint.cli.local_rules import add_permission, settings_here
from nanlint.cli.terminal import add_colour, wants_colour
from nanlint.engine.rules.rulebook import rulebook
from nanlint.errors import ExitCode

if TYPE_CHECKING:
    import argparse

    from nanlint.model import RuleInfo

EPILOG = """\
examples:
  nanlint rules
  nanlint rules --json
"""


def add_options(parser: argparse.ArgumentParser) -> None:
    """The options of this command."""
    parser.add_argument("--json", action="store_true", help="print JSON, one object per rule")
    add_permission(parser)
    add_colour(parser)


def run(options: argparse.Namespace, out: TextIO, err: TextIO) -> ExitCode:
    """List the shipped rules and those of `local-rules`."""
    book = rulebook(settings_here(options, err).local_rules)
    infos = [book.info(code) for code in book.rules]
    if options.json:
        import json  # noqa: PLC0415 - for this option only

        rows = [{**asdict(info), "severity": info.severity.value} for info in infos]
        out.write(json.dumps(rows, indent=2, ensure_ascii=False) + "\n")
    elif wants_colour(options.color, out):
        _print_table(infos, out)
    else:
        out.writelines(f"{info.code}  {info.name}{_mark(info)}: {info.summary}\n" for info in infos)
    return ExitCode.CLEAN


def _mark(info: RuleInfo) -> str:
    return " (preview)" if info.preview else ""


def _print_table(infos: list[RuleInfo], out: TextIO) -> None:
    from rich.console import Console  # noqa: PLC0415 - for terminals only
    from rich.table import Table  # noqa: PLC0415 - as above

    table = Table(box=None, header_style="bold")
    for heading in ("code", "name", "what it finds"):
        table.add_column(heading, no_wrap=heading == "code")
    for info in infos:
        table.add_row(info.code, info.name + _mark(info), info.summary)
    Console(file=out, force_terminal=True).print(table)
