"""Numbers, settings, labels and lists have corners as tensors have, and names decide only where the use does not."""

from __future__ import annotations

import ast
from typing import TYPE_CHECKING, Any

import pytest

pytest.importorskip("torch", reason="torch is not installed, so no code can be run")

from nanlint.confirm.inputs import Parameter, proposals
from nanlint.confirm.worker.answers import by_complaint
from nanlint.confirm.worker.uses import uses_in
from nanlint.model.verdict import VerdictKind
from tests.confirm_projects import answer_about, finding_at, verdicts_on, written

if TYPE_CHECKING:
    from pathlib import Path

WIDTH = """
import torch


def positions(x: torch.Tensor, width: int = 8) -> torch.Tensor:
    steps = width - 1
    return x * torch.arange(width).sum() / torch.tensor(float(steps))  # here
"""
FACTOR = """
import torch


def weighted(loss: torch.Tensor, avg_factor=None) -> torch.Tensor:
    if avg_factor is None:
        return loss.mean()
    return loss.sum() / avg_factor  # here
"""
WINDOW = """
import torch


class Window(torch.nn.Module):
    def __init__(self, window_size: int) -> None:
        super().__init__()
        self.window_size = window_size

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        places = torch.arange(self.window_size, dtype=x.dtype)
        return x.sum() * (places / torch.tensor(float(self.window_size - 1))).sum()  # here
"""
CONFIG = """
from dataclasses import dataclass

import torch


@dataclass
class WindowConfig:
    window_size: int = 4
    bias: bool = False


class Window(torch.nn.Module):
    def __init__(self, config: WindowConfig) -> None:
        super().__init__()
        self.config = config

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        return x / torch.tensor(float(self.config.window_size - 1))  # here
"""
IGNORED = """
import torch
import torch.nn.functional as F


def loss(logits: torch.Tensor, labels: torch.Tensor) -> torch.Tensor:
    return F.cross_entropy(logits, labels, ignore_index=-1)  # here
"""
EMPTY = """
import torch


def average(losses: list[torch.Tensor]) -> torch.Tensor:
    total = sum((loss.sum() for loss in losses), torch.zeros(()))
    return total / torch.tensor(float(len(losses)))  # here
"""


@pytest.mark.parametrize(
    ("text", "how"),
    [(WIDTH, "width = 1"), (FACTOR, "avg_factor = 0"), (WINDOW, "window_size = 1"), (CONFIG, "window_size = 1")],
    ids=["an argument", "an argument that is None by default", "of a constructor", "of a configuration"],
)
def test_a_number_is_tried_at_its_corners(tmp_path: Path, text: str, how: str) -> None:
    answer = answer_about(written(tmp_path, text))
    assert (answer["kind"], how in answer["case"].get("how", "")) == ("confirmed", True)


def test_labels_that_are_all_ignored_are_a_corner(tmp_path: Path) -> None:
    answer = answer_about(
        written(tmp_path, IGNORED),
        operation="torch.nn.functional.cross_entropy",
        zone="nothing left to average",
        code="NAN108",
    )
    assert (answer["kind"], set(answer["case"]["call"]["labels"]["values"])) == ("confirmed", {-1})


def test_an_empty_list_is_a_corner(tmp_path: Path) -> None:
    answer = answer_about(written(tmp_path, EMPTY))
    assert (answer["kind"], answer["case"]["call"]["losses"]["items"]) == ("confirmed", [])


def test_an_eps_is_not_set_to_0(tmp_path: Path) -> None:
    text = "import torch\n\n\ndef f(x: torch.Tensor, eps: float = 1e-6):\n    return x / (x.abs() + eps)  # here\n"
    assert answer_about(written(tmp_path, text), operand="x.abs() + eps")["kind"] == "not-reproduced"


def _domain(name: str, text: str) -> Any:
    uses = uses_in(ast.parse(text), {name})[name]
    return proposals(Parameter(name), uses, rank=2, building=False)[0].get("domain")


@pytest.mark.parametrize(
    ("name", "text", "expected"),
    [
        ("t", "def f(x, t):\n    return x / (1 - t)", "unit"),
        ("t", "def f(x, t):\n    return x[t]", "index"),
        ("q", "def f(q, k):\n    return q @ k.transpose(-2, -1)", "real"),
        ("q", "def f(q, k):\n    return torch.einsum('bid,bjd->bij', q, k)", "real"),
        ("q", "def f(p, q):\n    return p * (p / q).log()", "unit"),
    ],
    ids=["a time", "an index", "queries", "queries of einsum", "probabilities"],
)
def test_the_use_decides_before_the_name(name: str, text: str, expected: str) -> None:
    assert _domain(name, text) == expected


@pytest.mark.parametrize(
    ("complaint", "expected"),
    [
        ("ValueError: Input must be a batch of 3x3 Tensors. Got torch.Size([2, 3])", [2, 3, 3]),
        ("ValueError: Input size must be a (*, 4, 4) tensor. Got torch.Size([2, 3])", [2, 4, 4]),
        ("TypeError: x was expected to have type Float[Tensor, 'b c h w']", [2, 3, 8, 8]),
        ("EinopsError: Wrong shape: expected 4 dims. Received 2-dim tensor.", [2, 3, 8, 8]),
        ("EinopsError: Shape mismatch, can't divide axis of length 3 in chunks of 2", [2, 4]),
        ("RuntimeError: expected 4D input (got 2D input)", [2, 3, 8, 8]),
        ("RuntimeError: Tensors must have same number of dimensions: got 4 and 2", [2, 3, 8, 8]),
    ],
    ids=[
        "a batch of matrices",
        "a starred shape",
        "jaxtyping",
        "einops",
        "einops in chunks",
        "expected 4D",
        "in a cat",
    ],
)
def test_a_complaint_about_shapes_leads_to_the_shape(complaint: str, expected: list[int]) -> None:
    case = {"ctor": {}, "call": {"x": {"kind": "tensor", "name": "x", "shape": [2, 3], "domain": "real"}}}
    assert expected in [moved["call"]["x"]["shape"] for moved in by_complaint(case, complaint)]


@pytest.mark.parametrize(
    "complaint",
    [
        "TypeError: relu(): argument 'input' (position 1) must be Tensor, not int",
        "AttributeError: 'float' object has no attribute 'exp'",
    ],
)
def test_a_number_where_a_tensor_is_wanted_becomes_one(complaint: str) -> None:
    case = {"ctor": {}, "call": {"state": {"kind": "value", "value": 2}, "mode": {"kind": "value", "value": "mean"}}}
    kinds = [{name: spec["kind"] for name, spec in moved["call"].items()} for moved in by_complaint(case, complaint)]
    assert kinds == [{"state": "tensor", "mode": "value"}]


@pytest.mark.slow
def test_what_works_in_place_and_has_no_backward_is_run_forward(tmp_path: Path) -> None:
    text = """
        import torch


        def stretched(image: torch.Tensor) -> torch.Tensor:
            image = image.clone()
            low, high = image.min(), image.max()
            image.clamp_(min=low, max=high)
            return image.add_(-low).div_(high - low)  # here
    """
    (verdict,) = verdicts_on([finding_at(written(tmp_path, text))])
    assert verdict.kind is VerdictKind.CONFIRMED, verdict


@pytest.mark.parametrize(
    ("line", "expected"),
    [
        ("assert cov.shape[-2:] == (3, 3), cov.shape", {"cov": [3, 3], "mean": [2, 4]}),
        ("assert mean.shape == (n, 2)", {"cov": [2, 3], "mean": [2, 2]}),
        ("if mean.size(-1) != 7:", {"cov": [2, 3], "mean": [2, 7]}),
        ("assert mean.shape == cov.shape", {"cov": [2, 3], "mean": [2, 3]}),
        ("assert mean.size(0) == cov.size(-1)", {"cov": [2, 3], "mean": [3, 4]}),
        ("assert mean.dim() == 1, mean.shape", {"cov": [2, 3], "mean": [4]}),
        ("if len(cov.shape) != 3:", {"cov": [2, 4, 3], "mean": [2, 4]}),
    ],
)
def test_an_assertion_about_a_tensor_changes_that_tensor_alone(line: str, expected: dict[str, list[int]]) -> None:
    sizes = {"cov": [2, 3], "mean": [2, 4]}
    call = {name: {"kind": "tensor", "name": name, "shape": shape, "domain": "real"} for name, shape in sizes.items()}
    first = next(by_complaint({"ctor": {}, "call": call}, f"AssertionError: \n{line}"))
    assert {name: spec["shape"] for name, spec in first["call"].items()} == expected


def test_labels_keep_their_dimensions_where_numbers_need_others() -> None:
    x = {"kind": "tensor", "name": "x", "shape": [2, 3], "domain": "real"}
    case = {"ctor": {}, "call": {"x": x, "y": {**x, "name": "y", "domain": "index"}}}
    complaint = "IndexError: Dimension out of range (expected to be in range of [-2, 1], but got 2)"
    first = next(by_complaint(case, complaint))
    assert [spec["shape"] for spec in first["call"].values()] == [[2, 4, 3], [2, 3]]


def test_a_number_where_a_list_is_wanted_becomes_one() -> None:
    case = {"ctor": {"width": {"kind": "value", "value": 2}, "sizes": {"kind": "value", "value": 16}}, "call": {}}
    complaint = "TypeError: Value after * must be an iterable, not int\nself.fc1 = nn.Linear(*self.sizes, 4)"
    first = next(by_complaint(case, complaint))
    assert first["ctor"] == {"width": {"kind": "value", "value": 2}, "sizes": {"kind": "value", "value": [16]}}


@pytest.mark.slow
def test_code_that_asks_for_cuda_runs_where_there_is_none(tmp_path: Path) -> None:
    text = """
        import torch


        class Scaled(torch.nn.Module):
            def __init__(self) -> None:
                super().__init__()
                self.scale = torch.ones(1, device="cuda")

            def forward(self, x: torch.Tensor) -> torch.Tensor:
                return self.scale.cuda() / x.to("cuda").abs().sum()  # here
    """
    (verdict,) = verdicts_on([finding_at(written(tmp_path, text))])
    assert verdict.kind is VerdictKind.CONFIRMED, verdict


@pytest.mark.slow
def test_tensors_of_a_constructor_get_the_shapes_that_it_asserts(tmp_path: Path) -> None:
    text = """
        import torch


        class Mixture:
            def __init__(self, means: torch.Tensor, share: torch.Tensor) -> None:
                assert means.dim() == 2
                assert share.shape == (5,)
                self.means, self.share = means, share

            def log_prob(self, x: torch.Tensor) -> torch.Tensor:
                return (self.share.sum() + self.means.sum()) / x.abs().sum()  # here
    """
    (verdict,) = verdicts_on([finding_at(written(tmp_path, text))])
    assert verdict.kind is VerdictKind.CONFIRMED, verdict
