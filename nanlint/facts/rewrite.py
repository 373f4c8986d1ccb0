"""The text of code that is to stand in another's place: what a fix is made of.

Text is taken from the source as it is written; only what changes is new. Where a comment would be lost there is no text.
"""

from __future__ import annotations

import ast
from typing import TYPE_CHECKING

import libcst as cst
from libcst._nodes.internal import CodegenState

from nanlint.facts.context import ancestors
from nanlint.facts.values import Call, Form
from nanlint.ops.names import CANONICAL, METHODS
from nanlint.source.parse import deep_enough

if TYPE_CHECKING:
    from collections.abc import Iterator

    from nanlint.source.parse import ParsedChunk

# Above 0 in float16, too, which ends at 6e-8, and far below what matters in a wider format.
_FLOOR, _FLOOR_IF_WIDE = "1e-7", "1e-12"
# What is divided by: its inverse, by which the gradient is multiplied, must be below the end of float16 as well.
_DIVISOR, _DIVISOR_IF_WIDE = "1e-4", "1e-6"
_WIDE = frozenset({"bfloat16", "float32", "float64"})


def spellings(operation: str) -> Iterator[tuple[str, str]]:
    """Every (module, function) under which torch has the operation, the shortest first."""
    dotted = [name for name, canonical in CANONICAL.items() if canonical == operation and ".Tensor." not in name]
    for name in sorted(dotted, key=lambda name: (name.count("."), name)):
        module, _, function = name.rpartition(".")
        yield module, function


def floor(dtype: str, *, divides: bool) -> str:
    """A lower bound that a value of this dtype can be held above; one that fits every dtype if it is not known."""
    if divides:
        return _DIVISOR_IF_WIDE if dtype in _WIDE else _DIVISOR
    return _FLOOR_IF_WIDE if dtype in _WIDE else _FLOOR


def bare(node: cst.CSTNode) -> cst.CSTNode:
    """The node without parentheses around it, unless it is nothing without them."""
    if isinstance(node, (cst.Tuple, cst.GeneratorExp, cst.NamedExpr, cst.Yield)) or not getattr(node, "lpar", ()):
        return node
    return node.with_changes(lpar=(), rpar=())


def renamed(call: Call, word: str) -> cst.Call | None:
    """The call as it is written, but of the operation `word`; None where its last word is not what names it.

    Of a function, what stands before the last word must be a module of torch; the caller knows.
    """
    node = call.node
    if not isinstance(node, cst.Call) or not isinstance(node.func, cst.Attribute):
        return None
    old = node.func.attr.value
    if call.form is Form.METHOD:
        fits = word in METHODS
    else:
        modules = [module for module, function in spellings(call.function) if function == old]
        fits = call.form is Form.FUNCTION and any(f"{module}.{word}" in CANONICAL for module in modules)
    return node.with_changes(func=node.func.with_changes(attr=cst.Name(word))) if fits else None


def as_receiver(text: str, node: cst.BaseExpression) -> str:
    """The text of the node, `text`, in brackets where `.method()` could not follow it otherwise."""
    simple = isinstance(node, (cst.Name, cst.Attribute, cst.Call, cst.Subscript))
    return text if simple else f"({text})"


def on_one_line(text: str) -> str | None:
    """The expression without line breaks and comments, for a copy of it elsewhere; None if it is none."""
    if "\n" not in text and "#" not in text:
        return text
    try:
        return ast.unparse(ast.parse(f"({text}\n)", mode="eval"))
    except SyntaxError:
        return None


def code(node: cst.CSTNode, at: cst.CSTNode, parsed: ParsedChunk) -> str:
    """The text of `node`, be it new, with further lines indented as they have to be where `at` stands."""
    parsed.note_rewriting()
    text = _written(node, [], parsed)
    # Where a block is, mostly nobody needs to know: one line is not indented.
    return _written(node, _indents(at, parsed), parsed) if "\n" in text or "\r" in text else text


def _written(node: cst.CSTNode, indents: list[str], parsed: ParsedChunk) -> str:
    state = CodegenState(parsed.module.default_indent, parsed.module.default_newline, indent_tokens=indents)
    with deep_enough():
        node._codegen(state)  # noqa: SLF001 - as libcst's own code_for_node does
    return "".join(state.tokens)


def _indents(at: cst.CSTNode, parsed: ParsedChunk) -> list[str]:
    """What every line of the block around `at` begins with, block by block."""
    blocks = [around for around in ancestors(at, parsed.parents) if isinstance(around, cst.IndentedBlock)]
    return [block.indent or parsed.module.default_indent for block in reversed(blocks)]


def with_text(node: cst.CSTNode, part: cst.BaseExpression, text: str, indent: str = "") -> cst.CSTNode:
    """The node with `text` for one part of it. Further lines of the text begin with `indent`, which `code` adds again."""
    new = cst.parse_expression(text.replace(f"\n{indent}", "\n"))
    if node is part:
        return new
    changed = node.deep_replace(part, new)
    assert isinstance(changed, cst.CSTNode)  # noqa: S101 - a part was replaced, not removed
    return changed
