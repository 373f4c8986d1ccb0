"""A checkpoint is looked at in chunks: how large it is does not matter for the memory it takes."""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING

import pytest

pytest.importorskip("torch", reason="torch is not installed")

from benchmarks.checkpoint import SCAN, make_files, measure  # noqa: E402 - after the skip

if TYPE_CHECKING:
    from pathlib import Path

LARGE = 0.25
"""Gigabytes."""
LITTLE = 80
"""Megabytes: some chunks, and what torch allocates at its first use."""


@pytest.mark.skipif(not sys.platform.startswith("linux"), reason="the peak of resident memory is read from /proc")
def test_a_large_file_takes_little_memory(tmp_path: Path) -> None:
    files = make_files(tmp_path, LARGE)
    sizes = {suffix: path.stat().st_size / 1e6 for suffix, path in files.items()}
    assert all(size > 3 * LITTLE for size in sizes.values())
    taken = {suffix: measure(SCAN, path)[1] for suffix, path in files.items()}
    assert {suffix: size for suffix, size in taken.items() if size > LITTLE} == {}
