"""The border around a rule, the one place where anything it does may be caught.

A rule that raises, or yields what is none of its business, is named in an error with the first line on which it failed
in this way, once for each file; the other rules go on.
"""

from __future__ import annotations

import os
from typing import TYPE_CHECKING

from nanlint.model import FileError, Finding

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable

    from nanlint.rule import Rule


def findings_of(
    rule: Rule, findings: Callable[[], Iterable[Finding]], path: str, line: Callable[[], int], errors: list[FileError]
) -> list[Finding]:
    """What the rule yields, as far as it came; `line` says where it is looking, and is asked only if it fails there."""
    found: list[Finding] = []
    try:
        for finding in findings():
            _require_own(finding, rule)
            found.append(finding)
    except (Exception, SystemExit) as error:
        if os.environ.get("NANLINT_RAISE"):
            raise
        reason = f"{type(error).__name__}: {error}"
        message = f"rule {rule.code} {rule.name} failed here ({reason}); the other rules went on"
        if all(entry.message != message for entry in errors):
            errors.append(FileError(path, line(), message))
    return found


def _require_own(finding: object, rule: Rule) -> None:
    """What a rule yields must be findings, and its own; anything else is its fault like a crash."""
    if not isinstance(finding, Finding):
        raise TypeError(f"it yields {type(finding).__name__}, and a rule yields Finding")
    if finding.code != rule.code:
        raise ValueError(f"it yields a finding of {finding.code}")
