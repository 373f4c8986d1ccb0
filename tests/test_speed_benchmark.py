"""The parts of the speed benchmark that can be wrong without anybody noticing."""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING

import pytest

from benchmarks.measure import Command, run
from benchmarks.table import Scene, Target, fill_readme, milliseconds, ratio, seconds

if TYPE_CHECKING:
    from pathlib import Path

MEMORY = "import time; held = bytearray(80_000_000); time.sleep(1.5)"
CHILD = f"import subprocess, sys; subprocess.run([sys.executable, '-c', {MEMORY!r}])"
BUSY = "import time\nwhile time.process_time() < 0.3: pass"


def test_the_readme_keeps_everything_outside_the_markers(tmp_path: Path) -> None:
    readme = tmp_path / "README.md"
    readme.write_text("before\n<!-- speed:begin -->\nold\n<!-- speed:end -->\nafter\n")
    fill_readme(readme, "new")
    assert readme.read_text() == "before\n<!-- speed:begin -->\nnew\n<!-- speed:end -->\nafter\n"


def test_a_readme_without_markers_is_refused(tmp_path: Path) -> None:
    readme = tmp_path / "README.md"
    readme.write_text("nothing to fill\n")
    with pytest.raises(SystemExit, match=r"README\.md lacks <!-- speed:begin -->"):
        fill_readme(readme, "new")


def test_figures_have_as_many_digits_as_they_are_worth() -> None:
    figures = [seconds(1234.5), seconds(12.34), seconds(0.123), milliseconds(0.01234), milliseconds(1.5), ratio(3, 2)]
    assert figures == ["1,234", "12.3", "0.12", "12.3", "1,500", "1.5x"]


def test_a_missed_target_stands_out() -> None:
    scene = Scene("Title", ("run", "verdict"), [("a", Target("<= 6x", "7x", met=False).verdict)])
    assert scene.markdown() == "## Title\n\n| run | verdict |\n| --- | --- |\n| a | **missed**: 7x |"


@pytest.mark.parametrize("program", [MEMORY, CHILD], ids=["itself", "a process it starts"])
def test_peak_memory_is_that_of_all_processes(program: str) -> None:
    if sys.platform != "linux":
        pytest.skip("memory is read from /proc, which only Linux has")
    assert run(Command([sys.executable, "-c", program]), weigh=True).peak > 80_000_000


def test_cpu_counts_the_processes_that_a_command_starts() -> None:
    program = f"import subprocess, sys; subprocess.run([sys.executable, '-c', {BUSY!r}])"
    assert run(Command([sys.executable, "-c", program])).cpu >= 0.3


def test_a_command_that_fails_ends_the_benchmark_with_what_it_said() -> None:
    with pytest.raises(SystemExit, match="no such thing"):
        run(Command([sys.executable, "-c", "import sys; print('no such thing', file=sys.stderr); sys.exit(2)"]))
