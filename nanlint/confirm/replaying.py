"""Replay a saved case: for proofs that cannot be written down without nanlint, as where parameters were forced.

The code runs in the child process, behind the same walls as in the search, and one child serves all proofs of a pytest run.
"""

from __future__ import annotations

import atexit
from functools import cache
from typing import Any

from nanlint.confirm.harness import Harness
from nanlint.errors import NanlintError

Json = dict[str, Any]
SECONDS = 60.0


@cache
def _harness() -> Harness:
    harness = Harness()
    atexit.register(harness.stop)
    return harness


def is_finite_again(job: Json) -> bool:
    """Whether the case gives finite results and gradients now; raises NanlintError if it cannot be run any more."""
    answer = _harness().ask({**job, "do": "replay", "timeout": SECONDS})
    problem = answer.get("died") or answer.get("reason") or answer.get("error")
    if problem:
        raise NanlintError(f"{job['target']['path']}: the saved case does not run any more: {problem}")
    return not answer["bad"]
