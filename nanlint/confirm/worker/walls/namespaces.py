"""Namespaces: a network without a way out, a process table of one's own, and a view of the disk that cannot be changed.

Root may make them; others need a user namespace first, which many systems refuse, and which wants a process with one
thread. So the server enters one before it imports torch, and is the first process of a process namespace; each job has
a process namespace inside of that. When the first process of a namespace ends, the kernel ends all others in it: nothing
that a job starts outlives it, and nothing outlives the server.
"""

from __future__ import annotations

import contextlib
import os
import signal
import sys
import tempfile
from dataclasses import dataclass

from nanlint.confirm.worker.walls import kernel, mounts

_USER, _PROCESS, _NETWORK, _MOUNT = 0x10000000, 0x20000000, 0x40000000, 0x00020000
_SHARED_MEMORY, _HOST_NAME = 0x08000000, 0x04000000
_SHELL = "/bin/sh"
PROCESSES = 512
"""Processes and threads of one job, where the kernel counts them by namespace (6.14 and later)."""


def move_into() -> bool:
    """Go on in namespaces of our own, in a child whose parent waits for it; False, and nothing is changed, if refused.

    Call it in a process with one thread. The process that called it ends as the child ends.
    """
    if not kernel.IS_LINUX or not _is_allowed():
        return False
    _unshare_processes()
    child = os.fork()
    if child:
        _, status = os.waitpid(child, 0)
        sys.exit(abs(os.waitstatus_to_exitcode(status)))
    kernel.control(kernel.PARENT_DEATH_SIGNAL, signal.SIGKILL)
    return True


def _is_allowed() -> bool:
    """Whether all that the jobs need works here, tried in a child: half a user namespace would be worse than none."""
    child = os.fork()
    if child:
        return os.waitpid(child, 0)[1] == 0
    code = 1
    with contextlib.suppress(OSError):
        folder = tempfile.gettempdir()
        _unshare_processes()
        kernel.checked("unshare", _MOUNT)
        mounts.make_private()
        mounts.make_read_only()
        mounts.furnish(folder, ())
        code = 0
    os._exit(code)


def _unshare_processes() -> None:
    if kernel.has_capability(kernel.ADMINISTER):
        kernel.checked("unshare", _PROCESS)
        return
    user, group = os.geteuid(), os.getegid()
    kernel.checked("unshare", _USER | _PROCESS)
    for name, text in (("setgroups", "deny"), ("uid_map", f"{user} {user} 1"), ("gid_map", f"{group} {group} 1")):
        with open(f"/proc/self/{name}", "w", encoding="ascii") as file:  # noqa: PTH123 - a pseudo file
            file.write(text)


@dataclass(frozen=True, slots=True)
class FirstProcess:
    """The first process of a job's namespace: a shell that waits for its input to end, which it does with the server."""

    pid: int
    lifeline: int

    def end(self) -> None:
        """End every process of the namespace."""
        os.close(self.lifeline)
        with contextlib.suppress(ProcessLookupError):
            os.kill(self.pid, signal.SIGKILL)

    def wait(self) -> None:
        """Wait until no process is left in the namespace; our own child in it must have been waited for."""
        os.waitpid(self.pid, 0)


class ProcessNamespaces:
    """A new process namespace for each job of a server that has moved into its own."""

    def __init__(self) -> None:
        self._own = os.open("/proc/self/ns/pid", os.O_RDONLY | os.O_CLOEXEC)

    def begin(self) -> FirstProcess | None:
        """The next child that is forked is in a new namespace; None if there is none to be had."""
        read, write = os.pipe()
        try:
            kernel.checked("unshare", _PROCESS)
            pid = os.posix_spawn(_SHELL, [_SHELL, "-c", "read line"], {}, file_actions=[(os.POSIX_SPAWN_DUP2, read, 0)])
        except OSError:
            os.close(write)
            self.leave()
            return None
        finally:
            os.close(read)
        return FirstProcess(pid, write)

    def leave(self) -> None:
        """Children are forked into the server's own namespace again."""
        with contextlib.suppress(OSError):
            kernel.checked("setns", self._own, _PROCESS)


def enter(scratch: str, *, devices: tuple[str, ...], has_processes: bool) -> list[str]:
    """Leave the network and the changeable disk behind; the namespaces that this process is in now, in words."""
    entered = ["process namespace"] if has_processes else []
    with contextlib.suppress(OSError):
        kernel.checked("unshare", _NETWORK | _SHARED_MEMORY | _HOST_NAME)
        entered.append("network namespace")
    with contextlib.suppress(OSError):
        kernel.checked("unshare", _MOUNT)
        mounts.make_private()
        mounts.make_read_only()
        if has_processes:
            mounts.mount_processes(PROCESSES)
        mounts.furnish(scratch, devices)
        entered.append("mount namespace")
    return entered
