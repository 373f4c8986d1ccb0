"""`python -m tests`: everything that must hold before a change is merged, cheapest first; stops at the first failure.

    python -m tests              all of it, and the 30 slowest tests
    python -m tests --quick      ruff, and the tests that run no torch code and start few processes
    python -m tests --explore    property tests on examples that nobody has tried yet; a failure prints how to replay it

Other arguments go to pytest: `python -m tests -k suppress`, `python -m tests --cov`.
"""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
# loadgroup keeps tests that share a built wheel together.
PYTEST = ("pytest", "--numprocesses=2", "--dist=loadgroup")
RUFF = (("ruff", "check"), ("ruff", "format", "--check"))

# pytest stays last, so that its closing line ends the output.
WHOLE = (*RUFF, ("mypy",), (*PYTEST, "--durations=30"))
QUICK = (*RUFF, (*PYTEST, "-m", "not slow and not gpu and not runs_code", "--durations=5"))
EXPLORE = ((*PYTEST, "-m", "explores"),)


def main(arguments: list[str]) -> int:
    """Run every step with this interpreter; the exit code of the first that fails, or 0."""
    steps: tuple[tuple[str, ...], ...] = WHOLE
    environment = dict(os.environ)
    for flag, chosen in (("--quick", QUICK), ("--explore", EXPLORE)):
        if flag in arguments:
            arguments = [argument for argument in arguments if argument != flag]
            steps = chosen
            environment |= {"NANLINT_TESTS_EXPLORE": "1"} if flag == "--explore" else {}
    for step in steps:
        extra = arguments if step[0] == "pytest" else []
        print("$", *step, *extra, flush=True)
        code = subprocess.run([sys.executable, "-m", *step, *extra], cwd=ROOT, env=environment, check=False).returncode
        if code:
            return code
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
