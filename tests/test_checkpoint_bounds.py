"""Hostile checkpoints: each is told in one line, in seconds, and in less than 500 MB; none ends the scan of a folder."""

from __future__ import annotations

import os
import sys
from typing import TYPE_CHECKING

import pytest

pytest.importorskip("torch", reason="torch is not installed")

from tests.hostile_arrays import FILES, one

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from tests.contained import Contained
    from tests.hostile_pickles import Hostile

pytestmark = [
    pytest.mark.slow,
    pytest.mark.skipif(not sys.platform.startswith("linux"), reason="limits and peaks of memory are Linux's"),
]


@pytest.fixture(scope="module")
def contained() -> Iterator[Contained]:
    from tests.contained import Contained  # noqa: PLC0415 - needs Linux

    process = Contained()
    yield process
    process.close()


@pytest.mark.parametrize("hostile", FILES, ids=lambda hostile: hostile.what)
def test_a_hostile_file_is_told_in_bounded_time_and_memory(
    tmp_path: Path, contained: Contained, hostile: Hostile
) -> None:
    from tests.contained import MOST_MEGABYTES  # noqa: PLC0415 - as above

    path = tmp_path / hostile.name
    path.write_bytes(hostile.data())
    answer = contained.checkpoint(path)
    assert hostile.told in answer.text, answer
    assert answer.code == hostile.code, answer
    assert answer.megabytes < MOST_MEGABYTES
    assert "report it to nanlint" not in answer.text, "what is foreseen has a sentence of its own"
    assert max(map(len, answer.text.splitlines())) < 1500


def test_there_are_enough_of_them() -> None:
    assert len({hostile.what for hostile in FILES}) == len(FILES) >= 60


def test_no_file_ends_the_scan_of_a_folder(tmp_path: Path, contained: Contained) -> None:
    small = [hostile for hostile in FILES if len(hostile.data()) < 100_000]
    for number, hostile in enumerate(small):
        folder = tmp_path / f"{number:03d}"
        folder.mkdir()
        (folder / hostile.name).write_bytes(hostile.data())
    (tmp_path / "zz").mkdir()
    (tmp_path / "zz" / "good.safetensors").write_bytes(one())
    answer = contained.checkpoint(tmp_path)
    assert answer.code == 1
    assert f"Resume from {tmp_path / 'zz' / 'good.safetensors'}" in answer.text


def test_a_pipe_is_not_waited_for(tmp_path: Path, contained: Contained) -> None:
    os.mkfifo(tmp_path / "x.pt")
    answer = contained.checkpoint(tmp_path / "x.pt")
    assert "is no file but a folder, a pipe or a device; name a file" in answer.text


def test_a_shard_is_not_read_through_a_link_out_of_the_folder(tmp_path: Path, contained: Contained) -> None:
    folder = tmp_path / "model"
    folder.mkdir()
    (tmp_path / "secret.safetensors").write_bytes(one())
    (folder / "a.safetensors").symlink_to(tmp_path / "secret.safetensors")
    index = folder / "m.safetensors.index.json"
    index.write_text('{"weight_map": {"w": "a.safetensors"}}')
    answer = contained.checkpoint(index)
    assert "names the file a.safetensors, a link out of its own folder; copy the file there" in answer.text
    assert answer.code == 2


def test_the_links_of_hugging_faces_cache_are_followed(tmp_path: Path, contained: Contained) -> None:
    blobs, folder = tmp_path / "blobs", tmp_path / "snapshots" / "1"
    blobs.mkdir()
    folder.mkdir(parents=True)
    (blobs / "0f").write_bytes(one())
    (folder / "a.safetensors").symlink_to("../../blobs/0f")
    (folder / "m.safetensors.index.json").write_text('{"weight_map": {"w": "a.safetensors"}}')
    answer = contained.checkpoint(folder / "m.safetensors.index.json")
    assert "clean (1 tensor, 16 bytes" in answer.text
