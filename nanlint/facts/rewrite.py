"""The text of code that is to stand in another's place: what a fix is made of.

Text is taken from the source as it is written; only what changes is new. Where a comment would be lost there is no text.
"""

from __future__ import annotations

import ast
import re
from typing import TYPE_CHECKING

import libcst as cst

from nanlint.facts.names import dotted_text
from nanlint.ops.names import CANONICAL, METHODS

if TYPE_CHECKING:
    from collections.abc import Iterator

    from nanlint.facts.values import Call
    from nanlint.source.parse import ParsedChunk

_COMMENT = re.compile(r"#[^\n]*")


def spellings(operation: str) -> Iterator[tuple[str, str]]:
    """Every (module, function) under which torch has the operation, the shortest first."""
    dotted = [name for name, canonical in CANONICAL.items() if canonical == operation and ".Tensor." not in name]
    for name in sorted(dotted, key=lambda name: (name.count("."), name)):
        module, _, function = name.rpartition(".")
        yield module, function


def bare(node: cst.CSTNode) -> cst.CSTNode:
    """The node without parentheses around it."""
    return node.with_changes(lpar=(), rpar=()) if getattr(node, "lpar", ()) else node


def renamed(call: Call, word: str) -> cst.Call | None:
    """The call as it is written, but of the operation `word`; None where its last word is not what names it."""
    node = call.node
    if not isinstance(node, cst.Call) or not isinstance(node.func, cst.Attribute):
        return None
    known = METHODS if node.func.attr.value in METHODS and call.arguments.get("input") is node.func.value else CANONICAL
    dotted = word if known is METHODS else f"{_module_of(call)}.{word}"
    if dotted not in known:
        return None
    return node.with_changes(func=node.func.with_changes(attr=cst.Name(word)))


def _module_of(call: Call) -> str:
    """A module that has the operation of `call` under its last word, as `torch.nn.functional` has softmax."""
    node = call.node
    word = node.func.attr.value if isinstance(node, cst.Call) and isinstance(node.func, cst.Attribute) else ""
    return next((module for module, function in spellings(call.function) if function == word), "")


def negated(text: str, node: cst.BaseExpression) -> str:
    """The text of `-node`, `text` being that of the node."""
    if isinstance(node, cst.UnaryOperation) and isinstance(node.operator, cst.Minus):
        return text.lstrip("-").lstrip()
    simple = isinstance(node, (cst.Name, cst.Attribute, cst.Call, cst.Subscript, cst.Integer, cst.Float))
    return f"-{text}" if simple else f"-({text})"


def on_one_line(text: str) -> str | None:
    """The expression without line breaks and comments, for a copy of it elsewhere; None if it is none."""
    if "\n" not in text and "#" not in text:
        return text
    try:
        return ast.unparse(ast.parse(f"({text}\n)", mode="eval"))
    except SyntaxError:
        return None


def in_place_of(
    outer: cst.BaseExpression, inner: cst.BaseExpression, base: cst.BaseExpression, text: str, parsed: ParsedChunk
) -> str | None:
    """What to write for `outer` so that `inner`, a part of it, is left, in which `text` stands for `base`.

    None where a comment of `outer` would be lost.
    """
    old = parsed.source_of(bare(outer))
    new_inner = _replaced(bare(inner), bare(base) if inner is base else base, cst.parse_expression(text))
    new = parsed.source_of(new_inner)
    if not _keeps_comments(old, new):
        kept = _with_parentheses_of(outer, inner, new_inner)
        new = parsed.source_of(kept) if kept is not None else ""
        return new if kept is not None and _keeps_comments(old, new) else None
    # Line breaks may have relied on the brackets of `outer`; a keyword may touch the bracket that `outer` begins with.
    needs_brackets = ("\n" in new and not _is_expression(new)) or (old.startswith("(") and not new.startswith("("))
    return f"({new})" if needs_brackets else new


def _replaced(node: cst.CSTNode, old: cst.CSTNode, new: cst.BaseExpression) -> cst.BaseExpression:
    result = (
        new if node is old or isinstance(old, type(node)) and node.deep_equals(old) else node.deep_replace(old, new)
    )
    assert isinstance(result, cst.BaseExpression)  # noqa: S101 - an expression replaces an expression
    return result


def _with_parentheses_of(
    outer: cst.BaseExpression, inner: cst.BaseExpression, new_inner: cst.BaseExpression
) -> cst.BaseExpression | None:
    """`(inner  # comment\n)` for `f(inner  # comment\n)`: the comments stay where they are."""
    if not isinstance(outer, cst.Call) or len(outer.args) != 1 or outer.args[0].value is not inner:
        return None
    arg = outer.args[0]
    if arg.keyword is not None or arg.star or not isinstance(arg.comma, cst.MaybeSentinel):
        return None
    whitespace_before = outer.whitespace_before_args
    whitespace_after = arg.whitespace_after_arg
    return new_inner.with_changes(
        lpar=(cst.LeftParen(whitespace_after=whitespace_before),),
        rpar=(cst.RightParen(whitespace_before=whitespace_after),),
    )


def _keeps_comments(old: str, new: str) -> bool:
    """Whether every comment of `old` is in `new`. A `#` in a string looks like one, which only asks for too much."""
    return sorted(_COMMENT.findall(old)) == sorted(_COMMENT.findall(new))


def _is_expression(text: str) -> bool:
    try:
        ast.parse(text.strip(), mode="eval")
    except SyntaxError:
        return False
    return True


def function_word(node: cst.BaseExpression) -> str:
    """The last word of what is called: `any` of `torch.any(x)` and of `x.any()`."""
    if not isinstance(node, cst.Call):
        return ""
    if isinstance(node.func, cst.Attribute):
        return node.func.attr.value
    return dotted_text(node.func) or ""
