"""`nanlint completion SHELL`: a completion script."""

from __future__ import annotations

from typing import TYPE_CHECKING, TextIO

from nanlint.errors import ExitCode

if TYPE_CHECKING:
    import argparse

EPILOG = """\
examples:
  bash:  nanlint completion bash > ~/.local/share/bash-completion/completions/nanlint
  zsh:   nanlint completion zsh > ~/.zfunc/_nanlint     (with fpath+=~/.zfunc before compinit)
  tcsh:  nanlint completion tcsh >> ~/.cshrc
"""


def add_options(parser: argparse.ArgumentParser) -> None:
    """The options of this command."""
    parser.add_argument("shell", choices=("bash", "zsh", "tcsh"), help="the shell to complete in")


def run(options: argparse.Namespace, out: TextIO, err: TextIO) -> ExitCode:
    """Print the script."""
    del err
    import shtab  # noqa: PLC0415 - for this command only

    from nanlint.cli.main import parser  # noqa: PLC0415 - main imports the commands

    out.write(shtab.complete(parser(), options.shell) + "\n")
    return ExitCode.CLEAN
