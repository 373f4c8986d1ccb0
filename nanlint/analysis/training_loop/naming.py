"""What people call a thing: the words of the name behind an expression."""

from __future__ import annotations

import ast
import re
from typing import TYPE_CHECKING

from nanlint.analysis.name_hints import CARRIERS
from nanlint.analysis.project.syntax_names import dotted, last_word
from nanlint.source.syntax.below import given_to, walk
from nanlint.word_sets import word_set

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

# Methods and functions after which a thing is still called what it was: `loss.detach().mean().item()` is a loss.
_STILL_THE_SAME = word_set("""
    item detach cpu cuda float double half bfloat16 to numpy clone mean sum abs max min reshape view squeeze flatten
    tensor as_tensor int any all array asarray stack cat values items norm vector_norm gather reduce all_reduce bool
    unsqueeze contiguous
""")
_MODULES = word_set("torch np numpy math F accelerator dist jnp")
_WORD = re.compile(r"[A-Z]+(?![a-z])|[A-Z]?[a-z]+")
_LOOPS = (ast.For, ast.AsyncFor)
_COMPREHENSIONS = (ast.GeneratorExp, ast.ListComp, ast.SetComp, ast.DictComp)


def words_of(node: ast.AST) -> tuple[str, ...]:
    """The words of the name that `node` goes by, in order: ("total", "loss") for `self.total_loss.item()`; () for none."""
    return tuple(word.lower() for word in _WORD.findall(_name_of(thing_of(node))))


def thing_of(node: ast.AST) -> ast.AST:
    """What an expression is about: `loss` of `loss.detach().mean().item()`, `p.grad` of `p.grad.data.sum()`."""
    inner = _inside(node)
    while inner is not None:
        node, inner = inner, _inside(inner)
    return node


def loop_source_of(name: str, around: Iterable[ast.AST]) -> ast.expr | None:
    """What the loop or comprehension around that sets `name` runs over; None if none does."""
    for node in around:
        loops: Sequence[ast.For | ast.AsyncFor | ast.comprehension] = ()
        if isinstance(node, _LOOPS):
            loops = [node]
        elif isinstance(node, _COMPREHENSIONS):
            loops = node.generators
        for loop in loops:
            if any(isinstance(inner, ast.Name) and inner.id == name for inner in walk(loop.target)):
                return loop.iter
    return None


def _name_of(node: ast.AST) -> str:
    if isinstance(node, ast.Name):
        return node.id
    if isinstance(node, ast.Attribute):
        return node.attr
    if isinstance(node, ast.Subscript):
        whole, key = _name_of(thing_of(node.value)), _key_of(node)
        return key if key and whole.rpartition("_")[2] in CARRIERS else f"{whole}_{key}"
    return last_word(node) if isinstance(node, ast.Call) else ""


def _inside(node: ast.AST) -> ast.AST | None:
    """The expression that `node` only reads, moves or reduces."""
    if isinstance(node, ast.Attribute):
        return node.value if node.attr == "data" else None
    if isinstance(node, ast.Await):
        return node.value
    if not isinstance(node, ast.Call) or last_word(node) not in _STILL_THE_SAME:
        return None
    # `torch.sum(loss)` names its argument, `loss.sum(0)` what it is called on.
    if isinstance(node.func, ast.Name) or dotted(node.func).partition(".")[0] in _MODULES:
        given = given_to(node)
        if given:
            return given[0]
    return node.func.value if isinstance(node.func, ast.Attribute) else None


def _key_of(node: ast.Subscript) -> str:
    """The key of `losses["total"]`; "" for one that is no text."""
    key = node.slice.value if isinstance(node.slice, ast.Constant) else None
    return key if isinstance(key, str) else ""
