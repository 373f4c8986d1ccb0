"""Which findings the comments of a file keep quiet, and which of those comments keep nothing quiet.

A suppression is unused only as far as its rules ran: `active` are the codes that did, after per-file ignores, and with
NAN001 not among them nothing is said about suppressions at all. One that stands for many rules (no list, or a prefix)
is judged as soon as one of them ran. Findings must come in before any filter by severity, or the comments that quiet
the filtered ones would look unused.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from nanlint.source.comments.mentions import mentions_suppression

if TYPE_CHECKING:
    from collections.abc import Collection, Mapping, Sequence

    from nanlint.model import Finding
    from nanlint.source.comments.markers import Selector
    from nanlint.source.comments.suppressions import Suppression, Suppressions

# Every file comes by here, so the nouns are named tuples: importing dataclasses alone would take longer than telling
# a thousand files without suppressions.

UNUSED_SUPPRESSION = "NAN001"
UNUSED_NAME = "unused-suppression"

# All codes share their letters, so at difflib's own 0.6 any code would be near any other.
NEAR = 0.75


class Suppressed(NamedTuple):
    """What is left to report: findings that no comment covers, and what NAN001 says about the comments."""

    kept: list[Finding]
    quiet: int
    unused: list[Finding]


class _Claim(NamedTuple):
    """One entry of a suppression's list with the codes it stands for; neither, if it stands for every rule."""

    suppression: Suppression
    selector: Selector | None = None
    codes: frozenset[str] | None = None

    def quiets(self, finding: Finding) -> bool:
        # Were NAN001 among "every rule", no blanket suppression could ever be called unused.
        meant = finding.code != UNUSED_SUPPRESSION if self.codes is None else finding.code in self.codes
        return meant and self.suppression.covers(finding.span)


def apply(
    findings: Sequence[Finding],
    text: str,
    *,
    active: Collection[str],
    known: Mapping[str, str],
) -> Suppressed:
    """Split the findings of one file by its comments. `known` gives the name of every rule by its code.

    The findings about comments have neither path nor cell: the caller knows them.
    """
    judging = UNUSED_SUPPRESSION in active
    if not (findings or judging) or not mentions_suppression(text, blanket_noqa=bool(findings)):
        return Suppressed(list(findings), 0, [])
    from nanlint.source.comments.suppressions import suppressions  # noqa: PLC0415 - most files hold no suppression

    found = suppressions(text, blanket_noqa=bool(findings))
    if found is None:
        return Suppressed(list(findings), 0, [])
    claims = [claim for item in found.items for claim in _claims(item, known)]
    by_line = _by_line(claims)
    hits = [_quieting(finding, by_line) for finding in findings]
    kept = [finding for finding, hit in zip(findings, hits, strict=True) if not hit]
    used = {id(claim) for hit in hits for claim in hit}
    idle = [claim for claim in claims if id(claim) not in used]
    unused = _complaints(found, idle, active, known) if judging else []
    loud = [finding for finding in unused if not _quieting(finding, by_line)]
    return Suppressed(kept, len(findings) - len(kept), loud)


def codes_of(selector: str, known: Mapping[str, str]) -> frozenset[str]:
    """The codes that a code, a prefix such as NAN1, or a name stands for; empty if no rule fits."""
    folded = selector.upper()
    letters = folded.rstrip("0123456789")
    codes = {*known, UNUSED_SUPPRESSION}
    if folded in codes:
        return frozenset({folded})
    fitting = {code for code in codes if letters == code.rstrip("0123456789") and code.startswith(folded)}
    if fitting:
        return frozenset(fitting - {UNUSED_SUPPRESSION} if folded == letters else fitting)
    name = selector.lower().replace("_", "-")
    names = {**known, UNUSED_SUPPRESSION: UNUSED_NAME}
    return frozenset(code for code, own in names.items() if own.lower().replace("_", "-") == name)


def _claims(item: Suppression, known: Mapping[str, str]) -> list[_Claim]:
    """Nothing for a marker that is written wrong, and for entries that name no rule."""
    if item.marker.problem:
        return []
    if not item.marker.listed:
        return [_Claim(item)]
    claims = [_Claim(item, selector, codes_of(selector.text, known)) for selector in item.marker.selectors]
    return [claim for claim in claims if claim.codes]


def _by_line(claims: Sequence[_Claim]) -> dict[int, list[_Claim]]:
    """The claims by the lines where they can matter; under 0 those that matter everywhere."""
    by_line: dict[int, list[_Claim]] = {}
    for claim in claims:
        item = claim.suppression
        everywhere = item.marker.kind.value == "ignore-file"
        for line in {0} if everywhere else {*range(item.first, item.last + 1), item.comment.line}:
            by_line.setdefault(line, []).append(claim)
    return by_line


def _quieting(finding: Finding, by_line: Mapping[int, Sequence[_Claim]]) -> list[_Claim]:
    lines = (0, *range(finding.span.line, finding.span.end_line + 1))
    return [claim for line in lines for claim in by_line.get(line, ()) if claim.quiets(finding)]


def _complaints(
    found: Suppressions,
    idle: Sequence[_Claim],
    active: Collection[str],
    known: Mapping[str, str],
) -> list[Finding]:
    from nanlint.engine.suppressing import unused  # noqa: PLC0415 - most files hold no suppression

    judged: dict[int, list[Selector]] = {}
    for claim in idle:
        if _is_judged(claim, active):
            judged.setdefault(id(claim.suppression), []).extend([claim.selector] if claim.selector else [])
    findings = []
    for item in found.items:
        if item.marker.problem:
            findings.append(unused.malformed(item))
            continue
        findings += [
            unused.unknown(item, selector, _nearest(selector.text, known))
            for selector in item.marker.selectors
            if not codes_of(selector.text, known)
        ]
        if id(item) in judged:
            findings.append(unused.unused(item, judged[id(item)], found.layout))
    return findings


def _is_judged(claim: _Claim, active: Collection[str]) -> bool:
    """Whether enough rules ran to call it unused; never for `# noqa`, which serves other tools, and for NAN001."""
    if claim.codes is None:
        return claim.suppression.marker.kind.value != "noqa" and bool({*active} - {UNUSED_SUPPRESSION})
    return UNUSED_SUPPRESSION not in claim.codes and not claim.codes.isdisjoint(active)


def _nearest(selector: str, known: Mapping[str, str]) -> str:
    """The code or name that was probably meant; "" if none comes close."""
    import difflib  # noqa: PLC0415 - only for a message that most runs never need

    # Letters that are taken for digits come first: they are one keystroke away from the truth.
    digits = selector[:3].upper() + selector[3:].upper().translate(str.maketrans("OIL", "011"))
    if digits in known:
        return digits
    candidates = {own.lower(): own for pair in known.items() for own in pair}
    near = difflib.get_close_matches(selector.lower(), candidates, n=1, cutoff=NEAR)
    return candidates[near[0]] if near else ""
