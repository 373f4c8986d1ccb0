"""Many files in several processes. The parent hands each worker its list and reads one answer per file.

Answers come in the order of the list, so a worker that dies (a native crash, the out-of-memory killer) names its own culprit: the first file without an answer.
The rest of its list goes to a new worker. A worker whose parent is gone fails at its next answer and ends; nothing is left behind.
"""

from __future__ import annotations

import gc
import os
import signal
import sys
from collections.abc import Callable, Iterator, Sequence
from typing import TYPE_CHECKING, TypeVar

if TYPE_CHECKING:
    from multiprocessing.connection import Connection
    from multiprocessing.context import ForkContext, SpawnContext
    from multiprocessing.process import BaseProcess

Task = TypeVar("Task")
Answer = TypeVar("Answer")

# Each worker keeps every tree until its file is done and cycles are broken by hand; the collector would only cost.
_COLLECT_EVERY = 200


def run_in_workers(
    tasks: Sequence[Task], work: Callable[[Task], Answer], *, jobs: int
) -> Iterator[tuple[Task, Answer | None]]:
    """Each task with its answer as it comes in; None for one on which its worker died. Larger tasks should come first."""
    from multiprocessing import connection, get_context  # noqa: PLC0415 - 14 ms, for large runs only

    # A fork costs 3 ms and copies nothing; where threads or the system make it unsafe, a new interpreter is started.
    context = get_context("fork" if sys.platform == "linux" else "spawn")
    crews = [_Crew(context, work, list(tasks[number::jobs])) for number in range(jobs)]
    by_pipe = {crew.pipe: crew for crew in crews if crew.tasks}
    try:
        while by_pipe:
            for pipe in connection.wait(list(by_pipe)):
                crew = by_pipe.pop(pipe)  # type: ignore[index] # wait returns what it was given
                yield crew.next_answer()
                if crew.tasks:
                    by_pipe[crew.pipe] = crew
    finally:
        for crew in crews:
            crew.dismiss()


class _Crew:
    """One worker process at a time, and the tasks that it has not answered yet."""

    def __init__(self, context: ForkContext | SpawnContext, work: Callable[[Task], Answer], tasks: list[Task]) -> None:
        self._context = context
        self._work = work
        self.tasks = tasks
        self.pipe: Connection
        self._process: BaseProcess | None = None
        if tasks:
            self._hire()

    def _hire(self) -> None:
        self.pipe, far_end = self._context.Pipe(duplex=False)
        self._process = self._context.Process(target=_serve, args=(self._work, self.tasks, far_end), daemon=True)
        self._process.start()
        far_end.close()

    def next_answer(self) -> tuple[Task, Answer | None]:
        """The answer to the first open task; None if the worker died on it, and then a new one takes over the rest."""
        task = self.tasks.pop(0)
        try:
            return task, self.pipe.recv()
        except (EOFError, OSError):
            self.dismiss()
            if self.tasks:
                self._hire()
            return task, None

    def dismiss(self) -> None:
        """End the worker, whatever it is doing."""
        if self._process is not None:
            self.pipe.close()
            self._process.kill()
            self._process.join()
            self._process = None


def _serve(work: Callable[[Task], Answer], tasks: Sequence[Task], pipe: Connection) -> None:
    """The life of a worker: answer each task in turn. Ctrl-C is the parent's to handle."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    gc.disable()
    for number, task in enumerate(tasks, 1):
        answer = work(task)
        try:
            pipe.send(answer)
        except OSError:  # the parent is gone
            os._exit(1)
        if number % _COLLECT_EVERY == 0:
            gc.collect()
    pipe.close()


def cores() -> int:
    """How many processes can run at once here, container limits included where Python knows them."""
    if hasattr(os, "sched_getaffinity"):
        return len(os.sched_getaffinity(0))
    return os.cpu_count() or 1
