"""The cases of a search: the most plausible first, and none of them twice."""

from __future__ import annotations

from typing import Any

import pytest

pytest.importorskip("torch", reason="torch is not installed, so no values can be made")

import torch

from nanlint.confirm.worker.reduce import made_explicit
from nanlint.confirm.worker.stages import cases
from nanlint.confirm.worker.values import GRADES, known_corner

REAL = {"kind": "tensor", "name": "x", "shape": [2, 3], "domain": "real"}
MASK = {"kind": "tensor", "name": "mask", "shape": [2, 3], "domain": "mask"}


def proposed(**call: dict[str, Any]) -> list[dict[str, Any]]:
    base = {"ctor": {}, "call": call, "seed": 0, "dtype": "float32"}
    return list(cases(base, module=None, operand="", random=False))


@pytest.mark.parametrize("call", [{"x": REAL}, {"x": REAL, "mask": MASK}], ids=["one tensor", "a tensor and its mask"])
def test_what_ordinary_values_show_is_never_left_to_a_worse_grade(call: dict[str, Any]) -> None:
    grades = [GRADES.index(case["grade"]) for case in proposed(**call)]
    assert grades == sorted(grades)


def test_of_a_single_tensor_all_at_a_corner_and_one_at_it_are_the_same_case() -> None:
    tried = [made_explicit(case)["call"]["x"] for case in proposed(x=REAL)]
    assert [spec["shape"] for spec in tried if set(spec["values"]) == {10.0}] == [[2, 3], [1, 3]]


def test_a_mask_is_not_tried_again_at_the_corners_of_numbers() -> None:
    masks = [made_explicit(case)["call"]["mask"] for case in proposed(mask=MASK) if case["seed"] == 0]
    whole = [tuple(spec["values"]) for spec in masks if spec["shape"] == [2, 3]]
    assert len(whole) == len(set(whole))


@pytest.mark.parametrize(
    ("spec", "corner", "known"),
    [
        (REAL, "tens", "tens"),
        (MASK, "tens", "normal"),
        ({**REAL, "domain": "index"}, "rising", "rising"),
        ({**REAL, "values": [0.0] * 6}, "tens", "values"),
    ],
    ids=["a corner of its own", "one of another domain", "an index", "values that are written out"],
)
def test_a_tensor_is_made_at_a_corner_that_it_has(spec: dict[str, Any], corner: str, known: str) -> None:
    assert known_corner(spec, corner) == known


def test_a_module_is_brought_to_each_corner_of_its_parameters_once() -> None:
    base = {"ctor": {}, "call": {"x": REAL}, "seed": 0, "dtype": "float32"}
    found = [
        (case["force"], case["corner"])
        for case in cases(base, module=torch.nn.Linear(3, 2), operand="", random=False)
        if case.get("force")
    ]
    assert (bool(found), len(found)) == (True, len(set(found)))
