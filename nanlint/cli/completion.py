"""`nanlint completion SHELL`: a completion script."""

from __future__ import annotations

import argparse
from typing import TYPE_CHECKING, TextIO

from nanlint.errors import ExitCode, NanlintError
from nanlint.word_sets import word_set

if TYPE_CHECKING:
    from collections.abc import Iterator

EPILOG = """\
examples:
  bash:  nanlint completion bash > ~/.local/share/bash-completion/completions/nanlint
  zsh:   nanlint completion zsh > ~/.zfunc/_nanlint     (with fpath+=~/.zfunc before compinit)
  fish:  nanlint completion fish > ~/.config/fish/completions/nanlint.fish
  tcsh:  nanlint completion tcsh >> ~/.cshrc
"""

_FILES = word_set("PATH FILE")
_FOLDERS = frozenset({"DIR"})


def add_options(parser: argparse.ArgumentParser) -> None:
    """The options of this command."""
    parser.add_argument("shell", choices=("bash", "zsh", "fish", "tcsh"), help="the shell to complete in")


def run(options: argparse.Namespace, out: TextIO, err: TextIO) -> ExitCode:
    """Print the script."""
    del err
    import shtab  # noqa: PLC0415 - for this command only

    from nanlint.cli.main import parser  # noqa: PLC0415 - main imports the commands

    if options.shell not in shtab.SUPPORTED_SHELLS:
        raise NanlintError(f"shtab {shtab.__version__} knows no {options.shell}; pip install --upgrade shtab")
    whole = parser()
    for action in _actions(whole):
        if action.metavar in _FILES | _FOLDERS:
            action.complete = shtab.FILE if action.metavar in _FILES else shtab.DIRECTORY  # type: ignore[attr-defined] # shtab's way
    out.write(shtab.complete(whole, options.shell) + "\n")
    return ExitCode.CLEAN


def _actions(parser: argparse.ArgumentParser) -> Iterator[argparse.Action]:
    """Every option and argument of the parser and of those below it."""
    for action in parser._actions:  # noqa: SLF001 - argparse has no public way
        yield action
        if isinstance(action, argparse._SubParsersAction):  # noqa: SLF001 - as above
            for sub in action.choices.values():
                yield from _actions(sub)
