"""The fixed words in which a finding is told: how bad, where it shows, what its fix may be used for."""

from __future__ import annotations

import enum

FORMATS: tuple[str, ...] = ("float16", "bfloat16", "float32", "float64")
"""The formats that a finding can be about; one that breaks in all of them is about none."""


class Severity(enum.Enum):
    """How ordinary the failing input is."""

    ERROR = "error"
    WARNING = "warning"
    INFO = "info"

    @property
    def rank(self) -> int:
        """2 for error, 1 for warning, 0 for info: larger is worse."""
        return {"error": 2, "warning": 1, "info": 0}[self.value]


class Direction(enum.Enum):
    """Where the failure shows: in the values, in the gradients, in both, or in the loop around them."""

    FORWARD = "forward"
    BACKWARD = "backward"
    BOTH = "both"
    LOOP = "loop"


class Applicability(enum.Enum):
    """SAFE keeps every finite result and its gradient up to rounding, UNSAFE moves some, SHOW is a sketch."""

    SAFE = "safe"
    UNSAFE = "unsafe"
    SHOW = "show"
