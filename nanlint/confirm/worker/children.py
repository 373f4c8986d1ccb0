"""A child per job: its start, its life behind the walls, its end, and what is told of it.

Nothing that a child says is believed (`answer_lines`), and nothing is left of it when it has ended.
"""

from __future__ import annotations

import contextlib
import json
import os
import signal
import subprocess
import sys
import tempfile
import time
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any

from nanlint.confirm.answer_lines import answer_in, is_complete, walls_in
from nanlint.confirm.scratch import remove
from nanlint.confirm.worker.sandbox import NAMESPACES, close_the_doors
from nanlint.confirm.worker.walls.limits import LARGEST_FILE, MEGABYTE

if TYPE_CHECKING:
    from collections.abc import Iterator

    from nanlint.confirm.worker.walls.namespaces import FirstProcess, ProcessNamespaces

Json = dict[str, Any]

TOLD_OUTPUT = 400
"""As much of what the code printed as a reason quotes."""
_GRACE = 0.5
"""Seconds that a process gets to end by itself once it has closed the pipe for its answer."""
_DRIVER = Path("/usr/bin/nvidia-modprobe")


@dataclass
class Child:
    """A running job."""

    job: Json
    pid: int
    pipe: int
    scratch: str
    output: int
    deadline: float
    first: FirstProcess | None
    said: bytearray = field(default_factory=bytearray)
    ended: str = ""
    """Why we ended it; empty if we did not."""


def start(job: Json, base: str, processes: ProcessNamespaces | None) -> Child:
    """A child that works on the job; raises OSError if there is no process, memory or place on the disk for it."""
    if str(job.get("device", "cpu")).startswith("cuda"):
        _make_device_files()
    scratch = tempfile.mkdtemp(prefix="job-", dir=base)
    first = None
    output = _output()
    read, write = os.pipe()
    try:
        if processes is not None and NAMESPACES not in job.get("without", ()):
            first = processes.begin()
        pid = os.fork()
    except OSError:
        for descriptor in (output, read, write):
            os.close(descriptor)
        if first is not None:
            first.end()
            first.wait()
        remove(scratch)
        raise
    if pid == 0:
        _live(job, scratch, write, output, in_namespaces=processes is not None, has_processes=first is not None)
    if processes is not None:
        processes.leave()
    os.close(write)
    return Child(job, pid, read, scratch, output, time.monotonic() + job["timeout"], first)


def _make_device_files() -> None:
    """NVIDIA's driver makes its device files through a program with privileges, which nothing behind the walls can start."""
    if _DRIVER.exists() and not Path("/dev/nvidia-uvm").exists():
        subprocess.run([_DRIVER, "-c", "0", "-u"], check=False, stdin=subprocess.DEVNULL, stderr=subprocess.DEVNULL)


def _output() -> int:
    """A file without a name for what the code prints; in memory where that can be had, for the disk may be full."""
    if hasattr(os, "memfd_create"):
        return os.memfd_create("output")
    with tempfile.TemporaryFile() as file:
        return os.dup(file.fileno())


def _live(  # noqa: PLR0913 - what the server has at hand
    job: Json, scratch: str, pipe: int, output: int, *, in_namespaces: bool, has_processes: bool
) -> None:
    """The life of a child: walls, job, answer, end. Never returns."""
    code = 1
    try:
        os.setsid()
        os.dup2(os.open(os.devnull, os.O_RDONLY), 0)
        _capture(output)
        _close_all_but(pipe)
        for line in answers(job, scratch, can_unshare=in_namespaces, has_processes=has_processes):
            _write(pipe, line)
        code = 0
    finally:
        os._exit(code)


def _close_all_but(pipe: int) -> None:
    """Close the ways to the parent and to other jobs, and all else that the server has open."""
    # The largest possible number would be a thousand million in some containers.
    for number in map(int, os.listdir("/dev/fd")):  # noqa: PTH208 - numbers
        if number > 2 and number != pipe:
            with contextlib.suppress(OSError):
                os.close(number)


def _write(pipe: int, line: Json) -> None:
    data = json.dumps(line).encode() + b"\n"
    while data:
        data = data[os.write(pipe, data) :]


def _capture(output: int) -> None:
    os.dup2(output, 1)
    os.dup2(output, 2)


def answers(job: Json, scratch: str, **walls: bool) -> Iterator[Json]:
    """The walls, when they stand, and the answer to the job, worked out behind them."""
    standing = close_the_doors(job, scratch, **walls)
    yield {"walls": standing.names}
    from nanlint.confirm.worker.job import answer_to  # noqa: PLC0415 - after the walls, where there is no fork

    answer = answer_to(job, no_device=standing.no_device)
    with contextlib.suppress(OSError, ValueError):
        sys.stdout.flush()
    yield {**answer, "blocked": standing.blocked}


def finish(child: Child) -> Json:
    """End the child and all that it started, clear away what it left, and tell what it said or why it said nothing."""
    status = None if child.ended or is_complete(child.said) else _status_soon(child.pid)
    for end in (os.killpg, os.kill):
        if status is None:
            with contextlib.suppress(ProcessLookupError, PermissionError):
                end(child.pid, signal.SIGKILL)
    if child.first is not None:
        child.first.end()
    if status is None:
        os.waitpid(child.pid, 0)
    if child.first is not None:
        child.first.wait()
    os.close(child.pipe)
    answer = _answer(child, status)
    os.close(child.output)
    remove(child.scratch)
    return answer


def _status_soon(pid: int) -> int | None:
    """How a process that has closed its pipe ended; None if it goes on."""
    until = time.monotonic() + _GRACE
    while time.monotonic() < until:
        ended, status = os.waitpid(pid, os.WNOHANG)
        if ended:
            return os.waitstatus_to_exitcode(status)
        time.sleep(0.002)
    return None


def _answer(child: Child, code: int | None) -> Json:
    walls = walls_in(child.said)
    if child.ended:
        return {"died": child.ended, "walls": walls}
    if is_complete(child.said):
        return answer_in(child.said)
    why = "it closed the pipe for its answer and went on" if code is None else death_in_words(code)
    return {"died": why, "output": _printed(child.output), "walls": walls}


def death_in_words(code: int) -> str:
    """How a process ended, for a reason that a user reads."""
    if code >= 0:
        return f"the code ended the process by itself (exit code {code})"
    name = signal.Signals(-code).name
    causes = {
        "SIGSEGV": "a crash in native code",
        "SIGKILL": "the system ended it, most likely out of memory",
        "SIGXCPU": "it used up its processor time",
        "SIGXFSZ": f"it printed more than {LARGEST_FILE // MEGABYTE} MB, or wrote as much into one file",
        "SIGSYS": "it made a system call in the manner of another machine",
        "SIGABRT": "native code gave up",
    }
    return f"the process died of {name}" + (f": {causes[name]}" if name in causes else "")


def _printed(output: int) -> str:
    """The end of what the code printed."""
    end = os.fstat(output).st_size
    begin = max(0, end - TOLD_OUTPUT * 4)
    return os.pread(output, end - begin, begin).decode("utf-8", "replace")[-TOLD_OUTPUT:].strip()
