"""Confirm on what is found in real packages, where nobody wrote a hook: levels, verdicts, and why something did not run.

Run by `python benchmarks/confirm.py --real FOLDER...`. Of each package a few findings are taken, spread over its rules
and files, so that one package with many findings of one kind does not decide the figures.
"""

from __future__ import annotations

import json
import os
import platform
import re
from collections import Counter
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING

from nanlint.api import check_paths
from nanlint.cli.checking.verdicts import fixed_text
from nanlint.confirm.confirming import NOTHING_TO_RUN, Confirmer
from nanlint.confirm.options import Options
from nanlint.model import Finding
from nanlint.model.verdict import VerdictKind

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

NUMERIC = ("NAN1", "NAN2", "NAN3")
EXCLUDED = ("tests", "test", "testing", "test_utils", "build", "*.ipynb")
WHOLE = ("module", "function")
HOW: tuple[tuple[str, str], ...] = (
    (r"was not constructed", "the method ran on an object that was not constructed, with the attributes it reads"),
    (r"stand-ins were given", "stand-ins were given for objects whose class nobody knows"),
    (r"", "called with arguments of their kinds"),
)
"""How a whole function was run, by the words of its verdict; the least faithful first."""
REASONS: tuple[tuple[str, str], ...] = (
    (r"reach the flagged line", "it runs, but nothing found makes it pass the flagged line"),
    (r"stopped after|died of|ended the process", "the process was stopped or died"),
    (
        r"is no class after|is not in the module after|is no function after",
        "a missing package took the definition away",
    ),
    (r"sandbox did not let", "it wants the network, a file or a process"),
    (r"in no function|in no method|cannot be cut out|nothing that can be looked at", "it is in no function"),
    (r"no arguments were found", "no arguments were found with which it runs"),
)
"""Patterns of reasons, the special ones first, and the words under which they are counted."""


@dataclass
class Tally:
    """The findings of all packages with their verdicts."""

    done: list[tuple[str, Finding]] = field(default_factory=list)

    def add(self, package: str, findings: Sequence[Finding]) -> None:
        """The findings of one more package."""
        self.done += [(package, one) for one in findings]

    def levels(self) -> Counter[str]:
        """How many findings were run at which level; `none` for those that were not."""
        return Counter(level_of(one) for _, one in self.done)

    def kinds(self) -> Counter[str]:
        """How many verdicts there are of each kind."""
        return Counter(one.verdict.kind.value for _, one in self.done if one.verdict)

    def reasons(self) -> Counter[str]:
        """Why findings were not run, or only as a slice."""
        found = (reason_of(one) for _, one in self.done if level_of(one) not in WHOLE)
        return Counter(found)


def level_of(finding: Finding) -> str:
    """The level at which the flagged line was run, `none` if it was not."""
    verdict = finding.verdict
    if verdict is None or verdict.kind is VerdictKind.NOT_RUNNABLE:
        return "none"
    return verdict.level or "none"


def is_confirmed(finding: Finding) -> bool:
    """Whether it was shown to fail."""
    return finding.verdict is not None and finding.verdict.kind is VerdictKind.CONFIRMED


def how_of(finding: Finding) -> str:
    """How far the run of a whole function was from an ordinary call."""
    told = (finding.verdict.reason or "") if finding.verdict else ""
    return next(words for pattern, words in HOW if re.search(pattern, told))


def reason_of(finding: Finding) -> str:
    """Why the whole function did not run, in the words under which it is counted."""
    told = (finding.verdict.reason or "") if finding.verdict else ""
    return next((words for pattern, words in REASONS if re.search(pattern, told)), "another reason")


def on_packages(paths: Sequence[str], jobs: int, most: int, kept: str = "") -> Tally:
    """The verdicts on at most `most` findings of each package, printed one by one; `kept` is a folder of findings."""
    tally = Tally()
    home = Path.cwd()
    folder = (home / kept) if kept else None
    for path in paths:
        os.chdir(home / path)
        chosen = chosen_of(findings_of(Path(path).name, folder), most)
        done = Confirmer(Options(device="cpu"), jobs=jobs, fixed=fixed_text).confirm(chosen)
        tally.add(Path(path).name, done)
        for one in done:
            print(line_of(Path(path).name, one), flush=True)
    os.chdir(home)
    return tally


def findings_of(package: str, folder: Path | None) -> list[Finding]:
    """The default numeric findings below the working folder; checked once, if there is a folder to keep them in."""
    kept = folder / f"{package}.json" if folder is not None else None
    if kept is not None and kept.is_file():
        return [Finding.from_json(entry) for entry in json.loads(kept.read_text(encoding="utf-8"))]
    found = [
        one
        for one in check_paths(["."], exclude=EXCLUDED).findings
        if one.code.startswith(NUMERIC) and one.code not in NOTHING_TO_RUN and one.cell is None
    ]
    if kept is not None:
        kept.parent.mkdir(parents=True, exist_ok=True)
        kept.write_text(json.dumps([one.to_json() for one in found]), encoding="utf-8")
    return found


def chosen_of(findings: Sequence[Finding], most: int) -> list[Finding]:
    """At most `most` of them: each rule in turn, and of a rule one file after the other."""
    files: Counter[tuple[str, str]] = Counter()
    ranked = []
    for one in findings:
        ranked.append((files[one.code, one.path], one))
        files[one.code, one.path] += 1
    of_rule: Counter[str] = Counter()
    turns = []
    for _, one in sorted(ranked, key=lambda pair: (pair[0], pair[1].path, pair[1].span)):
        turns.append((of_rule[one.code], one.code, one.path, one.span, one))
        of_rule[one.code] += 1
    return [turn[-1] for turn in sorted(turns, key=lambda turn: turn[:4])[:most]]


def line_of(package: str, finding: Finding) -> str:
    """One finding in one line: place, verdict, level, seconds, reason; if confirmed with its code, to be reviewed."""
    verdict = finding.verdict
    if verdict is None:
        return f"{package}/{finding.path}:{finding.span.line} {finding.code} without a verdict"
    code = f" `{code_of(finding)}`" if verdict.kind is VerdictKind.CONFIRMED else ""
    grade = f" {verdict.plausibility.value}," if verdict.plausibility else ""
    shown = (
        f"{verdict.kind.value} [{verdict.level}]{grade} {verdict.how or ''} {verdict.seconds} s:{code} {verdict.reason}"
    )
    return f"{package}/{finding.path}:{finding.span.line} {finding.code} {' '.join(shown.split())}"


def code_of(finding: Finding) -> str:
    """The flagged line as it stands in the file."""
    lines = Path(finding.path).read_text(encoding="utf-8", errors="replace").splitlines()
    return lines[finding.span.line - 1].strip() if finding.span.line <= len(lines) else ""


def summary(tally: Tally) -> Iterator[str]:
    """The two figures that count, and what they are made of."""
    total, levels = max(len(tally.done), 1), tally.levels()
    whole = sum(levels[level] for level in WHOLE)
    ran = total - levels["none"]
    yield f"{total} findings: run at some level {ran} ({ran / total:.0%}), whole function or module {whole} ({whole / total:.0%})"
    yield f"verdicts {dict(tally.kinds())}, levels {dict(levels)}"


def page(tally: Tally, command: str) -> str:
    """The table that is kept in benchmarks/results."""
    return "\n".join([*_head(tally, command), *_by_level(tally), *_by_package(tally)]) + "\n"


def _head(tally: Tally, command: str) -> Iterator[str]:
    import torch  # noqa: PLC0415 - for its version

    figures = next(summary(tally))
    yield "# Confirm on real packages"
    yield ""
    yield f"`{command}`, Python {platform.python_version()}, torch {torch.__version__}, no hook written."
    yield "Default findings of NAN1xx to NAN3xx, spread over packages and rules. A finding counts as run when the flagged"
    yield "line was really executed. Every confirmed one is reviewed in `benchmarks/realcode/reviewed/confirmed.jsonl`."
    yield ""
    yield f"**{figures}.**"
    yield ""


def _by_level(tally: Tally) -> Iterator[str]:
    kinds = [kind.value for kind in VerdictKind]
    yield f"| level | findings | {' | '.join(kinds)} |"
    yield f"|---|--:|{'--:|' * len(kinds)}"
    for level in ("module", "function", "slice", "none"):
        here = [one for _, one in tally.done if level_of(one) == level]
        counts = Counter(one.verdict.kind.value for one in here if one.verdict)
        yield f"| {level} | {len(here)} | {' | '.join(str(counts[kind]) for kind in kinds)} |"
    yield ""
    yield "| how the whole function was run | findings | confirmed |"
    yield "|---|--:|--:|"
    whole = [one for _, one in tally.done if level_of(one) in WHOLE]
    for _, words in HOW:
        here = [one for one in whole if how_of(one) == words]
        yield f"| {words} | {len(here)} | {sum(map(is_confirmed, here))} |"
    yield ""
    yield "| why not the whole function | run as a slice | not run |"
    yield "|---|--:|--:|"
    for words, _ in tally.reasons().most_common():
        rows = [one for _, one in tally.done if level_of(one) not in WHOLE and reason_of(one) == words]
        slices = sum(level_of(one) == "slice" for one in rows)
        yield f"| {words} | {slices} | {len(rows) - slices} |"
    yield ""


def _by_package(tally: Tally) -> Iterator[str]:
    yield "| package | findings | module | function | slice | none | confirmed |"
    yield "|---|--:|--:|--:|--:|--:|--:|"
    for package in dict.fromkeys(name for name, _ in tally.done):
        here = [one for name, one in tally.done if name == package]
        levels = Counter(map(level_of, here))
        confirmed = sum(map(is_confirmed, here))
        counts = " | ".join(str(levels[level]) for level in (*WHOLE, "slice", "none"))
        yield f"| {package} | {len(here)} | {counts} | {confirmed} |"
