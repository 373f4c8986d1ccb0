"""What people call a thing: the words of the name behind an expression."""

from __future__ import annotations

import re
from functools import lru_cache
from typing import TYPE_CHECKING

import libcst as cst

from nanlint.analysis.name_hints import words_in
from nanlint.facts.names import dotted_text
from nanlint.source.walk import walk

if TYPE_CHECKING:
    from collections.abc import Iterable

# Methods and functions after which a thing is still called what it was: `loss.detach().mean().item()` is a loss.
_STILL_THE_SAME = frozenset(
    {
        "item", "detach", "cpu", "cuda", "float", "double", "half", "bfloat16", "to", "numpy", "clone", "mean", "sum", "abs", "max",
        "min", "reshape", "view", "squeeze", "flatten", "tensor", "as_tensor", "int", "any", "all", "array", "asarray", "stack",
        "cat", "values", "items", "norm", "vector_norm", "gather", "reduce", "all_reduce", "bool", "unsqueeze", "contiguous",
    }
)  # fmt: skip
# What they are called says nothing of what is in them under a key.
_CARRIERS = frozenset({"batch", "inputs", "sample"})
_WORD = re.compile(r"[A-Z]+(?![a-z])|[A-Z]?[a-z]+")
# Among hundreds of comparisons of one function each is asked for its words again and again.
_REMEMBERED = 4096


@lru_cache(_REMEMBERED)
def words_of(node: cst.BaseExpression) -> tuple[str, ...]:
    """The words of the name that `node` goes by, in order: ("total", "loss") for `self.total_loss.item()`; () for none."""
    return tuple(word.lower() for word in _WORD.findall(_name_of(thing_of(node))))


@lru_cache(_REMEMBERED)
def thing_of(node: cst.BaseExpression) -> cst.BaseExpression:
    """What an expression is about: `loss` of `loss.detach().mean().item()`, `p.grad` of `p.grad.data.sum()`."""
    inner = _inside(node)
    while inner is not None:
        node, inner = inner, _inside(inner)
    return node


def _name_of(node: cst.BaseExpression) -> str:
    if type(node) is cst.Name:
        return node.value
    if type(node) is cst.Attribute:
        return node.attr.value
    if type(node) is cst.Subscript:
        whole, key = _name_of(thing_of(node.value)), _key_of(node)
        return key if key and whole.rpartition("_")[2] in _CARRIERS else f"{whole}_{key}"
    function = dotted_text(node.func) if type(node) is cst.Call else None
    return (function or "").rpartition(".")[2]


def loop_source_of(name: cst.Name, around: Iterable[cst.CSTNode]) -> cst.BaseExpression | None:
    """What the loop or comprehension around that sets `name` runs over; None if none does."""
    for node in around:
        loop: cst.For | cst.CompFor | None = None
        if isinstance(node, cst.For):
            loop = node
        elif isinstance(node, (cst.BaseSimpleComp, cst.DictComp)):
            loop = node.for_in
        while loop is not None:
            if any(isinstance(inner, cst.Name) and inner.value == name.value for inner in walk(loop.target)):
                return loop.iter
            loop = loop.inner_for_in if isinstance(loop, cst.CompFor) else None
    return None


def _inside(node: cst.BaseExpression) -> cst.BaseExpression | None:
    """The expression that `node` only reads, moves or reduces."""
    if type(node) is cst.Attribute:
        return node.value if node.attr.value == "data" else None
    if type(node) is cst.Await:
        return node.expression
    if type(node) is not cst.Call:
        return None
    if type(node.func) is cst.Attribute:
        word = node.func.attr.value
    else:
        word = (dotted_text(node.func) or "").rpartition(".")[2]
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


def is_masked_mean(function: str) -> bool:
    """Whether a function offers an average under a mask by its name, `masked_mean`: it gets every mask there is."""
    words = words_in(function)
    return not words.isdisjoint({"mask", "masked"}) and not words.isdisjoint({"mean", "average", "avg"})
