"""Settings of a run."""

from dataclasses import dataclass, field


@dataclass
class Rates:
    start: float = 1e-4
    floor: float = 1e-6


@dataclass
class Settings:
    rates: Rates = field(default_factory=Rates)
    rounds: int = 50
    continue_from: str = ""
