"""The fork server: imports torch once, then forks a child per job and passes its answer on.

Jobs come as lines of JSON through stdin, answers go as lines of JSON through the original stdout. The server itself
never runs the user's code, so whatever a child does to itself (a segfault, `os._exit`, an endless loop, memory without
end) is one answer with a reason, and the next job finds a healthy server. It starts no threads and touches no GPU: both
would be lost in a fork.
"""

from __future__ import annotations

import contextlib
import gc
import json
import os
import selectors
import shutil
import signal
import sys
import tempfile
import time
from dataclasses import dataclass, field
from typing import Any

from nanlint.confirm.worker.sandbox import close_the_doors, limit

Json = dict[str, Any]

MEMORY = 4 << 30
"""What a child may allocate beyond torch itself; jobs can say otherwise."""
TOLD_OUTPUT = 400
"""As much of what the code printed as a reason quotes."""


@dataclass
class _Child:
    """A running job."""

    job: Json
    pid: int
    pipe: int
    scratch: str
    deadline: float
    answer: bytearray = field(default_factory=bytearray)
    late: bool = False


def serve() -> int:
    """Answer jobs until stdin ends."""
    out = os.dup(1)
    null = os.open(os.devnull, os.O_RDWR)
    os.dup2(null, 1)
    _warm_up()
    os.write(out, b'{"ready": true}\n')
    _Server(out).run()
    return 0


def _warm_up() -> None:
    """Import what every job needs, and keep torch single-threaded: a pool of threads does not survive a fork."""
    import torch  # noqa: PLC0415 - the point of this process

    torch.set_num_threads(1)
    # Optimizers, checkpoints and half of torch.nn import it on first use: two seconds that each child would pay.
    import torch._dynamo  # noqa: PLC0415

    from nanlint.confirm.worker import job  # noqa: F401, PLC0415 - after torch

    # What is here stays: a collection in a child that visited it would copy every page of it.
    gc.collect()
    gc.freeze()


class _Server:
    """The loop over new jobs and running children."""

    def __init__(self, out: int) -> None:
        self.out = out
        self.selector = selectors.DefaultSelector()
        self.selector.register(0, selectors.EVENT_READ, None)
        self.pending = b""
        self.open = True
        self.children: dict[int, _Child] = {}

    def run(self) -> None:
        """Until stdin is closed and every child is done."""
        while self.open or self.children:
            for key, _ in self.selector.select(self._patience()):
                if key.data is None:
                    self._read_jobs()
                else:
                    self._read_answer(key.data)
            self._end_the_late()

    def _patience(self) -> float | None:
        if not self.children:
            return None
        return max(0.0, min(child.deadline for child in self.children.values()) - time.monotonic()) + 0.01

    def _read_jobs(self) -> None:
        data = os.read(0, 1 << 16)
        if not data:
            self.open = False
            self.selector.unregister(0)
            for child in self.children.values():
                _kill(child)
            return
        *lines, self.pending = (self.pending + data).split(b"\n")
        for line in lines:
            self._start(json.loads(line))

    def _start(self, job: Json) -> None:
        scratch = tempfile.mkdtemp(prefix="nanlint-confirm-")
        read, write = os.pipe()
        pid = os.fork()
        if pid == 0:
            os.close(read)
            _child(job, scratch, write)
        os.close(write)
        child = _Child(job, pid, read, scratch, time.monotonic() + job["timeout"])
        self.children[read] = child
        self.selector.register(read, selectors.EVENT_READ, child)

    def _read_answer(self, child: _Child) -> None:
        data = os.read(child.pipe, 1 << 16)
        if data:
            child.answer += data
            return
        self.selector.unregister(child.pipe)
        os.close(child.pipe)
        del self.children[child.pipe]
        # A child that has closed its pipe and lives on holds nothing we wait for.
        _kill(child)
        _, status = os.waitpid(child.pid, 0)
        answer = _answer_of(child, status)
        shutil.rmtree(child.scratch, ignore_errors=True)
        os.write(self.out, json.dumps({"id": child.job["id"], **answer}).encode() + b"\n")

    def _end_the_late(self) -> None:
        now = time.monotonic()
        for child in self.children.values():
            if now > child.deadline and not child.late:
                child.late = True
                _kill(child)


def _kill(child: _Child) -> None:
    """End the child and what it may have started."""
    for end in (os.killpg, os.kill):
        with contextlib.suppress(ProcessLookupError, PermissionError):
            end(child.pid, signal.SIGKILL)


def _answer_of(child: _Child, status: int) -> Json:
    """What the child said, or why it said nothing."""
    if child.answer.endswith(b"\n"):
        answer: Json = json.loads(child.answer)
        return answer
    if child.late:
        return {"died": f"it was stopped after {child.job['timeout']:g} s (--timeout)"}
    return {"died": death_in_words(os.waitstatus_to_exitcode(status)), "output": printed(child.scratch)}


def death_in_words(code: int) -> str:
    """How a process ended, for a reason that a user reads."""
    if code >= 0:
        return f"the code ended the process by itself (exit code {code})"
    name = signal.Signals(-code).name
    causes = {
        "SIGSEGV": "a crash in native code",
        "SIGKILL": "the system ended it, most likely out of memory",
        "SIGXCPU": "it used up its processor time",
        "SIGABRT": "native code gave up",
    }
    return f"the process died of {name}" + (f": {causes[name]}" if name in causes else "")


def printed(scratch: str) -> str:
    """The end of what the code printed."""
    try:
        with open(os.path.join(scratch, "output.txt"), encoding="utf-8", errors="replace") as file:  # noqa: PTH118, PTH123 - no pathlib in the child
            return file.read()[-TOLD_OUTPUT:].strip()
    except OSError:
        return ""


def _child(job: Json, scratch: str, pipe: int) -> None:
    """The life of a child: walls, job, answer, end. Never returns."""
    code = 1
    try:
        os.setsid()
        null = os.open(os.devnull, os.O_RDONLY)
        os.dup2(null, 0)
        answer = walled(job, scratch)
        with os.fdopen(pipe, "wb", closefd=False) as out:
            out.write(json.dumps(answer).encode() + b"\n")
        code = 0
    finally:
        os._exit(code)


def walled(job: Json, scratch: str) -> Json:
    """The answer to the job, worked out inside the sandbox with all output captured."""
    output = os.open(os.path.join(scratch, "output.txt"), os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o600)  # noqa: PTH118 - no pathlib in the child
    os.dup2(output, 1)
    os.dup2(output, 2)
    # On a GPU the driver maps far more than it uses, so its own limit holds there.
    on_cpu = str(job.get("device", "cpu")) == "cpu"
    limit(seconds=job["timeout"], memory=job.get("memory", MEMORY) if on_cpu else 0)
    guard = close_the_doors(scratch, on_cpu=on_cpu)
    from nanlint.confirm.worker.job import answer_to  # noqa: PLC0415 - after the walls, where there is no fork

    answer = answer_to(job, guard)
    guard.active = False
    sys.stdout.flush()
    return {**answer, "blocked": guard.blocked[:3]}


def serve_one() -> int:
    """Answer the one job on stdin: for systems that cannot fork."""
    out = os.dup(1)
    job = json.loads(sys.stdin.readline())
    import torch  # noqa: PLC0415 - the point of this process

    torch.set_num_threads(1)
    # Behind the walls nobody can remove a folder of /tmp any more; the parent made it and does.
    answer = walled(job, job["scratch"])
    os.write(out, json.dumps({"id": job["id"], **answer}).encode() + b"\n")
    return 0
