"""What the linter says about the operation that broke: the finding at its line with its fix as a diff, else its rule."""

from __future__ import annotations

from typing import TYPE_CHECKING

from nanlint.errors import NanlintError
from nanlint.trace.advice import carried_codes, codes_for
from nanlint.trace.places import Place, shown_path

if TYPE_CHECKING:
    from collections.abc import Iterator

    from nanlint.model import Finding
    from nanlint.trace.diagnosis import Diagnosis


def add_finding(diagnosis: Diagnosis) -> None:
    """Complete `diagnosis` by the static finding about its operation and cause, or else by the rule that is about them."""
    seen: dict[str, tuple[str, list[Finding]]] = {}
    for place, codes in _places(diagnosis):
        if place.path not in seen:
            seen[place.path] = _findings(place.path)
        text, findings = seen[place.path]
        here = [
            finding
            for finding in findings
            if finding.code in codes and finding.span.line <= place.line <= finding.span.end_line
        ]
        if here:
            _enter(diagnosis, max(here, key=_weight), text, place.path)
            return
    _enter_rule(diagnosis)


def _places(diagnosis: Diagnosis) -> Iterator[tuple[Place, frozenset[str]]]:
    """The lines of the operation and of what became of its result, each with the rules that would be about it."""
    codes = frozenset(codes_for(diagnosis))
    yield from ((place, codes) for place in diagnosis.places[:1])
    for link in diagnosis.chain:
        if link.place is not None:
            yield link.place, carried_codes(diagnosis, link)
    # A module that is called, such as nn.CrossEntropyLoss, is told of where it is called.
    yield from ((place, codes) for place in diagnosis.places[1:2])


def _enter_rule(diagnosis: Diagnosis) -> None:
    from inspect import cleandoc  # noqa: PLC0415 - at a failure only

    from nanlint.engine.rules.rulebook import rulebook  # noqa: PLC0415 - same

    for code in codes_for(diagnosis)[:1]:
        rule = rulebook().rules[code]
        diagnosis.code, diagnosis.message = f"{code} {rule.name}", cleandoc(rule.__doc__ or "").partition("\n")[0]
        diagnosis.advice = cleandoc(rule.section("Instead"))


def _findings(path: str) -> tuple[str, list[Finding]]:
    """The text of the file and all that the rules find in it; nothing if it cannot be checked."""
    from nanlint.api import check_source  # noqa: PLC0415 - the linter is wanted at a failure only
    from nanlint.settings import Settings  # noqa: PLC0415 - same
    from nanlint.source.read import UnreadableSource, read_source  # noqa: PLC0415 - same

    try:
        text = read_source(path).text
        return text, check_source(text, path, settings=Settings(preview=True, severity="info"))
    except (UnreadableSource, NanlintError, SyntaxError):
        return "", []


def _weight(finding: Finding) -> tuple[int, bool]:
    """The graver first, then those with a fix."""
    return finding.severity.rank, finding.fix is not None


def _enter(diagnosis: Diagnosis, finding: Finding, text: str, path: str) -> None:
    diagnosis.code, diagnosis.message = f"{finding.code} {finding.name}", finding.message
    diagnosis.finding_line = finding.span.line
    if finding.fix is not None:
        from nanlint.engine.fixing.diff import unified_diff  # noqa: PLC0415 - as above
        from nanlint.engine.fixing.edits import apply_edits  # noqa: PLC0415 - as above

        fixed, _, _ = apply_edits(text, [finding.fix])
        diagnosis.diff = unified_diff(shown_path(path), text, fixed)
