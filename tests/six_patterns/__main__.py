"""`python -m tests.six_patterns`: the score, and for each spelling that is missed or not silent what nanlint said instead."""

from __future__ import annotations

from tests.six_patterns.material import SPELLINGS, Marked
from tests.six_patterns.scoring import findings, found_by_default, noise_in_the_twin, score


def main() -> None:
    """Print what is missed, what is not silent, and the score."""
    for spelling in SPELLINGS:
        if not found_by_default(spelling):
            print(f"missed by default: {spelling.name}, expected {_places(spelling.marks())}")
            for seen in findings(spelling, "bad", at_any_level=True):
                print(f"    {seen.path}:{seen.line} {seen.severity} {seen.code} {seen.message}")
        for seen in noise_in_the_twin(spelling):
            print(
                f"twin is not silent: {spelling.name} {seen.path}:{seen.line} {seen.severity} {seen.code} {seen.message}"
            )
    print(score())


def _places(marks: list[Marked]) -> str:
    return " or ".join(f"{mark.path}:{mark.line} {'|'.join(sorted(mark.codes))}" for mark in marks)


if __name__ == "__main__":
    main()
