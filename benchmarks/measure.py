"""CPU seconds, wall seconds and peak memory of one command and all processes that it starts.

Each command is run by a fresh measuring process, which starts nothing else, so that what the system says about its
children is about that command alone. CPU is user and system time of the whole tree. Peak memory is the largest sum over
the tree of the proportional set size (a page that forked workers share counts once), looked at every 20 ms. Looking
slows a run down, so runs are timed and weighed apart. Memory needs Linux; elsewhere it stays unknown.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
import tempfile
import time
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

_LOOK_EVERY = 0.02


@dataclass(frozen=True)
class Usage:
    """What one run used."""

    cpu: float
    wall: float
    peak: int = 0
    """Bytes; 0 when nobody looked."""


@dataclass(frozen=True)
class Command:
    """One command to measure; `prepare` is run before it and not measured. Findings may make it exit with 1."""

    words: Sequence[str]
    prepare: Callable[[], object] = lambda: None
    environment: Mapping[str, str] = field(default_factory=dict)


def run(command: Command, *, weigh: bool = False) -> Usage:
    """What `command` used in one run; `weigh` looks at its memory too, and makes its times worthless."""
    command.prepare()
    order = json.dumps({"words": list(command.words), "weigh": weigh})
    answer = subprocess.run(
        [sys.executable, "-I", __file__],
        input=order,
        env={**os.environ, **command.environment},
        capture_output=True,
        text=True,
        check=False,
    )
    if answer.returncode != 0:
        raise SystemExit(f"{' '.join(command.words)}\n{answer.stderr}")
    return Usage(**json.loads(answer.stdout))


def best_of(commands: Mapping[str, Command], rounds: int) -> dict[str, Usage]:
    """The least that each command used in `rounds` runs. They take turns, so that a noisy minute hits all of them."""
    best: dict[str, Usage] = {}
    for _ in range(rounds):
        for name, command in commands.items():
            usage = run(command)
            known = best.get(name, usage)
            best[name] = Usage(min(usage.cpu, known.cpu), min(usage.wall, known.wall))
    return best


def _serve() -> None:
    """The life of the measuring process: one command in, its usage out."""
    import resource  # noqa: PLC0415 - Unix only; the parent gets by without

    order = json.load(sys.stdin)
    with tempfile.TemporaryFile() as complaints:
        start = time.perf_counter()
        with subprocess.Popen(order["words"], stdout=subprocess.DEVNULL, stderr=complaints) as process:
            peak = _peak(process) if order["weigh"] else 0
        wall = time.perf_counter() - start
        if process.returncode not in {0, 1}:
            complaints.seek(0)
            sys.exit(f"exit code {process.returncode}\n{complaints.read().decode(errors='replace')[-2000:]}")
    used = resource.getrusage(resource.RUSAGE_CHILDREN)
    print(json.dumps({"cpu": used.ru_utime + used.ru_stime, "wall": wall, "peak": peak}))


def _peak(process: subprocess.Popen[bytes]) -> int:
    peak = 0
    while process.poll() is None:
        peak = max(peak, sum(_proportional_set_size(pid) for pid in _tree(process.pid)))
        time.sleep(_LOOK_EVERY)
    return peak


def _tree(pid: int) -> list[int]:
    """The process and everything below it."""
    found = [pid]
    for parent in found:
        for listing in Path(f"/proc/{parent}/task").glob("*/children"):
            found.extend(int(child) for child in _text(listing).split())
    return found


def _proportional_set_size(pid: int) -> int:
    for line in _text(Path(f"/proc/{pid}/smaps_rollup")).splitlines():
        if line.startswith("Pss:"):
            return int(line.split()[1]) * 1024
    return 0


def _text(path: Path) -> str:
    """What a file of /proc says; nothing if its process is gone."""
    try:
        return path.read_text()
    except OSError:
        return ""


if __name__ == "__main__":
    _serve()
