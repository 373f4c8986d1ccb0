"""The fork server: imports torch once, then forks a child per job and passes its answer on.

Jobs come as lines of JSON through stdin, answers go as lines of JSON through the original stdout. The server itself
never runs the user's code, so whatever a child does to itself (a segfault, `os._exit`, an endless loop, memory without
end) is one answer with a reason, and the next job finds a healthy server. It starts no threads and touches no GPU: both
would be lost in a fork.
"""

from __future__ import annotations

import gc
import json
import os
import selectors
import sys
import tempfile
import time
from typing import Any

from nanlint.confirm.answer_lines import LONGEST, TOO_LONG, is_complete
from nanlint.confirm.scratch import remove
from nanlint.confirm.worker.children import Child, answers, finish, start
from nanlint.confirm.worker.walls.namespaces import ProcessNamespaces, move_into

Json = dict[str, Any]


def serve() -> int:
    """Answer jobs until stdin ends."""
    # Before torch is imported: it may start threads, with which there is no way into a namespace.
    processes = ProcessNamespaces() if "--no-namespaces" not in sys.argv and move_into() else None
    out = os.dup(1)
    null = os.open(os.devnull, os.O_RDWR)
    os.dup2(null, 1)
    base = tempfile.mkdtemp(prefix="nanlint-confirm-")
    # Where torch makes a folder for what it compiles.
    os.environ["TORCHINDUCTOR_CACHE_DIR"] = base
    try:
        _warm_up()
        os.write(out, json.dumps({"ready": True, "scratch": base}).encode() + b"\n")
        _Server(out, base, processes).run()
    finally:
        remove(base)
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

    def __init__(self, out: int, base: str, processes: ProcessNamespaces | None) -> None:
        self.out = out
        self.base = base
        self.processes = processes
        self.selector = selectors.DefaultSelector()
        self.selector.register(0, selectors.EVENT_READ, None)
        self.pending = b""
        self.open = True
        self.children: dict[int, Child] = {}

    def run(self) -> None:
        """Until stdin is closed."""
        while self.open:
            for key, _ in self.selector.select(self._patience()):
                if key.data is None:
                    self._read_jobs()
                else:
                    self._read_answer(key.data)
            now = time.monotonic()
            for child in list(self.children.values()):
                if now > child.deadline:
                    self._end(child, f"it was stopped after {child.job['timeout']:g} s (--timeout)")
        for child in list(self.children.values()):
            self._end(child, "the run was stopped")

    def _patience(self) -> float | None:
        if not self.children:
            return None
        return max(0.0, min(child.deadline for child in self.children.values()) - time.monotonic()) + 0.01

    def _read_jobs(self) -> None:
        data = os.read(0, 1 << 16)
        self.open = bool(data)
        *lines, self.pending = (self.pending + data).split(b"\n")
        for line in lines:
            self._start(json.loads(line))

    def _start(self, job: Json) -> None:
        try:
            child = start(job, self.base, self.processes)
        except OSError as error:
            # This job cannot be run; the next one may.
            self._tell(job, {"died": f"the child process could not be started: {error.strerror}"})
            return
        self.children[child.pipe] = child
        self.selector.register(child.pipe, selectors.EVENT_READ, child)

    def _read_answer(self, child: Child) -> None:
        data = os.read(child.pipe, 1 << 16)
        child.said += data
        if len(child.said) > LONGEST:
            self._end(child, TOO_LONG)
        elif not data or is_complete(child.said):
            self._end(child)

    def _end(self, child: Child, why: str = "") -> None:
        self.selector.unregister(child.pipe)
        del self.children[child.pipe]
        child.ended = why
        self._tell(child.job, finish(child))

    def _tell(self, job: Json, answer: Json) -> None:
        line = json.dumps({**answer, "id": job["id"]}).encode() + b"\n"
        try:
            while line:
                line = line[os.write(self.out, line) :]
        except BrokenPipeError:
            self.open = False


def serve_one() -> int:
    """Answer the one job on stdin, in two lines as a child of the server does: for systems that cannot fork."""
    out = os.dup(1)
    job = json.loads(sys.stdin.readline())
    import torch  # noqa: PLC0415 - the point of this process

    torch.set_num_threads(1)
    with open(os.path.join(job["scratch"], "output.txt"), "wb") as output:  # noqa: PTH118, PTH123 - no pathlib in the child
        os.dup2(output.fileno(), 1)
        os.dup2(output.fileno(), 2)
    # Behind the walls nobody can remove a folder of /tmp any more; the parent made it and does.
    for line in answers(job, job["scratch"], can_unshare=False):
        os.write(out, json.dumps(line).encode() + b"\n")
    return 0
