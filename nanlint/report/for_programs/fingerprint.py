"""Names for findings that outlive a commit, for services that tell old findings from new ones.

By content, not by line number: unrelated edits above a finding leave its fingerprint as it is.
"""

from __future__ import annotations

import hashlib
from collections import Counter
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from nanlint.model import Finding, Report


def fingerprints(report: Report) -> list[str]:
    """One fingerprint per finding, in order, all different: equal findings of a file are numbered as they are read."""
    seen: Counter[tuple[str, ...]] = Counter()
    result = []
    for finding in report.findings:
        content = _content(finding, report)
        result.append(digest(*content, str(seen[content])))
        seen[content] += 1
    return result


def digest(*parts: str) -> str:
    """32 hex digits that depend on every part and on where one ends and the next begins."""
    joined = "".join(f"{len(part)}:{part}" for part in parts)
    return hashlib.blake2b(joined.encode("utf-8", "surrogatepass"), digest_size=16).hexdigest()


def _content(finding: Finding, report: Report) -> tuple[str, ...]:
    lines = report.source_lines(finding.path, finding.cell)[finding.span.line - 1 : finding.span.end_line]
    code = " ".join(" ".join(lines).split())
    return (finding.code, finding.path, finding.function, finding.message, code)
