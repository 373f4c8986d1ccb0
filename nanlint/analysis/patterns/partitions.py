"""Masks that together leave nothing out: true and false positives and negatives are all there is."""

from __future__ import annotations

from itertools import product
from typing import TYPE_CHECKING

from nanlint.analysis.op_graph import made_from
from nanlint.analysis.relations import root
from nanlint.word_sets import torch_names

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    from nanlint.analysis.op_graph import Value

    Test = Callable[[Mapping[object, bool]], bool]

_ANDS = torch_names("logical_and bitwise_and")
_ORS = torch_names("logical_or bitwise_or")
_NOTS = torch_names("logical_not bitwise_not")
_OPPOSITES = {"torch.le": "torch.gt", "torch.lt": "torch.ge", "torch.ne": "torch.eq"}
# Two to the power of this many cases are tried.
_MOST_TESTS = 6


def leave_nothing_out(masks: Sequence[Value]) -> bool:
    """Whether one of the masks holds wherever one looks, whatever is tested in them."""
    atoms: dict[object, None] = {}
    tests = [_test(mask, atoms) for mask in masks]
    if len(tests) < 2 or len(atoms) > _MOST_TESTS:
        return False
    cases = (dict(zip(atoms, case, strict=True)) for case in product((False, True), repeat=len(atoms)))
    return all(any(test(case) for test in tests) for case in cases)


def _test(mask: Value, atoms: dict[object, None]) -> Test:
    value = root(mask)
    op = made_from(value)
    if op is not None and op.function in _ANDS | _ORS | _NOTS:
        parts = [_test(each, atoms) for each in op.operands.values()]
        if op.function in _NOTS:
            return lambda case: not parts[0](case)
        together = all if op.function in _ANDS else any
        return lambda case: together(part(case) for part in parts)
    function = op.function if op is not None else ""
    positive = _OPPOSITES.get(function, function)
    is_test = op is not None and (function in _OPPOSITES or function in _OPPOSITES.values())
    atom = (positive, *(each.key for each in op.operands.values())) if op is not None and is_test else value.key
    atoms[atom] = None
    return lambda case: case[atom] is not (function in _OPPOSITES)
