"""Fixture folders: files that say themselves what a rule must find in them.

A folder belongs to one rule, whose code begins its name: `fixtures/NAN102_log_of_zero`. A line on which something must be
found says so, with a part of the message:

    return probs.log()  # expect: NAN102 "can be 0"
    a.log() + b.log()   # expect: NAN102 "`a`" NAN102(info) "`b`"

What is not announced must not be found, and what is announced must be; findings of other rules do not count. Of the files
of a folder, `bad*.py` must announce something, `good*.py` and `silent*.py` must not, and `x.fixed.py` is what the fixes
make of `x.py`: it must be there if they change anything, and nothing is found in it. `truth.py` is left to the tests that
run the fixtures.

    from nanlint.testing import check_folder

    def test_my_rule() -> None:
        assert check_folder("fixtures/ABC001_my_rule", local_rules=["tools/lint_rules"]) == []
"""

from __future__ import annotations

import ast
import re
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from nanlint.api import check_source
from nanlint.engine.fixing.apply_fixes import fix_text, unified_diff
from nanlint.model import Applicability
from nanlint.settings import Settings
from nanlint.word_sets import word_set

if TYPE_CHECKING:
    import os
    from collections.abc import Iterator, Sequence

    from nanlint.model import Finding, Fix

__all__ = ["Expectation", "check_folder", "expectations", "findings_in"]

_MARKER = re.compile(r"#\s*expect:\s*(?P<entries>.*)")
_ENTRY = re.compile(r"\s*(?P<code>[A-Z]+\d+)(?:\((?P<severity>error|warning|info)\))?\s*(?:\"(?P<message>[^\"]*)\")?")
_FIXED = ".fixed.py"
_TRUTH = "truth.py"
# Formats with comments, which announce what must be found.
_SUFFIXES = word_set(".py .yaml .yml .toml")


@dataclass(frozen=True, slots=True)
class Expectation:
    """One announced finding: where, of which rule, and a part of what it says."""

    line: int
    code: str
    message: str = ""
    severity: str = ""
    """Empty for any."""

    def fits(self, finding: Finding) -> bool:
        """Whether `finding` is the one that is announced."""
        return (
            finding.span.line == self.line
            and finding.code == self.code
            and self.message in finding.message
            and self.severity in {"", finding.severity.value}
        )

    def __str__(self) -> str:
        severity = f"({self.severity})" if self.severity else ""
        return f'{self.code}{severity} "{self.message}"'


def check_folder(folder: str | os.PathLike[str], *, local_rules: Sequence[str | os.PathLike[str]] = ()) -> list[str]:
    """Everything that is wrong with a fixture folder or its rule, one line each; nothing if all is as announced.

    `local_rules` are folders with rules of your own, as in the settings.
    """
    checked = _Folder(
        Path(folder), Settings(select=("ALL",), preview=True, severity="info", local_rules=_paths(local_rules))
    )
    return list(checked.problems())


def expectations(text: str) -> list[Expectation]:
    """The findings that a fixture announces, in order; a marker that cannot be read is a ValueError."""
    found: list[Expectation] = []
    for number, line in enumerate(text.splitlines(), 1):
        marker = _MARKER.search(line)
        if marker is not None:
            found += _entries(marker["entries"], number)
    return found


def _entries(text: str, line: int) -> Iterator[Expectation]:
    place = 0
    while place < len(text.rstrip()):
        entry = _ENTRY.match(text, place)
        if entry is None:
            raise ValueError(f'line {line}: after "expect:" stand code and message, as in NAN102 "can be 0"')
        yield Expectation(line, entry["code"], entry["message"] or "", entry["severity"] or "")
        place = entry.end()


def findings_in(
    text: str, code: str, *, path: str = "<string>", local_rules: Sequence[str | os.PathLike[str]] = ()
) -> list[Finding]:
    """What the rule with this code finds in `text`, at any severity; the other rules run as well, unheard."""
    settings = Settings(select=("ALL",), preview=True, severity="info", local_rules=_paths(local_rules))
    return _findings(text, code, settings, path)


def _findings(text: str, code: str, settings: Settings, path: str = "<string>") -> list[Finding]:
    return [finding for finding in check_source(text, path, settings=settings) if finding.code == code]


def _paths(folders: Sequence[str | os.PathLike[str]]) -> tuple[str, ...]:
    return tuple(str(Path(folder).resolve()) for folder in folders)


@dataclass(frozen=True, slots=True)
class _Folder:
    """One fixture folder and the settings it is checked with."""

    path: Path
    settings: Settings

    @property
    def code(self) -> str:
        return self.path.name.partition("_")[0]

    def problems(self) -> Iterator[str]:
        files = sorted(path for path in self.path.iterdir() if path.suffix in _SUFFIXES and path.name != _TRUTH)
        if not files:
            yield f"{self.path}: no fixtures"
        for path in files:
            yield from self._problems_in(path)

    def _problems_in(self, path: Path) -> Iterator[str]:
        try:
            text = path.read_bytes().decode("utf-8")
            is_fixed = path.name.endswith(_FIXED)
            yield from self._problems_of_fixed(path, text) if is_fixed else self._problems_of(path, text)
        except ValueError as error:
            yield f"{path.name}: {error}"

    def _problems_of(self, path: Path, text: str) -> Iterator[str]:
        if not (ast.get_docstring(ast.parse(text)) if path.suffix == ".py" else text.startswith("# ")):
            yield f"{path.name}: the first line must say why it goes wrong"
        expected = expectations(text)
        if path.name.startswith("bad") and not expected:
            yield f"{path.name}: announces no finding"
        if path.name.startswith(("good", "silent")) and expected:
            yield f"{path.name}:{expected[0].line}: announces a finding"
        found = _findings(text, self.code, self.settings, path.name)
        yield from _differences(path.name, expected, found)
        if not any(finding.fix and _is_applied(finding.fix) for finding in found):
            return
        twin = path.with_suffix(_FIXED)
        if not twin.is_file():
            yield f"{path.name}: has fixes, so {twin.name} must show what they give"

    def _problems_of_fixed(self, path: Path, text: str) -> Iterator[str]:
        source = path.with_name(path.name.removesuffix(_FIXED) + ".py")
        if not source.is_file():
            yield f"{path.name}: there is no {source.name} that it could be made of"
            return
        given = self._fixed(source.read_bytes().decode("utf-8"))
        if given != text:
            diff = unified_diff(path.name, text, given)
            yield f"{path.name}: the fixes of {source.name} give something else\n{diff}"
        for finding in _findings(text, self.code, self.settings):
            yield f"{path.name}:{finding.span.line}: is fixed and yet {finding.code} says: {finding.message}"
        if self._fixed(text) != text:
            yield f"{path.name}: fixing it once more changes it"

    def _fixed(self, text: str) -> str:
        """The text after every fix that may be applied."""
        return fix_text(
            text, lambda draft: _findings(draft, self.code, self.settings), _is_applied, parses=_parses
        ).text


def _differences(name: str, expected: Sequence[Expectation], found: Sequence[Finding]) -> Iterator[str]:
    """Announced and not found, found and not announced."""
    left = list(found)
    for expectation in expected:
        match = next((finding for finding in left if expectation.fits(finding)), None)
        if match is not None:
            left.remove(match)
            continue
        there = [
            f"{finding.code}({finding.severity.value}) {finding.message}"
            for finding in found
            if finding.span.line == expectation.line
        ]
        yield f"{name}:{expectation.line}: {expectation} is announced, found is {'; '.join(there) or 'nothing'}"
    for finding in left:
        yield f"{name}:{finding.span.line}: {finding.code} is not announced: {finding.message}"


def _is_applied(fix: Fix) -> bool:
    return fix.applicability is not Applicability.SHOW


def _parses(text: str) -> bool:
    try:
        ast.parse(text)
    except SyntaxError:
        return False
    return True
