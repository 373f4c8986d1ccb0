"""Whatever happens to the child or to the machine, a run of confirm goes on, and leaves nothing behind."""

from __future__ import annotations

import errno
import json
import os
import signal
import subprocess
import sys
import tempfile
import threading
import time
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

pytest.importorskip("torch", reason="torch is not installed, so no code can be run")

from nanlint.confirm import confirming, scratch
from nanlint.confirm.harness import Harness
from nanlint.model import Report
from nanlint.model.verdict import VerdictKind
from nanlint.report.block import finding_block
from tests.confirm_projects import MEAN, finding_at, verdicts_on, written
from tests.hostile_world import processes_with

if TYPE_CHECKING:
    from collections.abc import Iterator

FORGED = (
    '{"kind": "confirmed", "level": "function", "dtype": "float32", "case": {"grade": "edge", "seed": 0, "call": {"x": %s}},'
    ' "hit": {"direction": "forward", "line": 1, "operation": "div", "result": "nan"}}'
)
NOTHING = {"do": "devices", "device": "cpu", "timeout": 60.0}
posix = pytest.mark.skipif(not hasattr(os, "fork"), reason="there is no fork server here")


@pytest.fixture
def harness(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Harness]:
    """A harness of the test's own, which leaves nothing behind."""
    (folder := tmp_path / "scratch").mkdir()
    monkeypatch.setenv("TMPDIR", str(folder))
    threads = threading.active_count()
    with Harness() as one:
        yield one
    assert (threading.active_count(), list(folder.iterdir()), processes_with(str(folder))) == (threads, [], [])


def proof(folder: Path, body: str, **more: Any) -> dict[str, Any]:
    """A job that runs a function."""
    path = written(folder, f"import os\n\n\ndef is_finite():\n    {body}\n", "proof.py")
    return {"do": "proof", "path": str(path), "device": "cpu", "timeout": 30.0, **more}


# A run in the background of a shell is started with Ctrl-C ignored, and would stay so.
HEEDING = """
import runpy, signal
signal.signal(signal.SIGINT, signal.default_int_handler)
runpy.run_module("nanlint", run_name="__main__", alter_sys=True)
"""


def begun(folder: Path) -> None:
    """Wait until a job runs."""
    until = time.monotonic() + 60
    while not list(folder.glob("*/job-*")) and time.monotonic() < until:
        time.sleep(0.05)


def server_of(harness: Harness) -> subprocess.Popen[bytes]:
    """The process of the fork server."""
    server = harness._server  # noqa: SLF001 - there is no public way to hurt it
    assert server is not None
    return server.process


@posix
@pytest.mark.slow
def test_a_server_that_dies_between_two_jobs_is_replaced(harness: Harness) -> None:
    first = harness.ask(NOTHING)
    server_of(harness).kill()
    assert harness.ask(NOTHING)["devices"] == first["devices"]


@posix
@pytest.mark.slow
def test_a_job_whose_server_dies_runs_again(harness: Harness, tmp_path: Path) -> None:
    harness.ask(NOTHING)
    with ThreadPoolExecutor(1) as pool:
        waiting = pool.submit(harness.ask, proof(tmp_path, "import time; time.sleep(60)", timeout=3.0))
        begun(tmp_path / "scratch")
        server_of(harness).kill()
        assert waiting.result()["died"] == "it was stopped after 3 s (--timeout)"


@posix
@pytest.mark.slow
def test_without_a_place_for_the_scratch_folder_a_job_is_one_answer(harness: Harness, tmp_path: Path) -> None:
    harness.ask(NOTHING)
    (base,) = (tmp_path / "scratch").iterdir()
    base.rmdir()
    assert "could not be started: No such file or directory" in harness.ask(NOTHING)["died"]
    base.mkdir()
    assert harness.ask(NOTHING)["devices"]


@posix
@pytest.mark.slow
def test_who_asks_a_stopped_harness_is_told_so(harness: Harness, tmp_path: Path) -> None:
    harness.ask(NOTHING)
    with ThreadPoolExecutor(1) as pool:
        waiting = pool.submit(harness.ask, proof(tmp_path, "import time; time.sleep(60)"))
        begun(tmp_path / "scratch")
        harness.stop()
        assert waiting.result()["died"] in {"the run was stopped", "the child process ended"}
    assert harness.ask(NOTHING) == {"died": "the run was stopped"}


@pytest.mark.slow
@pytest.mark.parametrize(
    ("body", "reason"),
    [
        pytest.param("[os.write(n, b'nonsense\\n') for n in range(3, 9)]", "is not JSON", id="nonsense"),
        pytest.param("[os.write(n, b'x' * (17 << 20)) for n in range(3, 9)]", "more than 16 MB", id="without end"),
        pytest.param("os._exit(3)", "exit code 3", id="no answer"),
    ],
)
def test_where_there_is_no_fork_an_answer_is_not_believed_either(tmp_path: Path, body: str, reason: str) -> None:
    # Not all of these descriptors are open.
    body = body.replace("os.write", "(lambda n, d: os.write(n, d) if os.path.exists(f'/proc/self/fd/{n}') else 0)")
    with Harness(forks=False) as alone:
        assert reason in alone.ask(proof(tmp_path, body))["died"]


@posix
@pytest.mark.slow
def test_an_interrupted_run_leaves_nothing_behind(tmp_path: Path) -> None:
    path = written(tmp_path, MEAN.replace("return", "mean =") + "    while True:\n        print(mean)\n")
    (folder := tmp_path / "scratch").mkdir()
    command = [sys.executable, "-c", HEEDING, "confirm", "--severity", "info", "--device", "cpu", str(path)]
    environment = {**os.environ, "TMPDIR": str(folder)}
    run = subprocess.Popen(
        command, env=environment, stdout=subprocess.PIPE, stderr=subprocess.PIPE, start_new_session=True
    )
    begun(folder)
    run.send_signal(signal.SIGINT)
    _, told = run.communicate(timeout=60)
    assert (b"interrupted" in told, list(folder.iterdir()), processes_with(str(folder))) == (True, [], [])


@pytest.mark.parametrize(
    "answer",
    [
        pytest.param('{"kind": 5}', id="a kind that is a number"),
        pytest.param('{"kind": "confirmed"}', id="confirmed by nothing"),
        pytest.param('{"kind": "confirmed", "case": 1, "hit": []}', id="a case that is a number"),
        pytest.param(
            FORGED % '{"kind": "tensor", "shape": [1000000000000, 1], "values": [1]}', id="a tensor without end"
        ),
        pytest.param(
            FORGED % ('{"kind": "list", "items": [' * 300 + '{"kind": "value", "value": 1}' + "]}" * 300),
            id="an argument too deep",
        ),
        pytest.param('{"kind": "not-reproduced", "level": {}}', id="a level that is a dictionary"),
        pytest.param("{}", id="nothing in it"),
    ],
)
def test_an_answer_that_the_code_wrote_itself_is_one_verdict(tmp_path: Path, answer: str) -> None:
    forged = f"""
    import os
    import torch

    for number in map(int, os.listdir("/proc/self/fd")):
        if number > 2:
            try:
                os.write(number, b'{answer}\\n')
            except OSError:
                pass


    def f(x: torch.Tensor):
        return x / x.sum()  # here
    """
    (verdict,) = verdicts_on([finding_at(written(tmp_path, forged))])
    assert (verdict.kind, "makes no sense" in str(verdict.reason)) == (VerdictKind.NOT_RUNNABLE, True), verdict


def test_what_an_answer_says_is_cut_and_cannot_drive_the_terminal(tmp_path: Path) -> None:
    told = json.dumps({"kind": "not-reproduced", "level": "\x1b[2J", "dtype": "x" * 10_000, "evaluations": 1})
    (tmp_path / "answer.json").write_text(told[:-1] + ', "seconds": NaN}\n')
    forged = f"""
    import os
    import torch

    for number in map(int, os.listdir("/proc/self/fd")):
        if number > 2:
            try:
                os.write(number, open({str(tmp_path / "answer.json")!r}, "rb").read())
            except OSError:
                pass


    def f(x: torch.Tensor):
        return x / x.sum()  # here
    """
    finding = finding_at(written(tmp_path, forged))
    (verdict,) = verdicts_on([finding])
    assert (verdict.kind, verdict.seconds) == (VerdictKind.NOT_REPRODUCED, None)
    shown = [text for line in finding_block(replace(finding, verdict=verdict), Report()) for text, _ in line]
    assert ("\x1b" in "".join(shown), len("".join(shown)) < 6000) == (False, True)


def test_a_full_disk_costs_the_proof_and_not_the_run(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def full(*_: Any) -> str:
        raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))

    monkeypatch.setattr(confirming, "save", full)
    (verdict,) = verdicts_on([finding_at(written(tmp_path, MEAN))], save_to=str(tmp_path / "proofs"))
    assert (verdict.is_confirmed, verdict.repro) == (True, None)
    assert "the proof was not saved: No space left on device" in str(verdict.reason)


def test_a_folder_is_removed_whatever_is_in_it() -> None:
    folder = tempfile.mkdtemp(prefix="nanlint-removed-")
    (outside := Path(tempfile.mkdtemp(prefix="nanlint-kept-")) / "kept").write_text("x")
    before = Path.cwd()
    Path(folder, "closed", "inner").mkdir(parents=True)
    Path(folder, "closed", "link").symlink_to(outside.parent)
    Path(folder, "closed").chmod(0)
    try:
        os.chdir(folder)
        for _ in range(1500):
            Path("down").mkdir()
            os.chdir("down")
    finally:
        os.chdir(before)
    scratch.remove(folder)
    assert (Path(folder).exists(), outside.read_text()) == (False, "x")
    scratch.remove(str(outside.parent))
