"""Every bad fixture about values, trained on in a small loop: how often the tracer names the marked line.

    OMP_NUM_THREADS=1 python benchmarks/trace_fixtures.py

`line`: the origin, or a value on its way to the loss, is in the marked statement. `name`: it is in a statement that a name
ties to the marked one, as where a rule marks the mask and the softmax behind it breaks. `missed`: neither.
"""

from __future__ import annotations

import sys
import warnings
from collections import Counter
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent.parent))

from tests.trace_fixtures import diagnose, drives, verdict


def main() -> int:
    """Print what was missed and the counts; 1 if anything was."""
    warnings.simplefilter("ignore")
    counts: Counter[str] = Counter()
    for drive in drives():
        found = diagnose(drive)
        result = verdict(drive, found)
        counts[result] += 1
        if result == "missed":
            told = f"{found.kind}: {found.operation} at {found.place.shown}" if found and found.place else "nothing"
            print(f"missed: {drive.name}: {told}")
    print(
        f"{sum(counts.values())} findings: {counts['line']} by line, {counts['name']} by name, {counts['missed']} missed"
    )
    return int(counts["missed"] > 0)


if __name__ == "__main__":
    raise SystemExit(main())
