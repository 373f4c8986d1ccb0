"""One file, all rules: bytes to text, prefilter, outline, rules, suppression. What cannot be read is an error in the result."""

from __future__ import annotations

import sys
import warnings
from typing import TYPE_CHECKING, NamedTuple

from nanlint import model
from nanlint.digest import digest_of
from nanlint.engine.file_result import FileResult
from nanlint.engine.rules.ruleset import Ruleset
from nanlint.engine.suppressing import suppress
from nanlint.prefilter.torch_code import is_about_torch, is_of_another_library, may_use_torch
from nanlint.source.comments.mentions import mentions_suppression
from nanlint.source.configs.words import LARGEST_CONFIG, is_training_config, states_settings
from nanlint.source.discover import kind_of
from nanlint.source.projects.stamp import EVERY_FILE
from nanlint.source.read import UnreadableSource, decode, read_bytes
from nanlint.source.syntax.outline import outline

if TYPE_CHECKING:
    from nanlint.model import FileError, Finding
    from nanlint.source.notebooks.notebook import Notebook
    from nanlint.source.syntax.outline import Outline

__all__ = ["FileResult", "Ruleset", "check_bytes", "check_notebook", "check_path", "check_text", "in_cell"]

# The outline recurses once per nesting level; libcst's native parser is at ease far beyond this depth.
RECURSION_LIMIT = 3000

# ast.PyCF_ONLY_AST, without importing ast: the text is parsed and nothing is made of it.
_ONLY_SYNTAX = 0x400


def check_path(path: str, ruleset: Ruleset, *, is_named: bool = True) -> FileResult:
    """Check the file at `path`; one that cannot be read is an error in the result."""
    try:
        data = read_bytes(path)
    except UnreadableSource as error:
        return FileResult(errors=[model.FileError(path, error.line, error.message)])
    return check_bytes(data, path, ruleset, is_named=is_named)


def check_bytes(data: bytes, path: str, ruleset: Ruleset, *, is_named: bool = True) -> FileResult:
    """Check what a file holds, as its suffix says that it is to be read."""
    kind = kind_of(path)
    try:
        if kind == "config":
            return _check_config(data, path, ruleset, is_named=is_named)
        if kind == "notebook":
            result = check_notebook(data, path, ruleset)
        else:
            source = decode(data, path)
            is_utf8 = source.encoding == "utf-8" and not source.bom
            result = _check_python(source.text, data if is_utf8 else _encoded(source.text), path, ruleset)
    except UnreadableSource as error:
        return FileResult(errors=[model.FileError(path, error.line, error.message)])
    result.digest = digest_of(data)
    return result


def check_notebook(data: bytes, path: str, ruleset: Ruleset) -> FileResult:
    """Check the code cells of a notebook as one text; places are told by cell and line within it."""
    from nanlint.source.notebooks.notebook import Notebook  # noqa: PLC0415 - imports json; few runs meet a notebook

    notebook = Notebook.parse(data, path)
    result = check_text(notebook.text, path, ruleset)
    # A cell that somebody was in the middle of is no reason to be silent about the others.
    if result.errors and (tried := Notebook.parse(data, path, is_tried=True)).broken:
        notebook, result = tried, check_text(tried.text, path, ruleset)
    result.findings = [in_cell(finding, notebook) for finding in result.findings]
    result.hidden = [in_cell(finding, notebook) for finding in result.hidden]
    result.errors = [_error_in_cell(error, notebook) for error in result.errors]
    result.errors += [_in_cell(number, _not_python(error, path, "cell")) for number, error in notebook.broken]
    return result


def in_cell(finding: Finding, notebook: Notebook) -> Finding:
    """The finding with its places told within the cell; a label of another cell has none there and is left out."""
    from dataclasses import replace  # noqa: PLC0415 - a run that finds nothing needs no dataclasses

    cell, span = notebook.locate(finding.span)
    fix = finding.fix
    if fix is not None:
        fix = replace(fix, edits=tuple(replace(edit, span=notebook.locate(edit.span)[1]) for edit in fix.edits))
    located = [(notebook.locate(label.span), label.text) for label in finding.labels]
    labels = tuple(model.Label(place, text) for (number, place), text in located if number == cell)
    return replace(finding, span=span, cell=cell, fix=fix, labels=labels)


def _error_in_cell(error: FileError, notebook: Notebook) -> FileError:
    """An error has no cell of its own, and a line of the joined cells is nobody's: both go into the message."""
    if error.line is None or not notebook.cells:
        return error
    cell, span = notebook.locate(model.Span(error.line, 1, error.line, 1))
    return _in_cell(cell, model.FileError(error.path, span.line, error.message))


def _in_cell(cell: int, error: FileError) -> FileError:
    place = f"cell {cell}" if error.line is None else f"cell {cell}, line {error.line}"
    return model.FileError(error.path, None, f"{place}: {error.message}")


def _check_config(data: bytes, path: str, ruleset: Ruleset, *, is_named: bool) -> FileResult:
    """Check a config file. One that nobody named is read if it is about training; a template is nobody's YAML."""
    is_ours = is_training_config(data)
    if len(data) > LARGEST_CONFIG or not (is_ours or is_named):
        return FileResult(digest=digest_of(data))
    try:
        text = decode(data, path).text
        result = check_text(text, path, ruleset) if is_ours else _only_read(text, path)
    except UnreadableSource:
        if b"{{" in data or b"{%" in data:
            return FileResult(digest=digest_of(data))
        raise
    # What depends on other files is looked at anew in every run.
    result.digest = "" if result.has_company else digest_of(data)
    return result


class _Holds(NamedTuple):
    """What a file may hold, by its words."""

    operations: bool
    settings: bool
    suppressions: bool


def check_text(text: str, path: str, ruleset: Ruleset) -> FileResult:
    """Every finding of the ruleset in `text` that is shown, in reading order, suppressed ones left out."""
    if kind_of(path) == "config":
        return _check_config_text(text, path, ruleset)
    return _check_python(text, _encoded(text), path, ruleset)


def _encoded(text: str) -> bytes:
    return text.encode("utf-8", "surrogatepass")


def _check_python(text: str, data: bytes, path: str, ruleset: Ruleset) -> FileResult:
    """The findings in `text`, which is `data` in UTF-8."""
    markers = mentions_suppression(data)
    is_torch = is_about_torch(data)
    relevant = may_use_torch(data) and (not ruleset.gated or ruleset.prefilter.admits(data))
    configured = ruleset.judges_settings and states_settings(data, is_torch=is_torch)
    if not (relevant or markers or configured):
        broken = syntax_error(text, path)
        return FileResult(errors=[broken]) if broken is not None else FileResult()
    limit = sys.getrecursionlimit()
    sys.setrecursionlimit(max(limit, RECURSION_LIMIT))
    try:
        return _check_outlined(text, path, ruleset, _Holds(relevant, configured, markers))
    finally:
        sys.setrecursionlimit(limit)


def _only_read(text: str, path: str) -> FileResult:
    """For a config file that was named and is about something else: raises UnreadableSource if it is broken."""
    from nanlint.source.configs.entries import read_documents  # noqa: PLC0415 - few runs name such a file

    read_documents(text, path)
    return FileResult()


def _check_config_text(text: str, path: str, ruleset: Ruleset) -> FileResult:
    from nanlint.engine.check_config import check_config_text  # noqa: PLC0415 - few runs meet a training config

    outcome = check_config_text(text, path, ruleset)
    result = FileResult(outcome.findings, outcome.errors)
    result.has_company = outcome.has_company
    return _without_suppressed(result, text, path, ruleset)


def _check_outlined(text: str, path: str, ruleset: Ruleset, holds: _Holds) -> FileResult:
    try:
        plan = outline(text, path)
    except (SyntaxError, ValueError, RecursionError, MemoryError) as error:
        return FileResult(errors=[_not_python(error, path)])
    result = FileResult()
    is_ours = holds.operations and not is_of_another_library(plan)
    names = (ruleset.prefilter.chunks(plan) if ruleset.gated else list(plan.chunks)) if is_ours else []
    if names:
        _run_rules(result, text, plan, path, ruleset)
    if holds.settings:
        from nanlint.engine.check_config import check_python_settings, untold  # noqa: PLC0415 - few files state settings

        stated = check_python_settings(plan.tree, text, path, ruleset)
        result.findings += untold(stated.findings, result.findings, ruleset)
        result.errors += stated.errors
    if not (result.findings or holds.suppressions):
        return result
    return _without_suppressed(result, text, path, ruleset)


def _run_rules(result: FileResult, text: str, plan: Outline, path: str, ruleset: Ruleset) -> None:
    """Add what the rules find in the file, with the project around it."""
    from nanlint.engine import hazard_rules, loop_rules  # noqa: PLC0415 - the analysis is loaded here, and not before
    from nanlint.engine.one_defect import without_yielding  # noqa: PLC0415 - and here
    from nanlint.engine.used_once import UsedOnce  # noqa: PLC0415 - and here

    file = hazard_rules.file_in_project(path, text)
    if file is None:
        return
    found = hazard_rules.run_hazard_rules(file, plan, path, ruleset, result.errors)
    found += loop_rules.run_loop_rules(file, plan, path, ruleset, result.errors)
    result.errors += [
        model.FileError(
            path,
            getattr(function.node, "lineno", 1),
            f"`{function.qualname}` is nested too deeply to be analysed; it was not checked",
        )
        for function in file.functions
        if function.is_too_deep
    ]
    result.findings = without_yielding(found, ruleset.rules, UsedOnce(plan.tree, file.source))
    if file.is_alone:
        result.consulted.update(file.graph.project.consulted)
    else:
        project = file.graph.project
        result.consulted[project.root + EVERY_FILE] = project.stamp
    file.let_go()


def _without_suppressed(result: FileResult, text: str, path: str, ruleset: Ruleset) -> FileResult:
    """The result with what is left to report, complaints about comments included."""
    found = sorted(result.findings, key=lambda finding: finding.sort_key)
    judged = suppress.apply(found, text, active=ruleset.codes, known=ruleset.known)
    unused = [finding for finding in judged.unused if finding.code in ruleset.codes]
    result.findings, result.hidden = ruleset.divided(ruleset.stamped([*judged.kept, *unused], path))
    result.quiet = judged.quiet
    if judged.quiet and "noqa" in text.lower():
        from nanlint.engine.suppressing.noqa import quiets_one  # noqa: PLC0415 - few files use noqa for us

        result.noqa = quiets_one(found, judged.kept, text, ruleset.known)
    return result


def syntax_error(source: str | bytes, path: str) -> FileError | None:
    """What is wrong with a file in which no rule looks for anything: it counts as checked, so it must be Python."""
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # Python's own, of the user's strings
            compile(source, path, "exec", _ONLY_SYNTAX, dont_inherit=True)
    except (SyntaxError, ValueError, RecursionError, MemoryError) as error:
        return _not_python(error, path)
    return None


def _not_python(error: Exception, path: str, unit: str = "file") -> FileError:
    """The one clear line for a file, or a cell of it, that Python itself cannot read."""
    version = f"Python {sys.version_info.major}.{sys.version_info.minor}"
    if isinstance(error, SyntaxError):
        return model.FileError(path, error.lineno, f"not valid {version}: {error.msg}; the {unit} was not checked")
    if isinstance(error, ValueError):
        return model.FileError(path, None, f"not valid {version}: {error}; the {unit} was not checked")
    return model.FileError(path, None, f"nested too deeply to be read; the {unit} was not checked")
