"""One defect, one finding: where several rules see the same, the most precise of them tells of it."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from nanlint.source.syntax.outline import MODULE

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from nanlint.engine.used_once import UsedOnce
    from nanlint.model import Finding, Span
    from nanlint.rule import Rule
    from nanlint.source.syntax.outline import Outline


def without_yielding(found: Sequence[Finding], rules: Mapping[str, Rule], names: UsedOnce) -> list[Finding]:
    """One defect, one finding: those that yield to another are left out; thousands are not compared with each other."""
    placed: dict[tuple[str, int], list[tuple[Finding, Span]]] = {}
    places = [list(names.spans(finding.span)) for finding in found]
    for finding, spans in zip(found, places, strict=True):
        for span in spans:
            for line in _lines_of(span):
                placed.setdefault((finding.code, line), []).append((finding, span))
    kept: list[Finding] = []
    told_by: dict[int, list[Finding]] = {}
    for finding, spans in zip(found, places, strict=True):
        winner = next(
            (
                other
                for code in rules[finding.code].yields_to
                for span in spans
                for line in _lines_of(span)
                for other, place in placed.get((code, line), ())
                if place.overlaps(span) and (place is other.span or span is finding.span)
            ),
            None,
        )
        (kept if winner is None else told_by.setdefault(id(winner), [])).append(finding)
    return [_with_the_evidence_of(finding, told_by.get(id(finding), ())) for finding in kept]


def _with_the_evidence_of(finding: Finding, others: Sequence[Finding]) -> Finding:
    """The finding with the strongest evidence that some rule has of the same defect."""
    strongest = max((finding, *others), key=lambda each: each.severity.rank)
    return with_evidence_of(finding, strongest) if strongest is not finding else finding


def with_evidence_of(finding: Finding, other: Finding) -> Finding:
    """The finding with the evidence and the level of another one."""
    told = other.severity, other.evidence, other.can_happen, other.matters
    return replace(finding, **dict(zip(("severity", "evidence", "can_happen", "matters"), told, strict=True)))  # type: ignore[arg-type]


def _lines_of(span: Span) -> range:
    return range(span.line, span.end_line + 1)


def function_at(plan: Outline, line: int) -> str:
    """The qualified name of the function that a line belongs to; "" outside of one."""
    around = [
        chunk for name, chunk in plan.chunks.items() if name != MODULE and chunk.first_line <= line <= chunk.last_line
    ]
    return max(around, key=lambda chunk: chunk.first_line).qualname if around else ""
