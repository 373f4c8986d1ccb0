"""Fixes one by one, each shown before it is made: what `nanlint check --interactive` asks about.

Every fix is tried and verified as `apply_fixes` does it before anybody is asked; one that would be withdrawn is not
offered. What was accepted is in the text when the next question comes.
"""

from __future__ import annotations

import enum
from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from nanlint.engine.check_file import check_text
from nanlint.engine.fixing.apply_fixes import Identity, fix_text, identity_on
from nanlint.engine.fixing.edits import Page
from nanlint.engine.fixing.fix_paths import Document, Rewritten, rewritten, wanted_fixes

if TYPE_CHECKING:
    from nanlint.engine.rules.ruleset import Ruleset
    from nanlint.model import Finding


class Answer(enum.Enum):
    """What the user says to one fix."""

    YES = "y"
    NO = "n"
    ALL = "a"
    QUIT = "q"


Ask = Callable[["Finding", str], Answer]
"""Shows a finding and the diff of its fix, and asks for leave."""


@dataclass(slots=True)
class Choosing:
    """One session: whom to ask, and whether that is still wanted."""

    ask: Ask
    unsafe: bool
    takes_all: bool = False
    is_over: bool = False
    _declined: set[tuple[Identity, int]] = field(default_factory=set)

    def rewrite(self, document: Document, ruleset: Ruleset) -> Rewritten:
        """The document with the fixes that were accepted; raises UnwritableSource."""
        text, applied = document.text, list["Finding"]()
        while not self.is_over:
            outcome = self._next(text, document, ruleset)
            if outcome is None:
                break
            text = outcome[0]
            applied += outcome[1]
        return rewritten(document, text, ruleset, applied)

    def _next(self, text: str, document: Document, ruleset: Ruleset) -> tuple[str, list[Finding]] | None:
        """The text after the next accepted fix; None when there is none left to offer."""

        def check(draft: str) -> list[Finding]:
            return check_text(draft, document.path, ruleset).findings

        wanted = wanted_fixes(unsafe=self.unsafe)
        met: Counter[Identity] = Counter()
        page = Page(text)
        for finding in check(text):
            fix, identity = finding.fix, identity_on(page, finding)
            met[identity] += 1
            key = identity, met[identity]
            if fix is None or not wanted(fix) or key in self._declined:
                continue
            one = fix_text(text, check, lambda each, fix=fix: each == fix, parses=document.parses, max_passes=1)  # type: ignore[misc] # mypy does not infer it
            answer = self._answer(finding, text, one.text, document) if one.text != text else Answer.NO
            if answer is Answer.YES:
                return one.text, one.applied
            if answer is Answer.QUIT:
                self.is_over = True
                return None
            self._declined.add(key)
        return None

    def _answer(self, finding: Finding, before: str, after: str, document: Document) -> Answer:
        """What the user says, or has said once and for all."""
        answer = Answer.YES if self.takes_all else self.ask(*_shown(finding, before, after, document))
        self.takes_all = self.takes_all or answer is Answer.ALL
        return Answer.YES if answer is Answer.ALL else answer


def _shown(finding: Finding, before: str, after: str, document: Document) -> tuple[Finding, str]:
    """The finding where readers look for it, and the change from the text as it is by now."""
    if document.notebook is not None:
        return document.placed([finding])[0], document.diff(after)
    from nanlint.engine.fixing.diff import unified_diff  # noqa: PLC0415 - as the diffs of whole files are

    return finding, unified_diff(document.path, before, after)
