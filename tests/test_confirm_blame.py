"""Which failure is the finding's: its line and its operation, on the values that the finding tells of."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

pytest.importorskip("torch", reason="torch is not installed, so no code can be run")

import torch

from nanlint.confirm.worker import origin
from nanlint.confirm.worker.origin import Tracer, damage, origins, state
from nanlint.model.verdict import VerdictKind
from tests.confirm_projects import answer_about, finding_at, found_in, verdicts_on, written

if TYPE_CHECKING:
    from pathlib import Path

BOTH = """
import torch


def f(x: torch.Tensor, mask: torch.Tensor) -> torch.Tensor:
    return -(torch.log(x.exp() + 1) * mask).sum() / mask.sum()  # here
"""
KERNEL = """
import torch


def transport(cost: torch.Tensor) -> torch.Tensor:
    kernel = torch.exp(-cost.abs() / 0.01)  # here
    return 1.0 / (kernel @ torch.ones(cost.shape[1]))
"""
SCRIPT = """
import torch

EPS = 0.0
for values in torch.rand(2, 3) + 1:
    total = values.sum() + EPS
    share = values / total  # here
"""


def test_another_operation_of_the_line_is_another_findings_matter(tmp_path: Path) -> None:
    path = written(tmp_path, BOTH)
    logarithm, division = (verdicts_on([finding_at(path, operation=name)])[0] for name in ("torch.log", "torch.div"))
    assert (logarithm.kind, division.kind) == (VerdictKind.NOT_REPRODUCED, VerdictKind.CONFIRMED)
    assert "line 5 makes NaN (div)" in (logarithm.reason or "")


def test_an_exponential_that_is_0_breaks_where_it_is_divided_by(tmp_path: Path) -> None:
    answer = answer_about(written(tmp_path, KERNEL), operation="torch.exp", zone="(-inf, -104]")
    assert (answer["kind"], answer["hit"]["line"]) == ("confirmed", 6)


def test_an_exponential_that_overflows_does_not(tmp_path: Path) -> None:
    answer = answer_about(written(tmp_path, KERNEL), operation="torch.exp", zone="[88.72, inf)")
    assert answer["kind"] == "not-reproduced"


def test_what_a_loop_of_a_script_binds_is_free_and_its_constants_are_not(tmp_path: Path) -> None:
    answer = answer_about(written(tmp_path, SCRIPT))
    assert (answer["kind"], list(answer["case"]["call"])) == ("reachable", ["values"])


@pytest.mark.parametrize(
    ("values", "dtype", "expected"),
    [
        ([1.0, -2.0], "float32", (False, False)),
        ([float("inf"), float("-inf")], "float32", (False, True)),
        ([float("nan"), 1.0], "float16", (True, False)),
        ([6e4, 6e4], "float16", (False, False)),
        ([], "float32", (False, False)),
        ([1, 2], "int64", (False, False)),
        ([complex("inf"), complex("nan")], "complex64", (True, True)),
    ],
    ids=["finite", "two infinities", "nan", "a sum that overflows", "empty", "integers", "complex"],
)
def test_the_state_of_a_tensor_is_whether_it_holds_nan_and_inf(
    values: list[float], dtype: str, expected: tuple[bool, bool]
) -> None:
    assert state(torch.tensor(values, dtype=getattr(torch, dtype))) == expected


def test_an_operation_on_a_list_of_tensors_has_all_of_them_as_parents() -> None:
    with Tracer(__file__) as tracer:
        joined = torch.cat([torch.ones(2), torch.zeros(2).log()])
        total = joined.sum()
    made = damage(tracer, total)
    assert made is not None
    assert [event.operation for event in origins(tracer, made)] == ["log"]


def test_random_numbers_of_the_code_are_seeded_for_each_run(tmp_path: Path) -> None:
    text = """
    import random

    import numpy as np
    import torch


    def f(x: torch.Tensor):
        return x / (torch.rand(1) + random.random() + np.random.rand() - x.sum())  # here
    """
    path = written(tmp_path, text)
    first, second = (answer_about(path) for _ in range(2))
    assert (first["kind"], first["case"]) == (second["kind"], second["case"])


def test_a_gradient_is_told_by_the_operation_it_is_of(tmp_path: Path) -> None:
    text = "import torch\n\n\ndef f(x: torch.Tensor):\n    return torch.log(torch.softmax(x, -1))\n"
    verdict = verdicts_on(found_in(written(tmp_path, text), "NAN110"))[0]
    assert (verdict.reason or "").endswith(" gives NaN in the gradient of log, line 5")


def test_values_on_another_device_are_read_once(monkeypatch: pytest.MonkeyPatch) -> None:
    def later(tensor: torch.Tensor) -> torch.Tensor:
        return torch.stack([tensor.isnan().any(), tensor.isinf().any()])

    monkeypatch.setattr(origin, "_flags", later)
    monkeypatch.setattr(origin, "state", lambda _: pytest.fail("read while it was traced"))
    with Tracer(__file__) as tracer:
        total = (torch.zeros(2).log() * torch.zeros(2)).sum()
    made = damage(tracer, total)
    assert made is not None
    assert [event.operation for event in origins(tracer, made)] == ["log"]
