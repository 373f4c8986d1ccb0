"""Everything follows the chosen device: on a private one that holds no values, any mix of devices raises.

Values are not computed there, so this shows where things are made and not what comes out; the tests marked `gpu` do.
"""

from __future__ import annotations

import subprocess
import sys
import textwrap
from typing import TYPE_CHECKING, Any

import pytest

pytest.importorskip("torch", reason="torch is not installed, so no code can be run")

import torch

from nanlint.confirm.worker import job as jobs
from nanlint.model.verdict import VerdictKind
from tests.confirm_projects import LEARNED, MEAN, finding_at, verdicts_on, written

if TYPE_CHECKING:
    from pathlib import Path

PRIVATE = """
import sys
import torch
from torch._subclasses.fake_tensor import FakeTensorMode
from torch.utils.backend_registration import _setup_privateuseone_for_python_backend
from nanlint.confirm.worker import placement
from nanlint.confirm.worker.bench import Bench
from nanlint.confirm.worker.outcome import tensors_in
from nanlint.confirm.worker.subject import subjects_of
from tests.confirm_projects import imported
from pathlib import Path

_setup_privateuseone_for_python_backend("private")
placement.use("private:0")
path, owner = Path(sys.argv[1]), sys.argv[2].split(".")
kinds = [["class", "def"][place] if len(owner) > 1 else "def" for place in range(len(owner))]
case = {"seed": 0, "dtype": "float32", **eval(sys.argv[3])}
with FakeTensorMode(allow_non_fake_inputs=True):
    subject = subjects_of(imported(path), [list(one) for one in zip(kinds, owner)])[0]
    bench = Bench(subject, str(path))
    function, arguments, learned = bench.prepared(case)
    with placement.here():
        result = function(**arguments)
        outputs = tensors_in(result)
        sum(one.sum() for one in outputs).backward()
    print({str(one.device) for one in [*outputs, *learned, *(one.grad for one in learned if one.grad is not None)]})
"""
CODE = """
import torch
from torch import nn


class Model(nn.Module):
    def __init__(self, width: int):
        super().__init__()
        self.layer = nn.Linear(3, width)
        self.register_buffer("offset", torch.arange(width).float())
        self.table = torch.ones(width)

    def forward(self, x, mask):
        return (self.layer(x) + self.offset + self.table + torch.zeros(4)) * mask


def with_things(x, net, config, where, kind, weight):
    noise = torch.randn(2, 3, device=where)
    assert config.device.type == kind == x.device.type
    return net(x) + noise + x * weight["w"] + torch.eye(2, 3)
"""
TENSOR = {"kind": "tensor", "shape": [2, 3], "domain": "real"}
MODEL_CASE = {
    "ctor": {"width": {"kind": "value", "value": 4}},
    "call": {"x": TENSOR, "mask": {"kind": "tensor", "shape": [2, 4], "domain": "mask", "grad": False}},
}
THINGS_CASE = {
    "ctor": {},
    "call": {
        "x": TENSOR,
        "net": {"kind": "module", "name": "any"},
        "config": {"kind": "config"},
        "where": {"kind": "device"},
        "kind": {"kind": "device_type"},
        "weight": {"kind": "dict", "items": {"w": TENSOR}},
    },
}


@pytest.mark.parametrize(
    ("owner", "case"),
    [("Model.forward", MODEL_CASE), ("with_things", THINGS_CASE)],
    ids=["a module", "stand-ins and factories"],
)
def test_everything_is_made_on_the_chosen_device(tmp_path: Path, owner: str, case: dict[str, Any]) -> None:
    path = written(tmp_path, CODE)
    command = [sys.executable, "-c", textwrap.dedent(PRIVATE), str(path), owner, repr(case)]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert done.stdout.strip() == "{'private:0'}", done.stderr[-2000:]


@pytest.mark.parametrize(
    ("full", "note"),
    [(1, "run with half the sizes"), (2, "run on the CPU")],
    ids=["once", "twice"],
)
def test_a_device_that_is_full_gets_half_the_sizes_and_then_the_cpu_does_it(
    monkeypatch: pytest.MonkeyPatch, full: int, note: str
) -> None:
    seen: list[dict[str, Any]] = []

    def found(job: dict[str, Any]) -> dict[str, Any]:
        seen.append(job)
        reason = "OutOfMemoryError: CUDA out of memory" if len(seen) <= full else ""
        return {"kind": "not-runnable" if reason else "not-reproduced", "reason": reason}

    monkeypatch.setattr(jobs, "_found", found)
    monkeypatch.setattr(torch.cuda, "empty_cache", lambda: None)
    answer = jobs.find({"device": "cuda:1"})
    assert answer["notes"] == [f"cuda:1 was full: {note}"]
    assert [(job["device"], job.get("halved", False)) for job in seen] == [
        ("cuda:1", False),
        ("cuda:1", True),
        ("cpu", False),
    ][: full + 1]


@pytest.mark.gpu
@pytest.mark.parametrize("text", [MEAN, LEARNED], ids=["a function", "a module"])
def test_a_gpu_gives_the_verdict_of_the_cpu(tmp_path: Path, text: str) -> None:
    finding = finding_at(written(tmp_path, text), operand="self.temperature" if text == LEARNED else "mask.sum()")
    on_gpu, on_cpu = (verdicts_on([finding], device=device)[0] for device in ("cuda", "cpu"))
    assert (on_gpu.kind, on_gpu.witness) == (on_cpu.kind, on_cpu.witness)
    assert (on_gpu.device or "").startswith("cuda:")


@pytest.mark.gpu
def test_a_loop_is_driven_on_the_gpu(tmp_path: Path) -> None:
    text = """
    import torch


    def train(model, optimizer, loader, device):
        for x in loader:
            optimizer.zero_grad()
            (model(x.to(device)) + torch.zeros(1, device=device)).sum().backward()
            optimizer.step()  # here
    """
    verdict = verdicts_on([finding_at(written(tmp_path, text), code="NAN411")], device="cuda")[0]
    assert (verdict.kind, (verdict.device or "").startswith("cuda:")) == (VerdictKind.CONFIRMED, True)


@pytest.mark.gpu
def test_the_last_gpu_is_the_current_one_where_it_is_chosen(tmp_path: Path) -> None:
    last = f"cuda:{torch.cuda.device_count() - 1}"
    text = MEAN.replace("return", 'assert str(torch.zeros(1, device="cuda").device) == str(values.device)\n    return')
    verdict = verdicts_on([finding_at(written(tmp_path, text))], device=last)[0]
    assert (verdict.kind, verdict.device) == (VerdictKind.CONFIRMED, last)
