"""The arguments of one call: their values, bound to an operation's parameters, and where each is written."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from nanlint.ops.names import SIGNATURES
from nanlint.ops.signatures import bind

if TYPE_CHECKING:
    import ast
    from collections.abc import Mapping

    from nanlint.analysis.op_graph import Value

_OF_TWO = {"torch.max": "torch.maximum", "torch.min": "torch.minimum"}


@dataclass(frozen=True, slots=True)
class Arguments:
    """What a call passes."""

    given: list[Value]
    named: dict[str, Value]
    node: ast.Call
    is_whole: bool = True
    """No `*args` or `**kwargs`."""

    @property
    def operands(self) -> dict[str, Value]:
        """All of them, by place or name."""
        return {**{str(place): value for place, value in enumerate(self.given)}, **self.named}

    def bound(self, operation: str, receiver: Value | None = None) -> tuple[dict[str, Value], tuple[Value, ...]] | None:
        """The arguments by parameter name, and those that a starred parameter takes; None if they do not fit."""
        if operation not in SIGNATURES or not self.is_whole:
            return None
        binding = bind(operation, self.given, self.named, receiver)
        if binding is None and "out" in self.named:
            # What is filled is no part of what is computed.
            named = {name: value for name, value in self.named.items() if name != "out"}
            binding = bind(operation, self.given, named, receiver)
        if binding is None or operation != "torch.einsum":
            return (binding.arguments, binding.variadic) if binding is not None else None
        # What is multiplied comes as `*operands`, which no parameter is bound to.
        factors = {f"operand {place}": value for place, value in enumerate(binding.variadic)}
        return {**binding.arguments, **factors}, ()

    def nodes(self, bound: Mapping[str, Value]) -> dict[str, ast.AST]:
        """Where each operand is written in the call."""
        places: dict[int, ast.AST] = {id(value): each for value, each in zip(self.given, self.node.args, strict=False)}
        places.update({id(self.named[each.arg]): each.value for each in self.node.keywords if each.arg is not None})
        return {name: places[id(value)] for name, value in bound.items() if id(value) in places}

    def operation(self, operation: str, receiver: Value | None = None) -> str:
        """`torch.max(p, q)` is the larger of two, `torch.max(p, 1)` the largest along a dimension."""
        place = 0 if receiver is not None else 1
        other = self.given[place] if len(self.given) > place else self.named.get("other")
        return (
            _OF_TWO[operation]
            if operation in _OF_TWO and other is not None and other.kind in {"tensor", "array"}
            else operation
        )
