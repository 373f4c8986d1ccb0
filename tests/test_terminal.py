"""What a terminal gets and a pipe does not: the full report, colours, and a bar for those who wait."""

from __future__ import annotations

import os
import select
import subprocess
from typing import TYPE_CHECKING

import pytest

from nanlint.cli.terminal import Waiting
from tests.project import COMMAND, LOG, Project, environment

if TYPE_CHECKING:
    from pathlib import Path

pytestmark = pytest.mark.slow

pty = pytest.importorskip("pty", reason="there are no terminals to open here")


@pytest.fixture
def project(tmp_path: Path) -> Project:
    return Project.make(tmp_path)


class OnTerminal:
    """A command whose stdout and stderr are two terminals."""

    def __init__(self, project: Project, *words: str, environ: dict[str, str] | None = None) -> None:
        ends = [pty.openpty(), pty.openpty()]
        variables = environment({"TERM": "xterm-256color", "COLUMNS": "100", **(environ or {})})
        for variable in ("NO_COLOR", "CI") if environ is None else ("CI",):
            variables.pop(variable, None)
        process = subprocess.Popen(
            words, cwd=project.folder, env=variables, stdin=subprocess.DEVNULL, stdout=ends[0][1], stderr=ends[1][1]
        )
        for _, slave in ends:
            os.close(slave)
        self.out, self.err = _drained([master for master, _ in ends])
        self.code = process.wait()


def _drained(terminals: list[int]) -> list[str]:
    """All that is printed on the terminals until both are closed."""
    printed: dict[int, bytes] = dict.fromkeys(terminals, b"")
    left = set(terminals)
    while left:
        for terminal in select.select(list(left), [], [])[0]:
            try:
                data = os.read(terminal, 65536)
            except OSError:  # how Linux says that the other end is closed
                data = b""
            printed[terminal] += data
            if not data:
                left.remove(terminal)
                os.close(terminal)
    return [printed[terminal].decode().replace("\r\n", "\n") for terminal in terminals]


def test_a_terminal_gets_the_full_report_in_colour(project: Project) -> None:
    project.write("a.py", LOG)
    run = OnTerminal(project, *COMMAND, "check", "--no-cache")
    assert run.code == 1
    assert "\x1b[" in run.out
    assert "return torch.log(x)" in run.out


def test_a_pipe_gets_plain_lines(project: Project) -> None:
    project.write("a.py", LOG)
    outcome = project.spawn("check", "--no-cache", environ={"TERM": "xterm-256color"})
    assert "\x1b[" not in outcome.out
    assert outcome.out.startswith("a.py:5:12: LOC101")


@pytest.mark.parametrize(
    "environ", [{"NO_COLOR": "1"}, {"TERM": "dumb"}], ids=["NO_COLOR", "a terminal that knows no colours"]
)
def test_no_colour_where_the_user_or_the_terminal_says_no(project: Project, environ: dict[str, str]) -> None:
    project.write("a.py", LOG)
    assert "\x1b[" not in OnTerminal(project, *COMMAND, "check", "--no-cache", environ=environ).out


def test_force_color_paints_a_pipe(project: Project) -> None:
    project.write("a.py", LOG)
    outcome = project.spawn("check", "--no-cache", "-f", "full", environ={"FORCE_COLOR": "1"})
    assert "\x1b[" in outcome.out


def test_the_option_is_stronger_than_the_environment(project: Project) -> None:
    project.write("a.py", LOG)
    words = ("check", "--no-cache", "-f", "full", "--color")
    painted = project.spawn(*words, "always", environ={"NO_COLOR": "1"}).out
    plain = project.spawn(*words, "never", environ={"FORCE_COLOR": "1"}).out
    assert ["\x1b[" in painted, "\x1b[" in plain] == [True, False]


SLOW_RULE = '''
import time

from nanlint.rule import Rule, Severity, every


class Slow(Rule):
    """A rule that takes its time."""

    code = "SLO001"
    name = "slow"
    severity = Severity.WARNING
    hazards = (every("torch.log"),)

    def check(self, hazard):
        time.sleep(0.4)
        return iter(())
'''


def test_who_waits_longer_than_a_second_sees_a_bar_on_stderr(project: Project) -> None:
    project.write("rules/slow.py", SLOW_RULE)
    project.write("nanlint.toml", 'local-rules = ["rules"]\nselect = ["SLO001"]\n')
    for number in range(5):
        project.write(f"{number}.py", LOG)
    run = OnTerminal(project, *COMMAND, "check", "--no-cache", "--jobs", "1")
    assert "checking" in run.err
    assert "/7" in run.err
    assert "checking" not in run.out
    assert OnTerminal(project, *COMMAND, "check", "--no-cache", "--jobs", "1", "--quiet").err == ""


class Clock:
    """A clock that goes when it is told to."""

    def __init__(self) -> None:
        self.now = 100.0

    def monotonic(self) -> float:
        return self.now


@pytest.fixture
def clock(monkeypatch: pytest.MonkeyPatch) -> Clock:
    clock = Clock()
    monkeypatch.setattr("nanlint.cli.terminal.time", clock)
    return clock


@pytest.mark.parametrize(
    ("waited", "seen"),
    [(0.0, False), (0.9, False), (1.1, True)],
    ids=["at once", "after 0.9 seconds", "after 1.1 seconds"],
)
def test_the_bar_comes_after_a_second(clock: Clock, waited: float, *, seen: bool) -> None:
    master, slave = pty.openpty()
    with os.fdopen(slave, "w") as terminal:
        waiting = Waiting(terminal)
        clock.now += waited
        waiting(1, 7)
        waiting.stop()
    assert ("1/7" in _drained([master])[0]) == seen


def test_there_is_no_bar_where_nobody_looks(clock: Clock, tmp_path: Path) -> None:
    with (tmp_path / "log").open("w") as log:
        waiting = Waiting(log)
        clock.now += 60
        waiting(1, 2)
        waiting.stop()
    assert (tmp_path / "log").read_text() == ""
