"""How many of the applied fixes hold when they are run: fixtures, and generated code around every shape that is fixed.

    python benchmarks/fix_rate.py [--generated 500] [--seed 0]

A fix is verified when old and new code agree on ordinary inputs in value and gradient, and the new code is finite on the
inputs that break the old one, in every dtype that the finding names. Exits with 1 if the share is below 99 %.
"""

from __future__ import annotations

import argparse
import contextlib
import io
import logging
import random
import sys
import warnings
from collections import Counter
from pathlib import Path
from typing import TYPE_CHECKING

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

from benchmarks.table import table
from tests.fix_proofs import Proof, proofs_of
from tests.fix_shapes import SHAPES, write
from tests.fixing import fixed
from tests.shape_proofs import problem_with
from tests.truth_running import FIXED, truth_of

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

WANTED = 0.99


def fixture_proofs() -> Iterator[Proof]:
    """One proof for each fix of a fixture that can be run."""
    for twin in FIXED:
        if not getattr(truth_of(twin.parent), "NOTHING_TO_RUN", ""):
            yield from proofs_of(twin)


def generated_proofs(count: int, seed: int) -> Iterator[Proof]:
    """One proof for each fix of generated code, every shape in its turn."""
    chance = random.Random(seed)  # noqa: S311 - to pick examples
    for number in range(count):
        shape = SHAPES[number % len(SHAPES)]
        text = write(shape, chance.choice)
        outcome = fixed(text, shape.code)
        problem = problem_with(shape, text, outcome) if outcome.applied else ""
        for finding in outcome.applied:
            is_safe = finding.fix is not None and finding.fix.applicability.value == "safe"
            yield Proof(f"generated {number}: {shape.expression}", shape.code, is_safe, problem)


def main(arguments: Sequence[str] | None = None) -> int:
    """Prove all fixes and print how many hold."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--generated", type=int, default=500, metavar="N", help="modules to generate (default 500)")
    parser.add_argument("--seed", type=int, default=0, help="what the generated modules are chosen by (default 0)")
    options = parser.parse_args(arguments)
    # Old code divides by n - 1 of one element, and asks for a GPU that is not there.
    warnings.simplefilter("ignore")
    # Loops of fixtures print their losses, and log them.
    logging.disable()
    with contextlib.redirect_stdout(io.StringIO()):
        parts = {"fixtures": [*fixture_proofs()], "generated": [*generated_proofs(options.generated, options.seed)]}
    proofs = [proof for part in parts.values() for proof in part]
    rows = [_row(name, part) for name, part in [*parts.items(), ("all", proofs)]]
    print(*table(("", "applied", "safe", "unsafe", "verified", "share"), rows), sep="\n")
    codes = Counter(proof.code for proof in proofs)
    print("by rule:", ", ".join(f"{code} {count}" for code, count in sorted(codes.items())))
    failed = [proof for proof in proofs if proof.problem]
    print(*(f"{proof.place}: {proof.problem}" for proof in failed), sep="\n")
    return 0 if proofs and 1 - len(failed) / len(proofs) >= WANTED else 1


def _row(name: str, proofs: Sequence[Proof]) -> tuple[str, ...]:
    safe, verified = sum(proof.is_safe for proof in proofs), sum(not proof.problem for proof in proofs)
    share = f"{verified / len(proofs):.2%}" if proofs else "none"
    return name, f"{len(proofs):,}", f"{safe:,}", f"{len(proofs) - safe:,}", f"{verified:,}", share


if __name__ == "__main__":
    sys.exit(main())
