"""Code for many processes is run as one: a missing process group is made, and the verdict says so."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

pytest.importorskip("torch", reason="torch is not installed, so no code can be run")

from nanlint.model.verdict import VerdictKind
from tests.confirm_projects import finding_at, verdicts_on, written

if TYPE_CHECKING:
    from pathlib import Path

pytestmark = pytest.mark.slow
COUNTED = """
import torch
import torch.distributed as dist


def loss(values: torch.Tensor, mask: torch.Tensor) -> torch.Tensor:
    count = mask.sum().float()
    dist.all_reduce(count)
    parts = [torch.zeros_like(values) for _ in range(dist.get_world_size())]
    dist.all_gather(parts, values)
    return (torch.cat(parts) * mask).sum() / count  # here
"""
STARTED = """
import torch
import torch.distributed as dist
from torch.nn.parallel import DistributedDataParallel as DDP


def main():
    dist.init_process_group("nccl", init_method="env://")
    torch.manual_seed(dist.get_rank())
    model = DDP(torch.nn.Linear(4, 1), device_ids=[0])
    optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
    scaler = torch.amp.GradScaler("cpu")
    for _ in range(3):
        loss = model(torch.randn(2, 4)).pow(2).mean()
        scaler.scale(loss).backward()
        torch.nn.utils.clip_grad_norm_(model.parameters(), 1.0)  # here
        scaler.step(optimizer)
        scaler.update()
        optimizer.zero_grad()


if __name__ == "__main__":
    main()
"""


def test_a_group_that_is_asked_for_is_one_of_one_process(tmp_path: Path) -> None:
    (verdict,) = verdicts_on([finding_at(written(tmp_path, COUNTED))])
    assert verdict.kind is VerdictKind.CONFIRMED, verdict
    assert "a process group of one process" in (verdict.reason or "")


def test_a_script_that_begins_a_group_is_run_as_the_only_process(tmp_path: Path) -> None:
    finding = finding_at(written(tmp_path, STARTED, "train.py"), code="NAN402", operation="")
    (verdict,) = verdicts_on([finding])
    assert verdict.kind is VerdictKind.CONFIRMED, verdict
    assert "a process group of one process" in (verdict.reason or "")


def test_nothing_is_said_of_a_group_that_nobody_asks_for(tmp_path: Path) -> None:
    alone = COUNTED.replace("dist.all_reduce(count)", "if dist.is_initialized():\n        dist.all_reduce(count)")
    alone = alone.replace("dist.get_world_size()", "1").replace("dist.all_gather(parts, values)", "parts = [values]")
    (verdict,) = verdicts_on([finding_at(written(tmp_path, alone))])
    assert verdict.kind is VerdictKind.CONFIRMED, verdict
    assert "process group" not in (verdict.reason or "")
