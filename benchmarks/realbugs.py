"""Bugs that maintainers shipped and cured: does nanlint find them in the faulty release, and leave the cured one in peace?

    python benchmarks/realbugs.py [--case ID] [--show ID] [--work DIR] [--wheels DIR]

`realcode/yardstick.py` says what counts as found and as silent. Targets: 42 % found by default of those marked local or
local+dtype, 93 % of all cures silent.
"""

from __future__ import annotations

import argparse
import sys
from pathlib import Path
from typing import TYPE_CHECKING

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

from benchmarks.realcode import bugs, yardstick

if TYPE_CHECKING:
    from collections.abc import Sequence

# What a linter without knowledge of meaning can be asked to see.
TARGETS = yardstick.Targets(found_by_default=0.42, silent=0.93, counted=("local", "local+dtype"))


def main(arguments: Sequence[str] | None = None) -> int:
    """Parse, run, print; 1 when a target is missed."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    yardstick.add_options(parser)
    options = parser.parse_args(arguments)
    return yardstick.run(bugs.cases(options.work.expanduser().resolve(), options.wheels), options, TARGETS)


if __name__ == "__main__":
    sys.exit(main())
