"""Findings on many machines: a cluster gives the report of one machine, also when a machine of it is lost in mid-run."""

from __future__ import annotations

import importlib
import json
import logging
import os
import sys
import time
from contextlib import ExitStack
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

pytest.importorskip("torch", reason="torch is not installed, so no code can be run")
if sys.version_info >= (3, 15):
    pytest.skip("Ray has no wheel for this Python", allow_module_level=True)

from ray.cluster_utils import Cluster

from nanlint import __version__
from nanlint.cli.main import main
from nanlint.confirm import on_node
from nanlint.confirm.confirming import Confirmer
from nanlint.confirm.harness import Harness
from nanlint.confirm.on_ray import RayHarness
from nanlint.confirm.options import Options
from nanlint.confirm.shipping import packed
from nanlint.confirm.target import target_of
from nanlint.errors import ExitCode, NanlintError
from tests.confirm_projects import LEARNED, MEAN, finding_at, written
from tests.hostile_modules import HOSTILE
from tests.hostile_world import attempted, world

if TYPE_CHECKING:
    from collections.abc import Iterator

    from nanlint.model import Finding
    from nanlint.model.verdict import Verdict

pytestmark = [
    pytest.mark.slow,
    # Ray's own: files and sockets that it leaves to the end of the process.
    pytest.mark.filterwarnings("ignore::ResourceWarning", "ignore::pytest.PytestUnraisableExceptionWarning"),
    pytest.mark.filterwarnings("ignore::FutureWarning:ray", "ignore::DeprecationWarning"),
]
ray: Any = importlib.import_module("ray")  # its functions have no types
ROOT = Path(__file__).resolve().parent.parent
NOTHING = {"do": "devices", "device": "cpu", "timeout": 60.0}
SLOW = "import time\n\ntime.sleep(0.3)\n"
REACHES_RAY = """
import glob, socket

def is_finite():
    for path in glob.glob({sockets!r}):
        with socket.socket(socket.AF_UNIX) as one:
            try:
                one.connect(path)
                return True
            except OSError:
                pass
    with socket.create_connection({server!r}, 5):
        return True
"""


@pytest.fixture(scope="module")
def cluster() -> Iterator[Any]:
    """Two nodes with a processor each; the first is the head."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("PYTHONPATH", os.pathsep.join(map(str, (ROOT, ROOT / "tests"))))
        patch.setenv("RAY_USAGE_STATS_ENABLED", "0")
        nodes: Any = Cluster(initialize_head=True, head_node_args={"num_cpus": 1, "include_dashboard": False})
        nodes.add_node(num_cpus=1)
        nodes.wait_for_nodes()
        ray.init(address=nodes.address, logging_level=logging.ERROR, log_to_driver=False)
        yield nodes
        ray.shutdown()
        nodes.shutdown()


def findings_in(folder: Path, most: int) -> list[Finding]:
    """Findings in so many projects, which take a while to be imported."""
    texts = (MEAN, LEARNED)
    return [finding_at(written(folder / f"project{number}", SLOW + texts[number % 2])) for number in range(most)]


def untimed(findings: list[Finding]) -> list[Verdict]:
    """The verdicts without the seconds they took."""
    return [replace(one.verdict, seconds=None) for one in findings if one.verdict is not None]


def test_the_command_line_prints_the_same_report(
    cluster: Any, tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    assert cluster is not None
    written(tmp_path, MEAN)
    monkeypatch.chdir(tmp_path)
    printed = []
    for executor in ("local", "ray"):
        assert main(["confirm", ".", "--isolated", "-f", "concise", "--executor", executor]) is ExitCode.FINDINGS
        printed.append(capsys.readouterr().out)
    assert printed[0] == printed[1]
    assert "confirmed" in printed[0]


def on_a_machine(sockets: str, server: tuple[str, int]) -> tuple[dict[str, list[str]], list[str], bool]:
    """What hostile modules get on this machine of a cluster, the walls there, and whether Ray itself can be reached."""
    with ExitStack() as stack:
        around = stack.enter_context(world(os.geteuid()))
        os.environ.update(around.environment())
        harness = stack.enter_context(Harness())
        walls = harness.ask(NOTHING)["walls"]
        got = {module.name: attempted(harness, around, module)[1] for module in HOSTILE[::3]}
        path = around.folder / "reaches_ray.py"
        path.write_text(REACHES_RAY.format(sockets=sockets, server=server))
        answer = harness.ask({"do": "proof", "path": str(path), "device": "cpu", "timeout": 60.0})
        return got, walls, answer.get("finite") is True


def test_the_walls_stand_on_a_machine_of_the_cluster(cluster: Any) -> None:
    with Harness() as harness:
        walls = harness.ask(NOTHING)["walls"]
    if len(walls) < 7:
        pytest.skip("this system lacks a wall; test_confirm_walls tells what gets out then")
    host, _, port = cluster.address.rpartition(":")
    sockets = f"{cluster.head_node.get_session_dir_path()}/sockets/*"
    task = ray.remote(on_a_machine).options(num_cpus=1, max_retries=0)
    got, there, reached = ray.get(task.remote(sockets, (host, int(port))))
    assert {name: effects for name, effects in got.items() if effects} == {}
    assert (there, reached) == (walls, False)


def test_a_machine_with_another_nanlint_ends_the_run(
    cluster: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    assert cluster is not None
    monkeypatch.setattr("nanlint.confirm.on_ray.__version__", "0.0.0")
    with pytest.raises(NanlintError, match=r"has nanlint .*, this one 0\.0\.0"):
        Confirmer(Options(device="cpu", executor="ray")).confirm(findings_in(tmp_path, 1))


def test_a_gpu_that_the_cluster_lacks_is_told(cluster: Any) -> None:
    assert cluster is not None
    with RayHarness() as harness, pytest.raises(NanlintError, match="the cluster has 0 GPUs"):
        harness.devices("cuda")


def test_a_project_is_unpacked_again_after_its_child_process_has_died(tmp_path: Path) -> None:
    finding = findings_in(tmp_path, 1)[0]
    text = Path(finding.path).read_text("utf-8")
    project = packed(str(tmp_path / "project0"))
    job = Options().job("search", target_of(finding, text, finding.path), finding)
    request = {"job": job, "folder": project.folder, "digest": project.digest, "version": __version__}
    asked = []

    def content() -> bytes:
        asked.append(1)
        return project.packed

    for _ in range(2):
        answer = json.loads(on_node.answered(json.dumps(request).encode(), content))["answer"]
        assert answer["kind"] == "confirmed"
    harness = on_node._harness()  # noqa: SLF001 - the child process is to be ended
    assert harness._server is not None  # noqa: SLF001 - same
    harness._server.process.kill()  # noqa: SLF001 - same
    harness._server.process.wait()  # noqa: SLF001 - same
    again = json.loads(on_node.answered(json.dumps(request).encode(), content))["answer"]
    assert (again["case"], len(asked)) == (answer["case"], 2)


# The last one: the cluster is smaller behind it.
def test_a_cluster_that_loses_a_machine_reports_what_one_machine_does(cluster: Any, tmp_path: Path) -> None:
    findings = findings_in(tmp_path, 6)
    here = Confirmer(Options(device="cpu")).confirm(findings)
    told: list[str] = []

    def note(finding: Finding, _: int) -> None:
        told.append(finding.path)
        if len(told) == 2:
            # It has work in hand: every processor is busy.
            until = time.monotonic() + 30
            while ray.available_resources().get("CPU", 0) and time.monotonic() < until:
                time.sleep(0.05)
            cluster.remove_node(next(iter(cluster.worker_nodes)), allow_graceful=False)

    there = Confirmer(Options(device="cpu", executor="ray")).confirm(findings, note)
    assert len(untimed(here)) == len(findings)
    assert untimed(there) == untimed(here)
    assert sorted(told) == sorted(one.path for one in findings)
