"""From a failing case to the simplest witness: values made explicit, shrunk while the same thing fails, then graded."""

from __future__ import annotations

import copy
import time
from typing import TYPE_CHECKING, Any

import torch

from nanlint.confirm.shrink import shrink
from nanlint.confirm.witness import Values, Witness
from nanlint.confirm.worker.moves import leaves, with_spec
from nanlint.confirm.worker.search import Hit, judge
from nanlint.confirm.worker.values import EDGE, EXTREME, LARGE, ORDINARY, make_tensor

if TYPE_CHECKING:
    from nanlint.confirm.worker.bench import Bench

Json = dict[str, Any]
SMALLEST = 1e-6
"""A value nearer to 0 than this and not 0 does not occur by itself."""
_TENS, _THOUSANDS = 10.0, 1e4


def reduced(bench: Bench, case: Json, hit: Hit, target: Json, limit: tuple[int, float]) -> Json:
    """The simplest case that fails as `case` does, with explicit values and its grade; so many tries, until so late."""
    tries, until = limit
    explicit = made_explicit(_without_optional(bench, case, hit, target))
    if judge(bench, explicit, target)[0] != hit:
        # Values survive the way through float64 and back; if the failure does not, it stays as it was found.
        return {**case, "grade": case["grade"]}
    start = witness_of(explicit)

    def still_fails(one: Witness) -> bool:
        return time.monotonic() < until and judge(bench, with_witness(explicit, one), target)[0] == hit

    smallest = shrink(start, still_fails, tries)
    final = with_witness(explicit, smallest)
    return {**final, "grade": grade(final, case["grade"])}


def _without_optional(bench: Bench, case: Json, hit: Hit, target: Json) -> Json:
    """The case without the arguments that have a default and that it does not take to fail."""
    for parameter in bench.subject.calling.parameters:
        if parameter.has_default and parameter.name in case["call"] and bench.captured is None:
            less = with_spec(case, "call", parameter.name, None)
            case = less if judge(bench, less, target)[0] == hit else case
    return case


def made_explicit(case: Json) -> Json:
    """The case with the values of every tensor written out."""
    changed = copy.deepcopy(case)
    dtype = getattr(torch, case["dtype"])
    for name, spec in leaves(changed):
        corner = case.get("corners", {}).get(name, case.get("corner", "normal"))
        seed = case["seed"] if case.get("same") else case["seed"] + sum(map(ord, name))
        values = make_tensor(spec, corner, torch.Generator().manual_seed(seed))
        values = values.to(dtype).to(torch.float64) if values.is_floating_point() else values
        spec["values"] = values.flatten().tolist()
    changed.pop("same", None)
    return changed


def witness_of(case: Json) -> Witness:
    """The tensors of an explicit case."""
    return Witness(
        tuple(
            (name, Values(tuple(spec["shape"]), tuple(spec["values"]), spec["domain"])) for name, spec in leaves(case)
        )
    )


def with_witness(case: Json, witness: Witness) -> Json:
    """The case with these tensors."""
    changed = copy.deepcopy(case)
    tensors = dict(witness.tensors)
    for name, spec in leaves(changed):
        spec["shape"], spec["values"] = list(tensors[name].shape), list(tensors[name].elements)
    return changed


def grade(case: Json, found: str) -> str:
    """How plausible the values are: what ordinary values showed is ordinary, whatever it shrank to."""
    if found == ORDINARY:
        return ORDINARY
    numbers = [
        abs(float(value))
        for _, spec in leaves(case)
        for value in spec["values"]
        if spec["domain"] not in {"mask", "index"}
    ]
    largest = max(numbers, default=0.0)
    if largest > _THOUSANDS or any(0 < number < SMALLEST for number in numbers):
        return EXTREME
    if largest > _TENS or (found == LARGE and case.get("force")):
        return LARGE
    return EDGE
