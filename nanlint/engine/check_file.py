"""One file, all rules: bytes to text, gate, outline, rules, suppression. What cannot be read is an error in the result."""

from __future__ import annotations

import sys
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING

from nanlint.engine import suppress
from nanlint.engine.ruleset import Ruleset
from nanlint.model import FileError, Finding, Span
from nanlint.source.cache import digest_of
from nanlint.source.discover import kind_of
from nanlint.source.gate import TORCH_AND_KIN
from nanlint.source.mentions import mentions_suppression
from nanlint.source.outline import outline
from nanlint.source.read import UnreadableSource, decode, read_bytes

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from nanlint.source.notebook import Notebook
    from nanlint.source.outline import Outline

__all__ = ["FileResult", "Ruleset", "check_bytes", "check_notebook", "check_path", "check_text", "in_cell"]

# The outline recurses once per nesting level; libcst's native parser is at ease far beyond this depth.
RECURSION_LIMIT = 3000


@dataclass(slots=True)
class FileResult:
    """What checking one file gave: what the cache stores and the report shows."""

    findings: list[Finding] = field(default_factory=list)
    errors: list[FileError] = field(default_factory=list)
    quiet: int = 0
    """How many findings a suppression kept out."""
    noqa: bool = False
    """Whether a `# noqa` that names our codes kept one out."""
    digest: str = ""
    """The hash of the bytes that were checked; empty if they could not be read."""


def check_path(path: str, ruleset: Ruleset) -> FileResult:
    """Check the file at `path`; one that cannot be read is an error in the result."""
    try:
        data = read_bytes(path)
    except UnreadableSource as error:
        return FileResult(errors=[FileError(path, error.line, error.message)])
    return check_bytes(data, path, ruleset)


def check_bytes(data: bytes, path: str, ruleset: Ruleset) -> FileResult:
    """Check what a file holds, as its suffix says that it is to be read."""
    kind = kind_of(path)
    try:
        if kind == "config":  # no rule reads these yet
            result = FileResult()
        elif kind == "notebook":
            result = check_notebook(data, path, ruleset)
        else:
            result = check_text(decode(data, path).text, path, ruleset)
    except UnreadableSource as error:
        return FileResult(errors=[FileError(path, error.line, error.message)])
    result.digest = digest_of(data)
    return result


def check_notebook(data: bytes, path: str, ruleset: Ruleset) -> FileResult:
    """Check the code cells of a notebook as one text; places are told by cell and line within it."""
    from nanlint.source.notebook import Notebook  # noqa: PLC0415 - imports json; few runs meet a notebook

    notebook = Notebook.parse(data, path)
    result = check_text(notebook.text, path, ruleset)
    result.findings = [in_cell(finding, notebook) for finding in result.findings]
    result.errors = [_error_in_cell(error, notebook) for error in result.errors]
    return result


def in_cell(finding: Finding, notebook: Notebook) -> Finding:
    """The finding with its place, and the places of its fix, told within the cell."""
    cell, span = notebook.locate(finding.span)
    fix = finding.fix
    if fix is not None:
        fix = replace(fix, edits=tuple(replace(edit, span=notebook.locate(edit.span)[1]) for edit in fix.edits))
    return replace(finding, span=span, cell=cell, fix=fix)


def _error_in_cell(error: FileError, notebook: Notebook) -> FileError:
    """An error has no cell of its own, and a line of the joined cells is nobody's: both go into the message."""
    if error.line is None or not notebook.cells:
        return error
    cell, span = notebook.locate(Span(error.line, 1, error.line, 1))
    return FileError(error.path, None, f"cell {cell}, line {span.line}: {error.message}")


def check_text(text: str, path: str, ruleset: Ruleset) -> FileResult:
    """Every finding of the ruleset in `text` that is shown, in reading order, suppressed ones left out."""
    data = text.encode("utf-8", "surrogatepass")
    markers = mentions_suppression(data)
    relevant = TORCH_AND_KIN.search(data) is not None and (not ruleset.gated or ruleset.gate.admits(data))
    if not relevant and not markers:
        return FileResult()
    limit = sys.getrecursionlimit()
    sys.setrecursionlimit(max(limit, RECURSION_LIMIT))
    try:
        return _check_outlined(text, path, ruleset, relevant=relevant)
    finally:
        sys.setrecursionlimit(limit)


def _check_outlined(text: str, path: str, ruleset: Ruleset, *, relevant: bool) -> FileResult:
    try:
        plan = outline(text, path)
    except (SyntaxError, ValueError, RecursionError, MemoryError) as error:
        return FileResult(errors=[_not_python(error, path)])
    result = FileResult()
    names = _chunks_to_walk(plan, ruleset) if relevant else []
    if names:
        from nanlint.engine.run_rules import run_rules  # noqa: PLC0415 - libcst is loaded here and not before

        result.findings, result.errors = run_rules(names, plan, text, path, ruleset)
    found = sorted(result.findings, key=lambda finding: finding.sort_key)
    judged = suppress.apply(found, text, active=frozenset(ruleset.rules), known=ruleset.known)
    unused = [finding for finding in judged.unused if finding.code in ruleset.rules]
    result.findings = ruleset.shown(_stamped([*judged.kept, *unused], path, ruleset))
    result.quiet = judged.quiet
    if judged.quiet and "noqa" in text.lower():
        from nanlint.engine.noqa import quiets_one  # noqa: PLC0415 - few files use noqa for us

        result.noqa = quiets_one(found, judged.kept, text, ruleset.known)
    return result


def _chunks_to_walk(plan: Outline, ruleset: Ruleset) -> list[str]:
    return ruleset.gate.chunks(plan) if ruleset.gated else list(plan.chunks)


def _not_python(error: Exception, path: str) -> FileError:
    """The one clear line for a file that Python itself cannot read."""
    version = f"Python {sys.version_info.major}.{sys.version_info.minor}"
    if isinstance(error, SyntaxError):
        return FileError(path, error.lineno, f"not valid {version}: {error.msg}; the file was not checked")
    if isinstance(error, ValueError):
        return FileError(path, None, f"not valid {version}: {error}; the file was not checked")
    return FileError(path, None, "nested too deeply to be read; the file was not checked")


def _stamped(findings: Iterable[Finding], path: str, ruleset: Ruleset) -> Iterator[Finding]:
    """The findings with the file's name, and with the severity that the user gave to their rule."""
    for finding in findings:
        yield replace(finding, path=path, severity=ruleset.severities.get(finding.code, finding.severity))
