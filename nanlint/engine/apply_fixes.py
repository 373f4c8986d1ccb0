"""Fixes in passes, each verified: what does not hold is withdrawn, and the others go on without it.

A result holds when it parses and wakes no finding of a kind it was to cure. This module opens no file and knows
neither libcst nor rules: what a text's findings are and whether it parses, it asks the functions it is given.
"""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from nanlint.engine.diff import notebook_diff, unified_diff
from nanlint.engine.edits import Change, Page, apply_edits, choose

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from nanlint.model import Finding, Fix

__all__ = ["Fixed", "apply_edits", "fix_text", "notebook_diff", "unified_diff"]

# Nested findings need a pass per level of nesting, and an import that several fixes need takes one more.
MAX_PASSES = 10

Likeness = tuple[str, str, str]
"""A finding without its place: code, message, and the line it stands on."""


@dataclass(frozen=True, slots=True)
class Fixed:
    """What fixing came to.

    `applied` are findings as they stood when their fix was applied, in that order. `remaining` are all findings of the
    final text; `withdrawn` are those among them whose fix was tried and taken back.
    """

    text: str
    applied: list[Finding]
    withdrawn: list[Finding]
    remaining: list[Finding]


def fix_text(
    text: str,
    check: Callable[[str], list[Finding]],
    wanted: Callable[[Fix], bool],
    *,
    parses: Callable[[str], bool],
    max_passes: int = MAX_PASSES,
) -> Fixed:
    """Apply the wanted fixes in passes until none is left or `max_passes` are done.

    A pass applies all fixes that do not overlap and asks `check` once. Only if the result does not hold are they tried
    in halves to find the ones to blame: about log2(n) more questions for each of them.
    """
    draft = _Draft(Page(text), check(text))
    work = _Work(check, parses, {text})
    for _ in range(max_passes):
        batch = work.next_batch(draft, wanted)
        if not batch:
            break
        draft = work.settle(draft, batch)
    withdrawn = [finding for finding in draft.findings if draft.identity(finding) in work.withdrawn]
    return Fixed(draft.page.text, work.applied, withdrawn, draft.findings)


@dataclass(frozen=True, slots=True)
class _Draft:
    """A text and what was found in it."""

    page: Page
    findings: list[Finding]

    def likeness(self, finding: Finding) -> Likeness:
        return finding.code, finding.message, self.page.line(finding.span.line).strip()

    def identity(self, finding: Finding) -> tuple[Likeness, tuple[str, ...]]:
        """What stays of a finding and its fix when lines above it come and go."""
        edits = finding.fix.edits if finding.fix else ()
        return self.likeness(finding), tuple(edit.text for edit in edits)


@dataclass(frozen=True, slots=True)
class _Patch:
    """A finding and the changes that its fix makes."""

    finding: Finding
    changes: tuple[Change, ...]


@dataclass(slots=True)
class _Work:
    """One run of `fix_text`: whom it asks, the texts it has seen, and what it has done so far."""

    check: Callable[[str], list[Finding]]
    parses: Callable[[str], bool]
    seen: set[str]
    applied: list[Finding] = field(default_factory=list)
    withdrawn: set[tuple[Likeness, tuple[str, ...]]] = field(default_factory=set)

    def next_batch(self, draft: _Draft, wanted: Callable[[Fix], bool]) -> list[_Patch]:
        """Patches that can be applied together; a fix whose edits cannot be placed is withdrawn at once."""
        patches: list[_Patch] = []
        for finding in sorted(draft.findings, key=lambda finding: finding.sort_key):
            if finding.fix is None or not wanted(finding.fix) or draft.identity(finding) in self.withdrawn:
                continue
            changes = draft.page.changes(finding.fix)
            if changes is None:
                self.withdrawn.add(draft.identity(finding))
            else:
                patches.append(_Patch(finding, changes))
        return [patches[index] for index in choose([patch.changes for patch in patches])]

    def settle(self, draft: _Draft, batch: list[_Patch]) -> _Draft:
        """The draft after all patches of `batch` that hold together; the others are withdrawn."""
        best = draft
        kept: list[_Patch] = []
        groups = [batch]
        while groups:
            group = groups.pop()
            attempt = self._attempt(draft, [*kept, *group])
            if attempt is not None:
                best = attempt
                kept += group
            elif len(group) == 1:
                self.withdrawn.add(draft.identity(group[0].finding))
            else:
                middle = len(group) // 2
                groups += group[middle:], group[:middle]
        self.seen.add(best.page.text)
        self.applied += [patch.finding for patch in kept]
        return best

    def _attempt(self, draft: _Draft, patches: Sequence[_Patch]) -> _Draft | None:
        """The draft after `patches`; None if it does not hold."""
        text = draft.page.with_changes(patch.changes for patch in patches)
        # A text seen before means fixes that undo each other, or one that changes nothing: neither would ever end.
        if text in self.seen or not self.parses(text):
            return None
        after = _Draft(Page(text), self.check(text))
        return None if _wakes_a_finding(draft, after, [patch.finding for patch in patches]) else after


def _wakes_a_finding(before: _Draft, after: _Draft, fixed: Sequence[Finding]) -> bool:
    """Whether a finding of a fixed kind is there after that was not there before, or outlived its own fix.

    Lines move and messages name ranges that a fix may move, so a finding is known by its message or by its line.
    """
    codes = {finding.code for finding in fixed}
    old = Counter(before.likeness(finding) for finding in before.findings if finding.code in codes)
    old -= Counter(before.likeness(finding) for finding in fixed)
    new = Counter(after.likeness(finding) for finding in after.findings if finding.code in codes)
    old, new = old - new, new - old
    for shared in (1, 2):
        for entry in list(new.elements()):
            twin = next((e for e in old.elements() if e[0] == entry[0] and e[shared] == entry[shared]), None)
            if twin is not None:
                old[twin] -= 1
                new[entry] -= 1
    return new.total() > 0
