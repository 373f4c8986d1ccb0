"""What the user asks of confirm, and the job that follows from it for one target."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from nanlint.model.verdict import Plausibility

if TYPE_CHECKING:
    from nanlint.confirm.target import Target
    from nanlint.model import Finding

Json = dict[str, Any]
LOCAL = "local"
HALVES = frozenset({"float16", "bfloat16"})
DTYPES = ("float32", "float16", "bfloat16", "float64")


@dataclass(frozen=True)
class Options:
    """The options of one run of confirm."""

    device: str = "cpu"
    dtype: str = ""
    """Empty: the dtypes of the finding."""
    amp: str = ""
    """The dtype of mixed precision; empty for none."""
    flush: bool = False
    timeout: float = 30.0
    evaluations: int = 2000
    """Runs of the code per finding and dtype."""
    budget: float = 10.0
    """Minutes for all findings together; what is left then is counted."""
    seed: int = 0
    max_plausibility: Plausibility = Plausibility.LARGE
    halves: bool = True
    """Whether the project is known to use float16 or bfloat16, or nobody knows."""
    executor: str = LOCAL
    """Where the child processes are: on this machine, or `ray` or `ray://HOST:PORT` for those of a cluster."""

    def dtypes_for(self, finding: Finding) -> list[str]:
        """The dtypes to try: float32 first, where most code runs."""
        if self.dtype:
            return [self.dtype]
        found = [name for name in finding.dtypes if name in DTYPES] or ["float32"]
        if not self.halves:
            found = [name for name in found if name not in HALVES] or found
        return sorted(found, key=DTYPES.index)

    def job(self, do: str, target: Target, finding: Finding) -> Json:
        """The job that the child gets."""
        told = {**target.to_json(), "hazard": finding.hazard.to_json() if finding.hazard else None}
        return {
            "do": do,
            "target": told,
            "direction": finding.direction.value,
            "code": finding.code,
            "dtypes": self.dtypes_for(finding),
            "device": self.device,
            "amp": self.amp,
            "flush": self.flush,
            "seed": self.seed,
            "timeout": self.timeout,
            "evaluations": self.evaluations,
            "fit_tries": 300,
            "shrink_tries": 200,
            "extreme": self.max_plausibility is Plausibility.EXTREME,
        }
