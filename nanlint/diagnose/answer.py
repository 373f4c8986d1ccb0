"""The nouns of a diagnosis: clues, the causes that they make, what to resume from, and how each step went."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

Json = dict[str, Any]

CODE, CONFIG, DATA, CHECKPOINT, LEARNING_RATE, EXPLOSION = (
    "code", "config", "data", "checkpoint", "learning-rate", "explosion",
)  # fmt: skip
"""Kinds of causes."""

DONE, FAILED, SKIPPED, INTERRUPTED = "done", "failed", "skipped", "interrupted"


@dataclass(frozen=True)
class Clue:
    """One thing that a step found, and the cause that it speaks for."""

    kind: str
    about: str
    """Clues of one kind about the same thing are one cause."""
    strength: str
    """The row of `nanlint.diagnose.ranking.STRENGTHS`."""
    title: str
    """The cause in one sentence."""
    evidence: str
    first: str
    """What to do about it."""
    path: str = ""
    line: int = 0
    code: str = ""


@dataclass(frozen=True)
class Cause:
    """Something that can have made the loss NaN, with all that speaks for it."""

    kind: str
    title: str
    path: str
    line: int
    code: str
    word: str
    """How sure it is: seen, confirmed, likely, possible."""
    points: float
    evidence: tuple[str, ...]
    first: str

    @property
    def where(self) -> str:
        """`train.py:41`, or the file alone."""
        return f"{self.path}:{self.line}" if self.line else self.path

    def to_json(self) -> Json:
        """For programs."""
        return {
            "kind": self.kind,
            "title": self.title,
            "path": self.path,
            "line": self.line or None,
            "code": self.code or None,
            "certainty": self.word,
            "points": round(self.points, 1),
            "evidence": list(self.evidence),
            "first": self.first,
        }


@dataclass(frozen=True)
class Resume:
    """The checkpoint to go on from; without a path, training starts anew."""

    path: str
    why: str
    rate: float | None = None
    rate_why: str = ""

    def to_json(self) -> Json:
        """For programs."""
        return {"path": self.path or None, "why": self.why, "rate": self.rate, "rate_why": self.rate_why}


@dataclass
class StepResult:
    """How a step went."""

    name: str
    state: str = DONE
    summary: str = ""
    seconds: float = 0.0
    clues: list[Clue] = field(default_factory=list)
    notes: list[str] = field(default_factory=list)

    def to_json(self) -> Json:
        """For programs."""
        return {
            "name": self.name,
            "state": self.state,
            "summary": self.summary,
            "seconds": round(self.seconds, 2),
            "notes": self.notes,
        }


@dataclass(frozen=True)
class Answer:
    """All that the user is told."""

    project: str
    inventory: dict[str, list[str]]
    steps: tuple[StepResult, ...]
    causes: tuple[Cause, ...]
    resume: Resume | None
    curves: dict[str, dict[str, list[tuple[float, float]]]] = field(default_factory=dict)
    """Pictures of the page: a title, and the curves below it."""
    is_interrupted: bool = False
