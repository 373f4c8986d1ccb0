"""Styled text: pieces of (text, style) that become plain text or, through rich, text with colours.

Rich is imported when colours are asked for and not before; stripped of its colours, the painted text is the plain one.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from nanlint.model import Severity

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable

Piece = tuple[str, str]
"""Text and a rich style; the empty style is the terminal's own."""

PLAIN = ""
STRONG = "bold"
FAINT = "dim"
GUTTER = "blue"
REMOVED = "red"
ADDED = "green"
SEVERITY_STYLES = {Severity.ERROR: "bold red", Severity.WARNING: "bold yellow", Severity.INFO: "bold cyan"}


def painter(*, colour: bool) -> Callable[[Iterable[Piece]], str]:
    """A function that joins pieces, with colours or without."""
    return _rich_painter() if colour else _join


def _join(pieces: Iterable[Piece]) -> str:
    return "".join(text for text, _style in pieces)


def _rich_painter() -> Callable[[Iterable[Piece]], str]:
    from io import StringIO  # noqa: PLC0415 - with rich

    from rich.console import Console  # noqa: PLC0415 - 55 ms that plain output need not pay
    from rich.text import Text  # noqa: PLC0415 - same

    # Everything the environment could decide is decided here; markup is off because code is full of brackets.
    console = Console(
        file=StringIO(),
        force_terminal=True,
        force_jupyter=False,
        legacy_windows=False,
        no_color=False,
        color_system="standard",
        soft_wrap=True,
        markup=False,
        emoji=False,
        highlight=False,
    )

    def paint(pieces: Iterable[Piece]) -> str:
        with console.capture() as capture:
            console.print(Text.assemble(*pieces, end=""), end="")
        return capture.get()

    return paint
