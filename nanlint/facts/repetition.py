"""Whether an expression, written a second time at another place, would give the same value there."""

from __future__ import annotations

from typing import TYPE_CHECKING

import libcst as cst

from nanlint.facts.context import ancestors
from nanlint.facts.evaluate import ANY_ATTRIBUTE
from nanlint.facts.names import dotted_text
from nanlint.facts.values import UNKNOWN, Call, Form
from nanlint.ops.names import SIGNATURES
from nanlint.source.walk import node_children, walk

if TYPE_CHECKING:
    from collections.abc import Iterator

    from nanlint.facts.flow import Flow

_RANDOM = (
    "rand", "normal", "bernoulli", "multinomial", "poisson", "dropout", "gumbel", "rrelu", "exponential", "cauchy",
)  # fmt: skip


def is_unchanged(node: cst.BaseExpression, at: cst.CSTNode, flow: Flow) -> bool:
    """Whether `node`, written at `at` instead of where it stands, would give the same value there."""
    if node not in flow.envs or at not in flow.envs or _has_side_effect(node, flow):
        return False
    # An inner function runs later, when names of the outer one may hold something else.
    if _function_around(node, flow) is not _function_around(at, flow):
        return False
    then, now = flow.envs[node], flow.envs[at]
    return all((then.get(name) or UNKNOWN).identity is (now.get(name) or UNKNOWN).identity for name in _names_in(node))


def _function_around(node: cst.CSTNode, flow: Flow) -> cst.CSTNode | None:
    around = ancestors(node, flow.parsed.parents)
    return next((each for each in around if isinstance(each, (cst.FunctionDef, cst.Lambda))), None)


def _has_side_effect(node: cst.BaseExpression, flow: Flow) -> bool:
    """Whether `node` draws random numbers, or calls something of which nobody knows what it does."""
    for inner in walk(node):
        if isinstance(inner, (cst.Await, cst.NamedExpr, cst.Yield)):
            return True
        if isinstance(inner, cst.Call):
            call = flow.calls.get(inner)
            if call is None or call.function not in SIGNATURES or call.form is Form.MODULE or _is_random(call):
                return True
    return False


def _is_random(call: Call) -> bool:
    word = call.function.rpartition(".")[2]
    return any(part in word for part in _RANDOM)


def _names_in(node: cst.CSTNode) -> Iterator[str]:
    """Every name that evaluating `node` reads, attributes with all that precedes them."""
    if isinstance(node, cst.Name):
        yield node.value
        return
    text = dotted_text(node) if isinstance(node, cst.Attribute) else None
    if text is not None:
        parts = text.split(".")
        yield from (".".join(parts[:count]) for count in range(1, len(parts) + 1))
        yield f"{parts[0]}.{ANY_ATTRIBUTE}"
        return
    below = [node.value] if isinstance(node, (cst.Attribute, cst.Arg)) else node_children(node)
    for child in below:
        yield from _names_in(child)
