"""What Linux offers and Python has no function for: system calls, prctl and capabilities, through libc."""

from __future__ import annotations

import ctypes
import os
import struct
import sys
from functools import cache
from typing import Any

IS_LINUX = sys.platform.startswith("linux")

_NO_NEW_PRIVILEGES, _AMBIENT, _CLEAR_AMBIENT = 38, 47, 4
PARENT_DEATH_SIGNAL = 1
_CAPABILITIES_VERSION = 0x20080522
READ_EVERY_FILE, ADMINISTER = 2, 21
"""The capabilities to read files of others, and to make namespaces."""


@cache
def libc() -> ctypes.CDLL:
    """The C library of this process."""
    return ctypes.CDLL(None, use_errno=True)


def checked(name: str, *args: Any) -> int:
    """The result of a function of libc; raises OSError if it is negative."""
    result = int(getattr(libc(), name)(*args))
    if result < 0:
        number = ctypes.get_errno()
        raise OSError(number, f"{name}: {os.strerror(number)}")
    return result


def control(option: int, *values: int) -> None:
    """`prctl`; raises OSError."""
    padded = [*values, 0, 0, 0, 0][:4]
    checked("prctl", option, *map(ctypes.c_ulong, padded))


def no_new_privileges() -> None:
    """No program that this process starts gets more rights than it has; what Landlock and seccomp ask for."""
    control(_NO_NEW_PRIVILEGES, 1)


def has_capability(number: int) -> bool:
    """Whether this process has a capability in effect."""
    with open("/proc/self/status", encoding="ascii", errors="replace") as file:  # noqa: PTH123 - a pseudo file
        lines = dict(line.split(":", 1) for line in file if ":" in line)
    return bool(int(lines["CapEff"], 16) >> number & 1)


def give_up_capabilities() -> None:
    """Keep no right of root but that to read: a repository may belong to somebody else."""
    control(_AMBIENT, _CLEAR_AMBIENT)
    kept = 1 << READ_EVERY_FILE if has_capability(READ_EVERY_FILE) else 0
    # Effective, permitted and inheritable, for numbers below 32 and from 32 on.
    checked("capset", struct.pack("=Ii", _CAPABILITIES_VERSION, 0), struct.pack("=6I", kept, kept, 0, 0, 0, 0))
