"""Every rewriting by its name, and what it must not change: the findings of a program, by the statement they belong to."""

from __future__ import annotations

import random
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING

from nanlint.api import check_source
from nanlint.settings import Settings
from tests.spellings import calls, operators
from tests.spellings.rewriting import Respelled, Rewriting

if TYPE_CHECKING:
    from collections.abc import Iterator

    from nanlint.model import Finding
    from tests.spellings.rewriting import Printed

ROOT = Path(__file__).resolve().parent.parent.parent
FIXTURES = tuple(
    sorted(
        path
        for name in ("bad*.py", "good*.py", "issue-*.py")
        for path in (ROOT / "fixtures").glob(f"NAN*/{name}")
        if ".fixed" not in path.name
    )
)
EVERYTHING = Settings(select=("ALL",), preview=True, severity="info")
# A style is written by several rewritings, one after the other.
STYLES: dict[str, tuple[type[Rewriting], ...]] = {
    "methods": (
        operators.RootAsMethod,
        operators.QuotientAsMethod,
        operators.SquareAsMethod,
        operators.ArithmeticAsMethod,
        operators.NegationAsMethod,
        calls.FunctionAsMethod,
    ),
    "functions": (
        operators.RootAsFunction,
        operators.QuotientAsFunction,
        operators.ArithmeticAsFunction,
        calls.MethodAsFunction,
    ),
    "operators": (operators.RootAsPower, operators.SquareAsPower, operators.InPlaceAsAssignment),
    "modules": (operators.RootAsPowerFunction, operators.ReciprocalAsMethod, calls.AsModule, calls.KeywordsForPlaces),
    "functional": (calls.AsFunctional, calls.PlacesForKeywords, calls.ImportedFunctions, calls.TorchAsTh),
    "turned": (operators.ComparisonTurned,),
    "named": (calls.TemporaryName,),
}


def respelled(path: Path, style: str) -> Respelled | None:
    """A fixture in another style, or nothing if there is nothing to rewrite."""
    draw = random.Random(f"{path.parent.name}/{path.name} {style}")  # noqa: S311 - a draw, no secret
    rewritings = [rewriting(draw.random) for rewriting in STYLES[style]]
    both = Respelled(path.read_text(encoding="utf-8"), rewritings)
    return both if any(rewriting.changes for rewriting in rewritings) else None


def findings(printed: Printed) -> list[str]:
    """Statement, rule and level of each finding."""
    return [
        f"line {printed.origin(finding.span.line)} {finding.code} {finding.severity.value}"
        for finding in _checked(printed.text)
    ]


@cache
def _checked(text: str) -> list[Finding]:
    return check_source(text, settings=EVERYTHING)


def moved(path: Path, style: str) -> Iterator[str]:
    """What another spelling changes, a line each."""
    both = respelled(path, style)
    if both is None:
        return
    before, after = findings(both.before), findings(both.after)
    for line in sorted({*before, *after}):
        more = after.count(line) - before.count(line)
        if more:
            yield f"{path.parent.name}/{path.name} {style} {line} {'appears' if more > 0 else 'is gone'}"


if __name__ == "__main__":
    print(*(line for path in FIXTURES for style in STYLES for line in moved(path, style)), sep="\n")
