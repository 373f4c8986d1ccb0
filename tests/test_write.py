"""Atomic writes: the old content or the new, and nothing beside it."""

from __future__ import annotations

import os
import random
import stat
import subprocess
import sys
import time
from pathlib import Path

import pytest

from nanlint.errors import NanlintError
from nanlint.source.read import UnwritableSource
from nanlint.source.write import write_atomically
from tests.project import FIXED_LOG, LOG, Project, environment

REPOSITORY = Path(__file__).parents[1]
OLD, NEW = b"x = 1\r\n", b"x = 2\r\n"

posix = pytest.mark.skipif(sys.platform == "win32", reason="mode bits and owners are a POSIX thing")


@pytest.fixture
def path(tmp_path: Path) -> Path:
    file = tmp_path / "folder" / "a.py"
    file.parent.mkdir()
    file.write_bytes(OLD)
    return file


def beside(path: Path) -> list[str]:
    return sorted(each.name for each in path.parent.iterdir())


def test_the_file_has_the_new_content_and_nothing_lies_beside_it(path: Path) -> None:
    assert (write_atomically(path, NEW), path.read_bytes(), beside(path)) == (True, NEW, ["a.py"])


def test_equal_content_is_not_written(path: Path) -> None:
    os.utime(path, ns=(1, 1))
    before = path.stat()
    assert not write_atomically(str(path), OLD)
    assert (path.stat().st_ino, path.stat().st_mtime_ns) == (before.st_ino, 1)


def test_a_new_file_gets_the_mode_that_the_umask_gives(tmp_path: Path) -> None:
    (tmp_path / "plain.py").write_bytes(NEW)
    write_atomically(tmp_path / "a.py", NEW)
    assert (tmp_path / "a.py").stat().st_mode == (tmp_path / "plain.py").stat().st_mode


@posix
@pytest.mark.parametrize("mode", [0o600, 0o640, 0o755, 0o777, 0o200 | 0o444], ids=oct)
def test_mode_bits_are_kept(path: Path, mode: int) -> None:
    path.chmod(mode)
    write_atomically(path, NEW)
    assert (stat.S_IMODE(path.stat().st_mode), path.read_bytes()) == (mode, NEW)


@pytest.mark.skipif(not hasattr(os, "geteuid") or os.geteuid() != 0, reason="only root may give a file away")
def test_the_owner_is_kept(path: Path) -> None:
    os.chown(path, 1234, 2345)
    path.chmod(0o664)
    write_atomically(path, NEW)
    status = path.stat()
    assert (status.st_uid, status.st_gid, stat.S_IMODE(status.st_mode)) == (1234, 2345, 0o664)


@posix
def test_a_file_that_cannot_be_given_away_is_written_all_the_same(path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def refuse(*_: object) -> None:
        raise PermissionError

    path.chmod(0o640)
    monkeypatch.setattr("nanlint.source.write.os.chown", refuse)
    write_atomically(path, NEW)
    assert (path.read_bytes(), stat.S_IMODE(path.stat().st_mode)) == (NEW, 0o640)


def test_a_link_stays_and_its_target_is_written(path: Path) -> None:
    outer, inner = path.parent.parent / "outer.py", path.parent / "inner.py"
    inner.symlink_to("a.py")
    outer.symlink_to("folder/inner.py")
    write_atomically(outer, NEW)
    assert (path.read_bytes(), os.readlink(outer), os.readlink(inner)) == (NEW, "folder/inner.py", "a.py")  # noqa: PTH115 - readlink returns the text of the link


def test_a_relative_path_in_the_current_folder_is_written(path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(path.parent)
    write_atomically("a.py", NEW)
    assert path.read_bytes() == NEW


def test_what_was_read_may_be_replaced(path: Path) -> None:
    assert (write_atomically(path, NEW, expected=OLD), path.read_bytes()) == (True, NEW)


@pytest.mark.parametrize("now", [b"x = 3\n", None], ids=["edited", "deleted"])
def test_a_file_that_changed_since_it_was_read_is_left_alone(path: Path, now: bytes | None) -> None:
    path.unlink() if now is None else path.write_bytes(now)
    with pytest.raises(UnwritableSource, match=r"^changed on disk since it was read; run again$"):
        write_atomically(path, NEW, expected=OLD)
    assert (path.read_bytes() if path.exists() else None) == now


@posix
def test_a_read_only_file_is_left_alone_even_for_root(path: Path) -> None:
    path.chmod(0o444)
    with pytest.raises(
        UnwritableSource, match=r"^the file is read-only; make it writable \(chmod u\+w\) or exclude it$"
    ):
        write_atomically(path, NEW)
    assert (path.read_bytes(), beside(path)) == (OLD, ["a.py"])


@pytest.mark.skipif(not hasattr(os, "geteuid") or os.geteuid() == 0, reason="root may write in any folder")
def test_a_read_only_folder_is_named(path: Path) -> None:
    path.parent.chmod(0o555)
    try:
        with pytest.raises(UnwritableSource, match=r"^no permission to write in folder .*folder; make it writable"):
            write_atomically(path, NEW)
    finally:
        path.parent.chmod(0o755)
    assert path.read_bytes() == OLD


@pytest.mark.parametrize(
    ("broken", "error", "message"),
    [
        pytest.param("open", PermissionError(13, "Permission denied", "tmp"), "no permission to write in", id="folder"),
        pytest.param("stat", PermissionError(13, "Permission denied", "a.py"), "permission denied; make", id="file"),
        pytest.param(
            "fsync", OSError(28, "No space left on device"), "cannot be written: No space left", id="disk full"
        ),
        pytest.param("replace", OSError(16, "Resource busy"), "cannot be written: Resource busy", id="file in use"),
        pytest.param("replace", OSError("odd"), "cannot be written: odd", id="an error without number"),
    ],
)
def test_a_failure_says_why_and_leaves_no_trace(
    path: Path, monkeypatch: pytest.MonkeyPatch, broken: str, error: OSError, message: str
) -> None:
    def fail(*_: object) -> None:
        if error.filename == "a.py":
            error.filename = os.path.realpath(path)
        raise error

    monkeypatch.setattr(f"nanlint.source.write.os.{broken}", fail)
    with pytest.raises(NanlintError, match=f"^{message}"):
        write_atomically(path, NEW)
    monkeypatch.undo()
    assert (path.read_bytes(), beside(path)) == (OLD, ["a.py"])


@pytest.mark.parametrize("moment", ["fsync", "chmod", "replace"])
def test_an_interrupt_leaves_the_old_file_and_no_trace(
    path: Path, monkeypatch: pytest.MonkeyPatch, moment: str
) -> None:
    def interrupt(*_: object) -> None:
        raise KeyboardInterrupt

    monkeypatch.setattr(f"nanlint.source.write.os.{moment}", interrupt)
    with pytest.raises(KeyboardInterrupt):
        write_atomically(path, NEW)
    assert (path.read_bytes(), beside(path)) == (OLD, ["a.py"])


def test_a_folder_is_not_overwritten(path: Path) -> None:
    with pytest.raises(UnwritableSource, match=r"^not a regular file; nanlint writes regular files only$"):
        write_atomically(path.parent, NEW)
    assert path.read_bytes() == OLD


def test_a_folder_that_is_not_there_is_an_error(tmp_path: Path) -> None:
    with pytest.raises(UnwritableSource, match=r"^cannot be written: No such file or directory$"):
        write_atomically(tmp_path / "gone" / "a.py", NEW)


@posix
def test_a_process_killed_at_any_moment_leaves_the_old_content_or_the_new(path: Path) -> None:
    contents = [b"a" * 300_000, b"b" * 400_000]
    path.write_bytes(contents[0])
    program = (
        "import sys; from nanlint.source.write import write_atomically; print(flush=True)\n"
        "while True:\n"
        "    write_atomically(sys.argv[1], b'b' * 400_000); write_atomically(sys.argv[1], b'a' * 300_000)"
    )
    delays = random.Random(7)  # noqa: S311 - moments, not secrets
    torn = 0
    for _ in range(30):
        command = [sys.executable, "-c", program, str(path)]
        with subprocess.Popen(command, cwd=REPOSITORY, stdout=subprocess.PIPE) as child:
            assert child.stdout is not None
            child.stdout.readline()
            time.sleep(delays.uniform(0, 0.01))
            child.kill()
        torn += path.read_bytes() not in contents
    assert torn == 0


# -- what killed processes left ----------------------------------------------------------------------------------------

NAME = ".nanlint-{}-0123456789abcdef.tmp"


def test_what_a_killed_process_left_goes_with_the_next_write(path: Path) -> None:
    left = path.parent / NAME.format(_ended_process())
    left.write_bytes(NEW)
    write_atomically(path, NEW)
    assert [file.name for file in path.parent.iterdir()] == [path.name]


def test_what_is_a_day_old_goes_though_another_process_has_the_number(path: Path) -> None:
    left = path.parent / NAME.format(os.getpid())
    left.write_bytes(NEW)
    os.utime(left, (0, 0))
    write_atomically(path, NEW)
    assert not left.exists()


@pytest.mark.parametrize(
    "name",
    [
        pytest.param(".nanlint-{}-0123456789abcde.tmp", id="another length"),
        pytest.param("nanlint-{}-0123456789abcdef.tmp", id="no dot"),
        pytest.param(".nanlint-{}-0123456789abcdef.tmp~", id="a backup of one"),
        pytest.param(".nanlint-notes.tmp", id="a name of the user's own"),
    ],
)
def test_what_may_be_somebody_elses_stays(path: Path, name: str) -> None:
    left = path.parent / name.format(_ended_process())
    left.write_bytes(NEW)
    os.utime(left, (0, 0))
    write_atomically(path, NEW)
    assert left.read_bytes() == NEW


def test_what_a_running_process_writes_stays(path: Path) -> None:
    left = path.parent / NAME.format(os.getpid())
    left.write_bytes(NEW)
    write_atomically(path, NEW)
    assert left.read_bytes() == NEW


def test_a_link_or_a_folder_of_such_a_name_stays(path: Path, tmp_path: Path) -> None:
    thesis = tmp_path / "thesis.tex"
    thesis.write_bytes(NEW)
    name = NAME.format(_ended_process())
    link, folder = path.parent / name, path.parent / name.replace("0123", "4567")
    link.symlink_to(thesis)
    folder.mkdir()
    write_atomically(path, NEW)
    assert (link.is_symlink(), folder.is_dir(), thesis.read_bytes()) == (True, True, NEW)


def test_only_the_folder_that_is_written_in_is_cleared(path: Path, tmp_path: Path) -> None:
    left = tmp_path / NAME.format(_ended_process())
    left.write_bytes(NEW)
    write_atomically(path, NEW)
    assert left.exists()


def test_fix_clears_what_a_killed_fix_left(tmp_path: Path) -> None:
    project = Project.make(tmp_path, a=LOG)
    script = (
        "import os, signal, sys\n"
        "os.replace = lambda *_: os.kill(os.getpid(), signal.SIGKILL)\n"
        "from nanlint.cli.main import main\n"
        "main(['check', '--fix', '--no-cache'])\n"
    )
    subprocess.run([sys.executable, "-c", script], cwd=tmp_path, env=environment(), check=False)
    left = list(tmp_path.glob(".nanlint-*.tmp"))
    project.check("--fix")
    assert (len(left), list(tmp_path.glob(".nanlint-*.tmp")), project.read("a.py")) == (1, [], FIXED_LOG)


def _ended_process() -> int:
    """The number of a process that has come and gone."""
    with subprocess.Popen([sys.executable, "-S", "-c", "pass"]) as process:
        process.wait()
    return process.pid
