"""The findings of a day, kept in a file so that only new ones are reported: `--baseline` and `--write-baseline`.

A finding is known by content: path, code, enclosing function, and the text of the flagged lines without indentation,
comments and spacing; equal ones are counted. So edits elsewhere, re-indentation and moving the line wake nothing, but
one more equal finding does, and so does a change of the flagged line itself. When a function is renamed, or a line
moves to another function of the file, what is missed at the old place pays for what is met at the new one; the same
holds for a renamed or moved file, provided that the old one is gone. A notebook is one file: its cells have no number.
"""

from __future__ import annotations

import os
import re
from collections import Counter
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

from nanlint.errors import SettingsError
from nanlint.source.read import UnreadableSource, read_bytes

if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Iterable, Sequence

    from nanlint.model import Finding

    LinesOf = Callable[[str, int | None], Sequence[str]]

VERSION = 1

# A finding about more lines than this is about a block (a loop, a class): its first line says which.
LONGEST_EXPRESSION = 8

_STRING_OR_COMMENT = re.compile(r""" ("(?:\\.|[^"\\])*" | '(?:\\.|[^'\\])*') | \#.* """, re.VERBOSE)


class Entry(NamedTuple):
    """What a finding is known by."""

    path: str
    code: str
    function: str
    source: str


@dataclass(frozen=True, slots=True)
class Baseline:
    """How often each known finding may occur; paths are relative to `folder`."""

    folder: str
    counts: Counter[Entry] = field(default_factory=Counter)

    @classmethod
    def load(cls, path: str | os.PathLike[str]) -> Baseline:
        """The baseline in the file at `path`; a `SettingsError` if there is none or it cannot be understood."""
        try:
            text = read_bytes(path).decode("utf-8", "surrogatepass")
        except UnreadableSource as error:
            if not os.path.lexists(path):
                raise SettingsError(f"{path}: there is no baseline yet; write it with --write-baseline") from None
            raise SettingsError(f"{path}: the baseline cannot be read: {error}") from None
        except UnicodeDecodeError:
            raise SettingsError(f"{path}: not UTF-8, so no baseline; write it anew with --write-baseline") from None
        return cls(_folder_of(path), _counts(text, str(path)))

    def filter(
        self,
        findings: Sequence[Finding],
        lines_of: LinesOf,
        *,
        checked: Collection[str] | None = None,
    ) -> tuple[list[Finding], int, int]:
        """The new findings, the number of known ones, and the number that the baseline holds but nobody met.

        With `checked`, the paths that the run looked at, only those count as not met that it should have met there.
        """
        keyed = [(finding, entry) for finding, entry in zip(findings, self._entries(findings, lines_of), strict=True)]
        left = +self.counts
        keyed = _spend(keyed, left, lambda entry: entry)
        keyed = _spend(keyed, left, lambda entry: entry._replace(function=""))
        moved = Counter({entry: count for entry, count in left.items() if keyed and self._is_gone(entry)})
        left -= moved
        keyed = _spend(keyed, moved, lambda entry: entry._replace(path=""))
        left += moved
        if checked is not None:
            seen = {_relative(path, self.folder) for path in checked}
            left = Counter({entry: count for entry, count in left.items() if entry.path in seen})
        return [finding for finding, _ in keyed], len(findings) - len(keyed), left.total()

    def _is_gone(self, entry: Entry) -> bool:
        return not (Path(self.folder) / entry.path).exists()

    def _entries(self, findings: Iterable[Finding], lines_of: LinesOf) -> list[Entry]:
        return [_entry(finding, self.folder, lines_of) for finding in findings]


class Written(NamedTuple):
    """What writing a baseline changed, in findings."""

    total: int
    new: int
    gone: int
    unchecked: int
    """Of files that this run did not check: they stay known."""


def write(
    path: str | os.PathLike[str],
    findings: Sequence[Finding],
    lines_of: LinesOf,
    *,
    checked: Collection[str] | None = None,
) -> Written:
    """Make `findings` the known ones: whoever looks sees the old file or the new one, never a part.

    With `checked`, the paths that the run looked at, what the old baseline knows of other files stays known, unless they
    are gone. A file that is no baseline is never overwritten.
    """
    import json  # noqa: PLC0415 - most runs have no baseline

    from nanlint.source.read import UnwritableSource  # noqa: PLC0415 - only needed to write
    from nanlint.source.write import write_atomically  # noqa: PLC0415 - as above

    old = _old_baseline(path)
    counts = Counter(old._entries(findings, lines_of))  # noqa: SLF001 - the same module
    kept: Counter[Entry] = Counter()
    if checked is not None:
        seen = {_relative(each, old.folder) for each in checked}
        kept += Counter({e: n for e, n in old.counts.items() if e.path not in seen and not old._is_gone(e)})  # noqa: SLF001
    new, gone = counts - old.counts, old.counts - counts - kept
    counts += kept
    rows = [json.dumps({**entry._asdict(), "count": counts[entry]}, ensure_ascii=False) for entry in sorted(counts)]
    body = "".join(f"\n    {row}," for row in rows).removesuffix(",")
    text = f'{{\n  "version": {VERSION},\n  "findings": [{body}{chr(10) + "  " if rows else ""}]\n}}\n'
    try:
        write_atomically(path, text.encode("utf-8", "surrogatepass"))
    except UnwritableSource as error:
        raise SettingsError(f"{path}: the baseline cannot be written: {error}") from None
    return Written(counts.total(), new.total(), gone.total(), kept.total())


def _old_baseline(path: str | os.PathLike[str]) -> Baseline:
    """The baseline that is to be replaced; an empty one if there is none yet."""
    if not Path(path).exists():
        return Baseline(_folder_of(path))
    try:
        return Baseline.load(path)
    except SettingsError as error:
        raise SettingsError(f"{error}\n{path}: not overwritten; delete it, or name another file") from None


def _spend(
    keyed: list[tuple[Finding, Entry]],
    left: Counter[Entry],
    likeness: Callable[[Entry], Entry],
) -> list[tuple[Finding, Entry]]:
    """The findings that no entry in `left` pays for; those that pay are taken from it."""
    alike: dict[Entry, list[Entry]] = {}
    for entry in left.elements():
        alike.setdefault(likeness(entry), []).append(entry)
    new = []
    for finding, entry in keyed:
        purse = alike.get(likeness(entry))
        if not purse:
            new.append((finding, entry))
            continue
        left[purse.pop(0)] -= 1
    return new


def _entry(finding: Finding, folder: str, lines_of: LinesOf) -> Entry:
    span = finding.span
    last = span.end_line if span.end_line - span.line < LONGEST_EXPRESSION else span.line
    lines = lines_of(finding.path, finding.cell)[span.line - 1 : last]
    return Entry(_relative(finding.path, folder), finding.code, finding.function, _normal(lines))


def _normal(lines: Sequence[str]) -> str:
    """The code of `lines` without comments and however it is spaced; the text itself if there is only a comment."""
    bare = " ".join(_STRING_OR_COMMENT.sub(lambda match: match[1] or "", line) for line in lines)
    folded = " ".join(bare.split()) or " ".join(" ".join(lines).split())
    return re.sub(r",? (?=[)\]}])|(?<=[(\[{]) ", "", folded)


def _folder_of(path: str | os.PathLike[str]) -> str:
    return os.path.dirname(os.path.abspath(path))  # noqa: PTH100, PTH120 - a link to a baseline stands where it is put


def _relative(path: str, folder: str) -> str:
    try:
        relative = os.path.relpath(path, folder)
    except ValueError:  # another drive
        relative = os.path.abspath(path)  # noqa: PTH100 - not resolved, as the others
    return relative.replace(os.sep, "/")


def _counts(text: str, path: str) -> Counter[Entry]:
    """Every entry of a baseline file with its count."""
    import json  # noqa: PLC0415 - most runs have no baseline

    try:
        data = json.loads(text)
    except json.JSONDecodeError as error:
        hint = "resolve the merge conflict" if "<<<<<<<" in text else "mend it"
        raise _wrong(path, error.lineno, f"no JSON ({error.msg}); {hint}") from None
    version = data.get("version") if isinstance(data, dict) else None
    if version != VERSION:
        kind = f"a baseline of version {version}" if isinstance(version, int) else "no baseline of nanlint"
        raise _wrong(path, 1, f"{kind}, and this nanlint reads version {VERSION}; update it")
    rows = data.get("findings")
    if not isinstance(rows, list):
        raise _wrong(path, 1, '"findings" is no list; mend it')
    counts: Counter[Entry] = Counter()
    for row in rows:
        entry, count = _row(row)
        if entry is None:
            line = _line_of(json.dumps(row, ensure_ascii=False), text)
            raise _wrong(path, line, "an entry needs path, code, function and source (texts) and a count; mend it")
        counts[entry] += count
    return counts


def _row(row: Any) -> tuple[Entry | None, int]:
    """The entry and the count of one row; no entry if it is not what `write` writes."""
    if not isinstance(row, dict) or {*row} != {*Entry._fields, "count"}:
        return None, 0
    texts = [row[name] for name in Entry._fields]
    count = row["count"]
    if not all(isinstance(text, str) for text in texts) or type(count) is not int or count < 1:
        return None, 0
    return Entry(*texts), count


def _line_of(row: str, text: str) -> int:
    """The line where `row` stands as `write` writes it; where the list begins if it was written otherwise."""
    place = text.find(row)
    return text.count("\n", 0, place if place >= 0 else text.find('"findings"')) + 1


def _wrong(path: str, line: int, what: str) -> SettingsError:
    return SettingsError(f"{path}, line {line}: {what}, or write the baseline anew with --write-baseline")
