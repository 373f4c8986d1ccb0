"""A small project with rules of its own, and the command run in it: in this process, or in one of its own.

The rules (`tests/data/local_rules`) fire on plain calls, so that a test of the command depends on no shipped rule:
LOC101 `torch.log` (warning, SAFE fix), LOC102 `torch.exp` (info, UNSAFE fix), LOC201 `torch.sqrt` (error, options),
LOC202 `torch.tanh` (preview).
"""

from __future__ import annotations

import io
import os
import subprocess
import sys
from contextlib import contextmanager, redirect_stderr, redirect_stdout
from dataclasses import dataclass
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING, Any, NamedTuple

import pytest

import nanlint
from nanlint.cli.main import main

if TYPE_CHECKING:
    from collections.abc import Iterator

RULES = Path(__file__).parent / "data" / "local_rules"
CHECKOUT = Path(nanlint.__file__).parent.parent
COMMAND = (sys.executable, "-m", "nanlint")

LOG = "import torch\n\n\ndef entropy(x):\n    return torch.log(x)\n"
FIXED_LOG = LOG.replace("torch.log(", "torch.log1p(")
EXP = LOG.replace("entropy", "weight").replace("log", "exp")
SQRT = LOG.replace("entropy", "length").replace("log", "sqrt")
TANH = LOG.replace("entropy", "squash").replace("log", "tanh")
CLEAN = "import torch\n\n\ndef twice(x):\n    return torch.add(x, x)\n"
BROKEN = "import torch\n\n\ndef half(x:\n    return torch.log(x)\n"

FOUND_ONE = "Found 1 problem (1 warning) in 1 of 1 file; 1 fixable with --fix.\n"
LOG_FOUND = "a.py:5:12: LOC101 [*] `torch.log(x)` is a logarithm [bare-log]\n"


class Outcome(NamedTuple):
    """How a run ended, and what it printed."""

    code: int
    out: str
    err: str


def codes(outcome: Outcome) -> list[str]:
    """The codes in a concise report, in order."""
    lines = [line.split() for line in outcome.out.splitlines()]
    return [words[1] for words in lines if len(words) > 1 and words[1].startswith("LOC")]


@dataclass(frozen=True)
class Project:
    """A folder with a `nanlint.toml` that selects the local rules and no others."""

    folder: Path

    @classmethod
    def make(cls, folder: Path, **files: str) -> Project:
        """The project in `folder`, with files such as `a=LOG` for `a.py`."""
        project = cls(folder)
        project.configure()
        for name, text in files.items():
            project.write(f"{name}.py", text)
        return project

    def configure(self, more: str = "", *, select: str = '["LOC"]') -> None:
        """Write the settings, with `more` at their end."""
        self.write("nanlint.toml", f"local-rules = ['{RULES}']\nselect = {select}\n{more}")

    def write(self, name: str, content: str | bytes) -> Path:
        """A file of the project, to the byte."""
        path = self.folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(content if isinstance(content, bytes) else content.encode())
        return path

    def read(self, name: str) -> str:
        """What a file holds now."""
        return (self.folder / name).read_bytes().decode()

    def run(self, *words: str, stdin: bytes = b"") -> Outcome:
        """Run `nanlint` with these words in this process; nothing is a terminal."""
        out, err = _Stream(), _Stream()
        before, sys.stdin = sys.stdin, io.TextIOWrapper(io.BytesIO(stdin))
        here = Path.cwd()
        os.chdir(self.folder)
        try:
            with redirect_stdout(out), redirect_stderr(err):
                code = main(words)
        finally:
            os.chdir(here)
            sys.stdin = before
        return Outcome(code, out.printed(), err.printed())

    def check(self, *words: str, stdin: bytes = b"") -> Outcome:
        """Run `nanlint check` without a cache."""
        return self.run("check", "--no-cache", *words, stdin=stdin)

    def spawn(self, *words: str, environ: dict[str, str] | None = None, **options: Any) -> Outcome:
        """Run `nanlint` in a process of its own."""
        options = {"capture_output": True, "text": True, "timeout": 120, **options}
        done = subprocess.run([*COMMAND, *words], cwd=self.folder, env=environment(environ), check=False, **options)
        return Outcome(done.returncode, done.stdout, done.stderr)


UNPRIVILEGED = """
import contextlib, io, os, sys

from nanlint.cli.main import main

# The first run, as root, imports everything: the interpreter itself may be closed to nobody.
with contextlib.redirect_stdout(io.StringIO()), contextlib.redirect_stderr(io.StringIO()):
    main([*(word.replace("--fix", "--diff") for word in sys.argv[1:]), "--no-cache"])
os.setegid(65534)
os.seteuid(65534)
sys.exit(main(sys.argv[1:]))
"""

needs_root = pytest.mark.skipif(
    os.name != "posix" or os.geteuid() != 0, reason="only root can become somebody with fewer rights"
)


@contextmanager
def open_project(**files: str) -> Iterator[Project]:
    """A project in a folder that every user may enter, which those of pytest are not."""
    with TemporaryDirectory() as name:
        folder = Path(name).resolve()
        folder.chmod(0o755)
        yield Project.make(folder, **files)


def run_as_nobody(project: Project, *words: str) -> Outcome:
    """Run the command as a user who owns nothing."""
    command = [sys.executable, "-c", UNPRIVILEGED, *words]
    done = subprocess.run(
        command, cwd=project.folder, env=environment(), capture_output=True, text=True, check=False, timeout=120
    )
    return Outcome(done.returncode, done.stdout, done.stderr)


def environment(more: dict[str, str] | None = None) -> dict[str, str]:
    """The environment of a process that is to run this checkout."""
    return {**os.environ, "PYTHONPATH": str(CHECKOUT), "PYTHONUNBUFFERED": "", **(more or {})}


class _Stream(io.TextIOWrapper):
    """A stream as Python opens one for a pipe, with a way to see what went through."""

    def __init__(self) -> None:
        super().__init__(io.BytesIO(), encoding="utf-8", newline="")

    def printed(self) -> str:
        self.flush()
        buffer = self.buffer
        assert isinstance(buffer, io.BytesIO)
        return buffer.getvalue().decode()
