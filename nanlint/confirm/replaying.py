"""Replay a saved case: for proofs that cannot be written down without nanlint, as where parameters were forced.

The code runs in the child process, behind the same walls as in the search, and one child serves all proofs of a pytest run.
"""

from __future__ import annotations

import atexit
from functools import cache
from pathlib import Path
from typing import Any

from nanlint.confirm.harness import Harness
from nanlint.errors import NanlintError

Json = dict[str, Any]
PATHS = ("path", "root", "project")
"""What a target says of places on the disk."""
SECONDS = 60.0


@cache
def _harness() -> Harness:
    harness = Harness()
    atexit.register(harness.stop)
    return harness


def is_finite_again(job: Json, *, beside: str) -> bool:
    """Whether the case gives finite results and gradients now; raises NanlintError if it cannot be run any more.

    Paths in the case begin at the folder of the file `beside`.
    """
    folder = Path(beside).parent
    target = {**job["target"], **{key: str((folder / job["target"][key]).resolve()) for key in PATHS}}
    answer = _harness().ask({**job, "target": target, "do": "replay", "timeout": SECONDS})
    problem = answer.get("died") or answer.get("reason") or answer.get("error")
    if problem:
        raise NanlintError(f"{target['path']}: the saved case does not run any more: {problem}")
    return not answer["bad"]
