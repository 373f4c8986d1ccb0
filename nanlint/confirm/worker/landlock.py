"""Linux's own wall around a process: no file outside the scratch folder changes, no program starts, no TCP connection opens.

Audit hooks see what Python does; a library that writes a file in C++ they do not. Landlock is in the kernel since 5.13,
needs no privileges, and holds for the rest of the process and for all that it forks. Reading stays free.
"""

from __future__ import annotations

import ctypes
import os
import struct
import sys

# The numbers are the same on every architecture.
_CREATE, _ADD, _RESTRICT = 444, 445, 446
_ASK_VERSION, _PATH_BENEATH, _NO_NEW_PRIVILEGES = 1, 1, 38

_EXECUTE, _WRITE, _TRUNCATE = 1 << 0, 1 << 1, 1 << 14
# Removing (4, 5) and making files of every kind (6 to 12).
_CHANGE = sum(1 << bit for bit in range(4, 13))
_MOVE = 1 << 13
_TCP = 0b11  # to bind, to connect
_SCOPE = 0b11  # abstract sockets, signals
# Rights by the version that knows them first.
_MOVE_SINCE, _TRUNCATE_SINCE, _TCP_SINCE, _SCOPE_SINCE = 2, 3, 4, 6


# As the kernel's headers lay them out.
_RULESET = struct.Struct("=QQQ")  # files, network, scope; older versions read the beginning
_BENEATH = struct.Struct("=Qi")  # rights, folder


def version() -> int:
    """The version of Landlock that the kernel speaks; 0 if it has none or has it switched off."""
    if not sys.platform.startswith("linux"):
        return 0
    return max(0, int(_libc().syscall(_CREATE, None, 0, _ASK_VERSION)))


def confine(scratch: str) -> bool:
    """Let this process change nothing outside `scratch` and the device files, from now on; False if it cannot be done."""
    known = version()
    if not known:
        return False
    changes = _WRITE | _CHANGE
    changes |= _MOVE if known >= _MOVE_SINCE else 0
    changes |= _TRUNCATE if known >= _TRUNCATE_SINCE else 0
    network, scope = _TCP if known >= _TCP_SINCE else 0, _SCOPE if known >= _SCOPE_SINCE else 0
    wanted = _RULESET.pack(changes | _EXECUTE, network, scope)[: _size(known)]
    libc = _libc()
    rules = libc.syscall(_CREATE, wanted, len(wanted), 0)
    if rules < 0:
        return False
    try:
        # Shared memory and the drivers of GPUs are files below /dev.
        allowed = all(_allow(rules, folder, changes) for folder in (scratch, "/dev"))
        return bool(
            allowed and libc.prctl(_NO_NEW_PRIVILEGES, 1, 0, 0, 0) == 0 and libc.syscall(_RESTRICT, rules, 0) == 0
        )
    finally:
        os.close(rules)


def _size(known: int) -> int:
    """The length of the structure that this version reads."""
    return 24 if known >= _SCOPE_SINCE else 16 if known >= _TCP_SINCE else 8


def _allow(rules: int, folder: str, changes: int) -> bool:
    place = os.open(folder, os.O_PATH | os.O_CLOEXEC)
    try:
        rule = _BENEATH.pack(changes, place)
        return bool(_libc().syscall(_ADD, rules, _PATH_BENEATH, rule, 0) == 0)
    finally:
        os.close(place)


def _libc() -> ctypes.CDLL:
    return ctypes.CDLL(None, use_errno=True)
