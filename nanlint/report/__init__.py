"""Reports: one module per format, each a function from a `Report` to chunks of text, and one door to them all.

A format module is imported when its format is asked for, so a run pays for no other; `concise` imports neither json
nor rich. Formats know the model and nothing else: whatever they print, the `Report` carries.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from typing import TextIO

    from nanlint.model import Report

_HOMES = {
    "full": ("full", "chunks"),
    "concise": ("concise", "chunks"),
    "json": ("for_programs.json_v1", "document"),
    "jsonl": ("for_programs.json_v1", "lines"),
    "sarif": ("for_programs.sarif", "chunks"),
    "github": ("for_programs.github", "chunks"),
    "gitlab": ("for_programs.gitlab", "chunks"),
    "junit": ("for_programs.junit", "chunks"),
    "rdjson": ("for_programs.rdjson", "chunks"),
}
FOR_PEOPLE = frozenset({"full", "concise"})
"""The formats that end in a closing line; the others are read by programs."""

FORMATS: tuple[str, ...] = tuple(_HOMES)


def render(report: Report, format_name: str, out: TextIO, *, colour: bool = False, closing: bool = True) -> None:
    """Write `report` to `out`. Only `full` has colours; formats for people end in a closing line unless told not to."""
    if format_name not in _HOMES:
        raise ValueError(f"there is no report format {format_name!r}; choose one of {', '.join(FORMATS)}")
    from importlib import import_module  # noqa: PLC0415 - costs nothing when no report is made

    module, function = _HOMES[format_name]
    chunks: Callable[..., Iterator[str]] = getattr(import_module(f"{__name__}.{module}"), function)
    options: dict[str, bool] = {}
    if format_name in FOR_PEOPLE:
        options["closing"] = closing
    if format_name == "full":
        options["colour"] = colour
    out.writelines(_encodable(chunk) for chunk in chunks(report, **options))


def render_statistics(report: Report, out: TextIO, *, colour: bool = False) -> None:
    """Write how often each rule fired, most frequent first; nothing when nothing was found."""
    from nanlint.report import statistics  # noqa: PLC0415 - asked for by --statistics alone

    statistics.render_statistics(report, out, colour=colour)


def _encodable(text: str) -> str:
    r"""`text` with the bytes of an undecodable path (lone surrogates) as `\udcff`, which JSON reads as the same."""
    return text if text.isascii() else text.encode("utf-8", "backslashreplace").decode("utf-8")
