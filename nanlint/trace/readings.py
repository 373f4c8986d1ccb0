"""The numbers of one step. No torch: logs are read and plotted without it."""

from __future__ import annotations

import math
from dataclasses import dataclass, field


@dataclass(frozen=True, slots=True)
class Reading:
    """What was read at one step; what is not known is None, what was not sampled is empty."""

    step: int
    loss: float | None
    gradient_norm: float | None
    """Before clipping."""
    learning_rate: float | None
    scale: float | None = None
    """The loss scale."""
    skipped: bool = False
    """The step was left out, by a GradScaler or by us."""
    ratios: dict[str, float] = field(default_factory=dict)
    """The size of the update over that of the weight, by weight, the largest first."""
    activations: dict[str, float] = field(default_factory=dict)
    """The largest magnitude that a module returned, those nearest to the end of their format first."""
    margin: float | None = None
    """How many times the first of them fits below the end of its format."""
    scalars: dict[str, float] = field(default_factory=dict)
    """What the user asked for by name."""

    @property
    def is_suspicious(self) -> bool:
        """Whether loss or gradients are perhaps not finite."""
        return not all(math.isfinite(value) for value in (self.loss, self.gradient_norm) if value is not None)
