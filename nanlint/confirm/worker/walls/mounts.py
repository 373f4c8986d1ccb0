"""The disk as a job sees it in its mount namespace: everything read-only, an empty scratch folder in memory, few devices.

What is hidden (keys, sockets of the system's services) has an empty folder or file laid over it.
"""

from __future__ import annotations

import contextlib
import ctypes
import os
import stat
import struct
from pathlib import Path

from nanlint.confirm.worker.walls import kernel
from nanlint.confirm.worker.walls.hidden_files import DEVICES, OWN_THREADS, SERVICES, secrets

_READ_ONLY, _NO_SET_UID, _NO_DEVICES, _NO_PROGRAMS, _BIND, _RECURSIVE, _PRIVATE = 1, 2, 4, 8, 4096, 16384, 1 << 18
_SET_ATTRIBUTES = 442  # the same on every architecture, since 5.12
_HERE, _ALL_BELOW = -100, 0x8000
_PLAIN = _NO_SET_UID | _NO_DEVICES
SCRATCH_SIZE, SHARED_SIZE = "256m", "1g"
"""What a job may keep in its scratch folder, and in shared memory."""
_LINKS = {"fd": "/proc/self/fd", "stdin": "/proc/self/fd/0", "stdout": "/proc/self/fd/1", "stderr": "/proc/self/fd/2"}


def make_private() -> None:
    """What is mounted from now on is seen in this namespace alone."""
    _mount("none", "/", "", _RECURSIVE | _PRIVATE)


def make_read_only() -> None:
    """Nothing that is mounted can be changed: no content, no mode, no owner, no time."""
    _restrict("/", _ALL_BELOW)


def mount_processes(most: int) -> None:
    """`/proc` shows the processes of this namespace, of which there can be so many where the kernel counts them."""
    with contextlib.suppress(OSError):
        # Refused where parts of /proc are covered, as in many containers; then it shows all, and /proc/self is right still.
        _mount("proc", "/proc", "proc", _PLAIN | _NO_PROGRAMS)
        with contextlib.suppress(OSError):
            Path("/proc/sys/kernel/pid_max").write_text(str(most), encoding="ascii")
        # The first process of the namespace sees the disk as it is.
        lay_over("/proc/1", "ro,size=4k,mode=555")
        _mount(OWN_THREADS, OWN_THREADS, "", _BIND)
        _restrict("/proc", 0)


def furnish(scratch: str, devices: tuple[str, ...]) -> None:
    """An empty scratch folder, the devices that are named, and nothing to see where secrets are."""
    lay_over(scratch, f"size={SCRATCH_SIZE},nr_inodes=65536,mode=700")
    _few_devices((*DEVICES, *devices))
    for path in (*secrets(), *SERVICES):
        if os.path.isdir(path):  # noqa: PTH112 - a string
            lay_over(path, "ro,size=4k,mode=555")
        elif os.path.exists(path):  # noqa: PTH110 - same
            _mount("/dev/null", path, "", _BIND)


def lay_over(path: str, options: str) -> None:
    """An empty folder in memory over a folder."""
    _mount("nothing", path, "tmpfs", _PLAIN, options)


def show(opened: int, path: str) -> None:
    """Show at `path` what a descriptor holds, with all that is mounted below."""
    _mount(f"/proc/self/fd/{opened}", path, "", _BIND | _RECURSIVE)


def _few_devices(paths: tuple[str, ...]) -> None:
    """A `/dev` with these devices only; a device cannot be made here, but each can be shown again."""
    opened = {path: os.open(path, os.O_PATH | os.O_CLOEXEC) for path in paths if os.path.exists(path)}  # noqa: PTH110 - a string for open
    _mount("dev", "/dev", "tmpfs", _NO_SET_UID | _NO_PROGRAMS, "size=64k,mode=755")
    for path, source in opened.items():
        place = Path(path)
        place.parent.mkdir(parents=True, exist_ok=True)
        place.mkdir() if stat.S_ISDIR(os.fstat(source).st_mode) else place.touch()
        show(source, path)
        os.close(source)
    for name, target in _LINKS.items():
        Path("/dev", name).symlink_to(target)
    Path("/dev/shm").mkdir()  # noqa: S108 - where shared memory is looked for
    _mount("shm", "/dev/shm", "tmpfs", _PLAIN | _NO_PROGRAMS, f"size={SHARED_SIZE},nr_inodes=4096,mode=1777")  # noqa: S108 - same
    _restrict("/dev", 0)


def _mount(source: str, target: str, kind: str, flags: int, options: str = "") -> None:
    kernel.checked(
        "mount", source.encode(), os.fsencode(target), kind.encode(), ctypes.c_ulong(flags), options.encode()
    )


def _restrict(target: str, how: int) -> None:
    """Make a mount read-only, with all below it if asked to."""
    wanted = struct.pack("=QQQQ", _READ_ONLY | _NO_SET_UID, 0, 0, 0)
    kernel.checked("syscall", _SET_ATTRIBUTES, _HERE, os.fsencode(target), how, wanted, len(wanted))
