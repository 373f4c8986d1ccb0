"""One text, all rules: gate, outline, facts, rules, suppression.

This is one of the two borders where anything may be caught: a rule that raises is named in an error, and the other
rules go on.
"""

from __future__ import annotations

import os
import sys
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING

from nanlint.engine import suppress
from nanlint.model import FileError, Finding, Severity
from nanlint.source.gate import TORCH_AND_KIN, Gate, Interest
from nanlint.source.mentions import mentions_suppression
from nanlint.source.outline import MODULE, outline
from nanlint.source.read import SourceFile, UnreadableSource, read_source

if TYPE_CHECKING:
    from nanlint.facts.flow import Flow
    from nanlint.facts.module_facts import ModuleFacts
    from nanlint.rule import Rule
    from nanlint.source.notebook import Notebook
    from nanlint.source.outline import Outline

# The outline recurses once per nesting level; libcst's native parser is at ease far beyond this depth.
RECURSION_LIMIT = 3000


@dataclass(slots=True)
class FileResult:
    """What checking one file gave: what the cache stores and the report shows."""

    findings: list[Finding] = field(default_factory=list)
    errors: list[FileError] = field(default_factory=list)
    quiet: int = 0
    """How many findings a suppression kept out."""


class Ruleset:
    """The rules of one run as the engine uses them: by operation, with the gate that their words make."""

    def __init__(
        self,
        rules: Sequence[Rule],
        *,
        known: Mapping[str, str],
        gated: bool = True,
        severities: Mapping[str, Severity] | None = None,
    ) -> None:
        self.rules = {rule.code: rule for rule in rules}
        self.known = known
        self.gated = gated
        self.severities = severities or {}
        self.gate = Gate(interest(rule) for rule in rules)
        self.by_function: dict[str, list[Rule]] = {}
        for rule in rules:
            for function in rule.calls:
                self.by_function.setdefault(function, []).append(rule)
        self.for_comparisons = [rule for rule in rules if rule.comparisons]

    def without(self, codes: frozenset[str]) -> Ruleset:
        """The same rules less those with `codes`, as per-file-ignores ask for."""
        left = [rule for code, rule in self.rules.items() if code not in codes]
        if len(left) == len(self.rules):
            return self
        return Ruleset(left, known=self.known, gated=self.gated, severities=self.severities)


def interest(rule: Rule) -> Interest:
    """The words that `rule` reacts to: every spelling of its operations."""
    from nanlint.ops.names import SIGNATURES, spellings  # noqa: PLC0415 - no rule of a local rulebook may need it

    words: set[str] = set()
    for function in rule.calls:
        words |= spellings(function) if function in SIGNATURES else {function.rpartition(".")[2]}
    if rule.comparisons:
        words |= {"<", ">", "==", "!="}
    return Interest(frozenset(words), rule.beside)


def check_path(path: str, shown: str, ruleset: Ruleset) -> FileResult:
    """Check the file at `path`; findings and errors carry `shown` as its name."""
    try:
        source = read_source(path)
        if path.endswith(".ipynb"):
            return check_notebook(source, shown, ruleset)
        return check_text(source.text, shown, ruleset)
    except UnreadableSource as error:
        return FileResult(errors=[FileError(shown, error.line, error.message)])


def check_stdin(text: str, shown: str, ruleset: Ruleset) -> FileResult:
    """Check a text that came through stdin under the name `shown`."""
    try:
        if shown.endswith(".ipynb"):
            return check_notebook(SourceFile(text), shown, ruleset)
        return check_text(text, shown, ruleset)
    except UnreadableSource as error:
        return FileResult(errors=[FileError(shown, error.line, error.message)])


def check_notebook(source: SourceFile, path: str, ruleset: Ruleset) -> FileResult:
    """Check the code cells of a notebook as one text; places are told by cell and line within it."""
    from nanlint.source.notebook import Notebook  # noqa: PLC0415 - imports json; few runs meet a notebook

    notebook = Notebook.parse(source.encode(source.text), path)
    result = check_text(notebook.text, path, ruleset)
    result.findings = [in_cell(finding, notebook) for finding in result.findings]
    return result


def in_cell(finding: Finding, notebook: Notebook) -> Finding:
    """The finding with its place, and the places of its fix, told within the cell."""
    cell, span = notebook.locate(finding.span)
    fix = finding.fix
    if fix is not None:
        fix = replace(fix, edits=tuple(replace(edit, span=notebook.locate(edit.span)[1]) for edit in fix.edits))
    return replace(finding, span=span, cell=cell, fix=fix)


def check_text(text: str, path: str, ruleset: Ruleset) -> FileResult:
    """Every finding of the ruleset in `text`, in reading order, suppressed ones left out."""
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
    if relevant:
        _run_rules(plan, text, path, ruleset, result)
    result.findings = [_stamp(finding, path, ruleset) for finding in result.findings]
    judged = suppress.apply(
        sorted(result.findings, key=lambda finding: finding.sort_key),
        text,
        active=frozenset(ruleset.rules),
        known=ruleset.known,
    )
    unused = [replace(finding, path=path) for finding in judged.unused if finding.code in ruleset.rules]
    result.findings = sorted([*judged.kept, *unused], key=lambda finding: finding.sort_key)
    result.quiet = judged.quiet
    return result


def _not_python(error: Exception, path: str) -> FileError:
    """The one clear line for a file that Python itself cannot read."""
    version = f"Python {sys.version_info.major}.{sys.version_info.minor}"
    if isinstance(error, SyntaxError):
        return FileError(path, error.lineno, f"not valid {version}: {error.msg}; the file was not checked")
    if isinstance(error, ValueError):
        return FileError(path, None, f"not valid {version}: {error}; the file was not checked")
    return FileError(path, None, "nested too deeply to be read; the file was not checked")


def _stamp(finding: Finding, path: str, ruleset: Ruleset) -> Finding:
    severity = ruleset.severities.get(finding.code, finding.severity)
    return replace(finding, path=path, severity=severity)


def _run_rules(plan: Outline, text: str, path: str, ruleset: Ruleset, result: FileResult) -> None:
    names = ruleset.gate.chunks(plan) if ruleset.gated else list(plan.chunks)
    if not names:
        return
    from nanlint.facts.module_facts import ModuleFacts  # noqa: PLC0415 - libcst is loaded here and not before

    facts = ModuleFacts(text, plan)
    for name in names:
        function = "" if name == MODULE else plan.chunks[name].qualname
        try:
            facts.enter(name)
            flow = facts.flow(name)
            if flow is None:
                continue
            found = list(_run_on_chunk(flow, facts, ruleset, path, result.errors))
        except RecursionError:
            line = plan.chunks[name].first_line
            result.errors.append(FileError(path, line, f"`{name}` is nested too deeply to be analysed; it was not checked"))
            continue
        result.findings.extend(replace(finding, function=function) for finding in found)
    facts.forget()


def _run_on_chunk(
    flow: Flow, facts: ModuleFacts, ruleset: Ruleset, path: str, errors: list[FileError]
) -> Iterator[Finding]:
    for call in list(flow.calls.values()):
        for rule in ruleset.by_function.get(call.function, ()):
            yield from _guarded(rule, lambda rule=rule, call=call: rule.check_call(call, facts), facts, path, errors)  # type: ignore[misc]
    if ruleset.for_comparisons:
        for node in flow.comparisons:
            for rule in ruleset.for_comparisons:
                yield from _guarded(
                    rule,
                    lambda rule=rule, node=node: rule.check_comparison(node, facts),  # type: ignore[misc]
                    facts,
                    path,
                    errors,
                )


def _guarded(
    rule: Rule, check: Callable[[], Iterator[Finding]], facts: ModuleFacts, path: str, errors: list[FileError]
) -> list[Finding]:
    """What the rule yields; if it raises, that is an error of its own and nobody else's trouble."""
    try:
        return list(check())
    except RecursionError:
        raise
    except Exception as error:  # noqa: BLE001 - the border: one rule on one file
        if os.environ.get("NANLINT_RAISE"):
            raise
        message = f"rule {rule.code} {rule.name} failed here ({type(error).__name__}: {error}); the other rules went on"
        entry = FileError(path, facts.current_line, message)
        if entry not in errors:
            errors.append(entry)
        return []
