"""What one comment says to nanlint: the grammar of `# nanlint: ignore[...]` and `# noqa: ...`.

A comment is a string here; this module knows neither files nor statements nor which rules exist. One comment may hold
several markers, each from its `#` to the next: `# type: ignore # nanlint: ignore[NAN101] reason # pylint: disable=x`.
"""

from __future__ import annotations

import enum
import re
from dataclasses import dataclass

# A "#" in the middle of a reason ("see #12", "PR#7") begins no marker of anybody's.
_SEGMENT = re.compile(r"(?<![^\s#])#(?=\s*[A-Za-z])")
_OURS = re.compile(r"#\s*nanlint\b(?P<colon>\s*:)?\s*(?P<verb>[\w-]*)\s*(?P<rest>.*)", re.IGNORECASE | re.DOTALL)
# As flake8 has it: what follows the colon and is no code makes the noqa a blanket one.
_NOQA = re.compile(
    r"#\s*noqa\b(?:\s*:\s*(?P<codes>[A-Z]+[0-9]+\b(?:[\s,]+[A-Z]+[0-9]+\b)*))?",
    re.IGNORECASE,
)
_LISTED = re.compile(r"[^\s,]+")
_CODE_OUTSIDE_BRACKETS = re.compile(r"[\s:=(]*(NAN\d+)", re.IGNORECASE)


class Kind(enum.Enum):
    """The markers there are."""

    IGNORE = "ignore"
    IGNORE_FILE = "ignore-file"
    NOQA = "noqa"


@dataclass(frozen=True, slots=True)
class Selector:
    """A code, a prefix of codes or a rule's name as the user wrote it; its column counts from 1 in the line."""

    text: str
    column: int

    @property
    def end_column(self) -> int:
        """One past its last character."""
        return self.column + len(self.text)


@dataclass(frozen=True, slots=True)
class Marker:
    """One marker with its reason. Columns count from 1 in the line; `cut` is what to remove so that it is gone."""

    kind: Kind
    text: str
    column: int
    cut: tuple[int, int]
    listed: tuple[Selector, ...] = ()
    """Everything in its list, in a noqa also other tools' codes; empty when it stands for every rule."""
    problem: str = ""
    """Why it suppresses nothing, for a marker that is written wrong."""

    @property
    def end_column(self) -> int:
        """One past its last character."""
        return self.column + len(self.text)

    @property
    def selectors(self) -> tuple[Selector, ...]:
        """What is addressed to nanlint."""
        if self.kind is not Kind.NOQA:
            return self.listed
        return tuple(selector for selector in self.listed if selector.text.upper().startswith("NAN"))


@dataclass(frozen=True, slots=True)
class _Reading:
    """A marker before it has a place; columns of `listed` count from 0 within the marker."""

    kind: Kind
    listed: tuple[Selector, ...] = ()
    problem: str = ""


def read_markers(comment: str, column: int) -> list[Marker]:
    """The markers of ours in a comment that begins with `#` at `column`."""
    starts = [0, *(match.start() for match in _SEGMENT.finditer(comment, 1))]
    ends = [*starts[1:], len(comment)]
    markers = []
    for start, end in zip(starts, ends, strict=True):
        text = comment[start:end].rstrip()
        reading = _read(text)
        if reading is None:
            continue
        # The last marker takes the blanks before it along, any other one those behind it.
        cut = (len(comment[:start].rstrip()), end) if end == len(comment) else (start, end)
        markers.append(
            Marker(
                kind=reading.kind,
                text=text,
                column=column + start,
                cut=(column + cut[0], column + cut[1]),
                listed=tuple(Selector(one.text, column + start + one.column) for one in reading.listed),
                problem=reading.problem,
            )
        )
    return markers


def _read(text: str) -> _Reading | None:
    noqa = _NOQA.match(text)
    if noqa:
        return _read_noqa(noqa)
    ours = _OURS.match(text)
    return _read_ours(ours) if ours else None


def _read_noqa(match: re.Match[str]) -> _Reading | None:
    """None when all its codes are other tools'."""
    if match["codes"] is None:
        return _Reading(Kind.NOQA)
    listed = _selectors(match["codes"], match.start("codes"))
    return _Reading(Kind.NOQA, listed) if any(one.text.upper().startswith("NAN") for one in listed) else None


def _read_ours(match: re.Match[str]) -> _Reading | None:
    """None for prose that begins with our name."""
    verb, rest = match["verb"].lower(), match["rest"]
    kinds = {Kind.IGNORE.value: Kind.IGNORE, Kind.IGNORE_FILE.value: Kind.IGNORE_FILE}
    if not match["colon"]:
        if verb not in kinds or (rest and not rest.startswith("[")):
            return None
        return _Reading(kinds[verb], problem=f"`nanlint {verb}` lacks its colon: write `nanlint: {verb}`")
    if verb not in kinds:
        return _Reading(Kind.IGNORE, problem=_no_such_verb(match["verb"], list(kinds)))
    if rest.startswith("["):
        return _read_brackets(kinds[verb], rest, match.start("rest"))
    bare = _CODE_OUTSIDE_BRACKETS.match(rest)
    if bare:
        code = bare[1].upper()
        return _Reading(kinds[verb], problem=f"the rules to ignore go in brackets: write `nanlint: {verb}[{code}]`")
    return _Reading(kinds[verb])


def _read_brackets(kind: Kind, rest: str, start: int) -> _Reading:
    inside, bracket, _ = rest[1:].partition("]")
    if not bracket:
        return _Reading(kind, problem=f"the bracket of `nanlint: {kind.value}[` is not closed, so it ignores nothing")
    listed = _selectors(inside, start + 1)
    if not listed:
        return _Reading(kind, problem=f"`nanlint: {kind.value}[]` names no rule, so it ignores nothing")
    return _Reading(kind, listed)


def _selectors(listing: str, start: int) -> tuple[Selector, ...]:
    return tuple(Selector(match[0], start + match.start()) for match in _LISTED.finditer(listing))


def _no_such_verb(verb: str, verbs: list[str]) -> str:
    import difflib  # noqa: PLC0415 - only for a message that most runs never need

    near = difflib.get_close_matches(verb.lower().replace("_", "-"), verbs, n=1)
    hint = f"did you mean `{near[0]}`?" if near else "write `nanlint: ignore[CODE]`"
    return f"`nanlint: {verb}` means nothing; {hint}"
