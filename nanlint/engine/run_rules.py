"""The rules on the chunks of one file. Imports libcst, which most files never need.

This is one of the two borders where anything may be caught: a rule that raises is named in an error, and the other
rules go on.
"""

from __future__ import annotations

import os
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, TypeVar

from nanlint.facts.module_facts import ModuleFacts
from nanlint.model import FileError, Finding
from nanlint.source.outline import MODULE

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence

    import libcst as cst

    from nanlint.engine.ruleset import Ruleset
    from nanlint.rule import Rule
    from nanlint.source.outline import Outline

Subject = TypeVar("Subject")


def run_rules(
    names: Sequence[str], plan: Outline, text: str, path: str, ruleset: Ruleset
) -> tuple[list[Finding], list[FileError]]:
    """What the rules find in the chunks called `names`, and what kept them from looking."""
    run = _Run(ModuleFacts(text, plan), ruleset, path)
    findings: list[Finding] = []
    for name in names:
        function = "" if name == MODULE else plan.chunks[name].qualname
        try:
            findings += [replace(finding, function=function) for finding in run.on_chunk(name)]
        except RecursionError:
            message = f"`{name}` is nested too deeply to be analysed; it was not checked"
            run.errors.append(FileError(path, plan.chunks[name].first_line, message))
    run.facts.forget()
    return findings, run.errors


@dataclass(slots=True)
class _Run:
    """The rules on one file, and what went wrong so far."""

    facts: ModuleFacts
    ruleset: Ruleset
    path: str
    errors: list[FileError] = field(default_factory=list)

    def on_chunk(self, name: str) -> list[Finding]:
        """What is found in one chunk, in the order of its code."""
        self.facts.enter(name)
        flow = self.facts.flow(name)
        if flow is None:
            return []
        found: list[Finding] = []
        for call in list(flow.calls.values()):
            for rule in self.ruleset.by_function.get(call.function, ()):
                found += self._guarded(rule, call.node, rule.check_call, call)
        for node in flow.comparisons if self.ruleset.for_comparisons else ():
            for rule in self.ruleset.for_comparisons:
                found += self._guarded(rule, node, rule.check_comparison, node)
        return [finding for finding in found if not self._yields(finding, found)]

    def _yields(self, finding: Finding, found: Sequence[Finding]) -> bool:
        """Whether another rule, to which this one yields, tells of the same expression: one defect, one finding."""
        winners = self.ruleset.rules[finding.code].yields_to
        return bool(winners) and any(other.code in winners and other.span.overlaps(finding.span) for other in found)

    def _guarded(
        self,
        rule: Rule,
        node: cst.CSTNode,
        check: Callable[[Subject, ModuleFacts], Iterator[Finding]],
        subject: Subject,
    ) -> list[Finding]:
        """What the rule yields; if it raises, that is an error of its own and nobody else's trouble."""
        found: list[Finding] = []
        try:
            for finding in check(subject, self.facts):
                _require_own(finding, rule)
                found.append(finding)
        except (Exception, SystemExit) as error:
            if os.environ.get("NANLINT_RAISE"):
                raise
            self._blame(rule, node, error)
        return found

    def _blame(self, rule: Rule, node: cst.CSTNode, error: BaseException) -> None:
        """Name the rule and the first line on which it failed in this way; once for each file."""
        message = f"rule {rule.code} {rule.name} failed here ({type(error).__name__}: {error}); the other rules went on"
        if any(entry.message == message for entry in self.errors):
            return
        try:
            line = self.facts.span_of(node).line
        except RecursionError:
            line = self.facts.current_line
        self.errors.append(FileError(self.path, line, message))


def _require_own(finding: object, rule: Rule) -> None:
    """What a rule yields must be findings, and its own; anything else is its fault like a crash."""
    if not isinstance(finding, Finding):
        raise TypeError(f"it yields {type(finding).__name__}, and a rule yields Finding")
    if finding.code != rule.code:
        raise ValueError(f"it yields a finding of {finding.code}")
