"""What people call a thing: the words of the name behind an expression."""

from __future__ import annotations

import re

import libcst as cst

from nanlint.facts.names import dotted_text

# Methods and functions after which a thing is still called what it was: `loss.detach().mean().item()` is a loss.
_STILL_THE_SAME = frozenset(
    {
        "item", "detach", "cpu", "cuda", "float", "double", "half", "bfloat16", "to", "numpy", "clone", "mean", "sum", "abs", "max",
        "min", "reshape", "view", "squeeze", "flatten", "tensor", "as_tensor", "int", "any", "all", "array", "asarray", "stack",
        "cat", "values", "items", "norm", "vector_norm", "gather", "reduce", "all_reduce",
    }
)  # fmt: skip
_WORD = re.compile(r"[A-Z]+(?![a-z])|[A-Z]?[a-z]+")


def words_of(node: cst.BaseExpression) -> tuple[str, ...]:
    """The words of the name that `node` goes by, in order: ("total", "loss") for `self.total_loss.item()`; () for none."""
    name = _name_of(node)
    return tuple(word.lower() for word in _WORD.findall(name))


def _name_of(node: cst.BaseExpression) -> str:
    while True:
        if isinstance(node, cst.Name):
            return node.value
        if isinstance(node, cst.Subscript):
            return f"{_name_of(node.value)}_{_key_of(node)}"
        if isinstance(node, cst.Attribute) and node.attr.value != "data":
            return node.attr.value
        inner = _inside(node)
        if inner is None:
            function = dotted_text(node.func) if isinstance(node, cst.Call) else None
            return (function or "").rpartition(".")[2]
        node = inner


def _inside(node: cst.BaseExpression) -> cst.BaseExpression | None:
    """The expression that `node` only reads, moves or reduces."""
    if isinstance(node, cst.Attribute):
        return node.value
    if isinstance(node, cst.Await):
        return node.expression
    if not isinstance(node, cst.Call):
        return None
    word = (dotted_text(node.func) or "").rpartition(".")[2]
    if isinstance(node.func, cst.Attribute):
        word = node.func.attr.value
    if word not in _STILL_THE_SAME:
        return None
    # `torch.sum(loss)` names its argument, `loss.sum(0)` what it is called on.
    if node.args and (isinstance(node.func, cst.Name) or _is_module(node.func)):
        return node.args[0].value
    return node.func.value if isinstance(node.func, cst.Attribute) else None


def _is_module(function: cst.BaseExpression) -> bool:
    root = (dotted_text(function) or "").partition(".")[0]
    return root in {"torch", "np", "numpy", "math", "F", "accelerator", "dist", "jnp"}


def _key_of(node: cst.Subscript) -> str:
    """The key of `losses["total"]`; "" for one that is no text."""
    first = node.slice[0].slice
    if len(node.slice) == 1 and isinstance(first, cst.Index) and isinstance(first.value, cst.SimpleString):
        return first.value.raw_value
    return ""
