"""A `python` that has torch imported already: importing it is most of what a short training script takes.

    with warm_python(folder) as python:
        subprocess.run([python, "train.py"])

A server imports torch once. What is started in its place hands its arguments, folder, environment and streams to the
server, whose child runs the script as Python would; the exit code or the signal that ends the child is passed on.
Only for what is waited for: a signal to the process in between does not reach the child.
"""

from __future__ import annotations

import contextlib
import gc
import json
import os
import runpy
import select
import signal
import socket
import subprocess
import sys
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from collections.abc import Iterator

# Without `site` and with few imports, since it starts as often as the tests want a Python.
_STARTED = """#!{python} -SE
import json, os, signal, socket, sys
server = socket.socket(socket.AF_UNIX)
server.connect({address!r})
job = json.dumps([sys.argv[1:], os.getcwd(), dict(os.environ)]).encode()
socket.send_fds(server, [len(job).to_bytes(8, "little")], [0, 1, 2])
server.sendall(job)
status = int(server.makefile().read())
if status < 0:
    signal.signal(-status, signal.SIG_DFL)
    os.kill(os.getpid(), -status)
os._exit(status)
"""


@contextlib.contextmanager
def warm_python(folder: Path) -> Iterator[str]:
    """The path of such a Python, while its server runs; `folder` takes it and the server's socket."""
    address, command = folder / "socket", folder / "python"
    command.write_text(_STARTED.format(python=sys.executable, address=str(address)), encoding="utf-8")
    command.chmod(0o755)
    root = Path(__file__).resolve().parent.parent
    server = subprocess.Popen(
        [sys.executable, "-m", "tests.warm_python", str(address)],
        cwd=root,
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
    )
    assert server.stdout is not None
    server.stdout.readline()
    try:
        yield str(command)
    finally:
        server.communicate()


class _Job(NamedTuple):
    """What a child is to run, and where."""

    words: list[str]
    folder: str
    environment: dict[str, str]
    streams: list[int]


def _served(address: str) -> _Job:
    """Serve until our input ends; in each child, return what it is to run."""
    # What this process is for; the first optimizer imports the second.
    import torch  # noqa: PLC0415
    import torch._dynamo  # noqa: F401, PLC0415

    # A child that ends would go through all of it once more.
    gc.collect()
    gc.freeze()
    callers: dict[int, socket.socket] = {}
    with socket.socket(socket.AF_UNIX) as door:
        door.bind(address)
        door.listen()
        print("ready", flush=True)
        while sys.stdin not in (ready := select.select([door, sys.stdin], [], [], 0.02 if callers else None)[0]):
            if ready:
                caller, _ = door.accept()
                job = _asked_for(caller)
                child = os.fork()
                if not child:
                    for each in (caller, *callers.values()):
                        each.close()
                    return job
                callers[child] = caller
                for stream in job.streams:
                    os.close(stream)
            _tell_who_waits(callers)
    os.killpg(0, signal.SIGKILL)
    raise AssertionError


def _asked_for(caller: socket.socket) -> _Job:
    size, streams, _, _ = socket.recv_fds(caller, 8, 3)
    with caller.makefile("rb") as stream:
        words, folder, environment = json.loads(stream.read(int.from_bytes(size, "little")))
    return _Job(words, folder, environment, streams)


def _tell_who_waits(callers: dict[int, socket.socket]) -> None:
    """Say how those children ended that have."""
    for child in list(callers):
        ended, status = os.waitpid(child, os.WNOHANG)
        if ended:
            with callers.pop(child) as caller, contextlib.suppress(OSError):
                caller.sendall(str(os.waitstatus_to_exitcode(status)).encode())


def _take_over(job: _Job) -> None:
    """Be where the script was started."""
    for number, stream in enumerate(job.streams):
        os.dup2(stream, number)
        os.close(stream)
    # The old ones remember what kind of file they wrote to.
    sys.stdin = open(0, encoding="utf-8", closefd=False)  # noqa: SIM115 - open until the end
    sys.stdout = open(1, "w", encoding="utf-8", closefd=False)  # noqa: SIM115 - same
    sys.stderr = open(2, "w", 1, "utf-8", "backslashreplace", closefd=False)  # noqa: SIM115 - same
    os.chdir(job.folder)
    os.environ.clear()
    os.environ.update(job.environment)


if __name__ == "__main__":
    # What the script raises must end this process as it would end its own, so nothing stands around it.
    signal.signal(signal.SIGINT, signal.default_int_handler)
    os.setpgrp()
    _job = _served(sys.argv[1])
    _take_over(_job)
    if _job.words[0] == "-m":
        sys.argv[:], sys.path[0] = _job.words[1:], _job.folder
        runpy.run_module(_job.words[1], run_name="__main__", alter_sys=True)
    else:
        sys.argv[:], sys.path[0] = _job.words, str(Path(_job.words[0]).parent)
        runpy.run_path(_job.words[0], run_name="__main__")
