"""The spellings of the six patterns as they lie in this folder: their files, their marks, and what is known to be missing.

Knows neither nanlint nor torch.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from pathlib import Path

HERE = Path(__file__).resolve().parent

# The codes by which a pattern's findings are known; none of them may be found in a guarded twin.
CODES = {
    "division": frozenset({"NAN101"}),
    "log_without_eps": frozenset({"NAN102", "NAN110", "NAN111", "NAN112"}),
    "clip_after_nan_check": frozenset({"NAN403"}),
    "no_op_clip": frozenset({"NAN401", "NAN603"}),
    "tiny_rmsnorm_eps": frozenset({"NAN203", "NAN204", "NAN603"}),
    "scheduler_overrides_config": frozenset({"NAN501"}),
}

EXPECTED = re.compile(r"  # expect: (?P<codes>NAN\d{3}(?:\|NAN\d{3})*)$", re.MULTILINE)


@dataclass(frozen=True)
class Marked:
    """A line that may be found, and the codes that name its mechanism."""

    path: str
    line: int
    codes: frozenset[str]


@dataclass(frozen=True)
class Spelling:
    """One way to write a pattern, with its guarded twin."""

    folder: Path

    @property
    def pattern(self) -> str:
        return self.folder.parent.name

    @property
    def name(self) -> str:
        """`division/01_token_loss_function`, as the two lists of what is missing have it."""
        return f"{self.pattern}/{self.folder.name}"

    def files(self, variant: str) -> dict[str, str]:
        """The text of every file of `bad` or `guarded` by its path; a single file is called `train.py`."""
        root = self.folder / variant
        if not root.is_dir():
            return {"train.py": root.with_suffix(".py").read_text(encoding="utf-8")}
        found = sorted(root.rglob("*.py"))
        return {path.relative_to(root).as_posix(): path.read_text(encoding="utf-8") for path in found}

    def write(self, variant: str, into: Path) -> None:
        """Write the files as a project of their own: without marks, and with no twin that calls the same helper."""
        for path, text in self.files(variant).items():
            target = into / path
            target.parent.mkdir(parents=True, exist_ok=True)
            target.write_text(EXPECTED.sub("", text), encoding="utf-8")

    def marks(self) -> list[Marked]:
        """Where the bad spelling must be found; one of them is enough."""
        return [
            Marked(path, number, frozenset(mark["codes"].split("|")))
            for path, text in self.files("bad").items()
            for number, line in enumerate(text.splitlines(), start=1)
            if (mark := EXPECTED.search(line))
        ]


SPELLINGS = tuple(Spelling(folder) for pattern in CODES for folder in sorted((HERE / pattern).iterdir()))


def listed(name: str) -> dict[str, str]:
    """The spellings in one of the lists, each with the reason behind its `#`."""
    lines = (HERE / name).read_text(encoding="utf-8").splitlines()
    entries = (line.partition("#") for line in lines if line and not line.startswith("#"))
    return {spelling.strip(): reason.strip() for spelling, _, reason in entries}
