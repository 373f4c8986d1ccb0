"""Limits on processor time, memory, file sizes and core dumps of this process, where the system knows such limits."""

from __future__ import annotations

import contextlib
import os
import signal

MEGABYTE = 1 << 20
LARGEST_FILE = 64 * MEGABYTE
"""No file in the scratch folder may grow beyond this, nor may what the code prints."""


def limit(*, seconds: float, memory: int, on_gpu: bool = False) -> bool:
    """Bound this process from now on; False if the system knows no such limits."""
    try:
        import resource  # noqa: PLC0415 - not on Windows, where the parent's clock is the only limit
    except ImportError:
        return False
    whole = int(seconds) + 2
    _set(resource.RLIMIT_CPU, whole, whole + 1)
    _set(resource.RLIMIT_CORE, 0, 0)
    _set(resource.RLIMIT_FSIZE, LARGEST_FILE, LARGEST_FILE)
    # Python ignores it, and would print without end.
    signal.signal(signal.SIGXFSZ, signal.SIG_DFL)
    # The driver of a GPU maps far more than it uses, so that only what can be written is counted there.
    kind, used = (resource.RLIMIT_DATA, _pages(5)) if on_gpu else (resource.RLIMIT_AS, _pages(0))
    _set(kind, used + memory, used + memory)
    with contextlib.suppress(OSError), open("/proc/self/oom_score_adj", "w", encoding="ascii") as file:  # noqa: PTH123 - a pseudo file
        # If the machine runs out of memory, this process ends first.
        file.write("1000")
    return True


def _set(kind: int, soft: int, hard: int) -> None:
    import resource  # noqa: PLC0415 - the caller knows that it is there

    _, ceiling = resource.getrlimit(kind)
    if ceiling != resource.RLIM_INFINITY:
        soft, hard = min(soft, ceiling), min(hard, ceiling)
    with contextlib.suppress(ValueError, OSError):
        resource.setrlimit(kind, (soft, hard))


def _pages(column: int) -> int:
    """The address space that is in use already, mostly by torch's libraries: all of it (0), or what can be written (5)."""
    try:
        with open("/proc/self/statm", encoding="ascii") as file:  # noqa: PTH123 - a pseudo file
            return int(file.read().split()[column]) * os.sysconf("SC_PAGE_SIZE")
    except (OSError, ValueError):
        return 8 << 30
