"""The parent's end of the child process: send jobs, wait for answers, and never die of what happens there.

Knows nothing of what a job means. `Harness.ask` may be called from several threads; the fork server runs that many
children at once. Where the system cannot fork, each job gets an interpreter of its own.
"""

from __future__ import annotations

import contextlib
import itertools
import json
import os
import re
import subprocess
import sys
import tempfile
import threading
import time
from concurrent.futures import Future
from concurrent.futures import TimeoutError as LateAnswer
from typing import TYPE_CHECKING, Any

from nanlint.confirm.answer_lines import LONGEST, TOO_LONG, answer_in, is_complete, walls_in
from nanlint.confirm.scratch import remove
from nanlint.errors import NanlintError

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence
    from types import TracebackType

Json = dict[str, Any]

CPU = "cpu"
JOBS_ON_CPU = 2
_WORKER = "nanlint.confirm.worker"
GRACE = 20.0
"""Seconds beyond a job's own limit after which the server itself is taken for dead."""
_STOP = 5.0
"""Seconds that the server gets to end its children and itself."""
_ENDED: Json = {"died": "the child process ended"}
_SECRET = re.compile(r"TOKEN(?!IZER)|SECRET|PASSW|CREDENTIAL|_AUTH|_KEY(_|$)|APIKEY", re.IGNORECASE)
"""In the names of variables that code which is tried has no business to know."""
_THREADS = {"OMP_NUM_THREADS": "1", "MKL_NUM_THREADS": "1", "PYTHONHASHSEED": "0"}


def environment() -> dict[str, str]:
    """The user's environment without keys, with single-threaded arithmetic and a fixed hash seed; the child finds this nanlint."""
    home = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))  # noqa: PTH100, PTH120 - a string for PYTHONPATH
    path = os.pathsep.join(filter(None, [home, os.environ.get("PYTHONPATH", "")]))
    known = {name: value for name, value in os.environ.items() if not _SECRET.search(name)}
    return {**known, **_THREADS, "PYTHONPATH": path, "PYTORCH_NVML_BASED_CUDA_CHECK": "1"}


class _Server:
    """A running fork server, and who waits for its answers."""

    def __init__(self, command: Sequence[str]) -> None:
        self.process = subprocess.Popen(
            command,
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            env=environment(),
            # Ctrl-C is for us; the server ends when its stdin does.
            start_new_session=True,
        )
        self.waiting: dict[int, Future[Json]] = {}
        self.lock = threading.Lock()
        self.scratch = ""
        self._listeners: list[threading.Thread] = []

    def greet(self) -> None:
        """Wait until torch is imported; tell what to do if it cannot be."""
        assert self.process.stdout is not None  # noqa: S101 - for mypy: the pipe was asked for
        assert self.process.stderr is not None  # noqa: S101 - same
        # Python may be set up to print something when it starts.
        line = next((line for line in self.process.stdout if line.startswith(b'{"ready"')), b"")
        if not line:
            raise NanlintError(why_no_child(self.process.stderr.read().decode("utf-8", "replace")))
        self.scratch = json.loads(line)["scratch"]
        # What torch warns of must not fill the pipe.
        self._hear(self.process.stderr.read)
        self._hear(self._listen)

    def _hear(self, listen: Callable[..., object]) -> None:
        thread = threading.Thread(target=listen, daemon=True)
        self._listeners.append(thread)
        thread.start()

    def _listen(self) -> None:
        """Hand each answer to whoever waits for it; when the server ends, tell everybody."""
        assert self.process.stdout is not None  # noqa: S101 - for mypy: the pipe was asked for
        for line in self.process.stdout:
            answer = json.loads(line)
            with self.lock:
                waiting = self.waiting.pop(answer["id"], None)
            if waiting is not None:
                waiting.set_result(answer)
        with self.lock:
            left, self.waiting = self.waiting, {}
        for waiting in left.values():
            waiting.set_result(_ENDED)

    def send(self, job: Json) -> Future[Json]:
        """The answer to come; raises OSError if the server has ended."""
        assert self.process.stdin is not None  # noqa: S101 - for mypy: the pipe was asked for
        answer: Future[Json] = Future()
        with self.lock:
            if self.process.poll() is not None:
                raise BrokenPipeError
            self.waiting[job["id"]] = answer
        self.process.stdin.write(json.dumps(job).encode() + b"\n")
        self.process.stdin.flush()
        return answer

    def stop(self) -> None:
        """End the server, its children, its threads and its folder."""
        with contextlib.suppress(OSError, ValueError):
            if self.process.stdin is not None:
                self.process.stdin.close()
        try:
            # One that has not greeted reads no stdin yet.
            self.process.wait(_STOP if self.scratch else 0)
        except subprocess.TimeoutExpired:
            self.process.kill()
            self.process.wait()
        for thread in self._listeners:
            thread.join()
        for pipe in (self.process.stdout, self.process.stderr):
            if pipe is not None:
                pipe.close()
        if self.scratch:
            # The server has done it, unless it was killed.
            remove(self.scratch)


class Harness:
    """A context manager around the child process; it is started by the first question."""

    def __init__(self, *, python: str = sys.executable, forks: bool | None = None, without: Sequence[str] = ()) -> None:
        """`without` names walls that are left out, to see what the others are worth."""
        self._python = python
        self._forks = hasattr(os, "fork") if forks is None else forks
        self._without = list(without)
        self._server: _Server | None = None
        self._numbers = itertools.count(1)
        self._lock = threading.Lock()
        self._is_stopped = False

    def __enter__(self) -> Harness:  # noqa: PYI034 - Self is not in Python 3.10
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.stop()

    def ask(self, job: Json) -> Json:
        """The child's answer; `{"died": reason}` if there is none."""
        job = {"without": self._without, **job}
        if not self._forks:
            return self._ask_alone(job)
        answer = self._asked(job)
        # The server may have died before it saw the job; one that it dies of twice is told as such.
        return self._asked(job) if answer == _ENDED and not self._is_stopped else answer

    def devices(self, wanted: str) -> list[str]:
        """The devices to go round, from what the user asked for and what there is."""
        if wanted == CPU:
            return [CPU]
        there = self.ask({"do": "devices", "device": "cuda", "timeout": 60.0}).get("devices", [])
        if wanted == "auto":
            return [name for name in there if name.startswith("cuda")] or [CPU]
        chosen = [name for name in there if name == wanted or name.partition(":")[0] == wanted]
        if not chosen:
            raise NanlintError(
                f"--device {wanted}: torch sees {', '.join(there) or 'no GPU'} here; use --device auto or cpu"
            )
        return chosen

    def at_a_time(self, devices: Sequence[str]) -> int:
        """How many findings to run side by side on these devices."""
        return JOBS_ON_CPU if list(devices) == [CPU] else len(devices)

    def folder(self) -> str:
        """A folder that is there as long as this child process, and goes with it whatever happens to us."""
        with self._lock:
            return self._running().scratch

    def _asked(self, job: Json) -> Json:
        with self._lock:
            if self._is_stopped:
                return {"died": "the run was stopped"}
            server, answer = self._sent({**job, "id": next(self._numbers)})
        try:
            return answer.result(job["timeout"] + GRACE)
        except LateAnswer:
            server.stop()
            return {"died": "the child process did not answer"}

    def _sent(self, job: Json) -> tuple[_Server, Future[Json]]:
        """The server that has the job, and the answer to come; a server that has died in the meantime is replaced."""
        if self._server is not None:
            try:
                return self._server, self._server.send(job)
            except OSError:
                self._server.stop()
                self._server = None
        server = self._running()
        return server, server.send(job)

    def _running(self) -> _Server:
        """The server; started if there is none, or none any more."""
        if self._server is not None and self._server.process.poll() is None:
            return self._server
        command = [self._python, "-m", _WORKER, *(["--no-namespaces"] if "namespaces" in self._without else [])]
        self._server = _Server(command)
        try:
            self._server.greet()
        except NanlintError:
            self._server.stop()
            raise
        return self._server

    def _ask_alone(self, job: Json) -> Json:
        with tempfile.TemporaryDirectory(prefix="nanlint-confirm-", ignore_cleanup_errors=True) as scratch:
            return self._ask_behind_walls({**job, "id": 0, "scratch": scratch})

    def _ask_behind_walls(self, job: Json) -> Json:
        command = [self._python, "-m", _WORKER, "--one"]
        with tempfile.TemporaryFile() as said, tempfile.TemporaryFile() as complaint:
            process = subprocess.Popen(command, stdin=subprocess.PIPE, stdout=said, stderr=complaint, env=environment())
            try:
                with process.stdin or contextlib.nullcontext(said) as to:
                    to.write(json.dumps(job).encode() + b"\n")
                code = _end_of(process, said.fileno(), job["timeout"] + GRACE)
            finally:
                process.kill()
                process.wait()
            said.seek(0)
            complaint.seek(0)
            lines, last_words = said.read(LONGEST + 1), complaint.read(LONGEST).decode("utf-8", "replace")
        if len(lines) > LONGEST:
            return {"died": TOO_LONG}
        if is_complete(lines):
            return answer_in(lines)
        if "No module named 'torch'" in last_words:
            raise NanlintError(why_no_child(last_words))
        why = f"stopped after {job['timeout']:g} s (--timeout)" if code is None else f"over with exit code {code}"
        return {"died": f"it was {why}", "walls": walls_in(lines)}

    def stop(self) -> None:
        """End the server and its children; who asks from now on is told so."""
        self._is_stopped = True
        if self._server is not None:
            self._server.stop()
        with self._lock:
            # One that was being started meanwhile.
            if self._server is not None:
                self._server.stop()


def _end_of(process: subprocess.Popen[bytes], said: int, seconds: float) -> int | None:
    """The exit code of a process; None if it takes too long or says too much."""
    until = time.monotonic() + seconds
    while process.poll() is None and time.monotonic() < until and os.fstat(said).st_size <= LONGEST:
        time.sleep(0.02)
    return process.poll()


def why_no_child(complaint: str) -> str:
    """One line on why the child process did not start, with the next step."""
    if "No module named 'torch'" in complaint:
        return "confirm runs the code, which needs torch: pip install 'nanlint[torch]'"
    last = complaint.strip().splitlines()[-1:] or ["it said nothing"]
    return f"confirm: the child process did not start: {last[0]}"
