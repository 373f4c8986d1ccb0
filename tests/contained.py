"""A process that runs `nanlint checkpoint` on one file after the other, each in a child with walls of its own.

It reads paths from its input and answers each with one line of JSON: exit code, megabytes of memory at the peak, and what
was printed. A child that takes too long or too much is killed, and the code is None.
"""

from __future__ import annotations

import io
import json
import os
import resource
import signal
import subprocess
import sys
from contextlib import redirect_stderr, redirect_stdout
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Iterator

MOST_SECONDS = 60
"""Generous: on a loaded machine the slowest file takes some ten."""
MOST_MEGABYTES = 500
"""Resident memory of the whole process, of which torch takes 220."""
WALL = 1500
"""Megabytes of addresses on top of torch's: a mistake ends in a MemoryError here, and not in a machine that stands still."""


@dataclass(frozen=True)
class Answer:
    """What became of one file."""

    code: int | None
    megabytes: float
    text: str


class Contained:
    """The process, from the side of the tests."""

    def __init__(self) -> None:
        root = Path(__file__).resolve().parent.parent
        self._process = subprocess.Popen(
            [sys.executable, "-m", "tests.contained"],
            cwd=root,
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
        )

    def checkpoint(self, path: Path) -> Answer:
        """What `nanlint checkpoint` says of the path."""
        assert self._process.stdin is not None
        assert self._process.stdout is not None
        self._process.stdin.write(f"{path}\n")
        self._process.stdin.flush()
        return Answer(**json.loads(self._process.stdout.readline()))

    def close(self) -> None:
        """The end of it."""
        self._process.communicate()


def _status(key: str) -> float:
    """A number of the kernel about this process, in megabytes."""
    lines = Path("/proc/self/status").read_text().splitlines()
    return next(int(line.split()[1]) / 1024 for line in lines if line.startswith(f"{key}:"))


def _answered(path: str) -> dict[str, Any]:
    from nanlint.cli.main import main  # noqa: PLC0415 - in the child's process

    signal.alarm(MOST_SECONDS)
    most = int((_status("VmSize") + WALL) * 1024 * 1024)
    resource.setrlimit(resource.RLIMIT_AS, (most, most))
    out = io.TextIOWrapper(io.BytesIO(), encoding="utf-8")
    with redirect_stdout(out), redirect_stderr(out):
        code = int(main(["checkpoint", path]))
    out.seek(0)
    return {"code": code, "megabytes": _status("VmHWM"), "text": out.read()}


def _in_a_child(path: str) -> str:
    reader, writer = os.pipe()
    child = os.fork()
    if not child:
        os.close(reader)
        with os.fdopen(writer, "w") as pipe:
            json.dump(_answered(path), pipe)
        os._exit(0)
    os.close(writer)
    with os.fdopen(reader) as pipe:
        text = pipe.read()
    _, status = os.waitpid(child, 0)
    return text or json.dumps({"code": None, "megabytes": 0, "text": f"the child ended with status {status}"})


def _serve(paths: Iterator[str]) -> None:
    import torch  # noqa: PLC0415 - once, for all children

    torch.set_num_threads(1)  # threads do not survive a fork
    for path in paths:
        sys.stdout.write(_in_a_child(path.rstrip("\n")) + "\n")
        sys.stdout.flush()


if __name__ == "__main__":
    _serve(iter(sys.stdin.readline, ""))
