"""`python -m tests`: everything that must hold before a change is merged, cheapest first; stops at the first failure.

    python -m tests             ruff, mypy and every test
    python -m tests --quick     the same without the tests marked slow
    python -m tests --explore   the property tests alone, with new random examples

Other arguments go to pytest: `python -m tests -k suppress`, `python -m tests --cov`.
"""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
LINTERS = (("ruff", "check"), ("ruff", "format", "--check"), ("mypy",))
# Many tests wait for a process they started, so three share two cores. A module stays in one process, since its tests
# share what is expensive; the modules come in the order of conftest.py.
PYTEST = ("pytest", "--numprocesses=3", "--dist=loadfile", "--no-loadscope-reorder", "--durations=30")
# Hypothesis marks the property tests itself; the profile is in conftest.py.
CHOSEN = {"--quick": ("-m", "not slow"), "--explore": ("-m", "hypothesis", "--hypothesis-profile=explore")}


def steps(arguments: list[str]) -> list[tuple[str, ...]]:
    """The modules to run, with their arguments; pytest comes last, so that its closing line ends the output."""
    passed = [word for argument in arguments for word in CHOSEN.get(argument, (argument,))]
    linters = () if "--explore" in arguments else LINTERS
    return [*linters, (*PYTEST, *passed)]


def main(arguments: list[str]) -> int:
    """Run every step with this interpreter; the exit code of the first that fails, or 0."""
    # Bytecode that is not written is compiled again by each of the many processes that the tests start. The cores are
    # shared out already: further threads of torch would only wait for each other, and they do that by spinning.
    kept = {name: value for name, value in os.environ.items() if name != "PYTHONDONTWRITEBYTECODE"}
    environment = {"OMP_NUM_THREADS": "1", **kept}
    for step in steps(arguments):
        print("$", *step, flush=True)
        code = subprocess.run([sys.executable, "-m", *step], cwd=ROOT, env=environment, check=False).returncode
        if code:
            return code
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
