"""A traced run from start to end: run the script, and tell what was found."""

from __future__ import annotations

import json
import platform
import shlex
import sys
import threading
import traceback
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path
from typing import TYPE_CHECKING, TextIO

import torch

from nanlint import __version__
from nanlint.errors import ExitCode, NanlintError
from nanlint.trace import batch_rows, ranks
from nanlint.trace.diagnosis import Diagnosis, Found
from nanlint.trace.programs import run_module, run_script
from nanlint.trace.repro import write_repro
from nanlint.trace.session import Session
from nanlint.trace.static import add_finding
from nanlint.trace.step_log import StepLog
from nanlint.trace.strict import Sightings
from nanlint.trace.text import headline, report_text
from nanlint.trace.tracing import HookedStep, TracedStep
from nanlint.trace.vitals import Vitals

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence
    from types import TracebackType

    from nanlint.trace.events import Event

INTERRUPTED = 130
NOTHING_SEEN = "no training step was observed: this process ran no backward pass (processes that a script starts itself are not traced)"


@dataclass(frozen=True, slots=True)
class Plan:
    """What the user asked for."""

    target: str
    arguments: Sequence[str] = ()
    is_module: bool = False
    mode: str = "replay"
    strict: bool = False
    report: str = ""
    folder: str = "nanlint-trace"
    log: str = ""
    save_batch: str = ""

    @property
    def words(self) -> list[str]:
        """The script as the user would start it."""
        return ["python", *(["-m"] if self.is_module else []), self.target, *self.arguments]


def trace(plan: Plan, err: TextIO) -> int:
    """The exit code: 1 if something was found, else the script's own."""
    teller = _Teller(plan, err)
    sightings = Sightings()
    look = sightings.look if plan.strict else HookedStep if plan.mode == "hooks" else TracedStep
    live = plan.strict or plan.mode in {"live", "hooks"}
    vitals = Vitals(teller.warn, log=StepLog(plan.log) if plan.log and ranks.rank() == 0 else None)
    session = Session(teller.found, look=look, live=live, vitals=vitals)
    teller.batch = lambda: session.batch
    session.install()
    try:
        code = _run(plan, session, err)
        left = None if teller.is_done else session.left_over()
    finally:
        session.remove()
    if left is not None:
        teller.tell(left, session.origin)
    if not session.activity and code == 0 and ranks.rank() == 0:
        err.write(f"nanlint: {NOTHING_SEEN}\n")
    if plan.strict:
        err.writelines(f"nanlint: {line}\n" for line in sightings.lines)
    return ExitCode.FINDINGS if teller.is_done or sightings.lines else code


def _run(plan: Plan, session: Session, err: TextIO) -> int:
    """Run the script as Python would, and end as it ends."""
    run = run_module if plan.is_module else run_script
    try:
        run(plan.target, plan.arguments, session.loops)
        _join_threads()
    except Found:
        return ExitCode.FINDINGS
    except NanlintError:
        raise
    except SystemExit as stop:
        return _exit_code(stop, err)
    except KeyboardInterrupt as error:
        _print(error, err)
        return INTERRUPTED
    except BaseException as error:  # noqa: BLE001 - the script's own; printed as Python prints it
        _print(error, err)
        session.explain(error)
        return 1
    return 0


def _exit_code(stop: SystemExit, err: TextIO) -> int:
    if stop.code is None or isinstance(stop.code, int):
        return stop.code or 0
    err.write(f"{stop.code}\n")
    return 1


def _print(error: BaseException, err: TextIO) -> None:
    """The traceback without our own frames."""
    sys.stdout.flush()
    traceback.print_exception(type(error), error, _without_ours(error.__traceback__), file=err)


def _without_ours(trace: TracebackType | None) -> TracebackType | None:
    ours = str(Path(__file__).parent.parent)
    while trace is not None and trace.tb_frame.f_code.co_filename.startswith((ours, "<frozen")):
        trace = trace.tb_next
    return trace


def _join_threads() -> None:
    """Python waits for these before it ends; so do we."""
    for thread in threading.enumerate():
        if thread is not threading.current_thread() and not thread.daemon:
            thread.join()


class _Teller:
    """Completes a diagnosis, agrees with the other ranks, prints it and ends the run."""

    def __init__(self, plan: Plan, err: TextIO) -> None:
        self.is_done = False
        self.batch: Callable[[], dict[str, torch.Tensor]] = dict
        """The tensors that the bad step was given."""
        self._plan, self._err = plan, err

    def warn(self, text: str) -> None:
        """Say what may be going wrong; the run goes on."""
        if ranks.rank() == 0:
            self._err.write(f"nanlint: warning: {text}\n")
            self._err.flush()

    def found(self, diagnosis: Diagnosis, origin: Event | None) -> None:
        """Tell it, and leave the script."""
        self.tell(diagnosis, origin)
        raise Found(diagnosis)

    def tell(self, diagnosis: Diagnosis, origin: Event | None) -> None:
        """Print the report of this rank, or a line that says which rank has it."""
        self.is_done = True
        sys.stdout.flush()
        folder = Path(self._plan.folder)
        repro = write_repro(diagnosis, origin, folder)
        diagnosis.repro = str(repro) if repro else ""
        add_finding(diagnosis)
        diagnosis.environment = _environment(self._plan.words)
        self._add_batch(diagnosis)
        all_found = ranks.exchange(diagnosis, folder)
        merged = ranks.merged(all_found)
        if merged.rank != ranks.rank():
            self._err.write(f"nanlint: rank {ranks.rank()}: {diagnosis.symptom}; rank {merged.rank} tells the origin\n")
        else:
            self._err.write(report_text(merged))
            self._write_report(merged)
        self._err.flush()
        ranks.finish(folder, is_teller=merged.rank == ranks.rank())

    def _add_batch(self, diagnosis: Diagnosis) -> None:
        batch = self.batch()
        diagnosis.batch = batch_rows.told(batch)
        if self._plan.save_batch and batch:
            complaint = batch_rows.save(batch, self._plan.save_batch)
            diagnosis.saved_batch = "" if complaint else self._plan.save_batch
            diagnosis.notes += [complaint] if complaint else []
        elif self._plan.save_batch:
            diagnosis.notes.append("no batch was saved: the step took no tensors from a loop or a loader")

    def _write_report(self, diagnosis: Diagnosis) -> None:
        if not self._plan.report:
            return
        from nanlint.trace.page import page  # noqa: PLC0415 - for those who ask for it

        path = Path(self._plan.report)
        text = json.dumps(diagnosis.to_json(), indent=1) if path.suffix == ".json" else page(diagnosis)
        try:
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(text, encoding="utf-8")
        except OSError as error:
            self._err.write(f"nanlint: cannot write {path}: {error.strerror}\n")
        else:
            self._err.write(f"  report: {path} ({headline(diagnosis)})\n")


def _environment(words: Sequence[str]) -> dict[str, str]:
    """Command, versions, device and date, as whoever reads the report a week later wants to know them."""
    return {
        "command": shlex.join(words),
        "date": datetime.now().astimezone().strftime("%Y-%m-%d %H:%M:%S %Z"),
        "device": ", ".join(_devices()),
        "torch": str(torch.__version__),
        "python": platform.python_version(),
        "nanlint": __version__,
        "system": platform.platform(),
    }


def _devices() -> list[str]:
    """The GPUs that torch sees, else the processor."""
    if torch.cuda.is_available():
        return [torch.cuda.get_device_name(index) for index in range(torch.cuda.device_count())]
    return [f"cpu ({platform.machine()}, {torch.get_num_threads()} threads)"]
