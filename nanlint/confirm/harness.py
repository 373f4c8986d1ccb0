"""The parent's end of the child process: send jobs, wait for answers, and never die of what happens there.

Knows nothing of what a job means. `Harness.ask` may be called from several threads; the fork server runs that many
children at once. Where the system cannot fork, each job gets an interpreter of its own.
"""

from __future__ import annotations

import contextlib
import itertools
import json
import os
import subprocess
import sys
import tempfile
import threading
from concurrent.futures import Future
from concurrent.futures import TimeoutError as LateAnswer
from typing import TYPE_CHECKING, Any

from nanlint.errors import NanlintError

if TYPE_CHECKING:
    from collections.abc import Callable
    from types import TracebackType

Json = dict[str, Any]

_WORKER = "nanlint.confirm.worker"
GRACE = 20.0
"""Seconds beyond a job's own limit after which the server itself is taken for dead."""
_THREADS = {"OMP_NUM_THREADS": "1", "MKL_NUM_THREADS": "1", "PYTHONHASHSEED": "0"}


def environment() -> dict[str, str]:
    """The user's environment, with single-threaded arithmetic and a fixed hash seed; the child finds this nanlint."""
    home = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))  # noqa: PTH100, PTH120 - a string for PYTHONPATH
    path = os.pathsep.join(filter(None, [home, os.environ.get("PYTHONPATH", "")]))
    return {**os.environ, **_THREADS, "PYTHONPATH": path, "PYTORCH_NVML_BASED_CUDA_CHECK": "1"}


class Harness:
    """A context manager around the child process; it is started by the first question."""

    def __init__(self, *, python: str = sys.executable, forks: bool | None = None) -> None:
        self._python = python
        self._forks = hasattr(os, "fork") if forks is None else forks
        self._server: subprocess.Popen[bytes] | None = None
        self._waiting: dict[int, Future[Json]] = {}
        self._numbers = itertools.count(1)
        self._lock = threading.Lock()
        self._listeners: list[threading.Thread] = []

    def __enter__(self) -> Harness:  # noqa: PYI034 - Self is not in Python 3.10
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.stop()

    def ask(self, job: Json) -> Json:
        """The child's answer; `{"died": reason}` if there is none."""
        if not self._forks:
            return self._ask_alone(job)
        with self._lock:
            server = self._running()
            number = next(self._numbers)
            answer: Future[Json] = Future()
            self._waiting[number] = answer
            assert server.stdin is not None  # noqa: S101 - for mypy: the pipe was asked for
            server.stdin.write(json.dumps({**job, "id": number}).encode() + b"\n")
            server.stdin.flush()
        try:
            return answer.result(job["timeout"] + GRACE)
        except LateAnswer:
            self.stop()
            return {"died": "the child process did not answer"}

    def _running(self) -> subprocess.Popen[bytes]:
        """The server, started if it is not running; held by the lock."""
        if self._server is None or self._server.poll() is not None:
            self._server = subprocess.Popen(
                [self._python, "-m", _WORKER],
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                stderr=subprocess.PIPE,
                env=environment(),
                # Ctrl-C is for us; the server ends when its stdin does.
                start_new_session=True,
            )
            self._greet(self._server)
            self._hear(self._listen, self._server)
        return self._server

    def _greet(self, server: subprocess.Popen[bytes]) -> None:
        """Wait until torch is imported; tell what to do if it cannot be."""
        assert server.stdout is not None  # noqa: S101 - for mypy: the pipe was asked for
        assert server.stderr is not None  # noqa: S101 - same
        if server.stdout.readline():
            # What torch warns of must not fill the pipe.
            self._hear(server.stderr.read)
            return
        raise NanlintError(why_no_child(server.stderr.read().decode("utf-8", "replace")))

    def _hear(self, listen: Callable[..., object], *args: object) -> None:
        thread = threading.Thread(target=listen, args=args, daemon=True)
        self._listeners.append(thread)
        thread.start()

    def _listen(self, server: subprocess.Popen[bytes]) -> None:
        """Hand each answer to whoever waits for it; when the server ends, tell everybody."""
        assert server.stdout is not None  # noqa: S101 - for mypy: the pipe was asked for
        for line in server.stdout:
            answer = json.loads(line)
            waiting = self._waiting.pop(answer["id"], None)
            if waiting is not None:
                waiting.set_result(answer)
        for number in list(self._waiting):
            waiting = self._waiting.pop(number, None)
            if waiting is not None and not waiting.done():
                waiting.set_result({"died": "the child process ended"})

    def _ask_alone(self, job: Json) -> Json:
        with tempfile.TemporaryDirectory(prefix="nanlint-confirm-", ignore_cleanup_errors=True) as scratch:
            return self._ask_behind_walls({**job, "id": 0, "scratch": scratch})

    def _ask_behind_walls(self, job: Json) -> Json:
        command = [self._python, "-m", _WORKER, "--one"]
        text = json.dumps(job).encode() + b"\n"
        try:
            done = subprocess.run(
                command, input=text, capture_output=True, timeout=job["timeout"] + GRACE, check=False, env=environment()
            )
        except subprocess.TimeoutExpired:
            return {"died": f"it was stopped after {job['timeout']:g} s (--timeout)"}
        if done.stdout.endswith(b"\n"):
            answer: Json = json.loads(done.stdout)
            return answer
        if b"No module named 'torch'" in done.stderr:
            raise NanlintError(why_no_child(done.stderr.decode("utf-8", "replace")))
        return {"died": f"the process ended with exit code {done.returncode}"}

    def stop(self) -> None:
        """End the server and its children."""
        server, self._server = self._server, None
        if server is None:
            return
        with contextlib.suppress(BrokenPipeError):
            if server.stdin is not None:
                server.stdin.close()
        try:
            server.wait(5)
        except subprocess.TimeoutExpired:
            server.kill()
            server.wait()
        for thread in self._listeners:
            thread.join(1)
        for pipe in (server.stdout, server.stderr):
            if pipe is not None:
                pipe.close()


def why_no_child(complaint: str) -> str:
    """One line on why the child process did not start, with the next step."""
    if "No module named 'torch'" in complaint:
        return "confirm runs the code, which needs torch: pip install 'nanlint[torch]'"
    last = complaint.strip().splitlines()[-1:] or ["it said nothing"]
    return f"confirm: the child process did not start: {last[0]}"
