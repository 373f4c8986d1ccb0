"""A rule as its readers know it."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from nanlint.model.words import Severity


@dataclass(frozen=True, slots=True)
class RuleInfo:
    """What a report may tell of a rule: all from the rule file's docstring and class attributes."""

    code: str
    name: str
    severity: Severity
    summary: str
    why: str
    docs: str
    url: str
    fix: str
    preview: bool
