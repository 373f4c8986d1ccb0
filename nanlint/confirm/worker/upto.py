"""A run that ends behind the flagged statement: for functions that reach it and fail on something after it.

Everything before the flagged line is run as it is, guards included; what the code does with the value afterwards is not
seen. So what fails here is reachable, and never confirmed.
"""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Callable
    from types import FrameType, TracebackType


class _Ended(BaseException):
    """The flagged statement has been run; no `except Exception` of the user's code stops it."""


class _Follower:
    """Watches one statement, and ends the run when control has left it."""

    def __init__(self, path: str, first: int, last: int) -> None:
        self.path, self.first, self.last = path, first, last
        self.inside: FrameType | None = None
        self.left: dict[str, Any] = {}

    def enter(self, frame: FrameType, _: str, __: object) -> Any:
        return self.follow if frame.f_code.co_filename == self.path else None

    def follow(self, frame: FrameType, event: str, argument: object) -> Any:
        is_here = self.first <= frame.f_lineno <= self.last
        if event == "line" and is_here:
            self.inside = frame
        elif self.inside is frame and (event == "line" or (event == "return" and argument is not None)):
            self.left = {**frame.f_locals, "returned": argument if event == "return" else None}
            raise _Ended
        return self.follow


def up_to(function: Callable[..., Any], path: str, first: int, last: int) -> Callable[..., Any]:
    """The function, run until the statement on these lines is done; it returns the variables at that point."""

    def run(*args: Any, **kwargs: Any) -> Any:
        follower = _Follower(path, first, last)
        before = sys.gettrace()
        sys.settrace(follower.enter)
        try:
            return function(*args, **kwargs)
        except _Ended:
            return follower.left
        finally:
            sys.settrace(before)

    return run


def fails_behind(trace: TracebackType | None, target: dict[str, Any]) -> bool:
    """Whether an error arose outside of the flagged statement, so that this one was run to its end."""
    while trace is not None:
        is_file = trace.tb_frame.f_code.co_filename == target["path"]
        if is_file and target["first"] <= trace.tb_lineno <= target["last"]:
            return False
        trace = trace.tb_next
    return True
