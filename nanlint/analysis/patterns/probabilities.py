"""Softmaxes and sigmoids, and what is left of them to 1: numbers that are above 0 on paper and round to it."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from nanlint.analysis.op_graph import ATTRIBUTE, ELEMENT, GUARDED, JOIN, TENSOR, made_from
from nanlint.analysis.relations import op_behind, root
from nanlint.analysis.selection import SUBSCRIPT, VIEWS

if TYPE_CHECKING:
    import ast
    from collections.abc import Iterator

    from nanlint.analysis.op_graph import Op, Value

SOFTMAX, SIGMOID = "torch.softmax", "torch.sigmoid"
KINDS = {SOFTMAX: "softmax", SIGMOID: "sigmoid", "torch.nn.functional.softmin": "softmin"}
_KEEPING = VIEWS | {
    SUBSCRIPT,
    GUARDED,
    "torch.masked_select",
    "torch.diagonal",
    "torch.take_along_dim",
    "torch.Tensor.requires_grad_",
}
_MOST = 60


class Probability(NamedTuple):
    """A softmax or sigmoid that a value holds, or holds what is left of it to 1."""

    made_by: Op
    value: Value
    rest_of: Op | None
    """The operation that takes it away from 1."""

    def node_in(self, log: Op) -> ast.AST | None:
        """Where it is written, as far as it is."""
        return (
            log.nodes.get("input") if self.rest_of is None else self.rest_of.nodes.get(list(self.rest_of.operands)[-1])
        )


def origins(value: Value) -> list[Op]:
    """The operations that computed what it holds, on every path: seen through views, parts, attributes and branches."""
    found: dict[int, Op] = {}
    waiting, seen = [value], set[int]()
    while waiting and len(seen) < _MOST:
        op = waiting.pop(0).op
        if op is None or id(op) in seen:
            continue
        seen.add(id(op))
        held = op.operands.get("stored") if op.function == ATTRIBUTE else op.subject
        if op.function == JOIN:
            waiting += op.operands.values()
        elif held is not None and (
            op.function in _KEEPING or op.function == ATTRIBUTE or (op.function == ELEMENT and held.kind is TENSOR)
        ):
            waiting.append(held)
        else:
            found[id(op)] = op
    return list(found.values())


def paths_to(value: Value) -> Iterator[Value]:
    """What it is on each path that leads here."""
    waiting, seen = [value], set[int]()
    while waiting and len(seen) < _MOST:
        current = root(waiting.pop())
        op = made_from(current)
        if op is not None and op.function == JOIN and id(op) not in seen:
            seen.add(id(op))
            waiting += op.operands.values()
        else:
            yield current


def rest_to_one(value: Value) -> Op | None:
    """The operation that made `1 - p`; None if it is something else."""
    op = op_behind(value)
    whole = op.subject if op is not None and op.function == "torch.sub" and "alpha" not in op.operands else None
    ones = made_from(whole)
    is_one = whole is not None and (
        whole.number == 1 or (ones is not None and ones.function in {"torch.ones_like", "torch.ones"})
    )
    return op if is_one else None


def is_same(first: Probability, second: Probability) -> bool:
    """Whether two are of the same logits."""
    one, other = first.made_by, second.made_by
    return one is other or (
        one.function == other.function == SIGMOID and one.operands["input"].key == other.operands["input"].key
    )


def in_log(log: Op, argument: Value) -> Probability | None:
    """The softmax or sigmoid that `log` is taken of, or of what is left of it to 1; None if some path brings something else."""
    made = op_behind(argument)
    if log.function == "torch.log1p":
        rest = made if made is not None and made.function == "torch.neg" else None
    else:
        rest = rest_to_one(argument)
    value = list(rest.operands.values())[-1] if rest is not None else argument
    if rest is None and log.function == "torch.log1p":
        return None
    found = origins(value)
    if not found or any(op.function not in KINDS for op in found):
        return None
    return Probability(found[0], value, rest)
