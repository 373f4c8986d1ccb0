"""The files of tests/ratchet: small functions written after real bugs, each line marked with what nanlint says of it today.

    return total / count  # expect: NAN101(warning)    found at this level
    return total / count  # not yet: NAN101            a bug that is missed
    return total / count  # noise: NAN101(info)        a cure that is not silent yet

In a function or class whose name ends in `_cured` nothing else may be found, at any level. The marks move one way:

    python -m tests.ratcheting --update                  write down what became better
    python -m tests.ratcheting --update --allow-lower    and what became worse; the commit says why
"""

from __future__ import annotations

import argparse
import ast
import re
import sys
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from nanlint.api import check_source
from nanlint.settings import Settings

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

FILES = sorted((Path(__file__).parent / "ratchet").glob("*.py"))
CURED = "_cured"
# From the best to the worst that can be said of a bug; "" is silence.
LEVELS = ("", "info", "warning", "error")
_MARK = re.compile(r"  # (?P<kind>expect|not yet|noise): (?P<code>NAN\d+)(?:\((?P<level>info|warning|error)\))?$")


@dataclass(frozen=True, slots=True)
class Mark:
    """What a line says of one rule; `level` is empty where nothing is found."""

    line: int
    code: str
    level: str
    is_cured: bool

    @property
    def text(self) -> str:
        """The comment that says so; none for a cure that is silent."""
        if not self.level:
            return "" if self.is_cured else f"  # not yet: {self.code}"
        return f"  # {'noise' if self.is_cured else 'expect'}: {self.code}({self.level})"


@dataclass(frozen=True, slots=True)
class Moved:
    """A line of which nanlint says something else than its mark."""

    mark: Mark
    now: str

    @property
    def is_worse(self) -> bool:
        """A bug at a lower level than before, or a cure at a higher one."""
        is_lower = LEVELS.index(self.now) < LEVELS.index(self.mark.level)
        return is_lower is not self.mark.is_cured

    def __str__(self) -> str:
        what = "the cure" if self.mark.is_cured else "the bug"
        was, now = (level or "silent" for level in (self.mark.level, self.now))
        advice = "a ratchet does not go back" if self.is_worse else "better: run python -m tests.ratcheting --update"
        return f"line {self.mark.line}: {self.mark.code} on {what} was {was} and is {now} ({advice})"


def marks_in(text: str) -> list[Mark]:
    """The marks of a file; one that can't be read, or that is in the wrong kind of function, is a ValueError."""
    cured = cured_lines(text)
    found = []
    for number, line in enumerate(text.splitlines(), 1):
        mark = _MARK.search(line)
        if mark is None:
            if re.search(r"#\s*(expect|not yet|noise):", line):
                raise ValueError(
                    f"line {number}: a mark is `expect: NAN101(info)`, `not yet: NAN101` or `noise: NAN101(info)`"
                )
            continue
        if (mark["kind"] == "noise") is not (number in cured) or (mark["kind"] == "not yet") is bool(mark["level"]):
            raise ValueError(f"line {number}: `{mark[0].strip()}` does not fit there")
        found.append(Mark(number, mark["code"], mark["level"] or "", number in cured))
    return found


def cured_lines(text: str) -> frozenset[int]:
    """The lines of functions and classes that are cures."""
    return frozenset(
        line
        for node in ast.parse(text).body
        if isinstance(node, (ast.FunctionDef, ast.ClassDef)) and node.name.endswith(CURED)
        for line in range(node.lineno, (node.end_lineno or node.lineno) + 1)
    )


def found_in(text: str) -> dict[tuple[int, str], str]:
    """Line and code -> the level at which nanlint tells it, preview rules included."""
    settings = Settings(select=("ALL",), preview=True, severity="info")
    # Without a path: a file under tests/ might be judged as a test.
    findings = check_source(text, settings=settings)
    return {
        (finding.span.line, finding.code): finding.severity.value
        for finding in sorted(findings, key=lambda finding: LEVELS.index(finding.severity.value))
    }


def moved_in(text: str, found: Mapping[tuple[int, str], str]) -> Iterator[Moved]:
    """Every mark that is no longer true, then every cure that is no longer silent."""
    marks = marks_in(text)
    for mark in marks:
        now = found.get((mark.line, mark.code), "")
        if now != mark.level:
            yield Moved(mark, now)
    marked = {(mark.line, mark.code) for mark in marks}
    for (line, code), level in found.items():
        if line in cured_lines(text) and (line, code) not in marked:
            yield Moved(Mark(line, code, "", is_cured=True), level)


def rewritten(text: str, moved: Sequence[Moved]) -> str:
    """The text with the marks of `moved` as they are now."""
    lines = text.splitlines()
    for one in moved:
        index = one.mark.line - 1
        new = Mark(one.mark.line, one.mark.code, one.now, one.mark.is_cured)
        lines[index] = _MARK.sub("", lines[index]) + new.text
    return "\n".join(lines) + "\n"


def main(arguments: Sequence[str] | None = None) -> int:
    """Print what moved, and write it down if asked to; 1 while something is left that moved."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--update", action="store_true", help="write down what became better")
    parser.add_argument("--allow-lower", action="store_true", help="with --update: what became worse, too")
    options = parser.parse_args(arguments)
    left = 0
    for path in FILES:
        text = path.read_text(encoding="utf-8")
        moved = list(moved_in(text, found_in(text)))
        taken = [one for one in moved if options.update and (options.allow_lower or not one.is_worse)]
        for one in moved:
            print(f"{path.name}: {one}{' [written]' if one in taken else ''}")
        if taken:
            path.write_text(rewritten(text, taken), encoding="utf-8")
        left += len(moved) - len(taken)
    return 1 if left else 0


if __name__ == "__main__":
    sys.exit(main())
