"""`python -m tests.moved.draw SEED`: draw 40 hazards and 40 guards of the fixtures by a seed, in lines for `drawn.txt`.

The first two draws there are by "moved" and "moved again"; the third and the fourth are by the same, after three fixtures were added."""

from __future__ import annotations

import random
import sys
from typing import TYPE_CHECKING

from tests.moved.material import guards, hazards
from tests.moved.moves import guard_inline
from tests.moved.scoring import found_in, levels

if TYPE_CHECKING:
    from tests.moved.material import Guard

COUNT = 40


def main(seed: str) -> None:
    """Print the names of what is drawn."""
    for cut in random.Random(seed).sample(list(hazards()), COUNT):  # noqa: S311 - a draw, no secret
        print(f"{seed}:hazards {cut.name}")
    candidates = list(guards())
    random.Random(seed).shuffle(candidates)  # noqa: S311 - a draw, no secret
    drawn: list[Guard] = []
    while len(drawn) < COUNT:
        guard = candidates.pop(0)
        drawn += [guard] if _matters(guard) else []
    for guard in drawn:
        print(f"{seed}:guards {guard.cut.name}")


def _matters(guard: Guard) -> bool:
    """Silent as it stands, and found by default without the guard."""
    with_it, without = found_in([guard_inline(guard), {"main.py": guard.without}])
    code = guard.cut.code
    return levels(with_it, code) == "nothing" and levels(without, code) not in {"nothing", "info"}


if __name__ == "__main__":
    main(sys.argv[1])
