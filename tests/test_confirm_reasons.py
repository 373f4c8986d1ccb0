"""What a verdict says beside its kind: why only a slice was run, what a GPU may do differently, what the user can supply."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest

from nanlint.confirm.options import Options
from nanlint.confirm.target import Target
from nanlint.confirm.verdicts import of_answer, on_a_gpu
from tests.confirm_projects import finding_at, verdicts_on, written

if TYPE_CHECKING:
    from pathlib import Path

CASE = {"ctor": {}, "call": {"x": {"kind": "value", "value": 0.0}}, "seed": 0, "grade": "edge"}
SEEN = {"case": CASE, "dtype": "float32", "level": "function", "evaluations": 3, "seconds": 0.1}


def target(*owners: tuple[str, str]) -> Target:
    return Target("/project/train.py", "/project", "train", "/project", owners, 5, 5)


def confirmed(operation: str) -> dict[str, Any]:
    hit = {"operation": operation, "line": 5, "result": "inf", "direction": "forward"}
    return {**SEEN, "kind": "confirmed", "hit": hit}


@pytest.mark.parametrize(
    ("device", "answer", "told"),
    [
        pytest.param("cpu", confirmed("log"), "", id="element by element the same"),
        pytest.param("cpu", confirmed("sum"), "; a GPU may add it up otherwise", id="a sum"),
        pytest.param(
            "cpu",
            {**SEEN, "kind": "not-reproduced"},
            "; a GPU's TF32 and fused kernels were not run",
            id="not seen in single precision",
        ),
        pytest.param(
            "cpu",
            {**SEEN, "kind": "not-reproduced", "dtype": "float16"},
            "; a GPU's sums in half precision and fused kernels were not run",
            id="not seen in half precision",
        ),
        pytest.param(
            "cpu (CUDA autocast emulated)",
            {**SEEN, "kind": "not-reproduced"},
            "; a GPU's sums in half precision and fused kernels were not run",
            id="not seen under emulation",
        ),
        pytest.param("cuda:0", {**SEEN, "kind": "not-reproduced"}, "", id="on a GPU"),
        pytest.param("cpu", {"kind": "not-reproduced"}, "", id="a loop"),
    ],
)
def test_a_verdict_of_the_cpu_says_what_a_gpu_may_do_differently(
    device: str, answer: dict[str, Any], told: str
) -> None:
    assert on_a_gpu(device, answer) == told


def test_code_in_no_function_is_offered_no_hook() -> None:
    answer = {"kind": "not-runnable", "reason": "the loop is in no function"}
    assert of_answer(answer, Options(), target()).reason == "the loop is in no function"
    assert "supply inputs: def nanlint_inputs(): yield f" in (
        of_answer(answer, Options(), target(("def", "f"))).reason or ""
    )


@pytest.mark.parametrize(
    ("body", "reason"),
    [
        pytest.param("os._exit(3)", "the code ended the process by itself (exit code 3)", id="os._exit"),
        pytest.param("os.fork()", "the code wanted to start a process", id="a fork bomb"),
        pytest.param("torch.ones(25_000_000_000)", "can't allocate memory", id="a hundred gigabytes"),
    ],
)
def test_a_slice_says_why_the_whole_function_did_not_run(tmp_path: Path, body: str, reason: str) -> None:
    pytest.importorskip("torch", reason="torch is not installed, so no code can be run")
    text = f"import os\n\nimport torch\n\n\ndef f(x: torch.Tensor):\n    {body}\n    return x / x.sum()  # here\n"
    verdict = verdicts_on([finding_at(written(tmp_path, text))])[0]
    assert (verdict.level, "the whole function did not run: " in (verdict.reason or "")) == ("slice", True)
    assert reason in (verdict.reason or "")
