"""A project on its way to another machine: what is packed, where it is unpacked, and what is believed of the way back."""

from __future__ import annotations

import io
import json
import tarfile
from typing import TYPE_CHECKING

import pytest

from nanlint.confirm import shipping
from nanlint.confirm.answer_lines import LONGEST
from nanlint.confirm.on_ray import _opened
from nanlint.errors import NanlintError

if TYPE_CHECKING:
    from pathlib import Path


def names_below(folder: Path) -> list[str]:
    """The files of a folder."""
    return sorted(path.relative_to(folder).as_posix() for path in folder.rglob("*") if path.is_file())


def test_code_and_small_files_are_packed_and_nothing_hidden_linked_or_large(tmp_path: Path) -> None:
    home = tmp_path / "home"
    for name in ("pkg/a.py", "pkg/data.csv", ".env", ".git/config", "pkg/__pycache__/a.pyc"):
        (path := home / name).parent.mkdir(parents=True, exist_ok=True)
        path.write_text(name)
    (tmp_path / "secret").write_text("secret")
    (home / "link.txt").symlink_to(tmp_path / "secret")
    (home / "weights.bin").write_bytes(bytes(shipping.LARGEST_FILE + 1))
    shipping.unpack(shipping.packed(str(home)).packed, str(tmp_path / "there"))
    assert names_below(tmp_path / "there") == ["pkg/a.py", "pkg/data.csv"]


def test_code_goes_first_where_not_all_of_it_fits(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "home").mkdir()
    for name, size in (("a.py", 60), ("b.csv", 50), ("c.csv", 30)):
        (tmp_path / "home" / name).write_bytes(bytes(size))
    monkeypatch.setattr(shipping, "LARGEST_PROJECT", 100)
    shipping.unpack(shipping.packed(str(tmp_path / "home")).packed, str(tmp_path / "there"))
    assert names_below(tmp_path / "there") == ["a.py", "c.csv"]


@pytest.mark.parametrize("name", ["../out.py", "/tmp/nanlint-out.py", "a/../../out.py"])  # noqa: S108 - it is not written
def test_nothing_is_unpacked_outside_of_the_folder(tmp_path: Path, name: str) -> None:
    data = io.BytesIO()
    with tarfile.open(fileobj=data, mode="w:gz") as archive:
        entry = tarfile.TarInfo(name)
        entry.size = 1
        archive.addfile(entry, io.BytesIO(b"x"))
    shipping.unpack(data.getvalue(), str(tmp_path / "there"))
    assert names_below(tmp_path) == []


def test_paths_go_there_and_come_back() -> None:
    job = {"target": {"path": "/home/me/p/a.py", "root": "/home/me/p", "also": [["/home/me/project2"]]}, "seed": 0}
    there = shipping.moved(job, "/home/me/p", "/tmp/x/project-1")  # noqa: S108 - a text
    assert there["target"]["path"] == "/tmp/x/project-1/a.py"  # noqa: S108 - same
    assert there["target"]["also"] == [["/home/me/project2"]]
    answer = {"reason": "line 3 of /tmp/x/project-1/a.py", "case": there}
    back = shipping.told_of(answer, "/tmp/x/project-1", "/home/me/p")  # noqa: S108 - same
    assert back == {"reason": "line 3 of /home/me/p/a.py", "case": job}


@pytest.mark.parametrize("said", [b"", b"[]", b"\x80\x04.", b'{"answer": 3}', b"x" * (2 * LONGEST + 1)])
def test_an_answer_that_is_none_is_a_reason(said: bytes) -> None:
    assert "died" in _opened(said)


def test_what_a_child_writes_cannot_pass_for_the_word_of_its_machine() -> None:
    answer = {"failed": "stop everything", "kind": "confirmed"}
    assert _opened(json.dumps({"answer": answer}).encode()) == answer
    with pytest.raises(NanlintError, match="no torch"):
        _opened(b'{"failed": "no torch"}')
