"""Walls around the user's code: limits of time, memory and files, an audit hook for what must not happen, and Landlock.

The walls keep accidents in (a training script that starts at import, a download, a fork bomb); they are no defence
against code that is written to break out. Everything here holds for the rest of the process: call it in a child.
"""

from __future__ import annotations

import contextlib
import functools
import os
import sys
import tempfile
from multiprocessing import util
from typing import TYPE_CHECKING, Any

from nanlint.confirm.worker.landlock import confine

if TYPE_CHECKING:
    from collections.abc import Callable

MEGABYTE = 1 << 20
LARGEST_FILE = 64 * MEGABYTE
"""No file in the scratch folder may grow beyond this."""


class Blocked(PermissionError):  # noqa: N818 - the user reads it in a traceback of his own code
    """The code wanted something that the sandbox does not let it do."""


_NEVER = {
    "os.fork": "start a process",
    "os.forkpty": "start a process",
    "os.system": "run a shell command",
    "os.exec": "start a program",
    "os.posix_spawn": "start a program",
    "os.spawn": "start a program",
    "os.startfile": "start a program",
    "subprocess.Popen": "start a program",
    "pty.spawn": "start a program",
    "os.kill": "signal a process",
    "os.killpg": "signal a process",
    "socket.connect": "open a network connection",
    "socket.bind": "listen on the network",
    "socket.sendto": "send to the network",
    "socket.sendmsg": "send to the network",
    "socket.getaddrinfo": "ask for a network address",
    "socket.gethostbyname": "ask for a network address",
    "urllib.Request": "open an address",
    "webbrowser.open": "open a browser",
    "_winapi.CreateProcess": "start a program",
}
# Where the arguments of the event hold the paths that would change.
_CHANGES = {
    "os.remove": (0,),
    "os.rename": (0, 1),
    "os.rmdir": (0,),
    "os.mkdir": (0,),
    "os.truncate": (0,),
    "os.chmod": (0,),
    "os.chown": (0,),
    "os.link": (1,),
    "os.symlink": (1,),
    "os.utime": (0,),
    "shutil.rmtree": (0,),
    "shutil.move": (0, 1),
    "shutil.copyfile": (1,),
    "shutil.copytree": (1,),
    "sqlite3.connect": (0,),
}
_WRITING = os.O_WRONLY | os.O_RDWR | os.O_CREAT | os.O_TRUNC | os.O_APPEND


class _Guard:
    """The audit hook: raises for what is forbidden, and remembers it, because user code may swallow the error."""

    def __init__(self, scratch: str) -> None:
        self.scratch = os.path.realpath(scratch)
        self.blocked: list[str] = []
        self.active = True

    def __call__(self, event: str, arguments: tuple[Any, ...]) -> None:
        if not self.active:
            return
        if event in _NEVER:
            self._refuse(_NEVER[event])
        elif event == "open":
            self._judge_open(*arguments)
        elif event in _CHANGES:
            for place in _CHANGES[event]:
                if place < len(arguments) and not self._is_inside(arguments[place]):
                    self._refuse(f"change {arguments[place]}")

    def _judge_open(self, path: object, mode: object, flags: object) -> None:
        by_mode = isinstance(mode, str) and any(letter in mode for letter in "wax+")
        by_flags = isinstance(flags, int) and mode is None and bool(flags & _WRITING)
        if (by_mode or by_flags) and not self._is_inside(path):
            self._refuse(f"write {path}")

    def _is_inside(self, path: object) -> bool:
        if isinstance(path, int):
            return True
        text = os.path.realpath(os.fsdecode(path) if isinstance(path, (bytes, os.PathLike)) else str(path))
        return text == os.devnull or text.startswith(self.scratch + os.sep) or text == self.scratch

    def _refuse(self, what: str) -> None:
        self.blocked.append(what)
        raise Blocked(f"the code wanted to {what}, which the sandbox does not allow")


def limit(*, seconds: float, memory: int) -> None:
    """Bound processor time, memory, file sizes and core dumps of this process, where the system knows such limits."""
    try:
        import resource  # noqa: PLC0415 - not on Windows, where the parent's clock is the only limit
    except ImportError:
        return
    whole = int(seconds) + 2
    _set(resource.RLIMIT_CPU, whole, whole + 1)
    _set(resource.RLIMIT_CORE, 0, 0)
    _set(resource.RLIMIT_FSIZE, LARGEST_FILE, LARGEST_FILE)
    if memory:
        ceiling = _mapped() + memory
        _set(resource.RLIMIT_AS, ceiling, ceiling)


def _set(kind: int, soft: int, hard: int) -> None:
    import resource  # noqa: PLC0415 - the caller knows that it is there

    _, ceiling = resource.getrlimit(kind)
    if ceiling != resource.RLIM_INFINITY:
        soft, hard = min(soft, ceiling), min(hard, ceiling)
    with contextlib.suppress(ValueError, OSError):
        resource.setrlimit(kind, (soft, hard))


def _mapped() -> int:
    """The address space that is in use already, mostly by torch's libraries."""
    try:
        with open("/proc/self/statm", encoding="ascii") as file:  # noqa: PTH123 - a pseudo file
            return int(file.read().split()[0]) * os.sysconf("SC_PAGE_SIZE")
    except (OSError, ValueError):
        return 8 << 30


def close_the_doors(scratch: str, *, on_cpu: bool = True) -> _Guard:
    """Work in `scratch` from now on, with no network, no programs and no writes elsewhere."""
    guard = _Guard(scratch)
    os.chdir(scratch)
    sys.dont_write_bytecode = True
    sys.argv = ["nanlint-confirm"]
    os.environ.update(HOME=scratch, TMPDIR=scratch, HF_HUB_OFFLINE="1", TRANSFORMERS_OFFLINE="1", WANDB_MODE="disabled")
    tempfile.tempdir = scratch
    if on_cpu:
        # The driver of a GPU may have to load its kernel module first, which takes a program with privileges.
        confine(guard.scratch)
    _announce_what_python_does_not_see()
    sys.addaudithook(guard)
    return guard


def _announce_what_python_does_not_see() -> None:
    """Tell the audit hook of files that torch writes in C++ and of interpreters that multiprocessing spawns."""
    import torch  # noqa: PLC0415 - the server reads this module before it has imported torch

    for module in (torch, torch.jit):
        module.save = _announced(module.save)  # type: ignore[attr-defined] # both have it
    util.spawnv_passfds = _refused  # type: ignore[assignment] # it takes the same arguments


def _announced(save: Callable[..., Any]) -> Callable[..., Any]:
    @functools.wraps(save)
    def announced(thing: Any, f: Any, *args: Any, **kwargs: Any) -> Any:
        if isinstance(f, (str, os.PathLike)):
            sys.audit("open", os.fspath(f), "wb", 0)
        return save(thing, f, *args, **kwargs)

    return announced


def _refused(path: Any, *_: Any) -> int:
    sys.audit("subprocess.Popen", path, [], None, None)
    return 0
