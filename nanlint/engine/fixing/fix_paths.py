"""Fixes and suppressions in whole documents, files and notebooks alike: what the new text is, and the way to write it.

A file is written whole and atomically, or not at all.
"""

from __future__ import annotations

import ast
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from nanlint.engine.check_file import FileResult, check_bytes, check_text, in_cell
from nanlint.engine.fixing.add_ignores import add_ignores
from nanlint.engine.fixing.apply_fixes import fix_text
from nanlint.engine.fixing.diff import notebook_diff, unified_diff
from nanlint.model import Applicability, Finding, Fix
from nanlint.source.configs.entries import read_documents
from nanlint.source.discover import kind_of
from nanlint.source.notebooks.notebook import Notebook
from nanlint.source.read import SourceFile, UnreadableSource, decode
from nanlint.source.write import write_atomically

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from nanlint.engine.rules.ruleset import Ruleset


def wanted_fixes(*, unsafe: bool) -> Callable[[Fix], bool]:
    """SAFE fixes, and UNSAFE ones if the user opted in; a SHOW fix is never applied."""
    allowed = {Applicability.SAFE, Applicability.UNSAFE} if unsafe else {Applicability.SAFE}
    return lambda fix: fix.applicability in allowed


class Document:
    """What a file holds as it is edited: a notebook's cells, or the text itself, and the way back to bytes."""

    def __init__(self, path: str, data: bytes) -> None:
        self.path = path
        self.data = data
        self.notebook = Notebook.parse(data, path, is_tried=True) if kind_of(path) == "notebook" else None
        self._source = decode(data, path) if self.notebook is None else SourceFile(self.notebook.text)
        self.text = self._source.text

    def parses(self, text: str) -> bool:
        """Whether `text` is still what the file is, and can be brought back into it."""
        try:
            if kind_of(self.path) == "config":
                return bool(read_documents(text, self.path))
            ast.parse(text)
        except (SyntaxError, ValueError, RecursionError, MemoryError, UnreadableSource):
            return False
        return self.notebook is None or self.notebook.accepts(text)

    def encode(self, text: str) -> bytes:
        """The bytes of the file with `text` in it; raises UnwritableSource."""
        return self.notebook.with_text(text) if self.notebook is not None else self._source.encode(text)

    def diff(self, text: str) -> str:
        """What changes, as a unified diff."""
        if self.notebook is not None:
            return notebook_diff(self.path, self.notebook, text)
        return unified_diff(self.path, self.text, text)

    def placed(self, findings: Sequence[Finding]) -> list[Finding]:
        """The findings with the places that readers know: by cell in a notebook."""
        if self.notebook is None:
            return list(findings)
        return [in_cell(finding, self.notebook) for finding in findings]


@dataclass(frozen=True, slots=True)
class Rewritten:
    """A document with another text, and what is found in that."""

    document: Document
    text: str
    data: bytes
    result: FileResult
    handled: int
    """How many findings were fixed or suppressed."""
    applied: list[Finding] = field(default_factory=list)
    """Those that were fixed, as they stood when that was done."""
    withdrawn: list[Finding] = field(default_factory=list)
    """Those whose fix was tried and taken back."""

    @property
    def changed(self) -> bool:
        """Whether there is anything to write."""
        return self.text != self.document.text

    def diff(self) -> str:
        """What changes, as a unified diff."""
        return self.document.diff(self.text) if self.changed else ""

    def write(self) -> None:
        """Replace the file on disk, if it still is what was read; raises UnwritableSource."""
        if self.changed:
            write_atomically(self.document.path, self.data, expected=self.document.data)


def fixed(document: Document, ruleset: Ruleset, *, unsafe: bool) -> Rewritten:
    """The document with the wanted fixes; raises UnwritableSource if they cannot be brought back into the file."""

    def check(text: str) -> list[Finding]:
        return check_text(text, document.path, ruleset).findings

    outcome = fix_text(document.text, check, wanted_fixes(unsafe=unsafe), parses=document.parses)
    return rewritten(document, outcome.text, ruleset, outcome.applied, outcome.withdrawn)


def rewritten(
    document: Document, text: str, ruleset: Ruleset, applied: list[Finding], withdrawn: Sequence[Finding] = ()
) -> Rewritten:
    """The document after `applied` were fixed; raises UnwritableSource."""
    data, result = _checked(document, text, ruleset)
    placed = Document(document.path, data).placed(withdrawn)
    return Rewritten(document, text, data, result, len(applied), applied, placed)


def with_ignores(document: Document, ruleset: Ruleset, *, reason: str) -> Rewritten:
    """The document with a suppression for everything that is found in it today; raises as `fixed` does."""
    findings = check_text(document.text, document.path, ruleset).findings
    text = add_ignores(document.text, findings, reason=reason)
    data, result = _checked(document, text, ruleset)
    return Rewritten(document, text, data, result, len(findings) - len(result.findings))


def _checked(document: Document, text: str, ruleset: Ruleset) -> tuple[bytes, FileResult]:
    """The bytes of the document with `text`, and what is found in them."""
    data = document.data if text == document.text else document.encode(text)
    return data, check_bytes(data, document.path, ruleset)
