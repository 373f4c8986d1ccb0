"""Two processes that train together, played by two threads: each backward and each all_reduce waits for the other one.

Real process groups need free ports and seconds to start; what matters here is only who waits for whom.
"""

from __future__ import annotations

import threading
from typing import TYPE_CHECKING, Any
from unittest import mock

import torch

from nanlint.confirm.worker.loops import NO_FAULT, RATE, Fault, FaultyLine, call_with, parts

if TYPE_CHECKING:
    from collections.abc import Callable

PATIENCE = 1.0
"""Seconds after which a process that waits for another one is called stuck."""


class Meeting:
    """Where the two wait for each other."""

    def __init__(self) -> None:
        self._barrier = threading.Barrier(2)
        self._lock = threading.Lock()
        self._sum = 0.0
        self.purposes: list[tuple[str, str]] = []
        self._here: dict[int, str] = {}

    def meet(self, purpose: str) -> None:
        """Wait for the other one, and see to it that both are here for the same thing."""
        with self._lock:
            self._here[threading.get_ident()] = purpose
        self._barrier.wait(PATIENCE)
        if len(set(self._here.values())) > 1:
            self._barrier.abort()
        self._barrier.wait(PATIENCE)

    def all_reduce(self, tensor: torch.Tensor, *_: Any, **__: Any) -> None:
        """Sum a tensor of one element over both."""
        with self._lock:
            self._sum += float(tensor)
        self.meet("all_reduce")
        tensor.fill_(self._sum)
        self._barrier.wait(PATIENCE)
        self._sum = 0.0
        self._barrier.wait(PATIENCE)

    def leave(self) -> None:
        """One is done; whoever waits from now on waits in vain."""
        self._barrier.abort()


def wait_for_each_other(loop: Callable[..., Any], fault: Fault) -> bool:
    """Whether one process ends up waiting for the other when only one of them meets `fault`."""
    meeting, stuck = Meeting(), []
    finished = threading.Barrier(2)

    def train(own: Fault) -> None:
        model = FaultyLine(own)
        model.meet = lambda: meeting.meet("backward")
        optimizer = torch.optim.SGD(model.parameters(), lr=RATE)
        try:
            call_with(loop, parts(model, optimizer))
            # Both must come to the end of their loops, and after as many meetings.
            finished.wait(PATIENCE)
        except threading.BrokenBarrierError:
            stuck.append(own)

    with mock.patch("torch.distributed.all_reduce", meeting.all_reduce):
        threads = [threading.Thread(target=train, args=(own,)) for own in (fault, NO_FAULT)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
    return bool(stuck)
