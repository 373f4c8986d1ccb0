"""Whether a `# noqa` that names our codes is at work in a file: ruff deletes such comments unless it is told not to."""

from __future__ import annotations

from typing import TYPE_CHECKING

from nanlint.engine.suppressing.suppress import codes_of
from nanlint.source.comments.markers import Kind
from nanlint.source.comments.suppressions import suppressions

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from nanlint.model import Finding


def quiets_one(findings: Sequence[Finding], kept: Sequence[Finding], text: str, known: Mapping[str, str]) -> bool:
    """Whether one of the `findings` that are not `kept` is quiet because of such a comment."""
    found = suppressions(text)
    loud = {id(finding) for finding in kept}
    quiet = [finding for finding in findings if id(finding) not in loud]
    return found is not None and any(
        item.covers(finding.span) and finding.code in codes_of(selector.text, known)
        for item in found.items
        if item.marker.kind is Kind.NOQA
        for selector in item.marker.selectors
        for finding in quiet
    )
