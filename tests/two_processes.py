"""Two processes that train together, played by two threads: each backward and each all_reduce waits for the other one.

Real process groups need free ports and seconds to start; what matters here is only who waits for whom. Nobody is timed: one
who waits is alone as soon as the other has left, or has come for something else.
"""

from __future__ import annotations

import threading
from typing import TYPE_CHECKING, Any
from unittest import mock

import torch

from tests.loop_driver import NO_FAULT, RATE, Fault, FaultyLine, call_with, parts

if TYPE_CHECKING:
    from collections.abc import Callable

# Only a thread that died without a word would make the other one wait so long.
_SECONDS = 60.0


class Alone(Exception):  # noqa: N818 - it reads as what has happened
    """The other one does not come."""


class Meeting:
    """Where the two wait for each other."""

    def __init__(self) -> None:
        self._changed = threading.Condition()
        self._came: tuple[list[tuple[str, float]], list[tuple[str, float]]] = ([], [])
        self._left: set[int] = set()
        self._who = threading.local()

    def enter(self, who: int) -> None:
        """The thread at hand is process `who`, 0 or 1."""
        self._who.number = who

    def meet(self, purpose: str, value: float = 0.0) -> float:
        """Wait for the other one to come for the same purpose; the sum of both values."""
        own, others = self._came[self._who.number], self._came[1 - self._who.number]
        with self._changed:
            own.append((purpose, value))
            self._changed.notify_all()
            self._changed.wait_for(lambda: len(others) >= len(own) or bool(self._left), _SECONDS)
            if len(others) < len(own) or others[len(own) - 1][0] != purpose:
                raise Alone
            return value + others[len(own) - 1][1]

    def leave(self) -> None:
        """The process at hand is done; one who waits for it from now on waits in vain."""
        with self._changed:
            self._left.add(self._who.number)
            self._changed.notify_all()

    def all_reduce(self, tensor: torch.Tensor, *_: Any, **__: Any) -> None:
        """Sum a tensor of one element over both."""
        tensor.fill_(self.meet("all_reduce", float(tensor)))


def wait_for_each_other(loop: Callable[..., Any], fault: Fault) -> bool:
    """Whether one process ends up waiting for the other when only one of them meets `fault`."""
    meeting, stuck = Meeting(), []

    def train(who: int, own: Fault) -> None:
        meeting.enter(who)
        model = FaultyLine(own)
        model.meet = lambda: _met(meeting)
        optimizer = torch.optim.SGD(model.parameters(), lr=RATE)
        try:
            call_with(loop, parts(model, optimizer))
        except Alone:
            stuck.append(who)
        finally:
            meeting.leave()

    with mock.patch("torch.distributed.all_reduce", meeting.all_reduce):
        threads = [threading.Thread(target=train, args=pair) for pair in enumerate((fault, NO_FAULT))]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
    return bool(stuck)


def _met(meeting: Meeting) -> None:
    meeting.meet("backward")
