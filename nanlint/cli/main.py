"""`nanlint`: the commands, their options, and what becomes of errors.

The parser is built for the one command that was asked for; a hook that runs on every commit waits for it.
"""

from __future__ import annotations

import argparse
import os
import sys
from collections.abc import Callable, Sequence
from typing import TextIO

import nanlint
from nanlint.errors import ExitCode, NanlintError
from nanlint.nearest import did_you_mean

_SUMMARIES = {
    "check": "find code that turns a training run into NaN or Inf",
    "explain": "print what a rule finds, why it hurts and what to write instead",
    "rules": "list every rule",
    "clean": "delete the cache",
    "completion": "print a completion script for your shell",
}

_EPILOG = """\
examples:
  nanlint check src/                     report what is found
  nanlint check --fix src/               apply the fixes that change no result
  nanlint explain NAN110                 what a rule is about
  nanlint check --write-baseline src/    adopt nanlint on an old repository

exit codes: 0 nothing found, 1 findings, 2 the run itself failed
"""


def main(argv: Sequence[str] | None = None) -> int:
    """Run one command and return the exit code for the shell."""
    try:
        return _run(list(sys.argv[1:] if argv is None else argv), sys.stdout, sys.stderr)
    except NanlintError as error:
        print(f"nanlint: {error}", file=sys.stderr)
        return ExitCode.FAILED
    except BrokenPipeError:
        # `nanlint check | head` closed the pipe; leave quietly, and give the interpreter nothing to flush into it.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return ExitCode.FAILED
    except KeyboardInterrupt:
        print("nanlint: interrupted; files already fixed stay fixed, no file is half-written", file=sys.stderr)
        return 130


def _run(argv: list[str], out: TextIO, err: TextIO) -> int:
    command = next((word for word in argv if not word.startswith("-")), "")
    if command and command not in _SUMMARIES:
        raise NanlintError(f"there is no command `{command}`{did_you_mean(command, _SUMMARIES)} (see nanlint --help)")
    options = parser(command).parse_args(argv)
    if not command:
        parser().print_help(out)
        return ExitCode.CLEAN
    run: Callable[[argparse.Namespace, TextIO, TextIO], int] = _module(command).run
    return run(options, out, err)


def parser(command: str = "") -> argparse.ArgumentParser:
    """The parser for one command, or with "" for all of them (help and completion)."""
    top = argparse.ArgumentParser(
        prog="nanlint",
        description="Finds the code that will turn a PyTorch training run into NaN or Inf, proves it, and fixes it.",
        epilog=_EPILOG,
        formatter_class=argparse.RawDescriptionHelpFormatter,
        allow_abbrev=False,
    )
    top.add_argument("--version", action="version", version=f"nanlint {nanlint.__version__}")
    commands = top.add_subparsers(title="commands", metavar="COMMAND", dest="command")
    for name, summary in _SUMMARIES.items():
        if command in {"", name}:
            module = _module(name)
            sub = commands.add_parser(
                name,
                help=summary,
                description=f"{summary[0].upper()}{summary[1:]}.",
                epilog=module.EPILOG,
                formatter_class=argparse.RawDescriptionHelpFormatter,
                allow_abbrev=False,
            )
            module.add_options(sub)
    return top


def _module(command: str):  # type: ignore[no-untyped-def] # noqa: ANN202 - a command module; its three names are the contract
    from importlib import import_module  # noqa: PLC0415 - the point of this function

    return import_module(f"nanlint.cli.{command}")
