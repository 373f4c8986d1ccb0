"""The rules of a run as the engine uses them: by operation, with the gate that their words make."""

from __future__ import annotations

from functools import cached_property
from typing import TYPE_CHECKING

from nanlint.engine.interests import carrying_words, interests
from nanlint.model import Finding, Severity
from nanlint.source.gate import Gate, Interest

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping, Sequence

    from nanlint.rule import Rule


class Ruleset:
    """Some rules with their options, ready to run."""

    def __init__(
        self,
        rules: Sequence[Rule],
        *,
        known: Mapping[str, str],
        gated: bool = True,
        severities: Mapping[str, Severity] | None = None,
        mildest: Severity = Severity.INFO,
    ) -> None:
        self.rules = {rule.code: rule for rule in rules}
        self.known = known
        self.gated = gated
        self.severities = severities or {}
        self.mildest = mildest
        """Findings below it are not shown, so they are neither fixed nor remembered either."""
        self.gate = Gate((each for rule in rules for each in self._interests(rule)), carrying_words())
        self.by_function: dict[str, list[Rule]] = {}
        for rule in rules:
            for function in rule.calls:
                self.by_function.setdefault(function, []).append(rule)
        self.for_comparisons = [rule for rule in rules if rule.comparisons]
        self.for_loops = [rule for rule in rules if rule.loops]
        self.by_setting: dict[str, list[Rule]] = {}
        for rule in rules:
            for key in rule.settings:
                self.by_setting.setdefault(key, []).append(rule)

    @cached_property
    def full_gate(self) -> Gate:
        """As `gate`, and lets through what is not shown as well: a comment may be there for it."""
        if self.mildest is Severity.INFO:
            return self.gate
        return Gate((each for rule in self.rules.values() for each in interests(rule)), carrying_words())

    def gate_for(self, *, suppressions: bool) -> Gate:
        """The gate of a file, with comments in it that keep findings out or without."""
        return self.full_gate if suppressions else self.gate

    def _interests(self, rule: Rule) -> Iterator[Interest]:
        # Who gave the rule a severity of its own sees all of it.
        shows_info = self.mildest is Severity.INFO or rule.code in self.severities
        yielding = (code for code, other in self.rules.items() if rule.code in other.yields_to)
        return interests(rule, shows_info=shows_info, yielding=frozenset(yielding))

    def without(self, codes: frozenset[str]) -> Ruleset:
        """The same rules less those with `codes`, as per-file-ignores ask for."""
        left = [rule for code, rule in self.rules.items() if code not in codes]
        if len(left) == len(self.rules):
            return self
        return Ruleset(left, known=self.known, gated=self.gated, severities=self.severities, mildest=self.mildest)

    def shown(self, findings: Iterable[Finding]) -> list[Finding]:
        """The findings that are severe enough, in reading order."""
        return sorted(filter(self.shows, findings), key=lambda finding: finding.sort_key)

    def shows(self, finding: Finding) -> bool:
        """Whether a finding is severe enough, by the severity that the user gave to its rule."""
        return self.severities.get(finding.code, finding.severity).rank >= self.mildest.rank
