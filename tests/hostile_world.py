"""What hostile modules would like to reach: files, a key, sockets, a terminal, another process; and what became of it."""

from __future__ import annotations

import contextlib
import os
import pty
import shutil
import socket
import stat
import subprocess
import sys
import tempfile
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from nanlint.confirm.harness import Harness
    from tests.hostile_modules import Hostile

Json = dict[str, Any]
ORDINARY = 65534
ROOT = Path(__file__).resolve().parent.parent

# As root: show the interpreter where an ordinary user may look, then become one, then run it.
_AS_ORDINARY = """#!{python}
import os, sys
sys.path.insert(0, {root!r})
from nanlint.confirm.worker.walls import kernel, mounts
kernel.checked("unshare", 0x20000)
mounts.make_private()
closed = [path for path in {closed!r} if not os.stat(path).st_mode & 1]
for path in closed[:1]:
    base = os.open(sys.base_prefix, os.O_PATH)
    mounts.lay_over(path, "mode=755")
    os.makedirs(sys.base_prefix)
    mounts.show(base, sys.base_prefix)
os.setgroups([])
os.setgid({user})
os.setuid({user})
os.execv(sys.executable, [sys.executable, *sys.argv[1:]])
"""


@dataclass
class World:
    """Everything outside of the scratch folder that an attempt may be seen at."""

    folder: Path
    user: int
    sockets: list[socket.socket]
    terminal: int
    places: Json
    victim: subprocess.Popen[bytes]
    seen: dict[str, object] = field(default_factory=dict)

    def harness_python(self) -> str:
        """The interpreter for a harness whose child runs as the user."""
        if self.user == os.geteuid():
            return sys.executable
        script = self.folder / "python"
        closed = [str(path) for path in reversed(Path(sys.base_prefix).parents)]
        script.write_text(_AS_ORDINARY.format(python=sys.executable, root=str(ROOT), user=self.user, closed=closed))
        script.chmod(0o755)
        return str(script)

    def restore(self) -> None:
        """As it was before the first attempt."""
        shutil.rmtree(outside := self.folder / "outside", ignore_errors=True)
        outside.mkdir()
        (canary := outside / "canary.txt").write_text("sings")
        for path in (outside, canary):
            os.chown(path, self.user, -1)
        canary.chmod(0o644)
        self.places["outside"] = str(outside)
        if self.victim.poll() is not None:
            self.victim = _victim(self.user)
        self.places["victim"] = self.victim.pid
        self.shared().unlink(missing_ok=True)
        if self.has_segment():
            subprocess.run(["ipcrm", "-M", str(self.places["number"])], check=True)
        self.heard()
        self.seen = self.look()

    def look(self) -> dict[str, object]:
        """What can be compared before and after."""
        outside = Path(self.places["outside"])
        return {
            "a file outside": sorted(path.name for path in outside.iterdir()),
            "a file's content, mode, owner or time": _known(outside / "canary.txt"),
            "another process": self.victim.poll(),
            "a process left over": len(processes_with(str(self.folder))),
            "shared memory left over": self.shared().exists(),
            "a segment left over": self.has_segment(),
            "a scratch folder left over": list(self.folder.glob("scratch/*/job-*")),
            "the name of the machine": socket.gethostname(),
        }

    def shared(self) -> Path:
        """The shared memory that an attempt may leave."""
        return Path("/dev/shm", self.places["mark"])  # noqa: S108 - where it is

    def has_segment(self) -> bool:
        """Whether the System V segment that an attempt may leave is there."""
        lines = Path("/proc/sysvipc/shm").read_text(encoding="ascii").splitlines()[1:]
        return str(self.places["number"]) in [line.split()[0] for line in lines]

    def environment(self) -> dict[str, str]:
        """What a harness must be started with."""
        return {"HOME": str(self.folder / "home"), "TMPDIR": str(self.folder / "scratch"), "GITHUB_TOKEN": "SECRET"}

    def heard(self) -> list[str]:
        """What arrived at the sockets and on the terminal."""
        return [name for name, arrived in _arrivals(self.sockets, self.terminal) if arrived]

    def effects(self, answer: Json) -> list[str]:
        """What got out, in words: nothing, if the walls held."""
        now = self.look()
        said = ["what it wanted"] if answer.get("finite") is True else []
        return [*said, *self.heard(), *(name for name, before in self.seen.items() if now[name] != before)]


@contextlib.contextmanager
def world(user: int) -> Iterator[World]:
    """A world of which `user` owns what there is to break."""
    folder = Path(tempfile.mkdtemp(prefix="nanlint-hostile-"))
    folder.chmod(0o755)
    (keys := folder / "home" / ".ssh").mkdir(parents=True)
    (keys / "id_rsa").write_text("SECRET")
    for path in (folder / "home", keys, keys / "id_rsa"):
        os.chown(path, user, -1)
    master, slave = pty.openpty()
    os.chown(os.ttyname(slave), user, -1)
    os.set_blocking(master, False)
    sockets = _sockets(str(folder / "socket"), folder.name)
    (folder / "scratch").mkdir()
    os.chown(folder / "scratch", user, -1)
    places = {
        "udp": sockets[0].getsockname()[1],
        "tcp": sockets[1].getsockname()[1],
        "unix": str(folder / "socket"),
        "mark": folder.name,
        "number": os.getpid() * 2 + bool(user),
        "key": str(keys / "id_rsa"),
        "terminal": os.ttyname(slave),
    }
    made = World(folder, user, sockets, master, places, _victim(user))
    try:
        yield made
    finally:
        made.victim.kill()
        made.victim.wait()
        for one in sockets:
            one.close()
        os.close(master)
        os.close(slave)
        shutil.rmtree(folder)


def attempted(
    harness: Harness, around: World, module: Hostile, *, without: Sequence[str] = (), device: str = "cpu"
) -> tuple[Json, list[str]]:
    """The answer to a job that runs the module, and what got out."""
    around.restore()
    path = around.folder / "hostile.py"
    path.write_text(module.text(around.places))
    job = {"do": "proof", "path": str(path), "device": device, "timeout": module.timeout, "without": list(without)}
    answer = harness.ask(job)
    return answer, around.effects(answer)


def processes_with(text: str) -> list[int]:
    """The other processes that began with an environment that holds a text."""
    found = []
    for path in Path("/proc").glob("[0-9]*/environ"):
        with contextlib.suppress(OSError):
            found += [int(path.parent.name)] if text.encode() in path.read_bytes() else []
    return [number for number in found if number != os.getpid()]


def _sockets(path: str, abstract: str) -> list[socket.socket]:
    udp = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
    tcp = socket.socket(socket.AF_INET, socket.SOCK_STREAM)
    for one in (udp, tcp):
        one.bind(("127.0.0.1", 0))
    tcp.listen()
    by_path, by_name = (socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM) for _ in range(2))
    by_path.bind(path)
    by_name.bind("\0" + abstract)
    Path(path).chmod(0o777)
    for one in (udp, tcp, by_path, by_name):
        one.setblocking(False)  # noqa: FBT003 - it takes no keyword
    return [udp, tcp, by_path, by_name]


def _arrivals(sockets: Sequence[socket.socket], terminal: int) -> Iterator[tuple[str, bool]]:
    udp, tcp, by_path, by_name = sockets
    for name, one in (
        ("a packet", udp),
        ("a message to a Unix socket", by_path),
        ("a message to a Unix socket", by_name),
    ):
        with contextlib.suppress(BlockingIOError):
            yield name, bool(one.recv(100))
    with contextlib.suppress(BlockingIOError):
        tcp.accept()[0].close()
        yield "a connection", True
    with contextlib.suppress(BlockingIOError):
        yield "a line on the terminal", bool(os.read(terminal, 100))


def _known(path: Path) -> object:
    if not path.exists():
        return None
    status = path.stat()
    attributes = os.listxattr(path) if hasattr(os, "listxattr") else []
    return path.read_text(), stat.S_IMODE(status.st_mode), status.st_uid, int(status.st_mtime) > 1000, attributes


def _victim(user: int) -> subprocess.Popen[bytes]:
    return subprocess.Popen(["sleep", "600"], user=user if user != os.geteuid() else None, env={"TOKEN": "SECRET"})
