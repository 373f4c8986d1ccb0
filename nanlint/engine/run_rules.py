"""The rules on the chunks of one file. Imports libcst, which most files never need."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from functools import partial
from typing import TYPE_CHECKING, NamedTuple, TypeVar

import libcst as cst

from nanlint.engine.rule_border import findings_of
from nanlint.evidence import collect
from nanlint.evidence.levels import graded
from nanlint.facts.values import Call
from nanlint.model import FileError, Finding
from nanlint.source.outline import MODULE
from nanlint.source.sketched_chunk import Sketch

if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence

    from nanlint.engine.ruleset import Ruleset
    from nanlint.facts.module_facts import ModuleFacts
    from nanlint.rule import Rule
    from nanlint.source.outline import Outline

Subject = TypeVar("Subject")


class Outcome(NamedTuple):
    """What the rules found, what kept them from looking, and the hashes of the other files that were looked at."""

    findings: list[Finding]
    errors: list[FileError]
    consulted: dict[str, str]


def run_rules(names: Sequence[str], facts: ModuleFacts, path: str, ruleset: Ruleset) -> Outcome:
    """What the rules find in the chunks called `names`."""
    run, plan = _Run(facts, ruleset, path), facts.outline
    findings: list[Finding] = []
    for name in names:
        function = "" if name == MODULE else plan.chunks[name].qualname
        found = run.where_it_matters(partial(run.on_chunk, name), [name])
        findings += [replace(finding, function=function) for finding in found]
    facts.forget()
    return Outcome(findings, run.errors, dict(facts.consulted))


@dataclass(slots=True)
class _Run:
    """The rules on one file, and what went wrong so far."""

    facts: ModuleFacts
    ruleset: Ruleset
    path: str
    errors: list[FileError] = field(default_factory=list)

    def where_it_matters(self, find: Callable[[], list[Finding]], chunks: Collection[str]) -> list[Finding]:
        """What is found in some chunks. Rules are tried on sketches; where they find something, they look at what libcst parsed."""
        if not any(map(self.facts.is_sketched, chunks)):
            return find()
        failed = len(self.errors)
        found = find()
        has_failed = len(self.errors) > failed
        if not (has_failed or found):
            return []
        sketch = self.facts.parse(next(iter(chunks))) if len(chunks) == 1 and not has_failed else None
        if isinstance(sketch, Sketch) and not (sketch.has_failed or any(finding.fix for finding in found)):
            return found
        del self.errors[failed:]
        self.facts.parse_exactly(chunks)
        return find()

    def on_chunk(self, name: str) -> list[Finding]:
        """What is found in one chunk, in the order of its code."""
        try:
            return self._in_chunk(name)
        except RecursionError:
            reason = "is nested too deeply to be analysed"
        except cst.ParserSyntaxError:
            reason = "mixes tabs and spaces in a way that libcst does not read"
        message = f"`{name}` {reason}; it was not checked"
        self.errors.append(FileError(self.path, self.facts.outline.chunks[name].first_line, message))
        return []

    def _in_chunk(self, name: str) -> list[Finding]:
        self.facts.enter(name)
        flow = self.facts.flow(name)
        if flow is None:
            return []
        found: list[Finding] = []
        for call in list(flow.calls.values()):
            for rule in self.ruleset.by_function.get(call.function, ()):
                self.facts.approach(call.node)
                found += self._guarded(rule, call.node, rule.check_call, call)
        for node in flow.comparisons if self.ruleset.for_comparisons else ():
            self.facts.approach(node)
            for rule in self.ruleset.for_comparisons:
                found += self._guarded(rule, node, rule.check_comparison, node)
        if self.facts.sections is not None and self.facts.sections.is_long:
            # What stands near two parts may be told of in both.
            found = list({(finding.code, finding.span): finding for finding in found}.values())
        return without_yielding(found, self.ruleset.rules)

    def _guarded(
        self,
        rule: Rule,
        node: cst.CSTNode,
        check: Callable[[Subject, ModuleFacts], Iterator[Finding]],
        subject: Subject,
    ) -> list[Finding]:
        """What the rule yields about `subject`; if it fails, that is told of the line of `node`."""

        def within_border(findings: Callable[[], Iterable[Finding]]) -> list[Finding]:
            return findings_of(rule, findings, self.path, lambda: self._line_of(node), self.errors)

        yielded = within_border(lambda: check(subject, self.facts))
        judged = within_border(lambda: self.facts.judged_fixes(yielded))
        if rule.severity is not None or not judged:
            return judged
        call = subject if isinstance(subject, Call) else None
        return [graded(finding, *collect.of_place(finding, call, self.facts)) for finding in judged]

    def _line_of(self, node: cst.CSTNode) -> int:
        try:
            return self.facts.span_of(node).line
        except (RecursionError, KeyError):  # the node of a loop may stand in another function than the one at hand
            return self.facts.current_line


def without_yielding(found: Sequence[Finding], rules: Mapping[str, Rule]) -> list[Finding]:
    """One defect, one finding: those that yield to another are left out; thousands are not compared with each other."""
    placed = dict[tuple[str, int], list[Finding]]()
    for finding in found:
        for line in _lines_of(finding):
            placed.setdefault((finding.code, line), []).append(finding)
    kept, told_by = list[Finding](), dict[int, list[Finding]]()
    for finding in found:
        winner = next(
            (
                other
                for code in rules[finding.code].yields_to
                for line in _lines_of(finding)
                for other in placed.get((code, line), ())
                if other.span.overlaps(finding.span)
            ),
            None,
        )
        (kept if winner is None else told_by.setdefault(id(winner), [])).append(finding)
    return [_with_the_evidence_of(finding, told_by.get(id(finding), ())) for finding in kept]


def _with_the_evidence_of(finding: Finding, others: Sequence[Finding]) -> Finding:
    """The finding with the strongest evidence that some rule has of the same defect."""
    strongest = max((finding, *others), key=lambda each: each.severity.rank)
    if strongest is finding:
        return finding
    told = strongest.severity, strongest.evidence, strongest.can_happen, strongest.matters
    return replace(finding, **dict(zip(("severity", "evidence", "can_happen", "matters"), told, strict=True)))  # type: ignore[arg-type]


def _lines_of(finding: Finding) -> range:
    return range(finding.span.line, finding.span.end_line + 1)


def function_at(plan: Outline, line: int) -> str:
    """The qualified name of the function that a line belongs to; "" outside of one."""
    around = [
        chunk for name, chunk in plan.chunks.items() if name != MODULE and chunk.first_line <= line <= chunk.last_line
    ]
    return max(around, key=lambda chunk: chunk.first_line).qualname if around else ""
