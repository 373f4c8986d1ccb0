"""Fixes in passes, each verified: what does not hold is withdrawn, and the others go on without it.

A result holds when it parses and wakes no finding of a kind it was to cure. This module opens no file and knows
neither libcst nor rules: what a text's findings are and whether it parses, it asks the functions it is given.
"""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from nanlint.engine.fixing.diff import notebook_diff, unified_diff
from nanlint.engine.fixing.edits import Change, Page, apply_edits, choose

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from nanlint.model import Finding, Fix

__all__ = ["Fixed", "apply_edits", "fix_text", "notebook_diff", "unified_diff"]

# Nested findings need a pass per level of nesting, and an import that several fixes need takes one more.
MAX_PASSES = 10

Likeness = tuple[str, str, str]
"""A finding without its place: code, message, and the line it stands on."""

Identity = tuple[Likeness, tuple[str, ...]]
"""A finding with what its fix writes: what stays of it when lines above come and go."""


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


def likeness_on(page: Page, finding: Finding) -> Likeness:
    """A finding on a page without its place."""
    return finding.code, finding.message, page.line(finding.span.line).strip()


def identity_on(page: Page, finding: Finding) -> Identity:
    """A finding on a page with what its fix writes."""
    edits = finding.fix.edits if finding.fix else ()
    return likeness_on(page, finding), tuple(edit.text for edit in edits)


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
    work = _Work(check, parses, {text: (draft, 0)})
    for _ in range(max_passes):
        batch = work.next_batch(draft, wanted)
        if not batch:
            break
        draft = work.leave_circle(work.settle(draft, batch))
    draft = work.tidied(text, draft)
    applied = [finding for finding, _ in work.applied]
    withdrawn = [finding for finding in draft.findings if draft.identity(finding) in work.withdrawn]
    return Fixed(draft.page.text, applied, withdrawn, draft.findings)


@dataclass(frozen=True, slots=True)
class _Draft:
    """A text and what was found in it."""

    page: Page
    findings: list[Finding]

    def likeness(self, finding: Finding) -> Likeness:
        return likeness_on(self.page, finding)

    def identity(self, finding: Finding) -> Identity:
        return identity_on(self.page, finding)


@dataclass(frozen=True, slots=True)
class _Patch:
    """A finding and the changes that its fix makes."""

    finding: Finding
    changes: tuple[Change, ...]


@dataclass(slots=True)
class _Work:
    """One run of `fix_text`: whom it asks, and what it has done so far."""

    check: Callable[[str], list[Finding]]
    parses: Callable[[str], bool]
    history: dict[str, tuple[_Draft, int]]
    """Each text so far, with how many fixes had been applied by then."""
    applied: list[tuple[Finding, Identity]] = field(default_factory=list)
    withdrawn: set[Identity] = field(default_factory=set)

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
            attempt = self._attempt(draft, best, kept, group)
            if attempt is not None:
                best = attempt
                kept += group
            elif len(group) == 1:
                self.withdrawn.add(draft.identity(group[0].finding))
            else:
                middle = len(group) // 2
                groups += group[middle:], group[:middle]
        self.applied += [(patch.finding, draft.identity(patch.finding)) for patch in kept]
        return best

    def leave_circle(self, draft: _Draft) -> _Draft:
        """`draft`, unless its text was there before: then the fixes that led back to it are withdrawn.

        The earlier draft of that text is where a second run would end as well.
        """
        earlier, count = self.history.setdefault(draft.page.text, (draft, len(self.applied)))
        self.withdrawn.update(identity for _, identity in self.applied[count:])
        del self.applied[count:]
        return earlier

    def tidied(self, text: str, draft: _Draft) -> _Draft:
        """The draft less the assignments that only all fixes of `text` together have left unread."""
        from nanlint.source.syntax.leftovers import without_leftovers  # noqa: PLC0415 - only where something was fixed

        if not self.applied:
            return draft
        tidy = without_leftovers(text, draft.page.text)
        if tidy == draft.page.text or not self.parses(tidy):
            return draft
        after = _Draft(Page(tidy), self.check(tidy))
        codes = {finding.code for finding, _ in self.applied}
        return draft if _wakes_a_finding(draft, after, codes, ()) else after

    def _attempt(self, draft: _Draft, best: _Draft, kept: Sequence[_Patch], group: Sequence[_Patch]) -> _Draft | None:
        """The draft after `kept`, which hold and give `best`, and `group`; None if the group breaks what it was to mend."""
        text = draft.page.with_changes(patch.changes for patch in [*kept, *group])
        if text == draft.page.text or not self.parses(text):
            return None
        after = _Draft(Page(text), self.check(text))
        # What the kept ones have woken is not the fault of this group.
        fixed = [draft.likeness(patch.finding) for patch in group]
        return None if _wakes_a_finding(best, after, {likeness[0] for likeness in fixed}, fixed) else after


def _wakes_a_finding(before: _Draft, after: _Draft, codes: set[str], fixed: Sequence[Likeness]) -> bool:
    """Whether a finding with one of `codes` is there after that was not there before, or outlived its own fix.

    Lines move and messages name ranges that a fix may move, so a finding is known by its message or by its line.
    """
    old = Counter(before.likeness(finding) for finding in before.findings if finding.code in codes)
    for likeness in fixed:
        # Another fix may have changed the line since.
        same = (
            likeness if old[likeness] else next((each for each in old.elements() if each[:2] == likeness[:2]), likeness)
        )
        old[same] -= 1
    old = +old
    new = Counter(after.likeness(finding) for finding in after.findings if finding.code in codes)
    old, new = old - new, new - old
    for shared in (1, 2):
        for entry in list(new.elements()):
            twin = next((each for each in old.elements() if (each[0], each[shared]) == (entry[0], entry[shared])), None)
            if twin is not None:
                old[twin] -= 1
                new[entry] -= 1
    return new.total() > 0
