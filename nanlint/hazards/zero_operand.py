"""How an operand comes to be 0, and what keeps it above 0: what rules ask about divisions."""

from __future__ import annotations

import ast
from functools import cached_property, lru_cache
from typing import TYPE_CHECKING

from nanlint.analysis.op_graph import ARRAY, NUMBER, TENSOR, UNKNOWN, Op, Value
from nanlint.analysis.patterns.quotients import (
    are_ends_given,
    is_aspect_ratio,
    is_by_its_peak,
    is_own_part,
    is_place_between,
    is_relative_error,
    is_share,
    is_weighted_mean,
)
from nanlint.analysis.patterns.tensors import is_data, is_of_tensors
from nanlint.analysis.patterns.zeros import SUMS, VALUE, Zero, why_zero
from nanlint.analysis.project.consequence import BACKWARD as TRAINED
from nanlint.analysis.project.consequence import DATA, LEARNED, OUTPUT, WRITTEN
from nanlint.analysis.relations import op_behind, root, same
from nanlint.analysis.sources import suggests_count
from nanlint.hazards.protected import is_protected, uses_of
from nanlint.model import Edit
from nanlint.ops.names import TENSOR_ONLY_METHODS

if TYPE_CHECKING:
    from collections.abc import Iterator

    from nanlint.analysis.patterns.few import Few
    from nanlint.analysis.patterns.kept import Kept
    from nanlint.analysis.project.index import Function
    from nanlint.hazards.operand import Operand

# What is divided by what in a way that makes a 0 an everyday event.
_ORDINARY = (is_weighted_mean, is_by_its_peak, is_aspect_ratio)


class ZeroOperand:
    """The part of a hazard that is about an operand at 0."""

    op: Op
    operand: Operand
    operand_name: str
    function: Function

    @property
    def callers(self) -> Value:
        """The operand as it is with what all callers in the project pass."""
        raise NotImplementedError

    ends: int
    few: Few | None
    kept: Kept | None

    @cached_property
    def zero(self) -> Zero | None:
        """How the operand comes to be 0; None if it cannot, or nothing tells that it can, or nothing is made of what breaks then."""
        if self.operand.value.kind is ARRAY and not self.ends & (TRAINED | OUTPUT | LEARNED | DATA):
            return None
        above = self.op.operands.get("input") if self.operand_name != "input" else None
        found = why_zero(self.callers) or why_zero(self.operand.value)
        made = self.operand.made_by
        if made is not None and is_relative_error(above, self.operand.value) and self.operand.value.range.has_zero:
            found = Zero(VALUE, made)
        elif found is None and made is not None and is_own_part(self.operand.value, above):
            found = Zero(VALUE, made, is_ordinary=False)
        elif found is None and made is not None and suggests_count(self.operand.value):
            found = Zero(VALUE, made, is_ordinary=False, is_by_name=True)
        if found is None or not self._is_of_tensors or is_protected(self.op, self.operand.value, self.function):
            return None
        if is_place_between(above, self.operand.value):
            return found._replace(is_ordinary=not are_ends_given(self.operand.value))
        if any(is_so(above, self.operand.value) for is_so in _ORDINARY):
            return found._replace(is_ordinary=True)
        return found.rarely if is_share(above, self.operand.value) else found

    @property
    def _is_of_tensors(self) -> bool:
        """Whether tensors take part: numbers from settings raise when they are divided by 0."""
        return any(map(is_data, self.op.operands.values())) or any(map(is_of_tensors, uses_of(self.op, self.function)))

    @property
    def is_of_one_sign(self) -> bool:
        """Whether the operand is not negative: by its range, or because what is made of it makes no sense otherwise."""
        above, exponent = self.op.operands.get("input"), self.op.operands.get("exponent")
        is_root = exponent is not None and not exponent.range.integer
        total = self.operand.made_by
        is_mask = total is not None and total.function in SUMS and self._is_used_as_mask(total.subject)
        return self.operand.value.range.least >= 0 or is_root or is_mask or is_weighted_mean(above, self.operand.value)

    def _is_used_as_mask(self, value: Value | None) -> bool:
        """Whether something else in the function fills or selects by it."""
        return value is not None and any(same(mask, value) for mask in _masks(self.function, len(self.function.ops)))

    @property
    def is_tensor(self) -> bool:
        """Whether the operand has a tensor's methods; what is not annotated has them where nothing else has `sum` and `std`, or torch is given it."""
        value = self.operand.value
        if value.kind is not UNKNOWN or not is_data(value):
            return value.kind is TENSOR
        if "numpy" not in self.function.module.imports.values():
            return True
        sources = {root(each).key for each in _sources(value)}
        given = (each for op in self.function.ops if _is_of_torch_alone(op) for each in op.operands.values())
        return any(root(each).key in sources for each in given)

    @property
    def eps_when_divided_by(self) -> float | None:
        """The number that is added to the result before something is divided by it, 0 for none; None if nothing is."""
        for op in self.function.ops:
            below = op_behind(op.operands["other"]) if op.function == "torch.div" and "other" in op.operands else None
            if below is self.op:
                return 0.0
            if (
                below is not None
                and below.function == "torch.add"
                and any(op_behind(each) is self.op for each in below.operands.values())
            ):
                return max(
                    (each.range.low for each in below.operands.values() if each.range.constant is not None), default=0.0
                )
        return None

    @property
    def is_protected(self) -> bool:
        """Whether the result is replaced where it breaks, only compared, or only shown to people."""
        is_shown = bool(self.ends) and not self.ends & ~WRITTEN
        return is_shown or is_protected(self.op, self.operand.value, self.function)

    @property
    def defect(self) -> object:
        """What hazards with one cause have in common: the operand, or what it is the sum of, along whatever dimension."""
        if self.kept is not None:
            return self.kept.op
        if self.few is not None and self.few.mask is not None:
            return root(self.few.mask).key
        made = self.operand.made_by
        is_sum = made is not None and made.function in SUMS and made.subject is not None
        return (
            ("sum", root(made.subject).key)
            if is_sum and made is not None and made.subject is not None
            else root(self.operand.value).key
        )

    def at_least(self, tensor: str, number: str) -> Edit | None:
        """The operand kept above something, as its type does that; None if that is not known."""
        if self.is_tensor:
            return self.with_call(tensor)
        span = self.operand.span
        return (
            Edit(span, f"max({self.operand.text}, {number})")
            if self.operand.value.kind is NUMBER and span is not None
            else None
        )

    def with_call(self, suffix: str) -> Edit | None:
        """The operand with a method called on it."""
        raise NotImplementedError


def _sources(value: Value, depth: int = 6) -> Iterator[Value]:
    """What a value was computed of, itself included."""
    yield value
    for each in value.op.operands.values() if value.op is not None and depth else ():
        yield from _sources(each, depth - 1)


def _is_of_torch_alone(op: Op) -> bool:
    """Whether it is written as a function of torch, or as a method that arrays do not have."""
    func = op.node.func if isinstance(op.node, ast.Call) else None
    if not isinstance(func, ast.Attribute) or not op.function.startswith("torch."):
        return False
    return func.attr in TENSOR_ONLY_METHODS or (isinstance(func.value, ast.Name) and func.value.id in {"torch", "F"})


@lru_cache(maxsize=16)
def _masks(function: Function, _count: int) -> list[Value]:
    """What a function fills or selects by; `_count` is how many operations it has by now."""
    found = (op.operands.get(name) for op in function.ops for name in ("mask", "condition"))
    return [mask for mask in found if mask is not None]
