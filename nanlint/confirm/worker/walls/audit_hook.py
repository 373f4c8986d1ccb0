"""Python's audit hook: refuses what the user's code tries through Python, and names it in the verdict.

It is the wall with the words, not the strongest one: code that reaches for frames, `gc` or `ctypes` gets around it, and
then meets the kernel.
"""

from __future__ import annotations

import functools
import os
import sys
from multiprocessing import util
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator


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
    "os.setxattr": (0,),
    "os.removexattr": (0,),
    "shutil.rmtree": (0,),
    "shutil.move": (0, 1),
    "shutil.copyfile": (1,),
    "shutil.copytree": (1,),
    "sqlite3.connect": (0,),
}
_WRITING = os.O_WRONLY | os.O_RDWR | os.O_CREAT | os.O_TRUNC | os.O_APPEND
_MOST = 3
"""So many attempts are told; code can make them without end."""


def watch(scratch: str) -> list[str]:
    """Refuse what is forbidden from now on; the attempts are added to the list, because user code may swallow the error."""
    home, blocked = os.path.realpath(scratch), list[str]()
    # Kept here: the user's code may put something else in their place.
    real_path, decoded, separator = os.path.realpath, os.fsdecode, os.sep

    def refuse(what: str) -> None:
        if len(blocked) < _MOST:
            blocked.append(what)
        raise Blocked(f"the code wanted to {what}, which the sandbox does not allow")

    def is_inside(path: object) -> bool:
        if isinstance(path, int):
            return True
        text = real_path(decoded(path) if isinstance(path, (bytes, os.PathLike)) else str(path))
        return text == os.devnull or text.startswith(home + separator) or text == home

    def hook(event: str, arguments: tuple[Any, ...]) -> None:
        if event in _NEVER:
            refuse(_NEVER[event])
        for word, path in _changes(event, arguments):
            if not is_inside(path):
                refuse(f"{word} {path}")

    _announce_what_python_does_not_see()
    sys.addaudithook(hook)
    return blocked


def _changes(event: str, arguments: tuple[Any, ...]) -> Iterator[tuple[str, object]]:
    """What an event does to paths."""
    if event == "open":
        path, mode, flags = arguments
        by_mode = isinstance(mode, str) and any(letter in mode for letter in "wax+")
        by_flags = isinstance(flags, int) and mode is None and bool(flags & _WRITING)
        if by_mode or by_flags:
            yield "write", path
    for place in _CHANGES.get(event, ()):
        if place < len(arguments):
            yield "change", arguments[place]


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
