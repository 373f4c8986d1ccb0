"""Fixes and suppressions written into files: whole files, atomically, or not at all."""

from __future__ import annotations

import ast
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from nanlint.engine.add_ignores import add_ignores
from nanlint.engine.apply_fixes import fix_text
from nanlint.engine.check_file import FileResult, check_text, in_cell
from nanlint.engine.diff import notebook_diff, unified_diff
from nanlint.model import Applicability, FileError, Finding, Fix
from nanlint.source.notebook import Notebook
from nanlint.source.read import SourceFile, UnreadableSource, UnwritableSource, decode
from nanlint.source.write import write_atomically

if TYPE_CHECKING:
    from nanlint.engine.check_file import Ruleset


@dataclass(slots=True)
class Rewritten:
    """What rewriting one file came to; `diff` is empty if nothing changed."""

    result: FileResult
    diff: str = ""
    applied: list[Finding] = field(default_factory=list)
    withdrawn: list[Finding] = field(default_factory=list)


def wanted_fixes(*, unsafe: bool) -> Callable[[Fix], bool]:
    """SAFE fixes, and UNSAFE ones if the user opted in; a SHOW fix is never applied."""
    allowed = {Applicability.SAFE, Applicability.UNSAFE} if unsafe else {Applicability.SAFE}
    return lambda fix: fix.applicability in allowed


class Document:
    """A file as it is edited: a notebook's cells, or the text itself, and the way back to bytes."""

    def __init__(self, path: str, data: bytes) -> None:
        self.path = path
        self.data = data
        self.notebook = Notebook.parse(data, path) if path.endswith(".ipynb") else None
        self._source = decode(data, path) if self.notebook is None else SourceFile(self.notebook.text)
        self.text = self._source.text

    @classmethod
    def read(cls, path: str) -> Document:
        """The file at `path`; raises UnreadableSource."""
        try:
            with open(path, "rb") as source:
                return cls(path, source.read())
        except OSError as error:
            raise UnreadableSource(f"cannot be read: {error.strerror}") from None

    def parses(self, text: str) -> bool:
        """Whether `text` is still Python, and can be brought back into the file."""
        try:
            ast.parse(text)
        except (SyntaxError, ValueError, RecursionError, MemoryError):
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


def fix_document(document: Document, ruleset: Ruleset, *, unsafe: bool) -> tuple[str, Rewritten]:
    """The fixed text, and what is left to report; nothing is written."""
    last = FileResult()

    def check(text: str) -> list[Finding]:
        nonlocal last
        last = check_text(text, document.path, ruleset)
        return last.findings

    fixed = fix_text(document.text, check, wanted_fixes(unsafe=unsafe), parses=document.parses)
    result = FileResult(fixed.remaining, last.errors, last.quiet)
    return fixed.text, Rewritten(result, document.diff(fixed.text), fixed.applied, fixed.withdrawn)


def fix_file(path: str, ruleset: Ruleset, *, unsafe: bool, write: bool) -> Rewritten:
    """Apply the wanted fixes to the file; without `write` only tell the diff."""
    try:
        document = Document.read(path)
        text, rewritten = fix_document(document, ruleset, unsafe=unsafe)
        if write and rewritten.diff:
            data = document.encode(text)
            write_atomically(path, data, expected=document.data)
            document = Document(path, data)
    except (UnreadableSource, UnwritableSource) as error:
        return Rewritten(FileResult(errors=[FileError(path, None, f"not fixed: {error}")]))
    rewritten.result.findings = document.placed(rewritten.result.findings)
    return rewritten


def ignore_in_file(path: str, ruleset: Ruleset, *, reason: str) -> Rewritten:
    """Write a suppression for everything that is found in the file today."""
    try:
        document = Document.read(path)
        findings = check_text(document.text, path, ruleset).findings
        text = add_ignores(document.text, findings, reason=reason)
        diff = document.diff(text)
        if diff:
            write_atomically(path, document.encode(text), expected=document.data)
    except (UnreadableSource, UnwritableSource) as error:
        return Rewritten(FileResult(errors=[FileError(path, None, f"not changed: {error}")]))
    left = check_text(text, path, ruleset)
    left.findings = document.placed(left.findings)
    return Rewritten(left, diff, applied=findings if diff else [])
