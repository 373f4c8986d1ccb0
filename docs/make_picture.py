"""`python docs/make_picture.py`: the README's picture, docs/check.svg, from a real run on examples/.

The run is the README's first command; its colours are what a terminal gets. A test compares the words of the picture
with those of a run, so a picture that has grown old is noticed.
"""

from __future__ import annotations

import io
import re
import subprocess
import sys
from pathlib import Path

from rich.console import Console
from rich.text import Text

ROOT = Path(__file__).resolve().parent.parent
PICTURE = ROOT / "docs" / "check.svg"
COMMAND = ("check", "--exit-zero", "examples/")
WIDTH = 140

# Viewers do not load fonts from other hosts for a picture in a page; the reader's own monospace font serves.
_FOREIGN_FONT = re.compile(r"@font-face \{.*?\}\s*", re.DOTALL)


def terminal_output() -> str:
    """What the command writes to a terminal, colours included."""
    options = ("--color", "always", "--output-format", "full", "--no-cache")
    command = [sys.executable, "-m", "nanlint", *COMMAND, *options]
    return subprocess.run(command, cwd=ROOT, capture_output=True, text=True, encoding="utf-8", check=True).stdout


def picture(output: str) -> str:
    """`output` as an SVG of a terminal window; the same output gives the same picture."""
    console = Console(record=True, width=WIDTH, file=io.StringIO(), force_terminal=True, color_system="truecolor")
    console.print(Text.from_ansi(f"$ nanlint {' '.join(COMMAND)}\n{output}".rstrip()), soft_wrap=True)
    svg = _FOREIGN_FONT.sub("", console.export_svg(title="nanlint", unique_id="nanlint"))
    return "\n".join(line.rstrip() for line in svg.splitlines()) + "\n"


if __name__ == "__main__":
    PICTURE.write_text(picture(terminal_output()), encoding="utf-8")
