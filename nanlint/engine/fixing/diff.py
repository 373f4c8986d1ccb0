"""The change from one text to another as a unified diff that `patch` and `git apply` accept."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from nanlint.source.notebooks.notebook import Notebook

NO_NEWLINE = "\n\\ No newline at end of file\n"


def unified_diff(path: str, old: str, new: str) -> str:
    """The diff of two versions of `path`; empty if they are equal."""
    from difflib import unified_diff  # noqa: PLC0415 - slow to import, and most runs print no diff

    lines = unified_diff(_lines(old), _lines(new), path, path)
    return "".join(line if line.endswith("\n") else line + NO_NEWLINE for line in lines)


def notebook_diff(path: str, notebook: Notebook, text: str) -> str:
    """The diff of each cell that an edited `text` changes, magics as the user wrote them."""
    old, new = notebook.sources(notebook.text), notebook.sources(text)
    return "".join(unified_diff(f"{path}:cell {number}", old[number], new[number]) for number in new)


def _lines(text: str) -> list[str]:
    """Lines as diffs have them: a carriage return is part of the line, and only a line feed ends one."""
    *whole, last = text.split("\n")
    return [line + "\n" for line in whole] + ([last] if last else [])
