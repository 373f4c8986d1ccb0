"""Worker processes: the same findings however many there are, and nothing left behind however a run ends."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from nanlint.engine.check_paths import Checker, Plan, Run
from nanlint.engine.workers import cores, run_in_workers
from nanlint.settings import Settings
from tests.project import BROKEN, CLEAN, COMMAND, LOG, RULES, SQRT, Project, environment

if TYPE_CHECKING:
    from nanlint.engine.file_result import FileResult

pytestmark = pytest.mark.slow

START_METHODS = ["spawn", *(["fork"] if sys.platform == "linux" else [])]

needs_posix = pytest.mark.skipif(os.name != "posix", reason="signals and process groups are those of POSIX")
needs_proc = pytest.mark.skipif(not Path("/proc/self/stat").exists(), reason="processes are counted in /proc")


def listen_to_signals() -> None:
    """A test run in the background of a script ignores SIGINT, one under `nohup` SIGHUP, and so would its children."""
    signal.signal(signal.SIGINT, signal.SIG_DFL)
    signal.signal(signal.SIGHUP, signal.SIG_DFL)


@pytest.fixture
def project(tmp_path: Path) -> Project:
    project = Project.make(tmp_path)
    for number in range(6):
        project.write(f"{number}.py", (LOG, SQRT, CLEAN)[number % 3] * (number + 1))
    project.write("6.py", BROKEN)
    return project


# -- answers ------------------------------------------------------------------------------------------------------


def square(number: int) -> int:
    return number * number


def square_or_die(number: int, *, fatal: frozenset[int]) -> int:
    if number in fatal:
        os._exit(1)
    return number * number


@pytest.mark.parametrize("start_method", START_METHODS)
@pytest.mark.parametrize("jobs", [1, 3, 20])
def test_every_task_gets_its_answer_once(start_method: str, jobs: int) -> None:
    answers = run_in_workers(range(10), square, jobs=jobs, start_method=start_method)
    assert sorted(answers) == [(number, number * number) for number in range(10)]


def test_no_tasks_need_no_workers() -> None:
    assert list(run_in_workers([], square, jobs=3)) == []


@pytest.mark.parametrize("start_method", START_METHODS)
def test_what_every_worker_needs_is_loaded_once_where_they_share_it(start_method: str) -> None:
    loaded: list[str] = []
    list(run_in_workers(range(4), square, jobs=2, start_method=start_method, before_fork=lambda: loaded.append("all")))
    assert loaded == (["all"] if start_method == "fork" else [])


def test_a_checker_that_is_prepared_has_its_rules_loaded() -> None:
    checker = Checker(gated=True)
    ruleset = checker.ruleset(Settings(select=("NAN1",)))
    assert checker.prepare() == len(ruleset.codes) > 5


@pytest.mark.parametrize("start_method", START_METHODS)
@pytest.mark.parametrize("fatal", [{3}, {0, 9}, {2, 4, 6, 8}], ids=["one", "first and last", "all the rest of one"])
def test_a_task_that_kills_its_worker_is_named_and_the_others_go_on(start_method: str, fatal: set[int]) -> None:
    work = partial(square_or_die, fatal=frozenset(fatal))
    answers = dict(run_in_workers(range(10), work, jobs=2, start_method=start_method))
    assert answers == {number: None if number in fatal else number * number for number in range(10)}


def test_large_answers_come_through() -> None:
    assert [len(answer or "") for _, answer in run_in_workers(["x"] * 4, _megabytes, jobs=2)] == [3_000_000] * 4


def _megabytes(letter: str) -> str:
    return letter * 3_000_000


def test_workers_are_gone_when_the_answers_are_not_wanted_any_more() -> None:
    before = children_of(os.getpid())
    answers = run_in_workers([0.0, 60.0, 0.0, 60.0], time.sleep, jobs=2)
    assert next(answers) == (0.0, None)
    answers.close()  # type: ignore[attr-defined] # a generator
    assert children_of(os.getpid()) == before


def test_there_is_a_core() -> None:
    assert cores() >= 1


# -- findings -----------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("start_method", START_METHODS)
def test_a_checker_finds_the_same_in_every_process(
    project: Project, start_method: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(project.folder)
    run = Run(Plan(use_cache=False))
    files = [file for file in run.discover().files if file.kind == "python"]
    here = {file.path: parts(run.checker(file)) for file in files}
    there = run_in_workers(files, Checker(gated=True), jobs=3, start_method=start_method)
    assert {file.path: parts(answer) for file, answer in there} == here


def parts(result: FileResult | None) -> tuple[object, ...]:
    assert result is not None
    return result.findings, result.errors, result.quiet, result.digest


def test_one_and_three_jobs_report_the_same(project: Project) -> None:
    reports = [project.check("-f", "json", "--jobs", jobs) for jobs in ("1", "3")]
    assert reports[0] == reports[1]
    assert reports[0].out.count('"code"') == 12


KILLER_RULE = '''
import os

from nanlint.rule import Rule, Severity, every


class Killer(Rule):
    """A rule that kills its process where it meets a tanh."""

    code = "KIL001"
    name = "killer"
    severity = Severity.WARNING
    hazards = (every("torch.tanh"), every("torch.log"))

    def check(self, hazard):
        if hazard.op.function == "torch.tanh":
            os.kill(os.getpid(), 9)
        yield self.told(hazard, "a logarithm")
'''


@needs_posix
def test_a_file_on_which_the_worker_dies_is_named_and_the_others_are_checked(tmp_path: Path) -> None:
    project = Project(tmp_path)
    project.write("rules/killer.py", KILLER_RULE)
    project.write("nanlint.toml", 'local-rules = ["rules"]\nselect = ["KIL001"]\n')
    for name in "abcd":
        project.write(f"{name}.py", LOG)
    project.write("bad.py", LOG.replace("log", "tanh"))
    outcome = project.spawn("check", "-q", "--jobs", "2")
    died = "the process that checked this file died (out of memory, or a crash in a native library); it was not checked"
    found = [f"{name}.py:5:12: KIL001 a logarithm [killer]" for name in "abcd"]
    assert outcome == (1, "\n".join([*found, f"bad.py: error: {died}", ""]), "")


# -- how a run ends -----------------------------------------------------------------------------------------------

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
        time.sleep(0.5)
        yield self.told(hazard, "a logarithm")
'''


def children_of(pid: int) -> set[int]:
    """The processes that `pid` has started and that still run."""
    return {child for child, (parent, state) in processes().items() if parent == pid and state != "Z"}


def processes() -> dict[int, tuple[int, str]]:
    """Parent and state of every process."""
    table = {}
    for path in Path("/proc").glob("[0-9]*/stat"):
        try:
            words = path.read_text().rpartition(")")[2].split()
        except OSError:  # it ended meanwhile
            continue
        table[int(path.parent.name)] = (int(words[1]), words[0])
    return table


def running(pids: set[int]) -> set[int]:
    return {pid for pid, (_, state) in processes().items() if pid in pids and state != "Z"}


def wait_until_gone(pids: set[int], seconds: float = 20) -> set[int]:
    """What is left of `pids` at the end."""
    deadline = time.monotonic() + seconds
    while running(pids) and time.monotonic() < deadline:
        time.sleep(0.05)
    return running(pids)


@pytest.fixture
def slow_project(tmp_path: Path) -> Project:
    project = Project(tmp_path)
    project.write("rules/slow.py", SLOW_RULE)
    project.write("nanlint.toml", 'local-rules = ["rules"]\nselect = ["SLO001"]\n')
    for number in range(200):
        project.write(f"src/{number}.py", LOG)
    return project


def started(project: Project, *words: str) -> tuple[subprocess.Popen[str], set[int]]:
    """A run with three workers, and their numbers, once all of them are there."""
    process = subprocess.Popen(
        [*COMMAND, "check", "--jobs", "3", "src", *words],
        cwd=project.folder, env=environment(), stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True,
        start_new_session=True, preexec_fn=listen_to_signals,  # noqa: PLW1509 - this process has no threads
    )  # fmt: skip
    deadline = time.monotonic() + 60
    while len(children_of(process.pid)) < 3:
        assert process.poll() is None
        assert time.monotonic() < deadline
        time.sleep(0.02)
    return process, children_of(process.pid)


@needs_posix
@needs_proc
@pytest.mark.parametrize("whom", ["the parent alone", "the whole group, as a terminal does"])
def test_ctrl_c_ends_everything_with_one_line_and_exit_code_130(slow_project: Project, whom: str) -> None:
    process, workers = started(slow_project)
    if whom == "the parent alone":
        process.send_signal(signal.SIGINT)
    else:
        os.killpg(process.pid, signal.SIGINT)
    out, err = process.communicate(timeout=60)
    message = "nanlint: interrupted; files already fixed stay fixed, no file is half-written\n"
    assert (process.returncode, out, err, wait_until_gone(workers)) == (130, "", message, set())


@needs_posix
@needs_proc
@pytest.mark.parametrize("how", [signal.SIGKILL, signal.SIGTERM, signal.SIGHUP])
def test_workers_end_when_their_parent_is_gone(slow_project: Project, how: signal.Signals) -> None:
    process, workers = started(slow_project)
    process.send_signal(how)
    process.wait(timeout=60)
    assert wait_until_gone(workers) == set()
    process.communicate()


@needs_posix
def test_ctrl_c_while_files_are_fixed_leaves_every_file_whole(tmp_path: Path) -> None:
    project = Project.make(tmp_path)
    # On a busy machine all would be fixed before this process sees the first, so each takes a little longer.
    project.write("rules/slow.py", SLOW_RULE.replace("sleep(0.5)", "sleep(0.002)"))
    project.write("nanlint.toml", f"local-rules = ['{RULES}', 'rules']\nselect = ['LOC', 'SLO']\n")
    text = LOG + "".join(f"\n\ndef f{number}(x):\n    return torch.log(x)\n" for number in range(10))
    for number in range(60):
        project.write(f"{number}.py", text)
    fixed = text.replace("torch.log(", "torch.log1p(")
    process = subprocess.Popen(
        [*COMMAND, "check", "--no-cache", "--fix"], cwd=project.folder, env=environment(),
        stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, preexec_fn=listen_to_signals,  # noqa: PLW1509 - this process has no threads
    )  # fmt: skip
    deadline = time.monotonic() + 60
    while not any(path.read_text() == fixed for path in project.folder.glob("*.py")):
        assert process.poll() is None
        assert time.monotonic() < deadline
        time.sleep(0.05)
    process.send_signal(signal.SIGINT)
    assert process.wait(timeout=60) == 130
    contents = {path.read_text() for path in project.folder.glob("*.py")}
    assert contents == {text, fixed}
    assert not list(project.folder.glob(".nanlint-*.tmp"))
