"""A finding and what it is made of: place, message, labels, reason, help, severity, fix, hazard.

Text and numbers alone. `Finding.to_json` is one entry of the published output contract and `Finding.from_json` reads
it back, so the cache, the worker processes and the reports share one form.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

from nanlint.model.words import Applicability, Direction, Severity

if TYPE_CHECKING:
    from nanlint.model.verdict import Verdict

Json = dict[str, Any]


@dataclass(frozen=True, slots=True, order=True)
class Span:
    """A stretch of source: lines and columns count from 1, columns in characters, the end is one past the last."""

    line: int
    column: int
    end_line: int
    end_column: int

    @property
    def behind(self) -> Span:
        """The empty stretch right behind it, where something can be inserted."""
        return Span(self.end_line, self.end_column, self.end_line, self.end_column)

    def overlaps(self, other: Span) -> bool:
        """Whether some character is in both."""
        return (self.line, self.column) < (other.end_line, other.end_column) and (other.line, other.column) < (
            self.end_line,
            self.end_column,
        )

    def to_json(self) -> Json:
        """The four numbers under their contract names."""
        return {
            "line": self.line,
            "column": self.column,
            "end_line": self.end_line,
            "end_column": self.end_column,
        }

    @classmethod
    def from_json(cls, entry: Json) -> Span:
        """The inverse of `to_json`; other keys of `entry` are ignored."""
        return cls(entry["line"], entry["column"], entry["end_line"], entry["end_column"])


@dataclass(frozen=True, slots=True)
class Edit:
    """Replace the text of `span` by `text`; an empty span inserts."""

    span: Span
    text: str


@dataclass(frozen=True, slots=True)
class Fix:
    """A titled set of edits that belong together: all are applied or none."""

    title: str
    applicability: Applicability
    edits: tuple[Edit, ...]

    def to_json(self) -> Json:
        """The fix as the output contract has it."""
        return {
            "applicability": self.applicability.value,
            "title": self.title,
            "edits": [{**edit.span.to_json(), "text": edit.text} for edit in self.edits],
        }

    @classmethod
    def from_json(cls, entry: Json) -> Fix:
        """The inverse of `to_json`."""
        edits = tuple(Edit(Span.from_json(edit), edit["text"]) for edit in entry["edits"])
        return cls(entry["title"], Applicability(entry["applicability"]), edits)


@dataclass(frozen=True, slots=True)
class Hazard:
    """What breaks: the operation, the operand's source text, and the values of it that break the operation."""

    operation: str
    operand: str
    zone: str
    autocast: str = ""
    """The format that saves it under autocast to float16; empty where it breaks there, too, or elsewhere as well."""
    range: str = ""
    """What the operand can be, as `[0, 1]`; empty where nothing bounds it."""
    users: str = ""
    """The functions that the calls of this one begin in, with a space between; empty where that is nobody, or a script."""

    def to_json(self) -> Json:
        """The hazard as the output contract has it."""
        parts = {"operation": self.operation, "operand": self.operand, "zone": self.zone}
        more = {"autocast": self.autocast, "range": self.range, "users": self.users}
        return parts | {name: told for name, told in more.items() if told}


@dataclass(frozen=True, slots=True)
class Label:
    """Another place of the same file (in a notebook, of the same cell) that matters, and what is to be said of it."""

    span: Span
    text: str

    def to_json(self) -> Json:
        """The label as the output contract has it."""
        return {**self.span.to_json(), "text": self.text}

    @classmethod
    def from_json(cls, entry: Json) -> Label:
        """The inverse of `to_json`."""
        return cls(Span.from_json(entry), entry["text"])


@dataclass(frozen=True, slots=True)
class Finding:
    """One defect at one place. `cell` counts from 1 in a notebook, where lines count within the cell.

    `message` is the header: what happens and when. `why` is the reason in the case at hand, empty where that of the rule
    says it all; `help` is the code to write.
    """

    code: str
    name: str
    span: Span
    message: str
    severity: Severity
    fix: Fix | None = None
    path: str = ""
    cell: int | None = None
    function: str = ""
    dtypes: tuple[str, ...] = ()
    direction: Direction = Direction.FORWARD
    hazard: Hazard | None = None
    verdict: Verdict | None = None
    evidence: tuple[str, ...] = ()
    can_happen: float | None = None
    matters: float | None = None
    labels: tuple[Label, ...] = ()
    why: str = ""
    help: str = ""

    @property
    def sort_key(self) -> tuple[str, int, Span, str, str]:
        """Reading order: path, cell, place, code."""
        return (self.path, self.cell or 0, self.span, self.code, self.message)

    def told_of(self, path: str, severity: Severity) -> Finding:
        """The finding with the name of its file, and with the severity that its reader gave to the rule."""
        return replace(self, path=path, severity=severity)

    def to_json(self) -> Json:
        """One entry of `findings` in the output contract, schema 1."""
        return {
            "code": self.code,
            "name": self.name,
            "severity": self.severity.value,
            "can_happen": self.can_happen,
            "matters": self.matters,
            "evidence": list(self.evidence),
            "path": self.path,
            "cell": self.cell,
            **self.span.to_json(),
            "message": self.message,
            "labels": [label.to_json() for label in self.labels],
            "why": self.why,
            "help": self.help,
            "function": self.function,
            "dtypes": list(self.dtypes),
            "direction": self.direction.value,
            "hazard": self.hazard.to_json() if self.hazard else None,
            "fix": self.fix.to_json() if self.fix else None,
            "verdict": self.verdict.to_json() if self.verdict else None,
        }

    @classmethod
    def from_json(cls, entry: Json) -> Finding:
        """The inverse of `to_json`."""
        return cls(
            code=entry["code"],
            name=entry["name"],
            span=Span.from_json(entry),
            message=entry["message"],
            severity=Severity(entry["severity"]),
            fix=Fix.from_json(entry["fix"]) if entry["fix"] else None,
            path=entry["path"],
            cell=entry["cell"],
            function=entry["function"],
            dtypes=tuple(entry["dtypes"]),
            direction=Direction(entry["direction"]),
            hazard=Hazard(**entry["hazard"]) if entry["hazard"] else None,
            verdict=_verdict(entry.get("verdict")),
            evidence=tuple(entry.get("evidence", ())),
            can_happen=entry.get("can_happen"),
            matters=entry.get("matters"),
            labels=tuple(map(Label.from_json, entry.get("labels", ()))),
            why=entry.get("why", ""),
            help=entry.get("help", ""),
        )


def _verdict(entry: Json | None) -> Verdict | None:
    if entry is None:
        return None
    from nanlint.model.verdict import Verdict  # noqa: PLC0415 - a run that only checks needs no verdicts

    return Verdict.from_json(entry)


@dataclass(frozen=True, slots=True)
class FileError:
    """Why one file (or one rule on it) could not be checked; the others were."""

    path: str
    line: int | None
    message: str

    def to_json(self) -> Json:
        """One entry of `errors` in the output contract."""
        return {"path": self.path, "line": self.line, "message": self.message}

    @classmethod
    def from_json(cls, entry: Json) -> FileError:
        """The inverse of `to_json`."""
        return cls(entry["path"], entry["line"], entry["message"])
