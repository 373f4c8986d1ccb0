"""The Python that is run for a finding: a file as it is, or the cells of a notebook joined as `check` joins them.

A finding in a notebook counts lines within its cell. Here it is placed in the joined text, and what is said of lines of
that text is said of cells again before anyone reads it.
"""

from __future__ import annotations

import os
import re
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from nanlint.confirm.target import target_of
from nanlint.model import Span
from nanlint.source.discover import kind_of
from nanlint.source.read import UnreadableSource, decode, read_bytes

if TYPE_CHECKING:
    from nanlint.confirm.target import Target
    from nanlint.model import Finding
    from nanlint.model.verdict import Verdict
    from nanlint.source.notebooks.notebook import Notebook

OF_A_CONFIG = "it is a setting of a config file, which is read and not run; the code that uses it can be confirmed"
_LINE = re.compile(r"\bline (\d+)\b")


class NothingToRun(Exception):  # noqa: N818 - reads as a sentence where it is raised
    """The file holds no Python that could be run; the message says why."""


@dataclass(frozen=True)
class Source:
    """The text that is run, and the finding as it lies in it."""

    text: str
    finding: Finding
    target: Target
    notebook: Notebook | None = None

    def told(self, verdict: Verdict) -> Verdict:
        """The verdict with lines of cells for lines of the joined text."""
        if self.notebook is None:
            return verdict
        witness = verdict.witness
        if witness is not None and witness.get("line"):
            cell, span = self.notebook.locate(_at(witness["line"]))
            witness = {**witness, "cell": cell, "line": span.line}
        return replace(verdict, reason=self.in_cells(verdict.reason or ""), witness=witness)

    def in_cells(self, words: str) -> str:
        """The words with `line 3 of cell 2` for a line of the joined text."""
        notebook = self.notebook
        if notebook is None:
            return words
        places = {line: notebook.locate(_at(int(line))) for line in _LINE.findall(words)}
        return _LINE.sub(lambda found: "line {1.line} of cell {0}".format(*places[found[1]]), words)


def source_of(finding: Finding) -> Source:
    """What is run for a finding; raises NothingToRun if there is nothing."""
    path = os.path.abspath(finding.path)  # noqa: PTH100 - a string for the worker
    kind = kind_of(path)
    if kind == "config":
        raise NothingToRun(OF_A_CONFIG)
    try:
        data = read_bytes(path)
        if kind == "notebook":
            return _of_notebook(finding, data, path)
        text = decode(data, path).text
        return Source(text, finding, target_of(finding, text, path))
    except UnreadableSource as error:
        raise NothingToRun(f"the file cannot be read: {error.message}") from None
    except (SyntaxError, ValueError) as error:
        raise NothingToRun(f"the file cannot be read as Python: {error}") from None


def _of_notebook(finding: Finding, data: bytes, path: str) -> Source:
    from nanlint.source.notebooks.notebook import Notebook  # noqa: PLC0415 - imports json; few runs meet a notebook

    notebook = Notebook.parse(data, path, is_tried=True)
    first = next((cell.first_line for cell in notebook.cells if cell.number == finding.cell), 0)
    if not first:
        raise NothingToRun(f"cell {finding.cell} is no Python cell any more; check the notebook again")
    placed = _moved(finding, first - 1)
    target = target_of(placed, notebook.text, path)
    # Its own folder is where a notebook imports from, and `import model` in model.ipynb means model.py.
    folder, file = os.path.split(path)
    target = replace(target, root=folder, module=re.sub(r"\W", "_", file))
    return Source(notebook.text, placed, target, notebook)


def _moved(finding: Finding, down: int) -> Finding:
    """The finding and its fix so many lines further down."""
    fix = finding.fix
    if fix is not None:
        fix = replace(fix, edits=tuple(replace(edit, span=_lowered(edit.span, down)) for edit in fix.edits))
    return replace(finding, span=_lowered(finding.span, down), fix=fix)


def _lowered(span: Span, down: int) -> Span:
    return replace(span, line=span.line + down, end_line=span.end_line + down)


def _at(line: int) -> Span:
    return Span(line, 1, line, 1)
