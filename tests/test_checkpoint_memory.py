"""A checkpoint is looked at in chunks: how large it is does not matter for the memory it takes."""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING

import pytest

pytest.importorskip("torch", reason="torch is not installed")

from benchmarks.checkpoint import SCAN, make_files, measure

if TYPE_CHECKING:
    from pathlib import Path

pytestmark = pytest.mark.slow

LARGE = 0.25
"""Gigabytes."""
LITTLE = 80
"""Megabytes: some chunks, and what torch allocates at its first use."""


@pytest.mark.skipif(not sys.platform.startswith("linux"), reason="the peak of resident memory is read from /proc")
def test_a_large_file_takes_little_memory(tmp_path: Path) -> None:
    path = make_files(tmp_path, LARGE)[".pt"]
    assert path.stat().st_size / 1e6 > 3 * LITTLE
    assert measure(SCAN, path).megabytes < LITTLE
