"""`nanlint plot run.jsonl`: the curves of a run as a picture."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, TextIO

from nanlint.errors import ExitCode, NanlintError
from nanlint.nearest import did_you_mean
from nanlint.plot.draw import bitmap, picture
from nanlint.plot.read_log import Curve, read_curves

if TYPE_CHECKING:
    import argparse

EPILOG = """\
examples:
  nanlint trace --log run.jsonl -- train.py    write a log of every step
  nanlint plot run.jsonl                       draw it as run.svg
  nanlint plot run.jsonl -o run.png            the same as PNG (pip install 'nanlint[png]')
  nanlint plot my_log.jsonl --curves loss,lr   your own log: one JSON object per line, with a "loss"

exit codes: 0 drawn, 2 the log cannot be read
"""


def add_options(parser: argparse.ArgumentParser) -> None:
    """The options of this command."""
    parser.add_argument("log", metavar="LOG", help="JSONL: one object per step")
    parser.add_argument(
        "-o", "--output", metavar="FILE", default="", help="the picture, .svg or .png (default: LOG with .svg)"
    )
    parser.add_argument("--curves", metavar="NAMES", default="", help="the curves to draw, with commas (default: all)")


def run(options: argparse.Namespace, out: TextIO, err: TextIO) -> ExitCode:
    """Draw the log and say where the picture is."""
    del err
    log = Path(options.log)
    try:
        with log.open(encoding="utf-8", errors="replace") as lines:
            curves = _chosen(read_curves(lines, options.log), options.curves, options.log)
    except OSError as error:
        raise NanlintError(f"cannot read {log}: {error.strerror}") from None
    target = Path(options.output) if options.output else log.with_suffix(".svg")
    if target.suffix not in {".svg", ".png"}:
        raise NanlintError(f"plot draws SVG and PNG; name the picture {target.with_suffix('.svg')}")
    try:
        target.write_bytes(_drawn(curves, as_png=target.suffix == ".png"))
    except OSError as error:
        raise NanlintError(f"cannot write {target}: {error.strerror}") from None
    out.write(f"{target}: {', '.join(curves)}\n")
    return ExitCode.CLEAN


def _drawn(curves: dict[str, Curve], *, as_png: bool) -> bytes:
    svg = picture(curves)
    if not as_png:
        return svg.encode()
    try:
        return bitmap(svg)
    except ImportError:
        raise NanlintError("a PNG needs resvg and a font: pip install 'nanlint[png]', or draw SVG") from None


def _chosen(curves: dict[str, Curve], names: str, log: str) -> dict[str, Curve]:
    wanted = [name.strip() for name in names.split(",") if name.strip()]
    for name in wanted:
        if name not in curves:
            raise NanlintError(f"{log} has no curve {name}{did_you_mean(name, list(curves))}")
    return {name: curves[name] for name in wanted} if wanted else curves
