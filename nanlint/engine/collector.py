"""Checking without the garbage collector, which costs a tenth of the time and finds little.

What a file leaves behind is freed when it is done: `ModuleFacts.forget` breaks its cycles by hand. What libraries leave
is collected now and then.
"""

from __future__ import annotations

import gc
from contextlib import contextmanager
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

# Going through all that is known takes as long as checking dozens of files, and a thousand of them leave a megabyte or two.
_COLLECT_EVERY = 5000


@contextmanager
def without_collector() -> Iterator[Callable[[int], None]]:
    """Switch the collector off; the function that one gets is to be told how many files are done."""
    enabled = gc.isenabled()
    gc.disable()
    try:
        yield _collect_now_and_then
    finally:
        if enabled:
            gc.enable()


def _collect_now_and_then(done: int) -> None:
    if done % _COLLECT_EVERY == 0:
        gc.collect()
