"""How many loop findings of the twelve projects get a verdict, and what of the corrected twins is confirmed."""

from __future__ import annotations

import sys
import time
from collections import Counter
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

from nanlint.api import check_source
from nanlint.cli.checking.verdicts import fixed_text
from nanlint.confirm.confirming import Confirmer
from nanlint.confirm.options import Options
from nanlint.model import Span
from nanlint.settings import Settings

if TYPE_CHECKING:
    from nanlint.model import Finding

HERE = Path(__file__).parent
LOOP_RULES = ("NAN4", "NAN5", "NAN6")
SHOWN = {"confirmed", "reachable", "not-reproduced"}
"""Kinds that say something of the code; flaky and not-runnable do not."""


def loop_findings(project: Path) -> list[Finding]:
    """What check finds about the loops of the bad half of a project."""
    settings = Settings(preview=True, severity="info")
    return [
        replace(finding, path=str(path))
        for path in sorted((project / "bad").glob("*.py"))
        for finding in check_source(path.read_text("utf-8"), settings=settings)
        if finding.code.startswith(LOOP_RULES)
    ]


def in_the_twin(finding: Finding) -> Finding | None:
    """The same claim about the corrected file, on the line that reads the same; None if that line is gone."""
    path = Path(finding.path)
    twin = path.parent.parent / "good" / path.name
    wanted = path.read_text("utf-8").splitlines()[finding.span.line - 1].strip()
    lines = twin.read_text("utf-8").splitlines()
    number = next((number for number, line in enumerate(lines, 1) if line.strip() == wanted), None)
    if number is None:
        return None
    return replace(finding, path=str(twin), span=Span(number, 1, number, len(lines[number - 1]) + 1), fix=None)


def main(names: list[str]) -> None:
    """Print a line for each finding, then the counts."""
    projects = [one for one in sorted(HERE.iterdir()) if (one / "bad").is_dir()]
    chosen = [one for one in projects if not names or any(one.name.startswith(name) for name in names)]
    bad = [finding for project in chosen for finding in loop_findings(project)]
    good = [twin for finding in bad if (twin := in_the_twin(finding)) is not None]
    for word, findings in (("bad", bad), ("good", good)):
        begun = time.monotonic()
        done = Confirmer(Options(device="cpu"), jobs=2, fixed=fixed_text).confirm(findings)
        counts: Counter[str] = Counter()
        for finding in done:
            verdict = finding.verdict
            assert verdict is not None
            counts[verdict.kind.value] += 1
            place = f"{Path(finding.path).relative_to(HERE)}:{finding.span.line}"
            print(f"{place} {finding.code} {verdict.kind.value}: {' '.join((verdict.reason or '').split())[:300]}")
        told = sum(counts[kind] for kind in SHOWN)
        seconds = time.monotonic() - begun
        print(f"{word}: {told} of {len(done)} have a verdict {dict(counts)} in {seconds:.0f} s\n")


if __name__ == "__main__":
    main(sys.argv[1:])
