"""Many tasks in several processes. The parent hands each worker its list and reads one answer per task.

Answers come in the order of the list, so a worker that dies (a native crash, the out-of-memory killer) names its own
culprit: the first task without an answer. The rest of its list goes to a new worker. A worker whose parent is gone
notices after the task at hand and ends; nothing is left behind.
"""

from __future__ import annotations

import os
import signal
import sys
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any, Generic, TypeVar

from nanlint.engine.collector import without_collector

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence
    from multiprocessing.connection import Connection
    from multiprocessing.context import BaseContext
    from multiprocessing.process import BaseProcess

Task = TypeVar("Task")
Answer = TypeVar("Answer")


def run_in_workers(
    tasks: Sequence[Task],
    work: Callable[[Task], Answer],
    *,
    jobs: int,
    start_method: str = "",
    before_fork: Callable[[], object] = lambda: None,
) -> Iterator[tuple[Task, Answer | None]]:
    """Each task with its answer as it comes in; None for one on which its worker died. Larger tasks should come first.

    `start_method` is one of multiprocessing's; by default the cheapest that is safe here. All but "fork" pickle `work`
    and the tasks. `before_fork` loads what each worker would otherwise load for itself.
    """
    from multiprocessing import connection, get_context  # noqa: PLC0415 - 14 ms, for large runs only

    method = start_method or _start_method()
    if method == "fork":
        before_fork()
    context = get_context(method)
    crews = [_Crew(context, work, list(tasks[number::jobs])) for number in range(min(jobs, len(tasks)))]
    by_pipe: dict[object, _Crew[Task, Answer]] = {}
    try:
        for crew in crews:
            by_pipe[crew.hire()] = crew
        while by_pipe:
            for pipe in connection.wait([crew.pipe for crew in by_pipe.values()]):
                crew = by_pipe.pop(pipe)
                yield crew.next_answer()
                if crew.tasks:
                    by_pipe[crew.pipe] = crew
    finally:
        for crew in crews:
            crew.dismiss()


def _start_method() -> str:
    """A fork takes 3 ms and copies nothing; where threads or the system make it unsafe, a new interpreter starts."""
    from threading import active_count  # noqa: PLC0415 - multiprocessing has imported it

    return "fork" if sys.platform == "linux" and active_count() == 1 else "spawn"


class _Crew(Generic[Task, Answer]):
    """One worker process at a time, and the tasks that it has not answered yet."""

    def __init__(self, context: BaseContext, work: Callable[[Task], Answer], tasks: list[Task]) -> None:
        self._context: Any = context  # a BaseContext has no Process; each of its kinds has its own
        self._work = work
        self.tasks = tasks
        self.pipe: Connection
        self._process: BaseProcess | None = None

    def hire(self) -> Connection:
        """Start a worker on the open tasks; its answers come through the pipe."""
        self.pipe, far_end = self._context.Pipe(duplex=False)
        args = (self._work, self.tasks, far_end, os.getpid())
        with _no_interrupt():
            self._process = self._context.Process(target=_serve, args=args, daemon=True)
            self._process.start()
        far_end.close()
        return self.pipe

    def next_answer(self) -> tuple[Task, Answer | None]:
        """The answer to the first open task; None if the worker died on it, and then a new one takes over the rest."""
        task = self.tasks.pop(0)
        try:
            return task, self.pipe.recv()
        except (EOFError, OSError):
            self.dismiss()
            if self.tasks:
                self.hire()
            return task, None

    def dismiss(self) -> None:
        """End the worker, whatever it is doing."""
        if self._process is not None:
            self.pipe.close()
            self._process.kill()
            self._process.join()
            self._process = None


@contextmanager
def _no_interrupt() -> Iterator[None]:
    """Hold Ctrl-C back while a worker starts: it must not meet one before it has said that it ignores them."""
    if not hasattr(signal, "pthread_sigmask"):
        yield
        return
    before = signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGINT})
    try:
        yield
    finally:
        signal.pthread_sigmask(signal.SIG_SETMASK, before)


def _serve(work: Callable[[Task], Answer], tasks: Sequence[Task], pipe: Connection, parent: int) -> None:
    """The life of a worker: answer each task in turn. Ctrl-C is the parent's to handle."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    with without_collector() as collect:
        for number, task in enumerate(tasks, 1):
            answer = work(task)
            try:
                pipe.send(answer)
            except OSError:  # the parent is gone
                os._exit(1)
            if os.getppid() != parent:  # gone as well, but a sister worker still holds its end of the pipe
                os._exit(1)
            collect(number)
    pipe.close()


def cores() -> int:
    """How many processes can run at once here, container limits included where Python knows them."""
    if hasattr(os, "sched_getaffinity"):
        return len(os.sched_getaffinity(0))
    return os.cpu_count() or 1
