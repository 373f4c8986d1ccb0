"""Checkpoints of one run, in order: the last clean one, the first bad one, and which to resume from."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from nanlint.checkpoint.diagnosis import BAD, CLEAN, PASSED_OVER, Diagnosis
from nanlint.checkpoint.layout import number_in
from nanlint.checkpoint.learning_rate import ABOUT_THE_RATE
from nanlint.checkpoint.symptoms import ERROR, WARNING, Symptom

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence


@dataclass(frozen=True)
class Series:
    """The checkpoints in order, and what follows."""

    diagnoses: tuple[Diagnosis, ...]
    order: str

    @property
    def first_bad(self) -> Diagnosis | None:
        """The earliest that holds a value that is not finite."""
        return next((each for each in self.diagnoses if each.verdict == BAD), None)

    @property
    def last_clean(self) -> Diagnosis | None:
        """The latest clean one, wherever the bad ones lie."""
        return next((each for each in reversed(self.diagnoses) if each.verdict == CLEAN), None)

    def concerns(self, symptom: Symptom, diagnosis: Diagnosis) -> bool:
        """Whether it matters for what one does next: of the learning rate, only where one would resume; the others have the same."""
        resumed = self.last_clean or self.diagnoses[-1]
        return diagnosis is resumed or symptom.level == ERROR or symptom.name != ABOUT_THE_RATE

    @property
    def has_warnings(self) -> bool:
        """Whether something that concerns the next run is likely to break it."""
        return any(
            symptom.level == WARNING and self.concerns(symptom, each)
            for each in self.diagnoses
            for symptom in each.symptoms
        )


def _saved_at(each: Diagnosis) -> float:
    return max((file.stat().st_mtime for file in each.checkpoint.files if file.exists()), default=0.0)


_ORDERS: tuple[tuple[str, Callable[[Diagnosis], float | None]], ...] = (
    ("step", lambda each: each.step),
    ("epoch", lambda each: each.epoch),
    ("number in the name", lambda each: number_in(each.checkpoint.path)),
    ("time of saving", _saved_at),
)


def in_order(diagnoses: Sequence[Diagnosis]) -> Series:
    """By step if every readable checkpoint tells its step, else by epoch, by the number in its name, by time."""
    readable = [each for each in diagnoses if each.verdict in {CLEAN, BAD}]
    name, key = next(
        ((name, key) for name, key in _ORDERS if all(key(each) is not None for each in readable)), _ORDERS[-1]
    )
    placed = sorted((each for each in diagnoses if key(each) is not None), key=lambda each: key(each) or 0)
    rest = [each for each in diagnoses if key(each) is None]
    return Series(tuple(each for each in (*placed, *rest) if each.verdict != PASSED_OVER), name)
