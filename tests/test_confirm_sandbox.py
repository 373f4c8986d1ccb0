"""The user's code can do to the child what it likes: one answer with its reason, and the next job finds a healthy server."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

pytest.importorskip("torch", reason="torch is not installed, so no code can be run")

from nanlint.confirm.harness import Harness, why_no_child
from nanlint.confirm.options import Options
from nanlint.confirm.target import target_of
from nanlint.confirm.worker.walls import landlock
from tests.confirm_projects import MEAN, answer_about, finding_at, written

if TYPE_CHECKING:
    from pathlib import Path


def project(folder: Path, body: str, imports: str = "") -> Path:
    text = (
        f"import os\nimport torch\n{imports}\n\ndef f(x: torch.Tensor):\n    {body}\n    return x / x.sum()  # here\n"
    )
    return written(folder, text)


@pytest.mark.parametrize(
    ("body", "reason", "timeout"),
    [
        pytest.param("os._exit(3)", "ended the process by itself (exit code 3)", 60.0, id="os._exit"),
        pytest.param("import ctypes; ctypes.string_at(0)", "SIGSEGV", 60.0, id="a segfault"),
        pytest.param("while True: pass", "stopped after 2 s", 2.0, id="an endless loop"),
    ],
)
def test_code_that_takes_the_process_down_is_one_answer(tmp_path: Path, body: str, reason: str, timeout: float) -> None:
    assert reason in answer_about(project(tmp_path, body), timeout=timeout)["died"]


@pytest.mark.parametrize(
    ("body", "reason"),
    [
        pytest.param("os.fork()", "start a process", id="a fork bomb"),
        pytest.param("os.system('true')", "run a shell command", id="a shell"),
        pytest.param("import subprocess; subprocess.run(['true'])", "start a program", id="a program"),
        pytest.param("import socket; socket.create_connection(('127.0.0.1', 9))", "network", id="the network"),
        pytest.param("open('/tmp/nanlint-was-here', 'w')", "write /tmp/nanlint-was-here", id="a write elsewhere"),
        pytest.param("os.remove(__file__)", "change", id="a removal"),
        pytest.param("torch.save(x, '/tmp/nanlint-was-here')", "write /tmp/nanlint-was-here", id="a checkpoint"),
        pytest.param(
            "torch.jit.save(torch.jit.script(torch.nn.ReLU()), '/tmp/nanlint-was-here')",
            "write /tmp/nanlint-was-here",
            id="a compiled module",
        ),
        pytest.param(
            "import multiprocessing as mp; mp.get_context('spawn').Process(target=print).start()",
            "start a program",
            id="a spawned interpreter",
        ),
    ],
)
def test_what_must_not_happen_is_blocked_and_named(tmp_path: Path, body: str, reason: str) -> None:
    path = project(tmp_path, body)
    answer = answer_about(path, timeout=60.0)
    assert answer["kind"] != "confirmed"
    assert reason in answer["blocked"][0]
    assert path.exists()


@pytest.mark.skipif(not landlock.version(), reason="this kernel has no Landlock")
@pytest.mark.parametrize(
    "call",
    [
        pytest.param("open(b'/tmp/nanlint-was-here', 0o101, 0o600)", id="a write elsewhere"),
        pytest.param("unlink(__file__.encode())", id="a removal"),
        pytest.param("truncate(__file__.encode(), 0)", id="a file cut short"),
        pytest.param("system(b'true') == 0 or -1", id="a program"),
    ],
)
def test_what_native_code_does_is_stopped_by_the_kernel(tmp_path: Path, call: str) -> None:
    path = project(tmp_path, f"import ctypes; lib = ctypes.CDLL(None); assert (lib.{call}) == -1, 'it was let through'")
    text = path.read_text()
    assert (answer_about(path)["kind"], path.read_text()) == ("confirmed", text)


def test_only_the_scratch_folder_and_devices_are_left_to_native_code(tmp_path: Path) -> None:
    body = "import ctypes; lib = ctypes.CDLL(None); assert lib.open(b'own', 0o101, 0o600) > 0 and lib.open(b'/dev/null', 1) > 0"
    assert answer_about(project(tmp_path, body))["kind"] == "confirmed"


def test_temporary_files_are_made_in_the_scratch_folder(tmp_path: Path) -> None:
    body = "import tempfile; torch.save(x, tempfile.mkdtemp() + '/x.pt'); assert tempfile.gettempdir() == os.getcwd()"
    answer = answer_about(project(tmp_path, body))
    assert (answer["kind"], answer["blocked"]) == ("confirmed", [])


def test_shared_memory_is_no_file_of_the_user(tmp_path: Path) -> None:
    assert answer_about(project(tmp_path, "torch.ones(4).share_memory_()"))["kind"] == "confirmed"


@pytest.mark.parametrize(
    "body",
    [
        pytest.param(
            "torch.set_num_threads(2); torch.ones(400, 400) @ torch.ones(400, 400); x = x + 0", id="threads of OpenMP"
        ),
        pytest.param(
            "import threading; t = threading.Thread(target=torch.ones, args=(3,)); t.start(); t.join()", id="a thread"
        ),
        pytest.param("import asyncio; asyncio.run(asyncio.sleep(0))", id="an event loop"),
        pytest.param(
            "import shutil; open('a', 'w').write('x'); shutil.copy2('a', 'b'); os.rename('b', 'c')", id="copies"
        ),
        pytest.param("import platform, getpass; platform.machine(); getpass.getuser()", id="who and where"),
        pytest.param(
            "assert os.cpu_count() and open('/proc/meminfo').read() and os.listdir('/proc/self/fd')", id="/proc"
        ),
        pytest.param("import numpy; numpy.linalg.svd(numpy.ones((50, 50)))", id="numpy"),
        pytest.param("import multiprocessing as mp; mp.Queue().put(1); mp.Lock().acquire()", id="a queue"),
    ],
)
def test_what_ordinary_code_does_still_works(tmp_path: Path, body: str) -> None:
    answer = answer_about(project(tmp_path, body))
    assert (answer["kind"], answer["blocked"], answer["level"]) == ("confirmed", [], "function"), answer


def test_a_hundred_gigabytes_are_refused(tmp_path: Path) -> None:
    # The whole function cannot run; the slice around the line, which needs no such tensor, can.
    answer = answer_about(project(tmp_path, "torch.ones(25_000_000_000)"), timeout=60.0)
    assert (answer["kind"], answer["level"]) == ("reachable", "slice")


def test_the_scratch_folder_may_be_written_and_is_gone_afterwards(tmp_path: Path) -> None:
    answer = answer_about(project(tmp_path, "open('scratch.txt', 'w').write('x'); print(os.getcwd())"))
    assert (answer["kind"], answer["blocked"]) == ("confirmed", [])
    assert sorted(path.name for path in tmp_path.iterdir()) == ["model.py"]


def test_what_the_code_prints_does_not_reach_us(tmp_path: Path, capfd: pytest.CaptureFixture[str]) -> None:
    assert answer_about(project(tmp_path, "print('loud'); os.write(2, b'louder')"))["kind"] == "confirmed"
    assert capfd.readouterr() == ("", "")


def test_a_missing_package_is_replaced_and_told(tmp_path: Path) -> None:
    path = project(
        tmp_path,
        "pass",
        "import no_such_package.deep as p\nfrom no_such_package import Base\n\n\nclass C(Base):\n    pass\n",
    )
    answer = answer_about(path)
    assert (answer["kind"], answer["notes"]) == ("confirmed", ["stand-ins for no_such_package"])


def test_an_import_that_may_fail_fails(tmp_path: Path) -> None:
    guarded = "try:\n    import no_such_package\nexcept ImportError:\n    no_such_package = None\nassert no_such_package is None\n"
    answer = answer_about(project(tmp_path, "pass", guarded))
    assert (answer["kind"], answer["notes"]) == ("confirmed", [])


@pytest.mark.parametrize(
    ("imports", "reason"),
    [
        pytest.param(
            "for _ in range(9):\n    model.zero_grad(); loss.backward()\n", "it trains at import", id="trains"
        ),
        pytest.param("raise SystemExit('no data')\n", "SystemExit: no data", id="exits"),
        pytest.param("DATA = open('/no/such/file').read()\n", "FileNotFoundError", id="needs a file"),
    ],
)
def test_a_script_that_does_more_than_define_is_read_for_its_definitions(
    tmp_path: Path, imports: str, reason: str
) -> None:
    answer = answer_about(project(tmp_path, "pass", imports))
    assert answer["kind"] == "confirmed"
    assert reason in answer["notes"][0]


def test_a_syntax_error_is_told_with_its_line(tmp_path: Path) -> None:
    path = written(tmp_path, MEAN)
    written(tmp_path, "def broken(:\n", "helper.py")
    path.write_text("from helper import x\n" + path.read_text())
    assert "SyntaxError" in answer_about(path)["notes"][0]


@pytest.mark.slow
def test_where_there_is_no_fork_each_job_has_its_own_interpreter(tmp_path: Path) -> None:
    with Harness(forks=False) as alone:
        finding = finding_at(path := written(tmp_path, MEAN))
        target = target_of(finding, path.read_text(), str(path))
        assert alone.ask(Options(device="cpu").job("search", target, finding))["kind"] == "confirmed"


@pytest.mark.parametrize(
    ("complaint", "told"),
    [
        ("Traceback\nModuleNotFoundError: No module named 'torch'\n", "pip install 'nanlint[torch]'"),
        ("Traceback\nImportError: libcudart.so: no\n", "ImportError: libcudart.so: no"),
        ("", "it said nothing"),
    ],
)
def test_a_child_that_does_not_start_says_what_to_do(complaint: str, told: str) -> None:
    assert told in why_no_child(complaint)
