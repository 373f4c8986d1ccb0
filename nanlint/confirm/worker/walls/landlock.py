"""Landlock: no file outside the scratch folder changes, no secret is read, no program starts, no TCP connection opens.

Audit hooks see what Python does; a library that writes a file in C++ they do not. Landlock is in the kernel since 5.13,
needs no privileges, and holds for the rest of the process and for all that it forks. It knows what may be done, not what
may not: reading is allowed for everything beside the secrets.
"""

from __future__ import annotations

import contextlib
import os
import stat
import struct
from pathlib import Path
from typing import TYPE_CHECKING

from nanlint.confirm.worker.walls import kernel
from nanlint.confirm.worker.walls.hidden_files import DEVICES, OWN_THREADS, secrets

if TYPE_CHECKING:
    from collections.abc import Iterator

# The numbers are the same on every architecture.
_CREATE, _ADD, _RESTRICT = 444, 445, 446
_ASK_VERSION, _PATH_BENEATH = 1, 1

_EXECUTE, _WRITE, _READ, _TRUNCATE, _DEVICE = 1 << 0, 1 << 1, 1 << 2, 1 << 14, 1 << 15
# Removing (4, 5) and making files of every kind (6 to 12).
_CHANGE = sum(1 << bit for bit in range(4, 13))
_MOVE = 1 << 13
_TCP = 0b11  # to bind, to connect
_SCOPE = 0b11  # abstract sockets, signals
# Rights by the version that knows them first.
_MOVE_SINCE, _TRUNCATE_SINCE, _TCP_SINCE, _DEVICE_SINCE, _SCOPE_SINCE = 2, 3, 4, 5, 6
_SHARED_MEMORY = "/dev/shm"  # noqa: S108 - where it is looked for

# As the kernel's headers lay them out.
_RULESET = struct.Struct("=QQQ")  # files, network, scope; older versions read the beginning
_BENEATH = struct.Struct("=Qi")  # rights, folder


def version() -> int:
    """The version of Landlock that the kernel speaks; 0 if it has none or has it switched off."""
    if not kernel.IS_LINUX:
        return 0
    return max(0, int(kernel.libc().syscall(_CREATE, None, 0, _ASK_VERSION)))


def confine(scratch: str, *, devices: tuple[str, ...] = ()) -> bool:
    """Let this process change nothing outside `scratch`, shared memory and the devices; False if it cannot be done."""
    known = version()
    if not known:
        return False
    to_files = _WRITE | _READ | (_TRUNCATE if known >= _TRUNCATE_SINCE else 0)
    to_files |= _DEVICE if known >= _DEVICE_SINCE else 0
    everything = to_files | _CHANGE | (_MOVE if known >= _MOVE_SINCE else 0)
    network, scope = _TCP if known >= _TCP_SINCE else 0, _SCOPE if known >= _SCOPE_SINCE else 0
    wanted = _RULESET.pack(everything | _EXECUTE, network, scope)[: _size(known)]
    try:
        rules = kernel.checked("syscall", _CREATE, wanted, len(wanted), 0)
    except OSError:
        return False
    try:
        for place in (scratch, _SHARED_MEMORY):
            _allow(rules, place, everything)
        for place in (*DEVICES, *devices):
            _allow(rules, place, to_files)
        _allow(rules, OWN_THREADS, to_files)
        for place in _readable():
            _allow(rules, place, _READ)
        kernel.no_new_privileges()
        kernel.checked("syscall", _RESTRICT, rules, 0)
    except OSError:
        return False
    finally:
        os.close(rules)
    return True


def _readable() -> Iterator[str]:
    """The largest folders that hold none of the secrets, and the files beside them; no devices."""
    closed = {*secrets(), "/dev"}
    return _beside("/", closed, {str(parent) for path in closed for parent in Path(path).parents})


def _beside(folder: str, closed: set[str], above: set[str]) -> Iterator[str]:
    try:
        entries = list(os.scandir(folder))
    except OSError:
        # What cannot be listed may still hold the project.
        yield folder
        return
    for entry in entries:
        if entry.path in above:
            yield from _beside(entry.path, closed, above)
        elif entry.path not in closed and not entry.is_symlink():
            yield entry.path


def _size(known: int) -> int:
    """The length of the structure that this version reads."""
    return 24 if known >= _SCOPE_SINCE else 16 if known >= _TCP_SINCE else 8


def _allow(rules: int, place: str, rights: int) -> None:
    """Allow `rights` below a folder, or to a file; what is not there or may not be opened needs no rule."""
    with contextlib.suppress(FileNotFoundError, PermissionError):
        opened = os.open(place, os.O_PATH | os.O_CLOEXEC)
        try:
            is_file = not stat.S_ISDIR(os.fstat(opened).st_mode)
            rights &= _WRITE | _READ | _TRUNCATE | _DEVICE if is_file else rights
            kernel.checked("syscall", _ADD, rules, _PATH_BENEATH, _BENEATH.pack(rights, opened), 0)
        finally:
            os.close(opened)
