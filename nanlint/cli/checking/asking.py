"""The questions of `nanlint check --interactive`: a finding, its fix as a diff, and y/n/a/q."""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING, TextIO

from nanlint.cli.terminal import wants_colour
from nanlint.engine.fixing.choose_fixes import Answer, Choosing
from nanlint.model import Applicability
from nanlint.report.wording import place

if TYPE_CHECKING:
    import argparse

    from nanlint.model import Finding

_PROMPT = "Apply this fix? [y]es, [n]o, [a]ll that follow, [q]uit: "
_COLOURS = {"+": "\x1b[32m", "-": "\x1b[31m", "@": "\x1b[36m"}
_PLAIN = "\x1b[0m"


def choosing_with(options: argparse.Namespace, *, unsafe: bool, err: TextIO) -> Choosing:
    """A session that asks on `err` and reads the answers from stdin, one line each."""
    colour = wants_colour(options.color, err)

    def ask(finding: Finding, diff: str) -> Answer:
        err.write(f"\n{place(finding)}: {finding.code} {finding.message}\n")
        fix = finding.fix
        if fix is not None:
            note = "" if fix.applicability is Applicability.SAFE else " (changes some results)"
            err.write(f"{fix.title}{note}:\n")
        err.write(_coloured(diff) if colour else diff)
        return _answer(err)

    return Choosing(ask, unsafe)


def _answer(err: TextIO) -> Answer:
    """The next answer that is one; the end of the input is `quit`, so that nothing is done unasked."""
    while True:
        err.write(_PROMPT)
        err.flush()
        line = sys.stdin.readline()
        if not line:
            err.write("\n")
            return Answer.QUIT
        word = line.strip().lower()[:1]
        if word in {answer.value for answer in Answer}:
            return Answer(word)
        err.write("Please answer y, n, a or q.\n")


def _coloured(diff: str) -> str:
    return "".join(
        f"{_COLOURS[line[0]]}{line.rstrip()}{_PLAIN}\n" if line[:1] in _COLOURS else line
        for line in diff.splitlines(keepends=True)
    )
