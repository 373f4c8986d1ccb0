"""What logits are divided by: whether it is lowered step by step without a floor, asked about, or drawn by."""

from __future__ import annotations

import ast
from typing import TYPE_CHECKING

from nanlint.analysis.op_graph import ATTRIBUTE, ELEMENT, PARAMETER, TENSOR, name_of
from nanlint.analysis.relations import root
from nanlint.analysis.sources import suggests_temperature
from nanlint.source.syntax.below import walk
from nanlint.word_sets import word_set

if TYPE_CHECKING:
    from collections.abc import Iterator

    from nanlint.analysis.op_graph import Value
    from nanlint.analysis.project.index import Function

__all__ = [
    "MULTIPLIED",
    "draws",
    "is_asked_about",
    "is_fitted",
    "is_parameter",
    "is_setting",
    "lowering",
    "suggests_temperature",
]

SUBTRACTED, MULTIPLIED = "subtracted", "multiplied"
_FLOORS = word_set("max maximum clamp clip clamp_ clamp_min")
_WAYS: dict[type[ast.AST], str] = {ast.Sub: SUBTRACTED, ast.Mult: MULTIPLIED, ast.Div: MULTIPLIED}
_DRAWING = word_set("multinomial Categorical gumbel_softmax")
_FITTING = "torch.optim.LBFGS"


def is_parameter(value: Value) -> bool:
    """Whether it is what the function was given, and no tensor."""
    op = root(value).op
    return op is not None and op.function == PARAMETER and value.kind is not TENSOR


def is_setting(value: Value) -> bool:
    """Whether it is an attribute or an entry that nothing is known of, or a default: `self.temperature`, `cfg["temperature"]`."""
    op = root(value).op
    is_part = op is not None and op.function in {ATTRIBUTE, ELEMENT, "subscript"}
    return is_part and value.kind is not TENSOR and (_is_default(value) or not value.is_known)


def _is_default(value: Value) -> bool:
    op = value.op
    stored = op.operands.get("stored") if op is not None else None
    return value.assumed or (stored is not None and stored.assumed)


def draws(function: Function) -> bool:
    """Whether the function draws samples."""
    return any(name_of(op).rpartition(".")[2] in _DRAWING for op in function.ops)


def is_fitted(function: Function) -> bool:
    """Whether the function or its class minimises with LBFGS, as calibrations do: the loss is not lowest at a temperature of 0."""
    return any(name_of(op) == _FITTING for each in _together(function) for op in each.ops)


def is_asked_about(node: ast.AST | None, function: Function) -> bool:
    """Whether a condition of the function asks about what is written at `node`."""
    text = ast.unparse(node) if node is not None else ""
    nodes = list(walk(function.node))
    tests = [each.test for each in nodes if isinstance(each, ast.If | ast.IfExp | ast.Assert | ast.While)]
    found = (inner for test in tests for inner in walk(test) if isinstance(inner, ast.Name | ast.Attribute))
    # `greedy = temperature == 0`, and the test is about `greedy`.
    sides = (side for each in nodes if isinstance(each, ast.Compare) for side in (each.left, *each.comparators))
    return bool(text) and any(ast.unparse(each) == text for each in (*found, *sides))


def lowering(node: ast.AST | None, function: Function) -> str:
    """How what is written at `node` is lowered without a floor, here or in a method beside; empty for not at all."""
    name = ast.unparse(node) if isinstance(node, ast.Name | ast.Attribute) else ""
    if not name:
        return ""
    found = {
        way
        for each in (_together(function) if name.startswith("self.") else [function])
        for way in _ways(name, each.node)
    }
    return SUBTRACTED if SUBTRACTED in found else MULTIPLIED if found else ""


def _together(function: Function) -> list[Function]:
    """The methods of its class; of a function what is around it."""
    outer = [function]
    while outer[-1].parent is not None:
        outer.append(outer[-1].parent)
    owner = outer[-1].owner
    return [*outer, *(owner.methods.values() if owner is not None else ())]


def _ways(name: str, function: ast.AST) -> Iterator[str]:
    nodes = list(walk(function)) if isinstance(function, ast.FunctionDef | ast.AsyncFunctionDef) else []
    ways = [way for node in nodes if (way := _way(name, node))]
    if ways and not any(_is_floor(name, node) for node in nodes):
        yield from ways


def _way(name: str, node: ast.AST) -> str:
    """`x -= step`, `x = x - step`, `x *= 0.9`, `x = x * 0.9`."""
    if isinstance(node, ast.AugAssign) and ast.unparse(node.target) == name:
        return _WAYS.get(type(node.op), "")
    if isinstance(node, ast.Assign) and isinstance(node.value, ast.BinOp) and ast.unparse(node.targets[0]) == name:
        return _WAYS.get(type(node.value.op), "") if ast.unparse(node.value.left) == name else ""
    return ""


def _is_floor(name: str, node: ast.AST) -> bool:
    """Whether the name is compared with something, or held above something."""
    if isinstance(node, ast.Compare):
        return any(ast.unparse(side) == name for side in (node.left, *node.comparators))
    word = getattr(node.func, "attr", getattr(node.func, "id", "")) if isinstance(node, ast.Call) else ""
    return word in _FLOORS and isinstance(node, ast.Call) and name in ast.unparse(node)
