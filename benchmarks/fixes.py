"""`--fix` on real packages: does what is changed compile, is it final, is the diff what was written, are results the same?

    python benchmarks/fixes.py [--only NAMES] [--unsafe-fixes] [--work DIR] [--wheels DIR] [--record FILE]
    python benchmarks/fixes.py --report FILE

Works on copies. A fixed function or method that can be run by itself is run before and after on ordinary inputs. Exits
with 1 if any file fails. What is recorded, package by package, is put together in one table by `--report`.
"""

from __future__ import annotations

import argparse
import json
import shutil
import sys
import tempfile
from collections import Counter
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

from benchmarks.fixed_functions import EQUAL, MOVED, RAISES, changed_functions, compare
from benchmarks.realcode import corpus
from benchmarks.realcode.archives import NotAvailable
from benchmarks.table import table
from nanlint.engine.check_file import check_text
from nanlint.engine.checker import Checker
from nanlint.engine.fixing.fix_paths import Document, fixed, wanted_fixes
from nanlint.settings import Settings
from nanlint.source.read import UnreadableSource, read_bytes

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from nanlint.engine.rules.ruleset import Ruleset

SETTINGS = Settings(select=("ALL",), preview=True, severity="info")


@dataclass
class Tally:
    """What fixing some files came to."""

    files: int = 0
    changed: int = 0
    applied: int = 0
    withdrawn: int = 0
    run: int = 0
    equal: int = 0
    moved: list[str] = field(default_factory=list)
    """Functions in which an UNSAFE fix moved the result of an ordinary input."""
    failures: list[str] = field(default_factory=list)
    codes: Counter[str] = field(default_factory=Counter)

    def add(self, other: Tally) -> None:
        """Count `other` in."""
        for name in ("files", "changed", "applied", "withdrawn", "run", "equal"):
            setattr(self, name, getattr(self, name) + getattr(other, name))
        self.moved += other.moved
        self.failures += other.failures
        self.codes += other.codes


def fix_file(path: Path, ruleset: Ruleset, *, unsafe: bool) -> Tally:
    """Fix one file on disk and look at what came of it."""
    tally = Tally(files=1)
    try:
        document = Document(str(path), read_bytes(path))
    except UnreadableSource:
        return tally
    wanted = wanted_fixes(unsafe=unsafe)
    found = check_text(document.text, document.path, ruleset).findings if document.parses(document.text) else []
    # Most files have nothing to fix, and then one look is enough.
    if not any(finding.fix is not None and wanted(finding.fix) for finding in found):
        return tally
    outcome = fixed(document, ruleset, unsafe=unsafe)
    tally.withdrawn = len(outcome.withdrawn)
    if not outcome.changed:
        return tally
    tally.changed, tally.applied = 1, outcome.handled
    tally.codes.update(finding.code for finding in outcome.applied)
    outcome.write()
    tally.failures += [f"{path}: {problem}" for problem in _problems(path, document, outcome.diff(), ruleset, unsafe)]
    for owner, name in changed_functions(document.text, outcome.text):
        verdict = compare(document.text, outcome.text, owner, name)
        tally.run += verdict != ""
        tally.equal += verdict == EQUAL
        # An UNSAFE fix may move results, and says so; a SAFE one may not.
        if verdict == MOVED and unsafe:
            tally.moved.append(f"{path}: {owner or 'function'} {name}")
        elif verdict in {MOVED, RAISES}:
            tally.failures.append(f"{path}: {owner or 'function'} {name} gives other results ({verdict})")
    return tally


def _problems(path: Path, old: Document, diff: str, ruleset: Ruleset, unsafe: bool) -> Iterator[str]:  # noqa: FBT001 - as the command says
    written = Document(str(path), read_bytes(path))
    if not written.parses(written.text):
        yield "does not compile any more"
    if fixed(written, ruleset, unsafe=unsafe).changed:
        yield "a second run changes it again"
    if old.diff(written.text) != diff:
        yield "the diff is not what was written"


def fix_package(tree: Path, ruleset: Ruleset, *, unsafe: bool) -> Tally:
    """Fix a copy of all files below `tree`; a file on which nanlint fails is a failure as any other."""
    tally = Tally()
    with tempfile.TemporaryDirectory() as folder:
        copy = Path(shutil.copytree(tree, Path(folder) / "copy", symlinks=True))
        sys.path.insert(0, str(copy))
        for path in sorted(copy.rglob("*.py")):
            try:
                one = fix_file(path, ruleset, unsafe=unsafe)
            except Exception as error:  # noqa: BLE001 - whatever it is, it is told, and the other files are looked at
                one = Tally(files=1, failures=[f"{path}: {type(error).__name__}: {error}"])
            tally.add(one)
        sys.path.remove(str(copy))
        place = f"{copy}/"
    tally.moved = [each.replace(place, "") for each in tally.moved]
    tally.failures = [each.replace(place, "") for each in tally.failures]
    return tally


def main(arguments: Sequence[str] | None = None) -> int:
    """Fix copies of all packages, or read what was recorded of that; print the table and what went wrong."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--unsafe-fixes", action="store_true", help="also fixes that change some results")
    parser.add_argument("--record", type=Path, metavar="FILE", help="append a line for each package")
    parser.add_argument("--report", type=Path, metavar="FILE", help="run nothing, and print what was recorded")
    corpus.add_options(parser)
    options = parser.parse_args(arguments)
    tallies = _recorded(options.report) if options.report else dict(_measured(options))
    total = Tally()
    for tally in tallies.values():
        total.add(tally)
    heads = ("package", "files", "changed", "fixes", "withdrawn", "run", "equal", "moved", "failures")
    rows = [(name, *_counts(tally)) for name, tally in sorted(tallies.items(), key=lambda each: each[0].lower())]
    print(*table(heads, [*rows, ("all", *_counts(total))]), sep="\n")
    print("by rule:", ", ".join(f"{code} {count}" for code, count in sorted(total.codes.items())) or "none")
    print(*(f"moved: {each}" for each in total.moved), *(f"failure: {each}" for each in total.failures), sep="\n")
    return 1 if total.failures else 0


def _measured(options: argparse.Namespace) -> Iterator[tuple[str, Tally]]:
    ruleset = Checker(gated=True).ruleset(SETTINGS)
    packages = corpus.corpus_of(options)
    for release in packages.releases():
        try:
            tree = packages.tree(release)
        except NotAvailable as error:
            print(f"{release.name} is left out: {error}", file=sys.stderr)
            continue
        tally = fix_package(tree, ruleset, unsafe=options.unsafe_fixes)
        print(release.name, *_counts(tally), file=sys.stderr, flush=True)
        if options.record:
            record(release.name, tally, options.record)
        yield release.name, tally


def record(package: str, tally: Tally, path: Path) -> None:
    """Append a line about one package."""
    with path.open("a", encoding="utf-8") as file:
        file.write(json.dumps({"package": package, **vars(tally)}) + "\n")


def _recorded(path: Path) -> dict[str, Tally]:
    """What was recorded last of each package."""
    found: dict[str, Tally] = {}
    for line in path.read_text("utf-8").splitlines():
        entry = json.loads(line)
        name = entry.pop("package")
        found[name] = Tally(**{**entry, "codes": Counter(entry["codes"])})
    return found


def _counts(tally: Tally) -> tuple[str, ...]:
    counts = (tally.files, tally.changed, tally.applied, tally.withdrawn, tally.run, tally.equal)
    return tuple(f"{count:,}" for count in (*counts, len(tally.moved), len(tally.failures)))


if __name__ == "__main__":
    sys.exit(main())
