"""A few steps of the user's own script under `nanlint trace`, in a process of its own; the only part that runs it."""

from __future__ import annotations

import json
import os
import re
import shlex
import signal
import subprocess
import sys
import tempfile
import time
from contextlib import suppress
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from nanlint.diagnose.answer import CHECKPOINT, CODE, DATA, EXPLOSION, Clue
from nanlint.errors import NanlintError, UsageError
from nanlint.plot.read_log import read_curves
from nanlint.settings.paths import shown_path

if TYPE_CHECKING:
    from collections.abc import Callable

    from nanlint.checkpoint.stated import Stated
    from nanlint.plot.read_log import Curve
    from nanlint.trace import Diagnosis

_PYTHON = re.compile(r"(.*/)?python(\d(\.\d+)?)?(\.exe)?")
_LAUNCHERS = frozenset({"torchrun", "accelerate", "deepspeed", "mpirun", "srun"})
_PAUSE = 0.2
_GRACE = 15.0
"""Seconds that a script gets to end after it was asked to."""
_LAST_WORDS = 6
"""Lines of a script that failed."""


@dataclass
class Outcome:
    """How the run ended."""

    steps: int
    code: int | None
    """None if it was stopped by us."""
    found: Diagnosis | None = None
    warnings: list[str] = field(default_factory=list)
    curves: dict[str, Curve] = field(default_factory=dict)
    last_words: str = ""
    is_interrupted: bool = False
    """By Ctrl-C; what was seen until then counts."""


def words_of(command: str) -> list[str]:
    """The script and its arguments, as `nanlint trace` takes them; raises UsageError for what is no Python script."""
    try:
        words = shlex.split(command)
    except ValueError as error:
        raise UsageError(f"--run {command!r}: {error}") from None
    if words and words[0] in _LAUNCHERS:
        raise UsageError(
            f'--run {command!r}: a launcher has to start nanlint; run the script as one process: --run "python train.py"'
        )
    if words and _PYTHON.fullmatch(words[0]):
        words = words[1:]
    while words[:1] == ["-u"]:
        words = words[1:]
    is_module = words[:1] == ["-m"] and len(words) > 1
    if not is_module and not (words and words[0].endswith(".py")):
        raise UsageError(f'--run {command!r}: give a Python script: --run "python train.py --epochs 1"')
    return words if is_module else ["--", *words]


def run(words: list[str], folder: Path, limits: tuple[int, float], note: Callable[[int], None]) -> Outcome:
    """Trace the script in `folder` for so many steps or seconds."""
    with tempfile.TemporaryDirectory(prefix="nanlint-diagnose-", ignore_cleanup_errors=True) as name:
        place = Path(name)
        report, log = place / "found.json", place / "run.jsonl"
        options = ["--report", str(report), "--log", str(log), "--folder", str(place / "trace")]
        command = [sys.executable, "-m", "nanlint", "trace", *options, *words]
        home = str(Path(__file__).parent.parent.parent)
        path = os.pathsep.join(filter(None, [home, os.environ.get("PYTHONPATH", "")]))
        with (place / "said").open("wb") as said:
            process = subprocess.Popen(
                command, cwd=folder, stdin=subprocess.DEVNULL, stdout=said, stderr=subprocess.STDOUT,
                env={**os.environ, "PYTHONPATH": path}, start_new_session=True,
            )  # fmt: skip
            is_ended, is_interrupted = False, False
            try:
                is_ended = _wait(process, log, limits, note)
            except KeyboardInterrupt:
                is_interrupted = True
            finally:
                _end(process)
        return replace(_outcome(process.returncode if is_ended else None, place), is_interrupted=is_interrupted)


def _wait(process: subprocess.Popen[bytes], log: Path, limits: tuple[int, float], note: Callable[[int], None]) -> bool:
    """Whether the script ended by itself."""
    steps, seconds = limits
    until = time.monotonic() + seconds
    while process.poll() is None:
        done = _count(log)
        note(done)
        if done >= steps or time.monotonic() >= until:
            return False
        time.sleep(_PAUSE)
    return True


def _count(log: Path) -> int:
    try:
        with log.open("rb") as file:
            return max(0, sum(1 for _ in file) - 1)
    except OSError:
        return 0


def _end(process: subprocess.Popen[bytes]) -> None:
    """Ask the run to end as Ctrl-C does, and end it."""
    for sign in (signal.SIGINT, signal.SIGKILL if hasattr(signal, "SIGKILL") else signal.SIGTERM):
        if process.poll() is not None:
            return
        with suppress(OSError):
            os.killpg(process.pid, sign) if hasattr(os, "killpg") else process.send_signal(sign)
        with suppress(subprocess.TimeoutExpired):
            process.wait(_GRACE)


def _outcome(code: int | None, place: Path) -> Outcome:
    said = (place / "said").read_text("utf-8", errors="replace").splitlines()
    warnings = [line.removeprefix("nanlint: warning: ") for line in said if line.startswith("nanlint: warning: ")]
    curves: dict[str, Any] = {}
    with suppress(OSError, NanlintError), (place / "run.jsonl").open(encoding="utf-8") as lines:
        curves = read_curves(lines, "run.jsonl")
    found = None
    if (place / "found.json").exists():
        from nanlint.trace import Diagnosis  # noqa: PLC0415 - imports torch, as the run has

        found = Diagnosis.from_json(json.loads((place / "found.json").read_text("utf-8")))
    steps = max((len(curve) for curve in curves.values()), default=0)
    return Outcome(steps, code, found, warnings, curves, "\n".join(said[-_LAST_WORDS:]))


def clues_of(outcome: Outcome, rate: Stated | None, data: str, checkpoint: str) -> list[Clue]:
    """What the run speaks for; `data` and `checkpoint` are files that are known to be bad, which then are what came in."""
    found = outcome.found
    if found is None:
        return [_warned(outcome, rate)] if outcome.warnings else []
    from nanlint.trace.diagnosis import INPUT, OPTIMIZER, PARAMETER  # noqa: PLC0415 - as above
    from nanlint.trace.text import headline  # noqa: PLC0415 - as above

    told = f"seen in the run at step {found.step}: {headline(found)}" + (f"; {found.reason}" if found.reason else "")
    if found.is_explosion:
        return [_explosion(f"{told}; {found.explosion}", rate)]
    path, line = (_shown(found.place.path), found.place.line) if found.place is not None else ("", 0)
    if found.kind == INPUT:
        title = f"the batch of step {found.step} held values that are not finite: {found.reason or headline(found)}"
        return [Clue(DATA, data or path, "run", title, told, "find the rows and leave them out", data or path, 0 if data else line)]  # fmt: skip
    if found.kind == PARAMETER:
        title = f"a parameter was not finite before the first step: {found.reason or found.symptom}"
        return [Clue(CHECKPOINT, checkpoint or path, "run", title, told, "resume from a clean checkpoint", checkpoint or path)]  # fmt: skip
    title = f"at step {found.step} {headline(found)}" + (f": {found.reason}" if found.reason else "")
    if found.kind == OPTIMIZER:
        first = "give the optimizer an eps that is above 0 in the format of its state (1e-8 in float32), or a smaller learning rate"
    else:
        first = _remedy(found, path, line)
    return [Clue(CODE, f"{path}::{line}", "run", title, told, first, path, line, found.code.split(" ")[0])]


def _remedy(found: Diagnosis, path: str, line: int) -> str:
    if found.diff:
        return f"nanlint check --diff --unsafe-fixes {path} shows the fix of {found.code}"
    return f"write instead, for example:\n{found.advice}" if found.advice else f"guard {path}:{line}"


def _shown(path: str) -> str:
    return shown_path(path)


def _explosion(told: str, rate: Stated | None) -> Clue:
    if rate is not None:
        first = f"lower the learning rate ({rate.where} is {rate.value:g}; try {rate.value / 10:g}), add a warmup, clip gradients to the norm of ordinary steps"  # fmt: skip
        path = rate.where.partition(" ")[0].partition(":")[0]
    else:
        first, path = (
            "lower the learning rate to a tenth, add a warmup, clip gradients to the norm of ordinary steps",
            "",
        )
    return Clue(EXPLOSION, "rate", "run", "training diverges: the steps are too large, and values grow until they overflow", told, first, path)  # fmt: skip


def _warned(outcome: Outcome, rate: Stated | None) -> Clue:
    clue = _explosion(f"warned in the run: {outcome.warnings[0]}", rate)
    return Clue(clue.kind, clue.about, "run-warned", "training is about to diverge: loss or gradients grow from step to step", clue.evidence, clue.first, clue.path)  # fmt: skip
