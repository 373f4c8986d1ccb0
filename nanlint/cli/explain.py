"""`nanlint explain CODE|NAME`: the page of a rule."""

from __future__ import annotations

from typing import TYPE_CHECKING, TextIO

from nanlint.cli.local_rules import add_permission, settings_here
from nanlint.cli.terminal import add_colour, wants_colour
from nanlint.engine.rules.rulebook import rulebook
from nanlint.errors import ExitCode

if TYPE_CHECKING:
    import argparse

EPILOG = """\
examples:
  nanlint explain NAN110
  nanlint explain log-of-softmax
"""


def add_options(parser: argparse.ArgumentParser) -> None:
    """The options of this command."""
    parser.add_argument("rule", nargs="+", metavar="CODE|NAME", help="a rule's code (NAN110) or name (log-of-softmax)")
    add_permission(parser)
    add_colour(parser)


def run(options: argparse.Namespace, out: TextIO, err: TextIO) -> ExitCode:
    """Print the pages, rendered on a terminal and as plain Markdown elsewhere."""
    book = rulebook(settings_here(options, err).local_rules)
    infos = [book.info(book.find(rule).code) for rule in options.rule]
    from nanlint.rule_pages import page  # noqa: PLC0415 - no other command prints pages

    text = "\n".join(map(page, infos))
    if not wants_colour(options.color, out):
        out.write(text)
        return ExitCode.CLEAN
    from rich.console import Console  # noqa: PLC0415 - for terminals only
    from rich.markdown import Markdown  # noqa: PLC0415 - as above

    Console(file=out, force_terminal=True).print(Markdown(text))
    return ExitCode.CLEAN
