"""What nanlint says of pinned packages and research repositories at all levels, recorded, and compared with another state.

    python benchmarks/snapshot.py record STATE.json --mirror DIR [--only NAME,…] [--work DIR] [--wheels DIR]
    python benchmarks/snapshot.py diff OLD.json NEW.json

A state holds place, rule and level of each finding and nothing else; keep it outside the repository. The material is in
snapshot.toml; DIR holds the git directories of the repositories, one `owner+name` each. `diff` exits with 1 if anything moved.
"""

from __future__ import annotations

import argparse
import functools
import json
import sys
from collections import Counter
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

from benchmarks.realcode import corpus
from benchmarks.realcode.archives import NotAvailable, unpacked
from benchmarks.realcode.corpus import NanlintFailed, PackageResult
from benchmarks.realcode.repositories import Mirror, Repository

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping, Sequence

MATERIAL = Path(__file__).with_name("snapshot.toml")
LEVELS = ("info", "warning", "error")
ALL_LEVELS = ("--preview", "--severity", "info")

Place = tuple[str, int, str, str]
"""Path, line, code, level."""


@dataclass(slots=True)
class State:
    """Findings by tree, and the trees that could not be checked with the reason."""

    findings: dict[str, list[Place]] = field(default_factory=dict)
    failures: dict[str, str] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class Change:
    """One finding that is in one state only, or at another level. An empty level is no finding."""

    code: str
    place: str
    before: str
    after: str

    @property
    def kind(self) -> str:
        """The column it is counted in."""
        if not self.before or not self.after:
            return "gone" if self.before else "added"
        return "raised" if LEVELS.index(self.after) > LEVELS.index(self.before) else "lowered"

    def __str__(self) -> str:
        levels = " -> ".join(level for level in (self.before, self.after) if level)
        return f"{self.kind} {self.code} {levels}: {self.place}"


def main(arguments: Sequence[str] | None = None) -> int:
    """Parse, then record or compare."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    commands = parser.add_subparsers(dest="command", required=True)
    recording = commands.add_parser("record", help="check all material and write the state")
    recording.add_argument("state", type=Path)
    recording.add_argument(
        "--mirror", type=Path, required=True, metavar="DIR", help="git directories of the repositories"
    )
    recording.add_argument("--only", default="", metavar="NAME[,…]", help="these packages and owner/name only")
    corpus.add_places(recording)
    comparing = commands.add_parser("diff", help="print what moved between two states")
    comparing.add_argument("old", type=Path)
    comparing.add_argument("new", type=Path)
    options = parser.parse_args(arguments)
    if options.command == "diff":
        lines = list(compared(read(options.old), read(options.new)))
        print("\n".join(lines) or "no finding moved")
        return 1 if lines else 0
    state = record(trees(options))
    options.state.parent.mkdir(parents=True, exist_ok=True)
    options.state.write_text(json.dumps({"findings": state.findings, "failures": state.failures}, indent=0) + "\n")
    return 1 if state.failures else 0


def trees(options: argparse.Namespace) -> dict[str, Callable[[], Path]]:
    """Name -> how to get the folder, of all the material that the options ask for."""
    material = corpus.document(MATERIAL)
    work = options.work.expanduser().resolve()
    mirror = Mirror(options.mirror.expanduser().resolve(), work)
    pinned = {release.name: release for release in corpus.pinned()}
    found: dict[str, Callable[[], Path]] = {
        name: functools.partial(unpacked, pinned[name], work, options.wheels) for name in material["packages"]
    }
    for name, commit in material["repositories"].items():
        found[name] = functools.partial(mirror.tree, Repository(name, commit))
    only = [name for name in options.only.split(",") if name]
    if unknown := set(only).difference(found):
        sys.exit(f"--only {','.join(sorted(unknown))}: not in {MATERIAL.name}, which has {', '.join(found)}")
    return {name: tree for name, tree in found.items() if not only or name in only}


def record(material: Mapping[str, Callable[[], Path]]) -> State:
    """Check one tree after the other."""
    state = State()
    for name, tree in material.items():
        result = PackageResult(name, "")
        try:
            corpus.check_tree(tree(), result, further=ALL_LEVELS)
        except (NotAvailable, NanlintFailed) as error:
            state.failures[name] = str(error)
            print(f"{name}: {error}", file=sys.stderr, flush=True)
            continue
        state.findings[name] = sorted((one.path, one.line, one.rule, one.severity) for one in result.findings)
        print(f"{name}: {len(result.findings)} findings, {result.lines} lines", file=sys.stderr, flush=True)
    return state


def read(path: Path) -> State:
    """A state as it was recorded."""
    entry = json.loads(path.read_text(encoding="utf-8"))
    findings = {
        name: [(p, line, code, level) for p, line, code, level in places] for name, places in entry["findings"].items()
    }
    return State(findings, entry["failures"])


def compared(old: State, new: State) -> Iterator[str]:
    """Counts per rule, then the places; trees that only one of the states has are named and left out."""
    both = [name for name in old.findings if name in new.findings]
    if alone := sorted(set(old.findings) ^ set(new.findings)):
        yield f"in one state only, not compared: {', '.join(alone)}"
    moved = [change for name in both for change in changes(name, old.findings[name], new.findings[name])]
    if not moved:
        return
    columns = ("added", "gone", "raised", "lowered")
    counts = Counter((change.code, change.kind) for change in moved)
    yield f"| rule | {' | '.join(columns)} |"
    yield f"|---|{'--:|' * len(columns)}"
    for code in sorted({change.code for change in moved}):
        yield f"| {code} | {' | '.join(str(counts[code, column] or '') for column in columns)} |"
    yield ""
    yield from (str(change) for change in sorted(moved, key=lambda one: (one.code, one.kind, one.place)))


def changes(name: str, old: Sequence[Place], new: Sequence[Place]) -> Iterator[Change]:
    """What differs in one tree; a finding of the same rule on the same line at another level has moved."""
    gone, added = Counter(old) - Counter(new), Counter(new) - Counter(old)
    left = sorted(added.elements())
    for path, line, code, level in sorted(gone.elements()):
        twin = next((one for one in left if one[:3] == (path, line, code)), None)
        if twin is not None:
            left.remove(twin)
        yield Change(code, f"{name}/{path}:{line}", level, twin[3] if twin else "")
    for path, line, code, level in left:
        yield Change(code, f"{name}/{path}:{line}", "", level)


if __name__ == "__main__":
    sys.exit(main())
