"""The rules of a run as the engine uses them: by operation, with the prefilter that their words make."""

from __future__ import annotations

from functools import cached_property
from typing import TYPE_CHECKING

from nanlint.model import Severity
from nanlint.prefilter.triggers import Prefilter

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping

    from nanlint.engine.rules.rulebook import Selection
    from nanlint.hazards.watched import Watched
    from nanlint.model import Finding
    from nanlint.rule import Rule


class Ruleset:
    """Some rules with their options, ready to run; they are loaded when the prefilter has kept something for them."""

    def __init__(self, selection: Selection, *, gated: bool = True, mildest: Severity = Severity.INFO) -> None:
        self._selection = selection
        self.gated = gated
        self.mildest = mildest
        """Findings below it are not shown, and so not fixed."""
        self.known = selection.book.names
        self.severities = selection.severities
        self.codes = frozenset(card.code for card in selection.cards)
        self.judges_settings = any(card.judges_settings for card in selection.cards)
        self.prefilter = Prefilter(card.trigger for card in selection.cards)

    @cached_property
    def rules(self) -> dict[str, Rule]:
        """The rules themselves, by code."""
        return {rule.code: rule for rule in self._selection.load()}

    @cached_property
    def watching(self) -> Mapping[Watched, list[Rule]]:
        """The rules that watch for a zone."""
        found: dict[Watched, list[Rule]] = {}
        for rule in self.rules.values():
            for each in rule.hazards:
                found.setdefault(each, []).append(rule)
        return found

    @cached_property
    def watched(self) -> Mapping[str, list[Watched]]:
        """What rules watch for, by operation."""
        found: dict[str, list[Watched]] = {}
        for each in self.watching:
            found.setdefault(each.operation, []).append(each)
        return found

    @cached_property
    def for_loops(self) -> list[Rule]:
        """The rules that are shown training loops."""
        return [rule for rule in self.rules.values() if rule.loops]

    @cached_property
    def by_setting(self) -> Mapping[str, list[Rule]]:
        """The rules that are shown a setting, by its key."""
        found: dict[str, list[Rule]] = {}
        for rule in self.rules.values():
            for key in rule.settings:
                found.setdefault(key, []).append(rule)
        return found

    def without(self, codes: frozenset[str]) -> Ruleset:
        """The same rules less those with `codes`, as per-file-ignores ask for."""
        if self.codes.isdisjoint(codes):
            return self
        return Ruleset(self._selection.without(codes), gated=self.gated, mildest=self.mildest)

    def stamped(self, findings: Iterable[Finding], path: str) -> Iterator[Finding]:
        """The findings with the file's name, and with the severity that the user gave to their rule."""
        for finding in findings:
            yield finding.told_of(path, self.severities.get(finding.code, finding.severity))

    def divided(self, findings: Iterable[Finding]) -> tuple[list[Finding], list[Finding]]:
        """The findings that are severe enough to be shown and the others, each in reading order."""
        ordered = sorted(findings, key=lambda finding: finding.sort_key)
        return list(filter(self.shows, ordered)), [finding for finding in ordered if not self.shows(finding)]

    def shows(self, finding: Finding) -> bool:
        """Whether a finding is severe enough, by the severity that the user gave to its rule."""
        return self.severities.get(finding.code, finding.severity).rank >= self.mildest.rank
