"""Limits on processor time, memory, file sizes and core dumps of this process, where the system knows such limits."""

from __future__ import annotations

import contextlib
import os
import signal

MEGABYTE = 1 << 20
LARGEST_FILE = 64 * MEGABYTE
"""No file in the scratch folder may grow beyond this, nor may what the code prints."""
MOST_FILES = 1024
"""Open at a time: what is written into a pipe or a pair of sockets is memory that no other limit counts."""


def end_first() -> None:
    """If the machine runs out of memory, this process ends first."""
    with contextlib.suppress(OSError), open("/proc/self/oom_score_adj", "w", encoding="ascii") as file:  # noqa: PTH123 - a pseudo file
        file.write("1000")


def limit(*, seconds: float, memory: int) -> bool:
    """Bound this process from now on, beyond what is in use already; False if the system knows no such limits."""
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
    _set(resource.RLIMIT_NOFILE, MOST_FILES, MOST_FILES)
    # All addresses: what can be written privately would not count shared memory, and stacks that grow.
    most = _addresses() + memory
    _set(resource.RLIMIT_AS, most, most)
    return True


def _set(kind: int, soft: int, hard: int) -> None:
    import resource  # noqa: PLC0415 - the caller knows that it is there

    _, ceiling = resource.getrlimit(kind)
    if ceiling != resource.RLIM_INFINITY:
        soft, hard = min(soft, ceiling), min(hard, ceiling)
    with contextlib.suppress(ValueError, OSError):
        resource.setrlimit(kind, (soft, hard))


def _addresses() -> int:
    """The address space that is in use already: torch's libraries, and what the driver of a GPU has set aside."""
    try:
        with open("/proc/self/statm", encoding="ascii") as file:  # noqa: PTH123 - a pseudo file
            return int(file.read().split()[0]) * os.sysconf("SC_PAGE_SIZE")
    except (OSError, ValueError):
        return 8 << 30
