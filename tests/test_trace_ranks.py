"""Several processes: all ranks act at the same step, and one report names the rank where it began."""

from __future__ import annotations

import json
import os
import socket
import subprocess
from typing import TYPE_CHECKING

import pytest

pytest.importorskip("torch", reason="torch is not installed, so no script can be traced")

from nanlint.trace import ranks
from nanlint.trace.diagnosis import ELSEWHERE, OPERATION, Diagnosis
from tests.project import environment
from tests.tracing import write

if TYPE_CHECKING:
    from pathlib import Path

pytestmark = pytest.mark.slow

SCRIPT = """
import torch
import torch.distributed as dist
from torch import nn
from torch.nn.parallel import DistributedDataParallel

dist.init_process_group("gloo")
rank = dist.get_rank()
torch.manual_seed(rank)
model = DistributedDataParallel(nn.Sequential(nn.Linear(4, 8), nn.ReLU(), nn.Linear(8, 3)))
optimizer = torch.optim.SGD(model.parameters(), lr=0.01)
for number in range(5):
    outputs = model(torch.randn(8, 4))
    if rank == 1 and number == 2:
        outputs = outputs * 0
    loss = outputs.pow(2).sum(-1).sqrt().mean()
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
dist.destroy_process_group()
"""


def free_port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return int(probe.getsockname()[1])


WATCHED = """
import sys

import torch
import torch.distributed as dist
from torch import nn
from torch.nn.parallel import DistributedDataParallel

import nanlint.trace as nt

dist.init_process_group("gloo")
rank = dist.get_rank()
model = DistributedDataParallel(nn.Linear(4, 1))
optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
with nt.watch(model, optimizer, on_nonfinite=sys.argv[1], tell=lambda found: None) as watch:
    for number in range(4):
        loss = model(torch.ones(2, 4)).mean()
        if rank == 1 and number == 2:
            loss = loss + float("inf")  # its gradient is finite: the other rank cannot see it
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
print(watch.skipped, model.module.weight.tolist())
dist.destroy_process_group()
"""


def on_two_ranks(python: str, folder: Path, *command: str) -> list[tuple[int, str, str]]:
    """Exit code, stdout and stderr of each."""
    shared = {"WORLD_SIZE": "2", "LOCAL_WORLD_SIZE": "2", "MASTER_ADDR": "127.0.0.1", "MASTER_PORT": str(free_port())}
    runs = [
        subprocess.Popen(
            [python, *command],
            cwd=folder,
            env=environment({**shared, "RANK": str(rank), "LOCAL_RANK": str(rank), "OMP_NUM_THREADS": "1"}),
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
        )
        for rank in range(2)
    ]
    told = [run.communicate(timeout=240) for run in runs]
    return [(run.returncode, out, err) for run, (out, err) in zip(runs, told, strict=True)]


@pytest.mark.slow
def test_two_ranks_make_one_report(torch_python: str, tmp_path: Path) -> None:
    script = write(tmp_path, "ddp.py", SCRIPT)
    first, second = on_two_ranks(torch_python, tmp_path, "-m", "nanlint", "trace", "--report", "ddp.json", str(script))
    assert (first[0], second[0]) == (1, 1), (first, second)
    assert "nanlint: step 3, rank 1 of 2: the backward pass of `sqrt` made inf of finite values" in second[2]
    assert "rank 1 tells the origin" in first[2]
    found = Diagnosis.from_json(json.loads((tmp_path / "ddp.json").read_text("utf-8")))
    assert (found.rank, found.step, found.notes) == (1, 3, ["rank 0 got it from the exchange of gradients"])


@pytest.mark.slow
@pytest.mark.parametrize("action", ["skip", "rollback"])
def test_a_step_is_left_out_on_all_ranks_or_on_none(action: str, torch_python: str, tmp_path: Path) -> None:
    first, second = on_two_ranks(torch_python, tmp_path, str(write(tmp_path, "watched.py", WATCHED)), action)
    assert first[1].startswith("1 ["), first
    assert second[1] == first[1], second


class TestMerging:
    def at(self, rank: int, kind: str) -> Diagnosis:
        return Diagnosis(kind, 3, "the loss is NaN", rank=rank, world=3)

    def test_the_rank_that_has_an_operation_tells(self) -> None:
        assert ranks.merged([self.at(0, ELSEWHERE), self.at(1, OPERATION), self.at(2, ELSEWHERE)]).rank == 1

    def test_others_that_found_it_too_are_named(self) -> None:
        merged = ranks.merged([self.at(0, OPERATION), self.at(1, OPERATION), self.at(2, ELSEWHERE)])
        assert merged.notes == ["found on rank 1 as well", "rank 2 got it from the exchange of gradients"]

    def test_a_rank_that_waits_in_vain_tells_what_it_has(self, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
        monkeypatch.setattr(ranks, "PATIENCE", 0.0)
        for name, value in (("RANK", "0"), ("WORLD_SIZE", "2"), ("LOCAL_WORLD_SIZE", "2"), ("MASTER_PORT", "1")):
            monkeypatch.setitem(os.environ, name, value)
        assert [each.rank for each in ranks.exchange(self.at(0, OPERATION), tmp_path)] == [0]
