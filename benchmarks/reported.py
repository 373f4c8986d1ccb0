"""Bugs that users reported: does nanlint find them in the repository as it was, and leave the cure in peace?

    python benchmarks/reported.py LABELS --mirror DIR [--lone] [--case ID] [--show ID] [--work DIR]

LABELS is a JSON list of cases: id, repo, commit, path, lines, class, mechanism, visible, blobs and, where it was
cured, path_fixed, lines_fixed and blobs_fixed. A case may name its `rules` and its `direction` itself; otherwise its
class says them. `reported/own.json` is such a list, labelled from the code before nanlint was run on it;
`in_packages` marks projects that the package corpus holds as well. DIR holds the git directories, one `owner+name`
each. The whole repository is around the file unless `--lone` asks for the file alone. `realcode/yardstick.py` says
what counts as found and as silent.
Targets: 38 % found by default, 93 % of the cures silent.
"""

from __future__ import annotations

import argparse
import functools
import json
import sys
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

from benchmarks.realcode import yardstick
from benchmarks.realcode.repositories import Mirror, Repository
from benchmarks.realcode.yardstick import Case, Side

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from benchmarks.realcode.corpus import Found

TARGETS = yardstick.Targets(found_by_default=0.38, silent=0.93)


@dataclass(frozen=True, slots=True)
class CaseWithRules(Case):
    """A case whose label names the rules, for mechanisms that are not a kind of the yardstick."""

    rules: tuple[str, ...] = ()

    def is_named_by(self, finding: Found) -> bool:
        """Whether the finding is of one of the labelled rules, and not of the opposite direction."""
        is_opposite = {finding.direction, self.direction} == {"forward", "backward"}
        if is_opposite and finding.rule < yardstick.FIRST_WITHOUT_DIRECTION:
            return False
        return finding.rule in self.rules


def main(arguments: Sequence[str] | None = None) -> int:
    """Parse, run, print; 1 when a target is missed."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("labels", type=Path, metavar="LABELS", help="the JSON file of labelled bugs")
    parser.add_argument(
        "--mirror", type=Path, required=True, metavar="DIR", help="the git directories of the repositories"
    )
    parser.add_argument("--lone", action="store_true", help="check the file alone, without its repository")
    yardstick.add_options(parser)
    options = parser.parse_args(arguments)
    mirror = Mirror(options.mirror.expanduser().resolve(), options.work.expanduser().resolve())
    entries: list[dict[str, Any]] = json.loads(options.labels.read_text(encoding="utf-8"))
    return yardstick.run([case(entry, mirror, lone=options.lone) for entry in entries], options, TARGETS)


def case(entry: Mapping[str, Any], mirror: Mirror, *, lone: bool) -> Case:
    """The case of one entry of the data."""
    repository = Repository(entry["repo"], entry["commit"])

    def side(path: str, lines: Sequence[int], blobs: Mapping[str, str], name: str) -> Side:
        variant = f"-{entry['id']}-{name}"
        if lone:
            return Side(
                functools.partial(mirror.file_alone, repository, path, blobs[path], variant), path, tuple(lines)
            )
        return Side(functools.partial(mirror.tree, repository, blobs, variant), path, tuple(lines))

    is_cured = entry["path_fixed"] and entry["lines_fixed"] and not entry["fixed_doubtful"]
    fields = (
        entry["id"],
        entry["class"],
        entry["visible"],
        entry["mechanism"],
        side(entry["path"], entry["lines"], entry["blobs"], "fault"),
        side(entry["path_fixed"], entry["lines_fixed"], entry["blobs_fixed"], "cure") if is_cured else None,
        entry.get("direction", "both"),
    )
    return CaseWithRules(*fields, rules=tuple(entry["rules"])) if "rules" in entry else Case(*fields)


if __name__ == "__main__":
    sys.exit(main())
