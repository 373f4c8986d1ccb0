"""Where one cold run of nanlint spends its CPU: counters around its own functions, each without what it calls.

nanlint knows nothing of this: the functions are wrapped from outside, in a process that runs one check with one job.
Run by benchmarks/speed.py as `python phases.py FOLDER CACHE [OPTION ...]`; prints one JSON object, phase -> seconds.
"""

from __future__ import annotations

import ast
import functools
import io
import json
import sys
import time
from typing import TYPE_CHECKING, ParamSpec, TypeVar

if TYPE_CHECKING:
    from collections.abc import Callable

P = ParamSpec("P")
T = TypeVar("T")

REST = "rest"


class Phases:
    """Seconds of CPU by phase. While one phase runs inside another, only the inner one counts."""

    def __init__(self) -> None:
        self.seconds: dict[str, float] = {}
        self._running: list[str] = [REST]
        self._since = time.process_time()

    def _switch(self) -> None:
        now = time.process_time()
        name = self._running[-1]
        self.seconds[name] = self.seconds.get(name, 0.0) + now - self._since
        self._since = now

    def wrapped(self, name: str, function: Callable[P, T]) -> Callable[P, T]:
        """`function`, with its time counted under `name`."""

        @functools.wraps(function)
        def run(*args: P.args, **kwargs: P.kwargs) -> T:
            self._switch()
            self._running.append(name)
            try:
                return function(*args, **kwargs)
            finally:
                self._switch()
                self._running.pop()

        return run

    def watch(self, name: str, owner: object, attribute: str) -> None:
        """Count every call of `owner.attribute` under `name` from now on."""
        setattr(owner, attribute, self.wrapped(name, getattr(owner, attribute)))

    def close(self) -> dict[str, float]:
        """The seconds so far, in the order in which phases first ran."""
        self._switch()
        return self.seconds


def watch_nanlint(phases: Phases) -> None:
    """Wrap the functions on nanlint's lint path. Imports here are what is measured as `import`."""
    from nanlint.engine import check_file  # noqa: PLC0415 - timed
    from nanlint.engine.check_paths import Checker, Run  # noqa: PLC0415 - timed
    from nanlint.engine.suppressing import suppress  # noqa: PLC0415 - timed
    from nanlint.prefilter.triggers import Prefilter  # noqa: PLC0415 - timed
    from nanlint.source.cache import Cache  # noqa: PLC0415 - timed

    phases.watch("discover", Run, "discover")
    for method in ("look_up", "store", "save"):
        phases.watch("cache", Cache, method)
    phases.watch("read, prefilter on bytes", Checker, "has_nothing_for")
    phases.watch("ast.parse", ast, "parse")
    phases.watch("outline", check_file, "outline")
    phases.watch("prefilter on chunks", Prefilter, "chunks")
    phases.watch("suppression", suppress, "apply")


def watch_analysis(phases: Phases) -> None:
    """Wrap what nanlint does with the files in which a rule may find something. A run without such files would not import it."""
    from nanlint.analysis.project.graph import Graph  # noqa: PLC0415 - timed
    from nanlint.engine import hazard_rules, loop_rules  # noqa: PLC0415 - timed

    phases.watch("op graph", Graph, "run_module")
    phases.watch("hazards and rules", hazard_rules, "run_hazard_rules")
    phases.watch("training loops", loop_rules, "run_loop_rules")


def main(folder: str, cache: str, *options: str) -> None:
    """Check `folder` cold and print the seconds of each phase."""
    phases = Phases()
    phases.wrapped("import nanlint", watch_nanlint)(phases)
    phases.wrapped("import the analysis", watch_analysis)(phases)
    from nanlint.cli.main import main as nanlint  # noqa: PLC0415 - after the wrapping

    stdout, sys.stdout = sys.stdout, io.StringIO()
    nanlint(["check", "--isolated", "--quiet", "--jobs", "1", "--cache-dir", cache, *options, folder])
    sys.stdout = stdout
    print(json.dumps(phases.close()))


if __name__ == "__main__":
    main(*sys.argv[1:])
