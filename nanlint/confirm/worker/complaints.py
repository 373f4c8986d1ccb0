"""What a failure says: the error, the user's lines that raised it, and the test behind which a `raise` stands."""

from __future__ import annotations

import linecache
import os
import traceback
from typing import TYPE_CHECKING

import torch

if TYPE_CHECKING:
    from collections.abc import Iterator

_TORCH = os.path.dirname(torch.__file__) + os.sep  # noqa: PTH120 - no pathlib in the child
_TESTS = ("if ", "elif ")
_LINES = 3
"""Lines that tell what was wanted; those further out are about something else."""


def complaint(error: BaseException | None) -> str:
    """The error message and the lines of code that raised it, innermost first: asserts state what they want."""
    if error is None:
        return ""
    return "\n".join([f"{type(error).__name__}: {error}", *list(_lines(error))[:_LINES]])


def _lines(error: BaseException) -> Iterator[str]:
    for frame in reversed(traceback.extract_tb(error.__traceback__)):
        if frame.filename.startswith(_TORCH):
            continue
        line = frame.line or ""
        yield line
        if line.startswith("raise") and frame.lineno is not None:
            yield from _test_above(frame.filename, frame.lineno)


def _test_above(path: str, number: int) -> Iterator[str]:
    """The test that led to a line, as it is written."""
    lines = linecache.getlines(path)[:number]
    depth = _indent(lines[-1]) if lines else 0
    for line in reversed(lines):
        if line.strip() and _indent(line) < depth:
            if line.lstrip().startswith(_TESTS):
                yield line.strip()
            return


def _indent(line: str) -> int:
    return len(line) - len(line.lstrip())
