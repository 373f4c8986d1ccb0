"""What running the flagged code showed: the kind, how plausible the failing input is, and the witness itself."""

from __future__ import annotations

import enum
from dataclasses import dataclass
from typing import Any

Json = dict[str, Any]


class VerdictKind(enum.Enum):
    """The five things a run can show. That code is safe is not among them."""

    CONFIRMED = "confirmed"
    REACHABLE = "reachable"
    NOT_REPRODUCED = "not-reproduced"
    FLAKY = "flaky"
    NOT_RUNNABLE = "not-runnable"


class Plausibility(enum.Enum):
    """How ordinary the failing input is; `extreme` is information and confirms nothing."""

    ORDINARY = "ordinary"
    EDGE = "edge"
    LARGE = "large"
    EXTREME = "extreme"

    @property
    def rank(self) -> int:
        """0 for ordinary, 3 for extreme."""
        return list(Plausibility).index(self)


@dataclass(frozen=True, slots=True)
class Verdict:
    """The outcome of confirming one finding, as the output contract has it.

    `how` is the class of the witness (its contract name is `class`): input only, after k steps, forced parameters.
    """

    kind: VerdictKind
    plausibility: Plausibility | None = None
    direction: str | None = None
    dtype: str | None = None
    device: str | None = None
    level: str | None = None
    how: str | None = None
    witness: Json | None = None
    evaluations: int | None = None
    seconds: float | None = None
    repro: str | None = None
    reason: str | None = None
    fix_verified: bool | None = None
    walls: tuple[str, ...] | None = None
    """What stood around the code while it ran, strongest first."""

    @property
    def is_confirmed(self) -> bool:
        """Whether the whole function or module was seen to fail."""
        return self.kind is VerdictKind.CONFIRMED

    def to_json(self) -> Json:
        """The verdict as the output contract has it."""
        return {
            "kind": self.kind.value,
            "plausibility": self.plausibility.value if self.plausibility else None,
            "direction": self.direction,
            "dtype": self.dtype,
            "device": self.device,
            "level": self.level,
            "class": self.how,
            "witness": self.witness,
            "evaluations": self.evaluations,
            "seconds": self.seconds,
            "repro": self.repro,
            "reason": self.reason,
            "fix_verified": self.fix_verified,
            "walls": None if self.walls is None else list(self.walls),
        }

    @classmethod
    def from_json(cls, entry: Json) -> Verdict:
        """The inverse of `to_json`."""
        rest = {key: value for key, value in entry.items() if key not in {"kind", "plausibility", "class", "walls"}}
        plausibility = entry["plausibility"]
        return cls(
            kind=VerdictKind(entry["kind"]),
            plausibility=Plausibility(plausibility) if plausibility else None,
            how=entry["class"],
            walls=None if entry.get("walls") is None else tuple(entry["walls"]),
            **rest,
        )
