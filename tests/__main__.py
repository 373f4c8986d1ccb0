"""`python -m tests`: everything that must hold before a change is merged, cheapest first; stops at the first failure.

Arguments go to pytest: `python -m tests -k suppress`.
"""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
# pytest stays last, so that its closing line ends the output; loadgroup keeps tests that share a built wheel together.
STEPS = (
    ("ruff", "check"),
    ("ruff", "format", "--check"),
    ("mypy",),
    ("pytest", "--numprocesses=2", "--dist=loadgroup", "--cov", "--cov-report=term:skip-covered"),
)


def main(arguments: list[str]) -> int:
    """Run every step with this interpreter; the exit code of the first that fails, or 0."""
    for step in STEPS:
        extra = arguments if step[0] == "pytest" else []
        print("$", *step, *extra, flush=True)
        code = subprocess.run([sys.executable, "-m", *step, *extra], cwd=ROOT, check=False).returncode
        if code:
            return code
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
