"""The text of code that is to stand in another's place: what the fix of a hazard is made of.

Text is taken from the source as it is written; only what changes is new. Where a comment would be lost there is no text.
"""

from __future__ import annotations

import ast
import re
from typing import TYPE_CHECKING

from nanlint.analysis.interpreter.asking_again import is_same_at
from nanlint.analysis.op_graph import NOTHING, Op, Value, made_from
from nanlint.analysis.project.spelled_names import spelled_name
from nanlint.analysis.selection import SUBSCRIPT, VIEWS
from nanlint.analysis.source_text import on_one_line
from nanlint.ops.names import CANONICAL, METHODS
from nanlint.source.syntax.below import walk
from nanlint.source.syntax.leftovers import leftovers

if TYPE_CHECKING:
    from collections.abc import Iterator

    from nanlint.analysis.patterns.exponentials import ByHand
    from nanlint.hazards.hazard import Hazard
    from nanlint.hazards.operand import Operand
    from nanlint.model import Edit

_COMMENT = re.compile(r"#[^\n]*")
_ATOMS = (ast.Name, ast.Attribute, ast.Call, ast.Subscript, ast.Constant)


def with_leftovers(hazard: Hazard, *edits: Edit) -> tuple[Edit, ...]:
    """The edits, and the deletion of the assignments that only what they replace has read."""
    return (*edits, *leftovers(hazard.function.outermost.node, edits, hazard.source.line))


def spelling_of(hazard: Hazard, operation: str) -> str | None:
    """How code here can call an operation, such as `F.logsigmoid`; None if it can't."""
    dotted = [name for name, canonical in CANONICAL.items() if canonical == operation and ".Tensor." not in name]
    found = [spelled_name(name, hazard.function) for name in sorted(dotted, key=lambda name: (name.count("."), name))]
    return min((name for name in found if name is not None), key=len, default=None)


def text_as(hazard: Hazard, made: Op, operation: str, **operands: str) -> str | None:
    """The call `made` as one of another operation, in the same form, with new text for some operands.

    A layer becomes a function with the settings that it was built with. None where that can't be told.
    """
    node = made.node
    if (
        not isinstance(node, ast.Call)
        or any(isinstance(each, ast.Starred) for each in node.args)
        or None in {each.arg for each in node.keywords}
    ):
        return None
    if not operands.keys() <= made.nodes.keys():
        return None
    spelled = spelling_of(hazard, operation)
    if made.module is not None:
        return _text_of_layer(hazard, made, spelled) if not operands else None
    name = _renamed(hazard, made, node.func, operation.rpartition(".")[2]) or spelled
    changes = [(made.nodes[each], text) for each, text in operands.items()]
    if name is None or (made.nodes.get("input") is getattr(node.func, "value", node) and name == spelled):
        return None  # a method that the other operation does not have
    return _spliced(hazard, node, [(node.func, name), *changes])


def _renamed(hazard: Hazard, made: Op, func: ast.expr, word: str) -> str | None:
    """`F.log_softmax` for `F.softmax`, `x.log_softmax` for `x.softmax`; None where the last word is not what names it."""
    if not isinstance(func, ast.Attribute):
        return None
    # Only the last word changes: what stands before it keeps its brackets and line breaks.
    renamed = hazard.source.text_of(func).removesuffix(func.attr) + word
    if made.nodes.get("input") is func.value:
        return renamed if METHODS.get(func.attr) == made.function and word in METHODS else None
    base = hazard.source.text_of(func.value)
    first, dot, rest = base.partition(".")
    module = hazard.function.module.imports.get(first, first) + dot + rest
    is_named = CANONICAL.get(f"{module}.{func.attr}") == made.function and f"{module}.{word}" in CANONICAL
    return renamed if is_named else None


def _text_of_layer(hazard: Hazard, made: Op, spelled: str | None) -> str | None:
    subject, module = made.nodes.get("input"), made.module
    if spelled is None or subject is None or module is None or len(made.operands) != 1:
        return None
    if any(value.constant is NOTHING for value in module.parts):
        return None
    stated = [f"{name}={value.constant!r}" for name, value in zip(module.keys, module.parts, strict=True)]
    return f"{spelled}({', '.join([hazard.source.text_of(subject), *stated])})"


def negated(hazard: Hazard, node: ast.AST) -> str:
    """The text of `-node`."""
    text = hazard.source.text_of(node)
    if isinstance(node, ast.UnaryOp) and isinstance(node.op, ast.USub):
        return text.lstrip("-").lstrip()
    return f"-{text}" if isinstance(node, _ATOMS) else f"-({text})"


def base_of(value: Value, node: ast.AST) -> tuple[Value, ast.AST]:
    """What `node` is a view, a part or a cast of, as far as it is written there: `p` of `p[:, 1].float()`."""
    while value.op is not None and value.op.node is node and value.op.function in VIEWS | {SUBSCRIPT}:
        inner = value.op.nodes.get("input")
        if inner is None:
            break
        value, node = value.op.operands["input"], inner
    return value, node


def can_be_repeated(hazard: Hazard, made: Op, place: ast.AST) -> bool:
    """Whether `made`, computed in this function, would be the same if it were written at `place`."""
    if not hazard.is_here(made) or made.node is None:
        return False
    word = getattr(getattr(made.node, "func", None), "attr", "")
    if word.endswith("_") or "out" in made.operands:
        return False
    return is_same_at(made.nodes.values(), place, hazard.function, hazard.graph)


def instead_of(hazard: Hazard, outer: Op, part: tuple[Value, ast.AST], made: Op, text: str) -> str | None:
    """What to write for `outer` so that only `part` of it is left, in which `text` stands for what `made` gave."""
    if hazard.is_in_place or outer.node is None or len(outer.operands) != 1:
        return None
    value, node = part
    held, base = base_of(value, node)
    if made_from(held) is not made:
        return None
    if made.node is not base or not _is_within(outer.node, base):
        if not can_be_repeated(hazard, made, outer.node):
            return None
        one_line = on_one_line(text)
        if one_line is None or (base is not node and not _is_within(outer.node, base)):
            return None
        text = one_line
    return in_place_of(hazard, outer.node, node, base, text)


def is_repeatable(hazard: Hazard, made: Op) -> bool:
    """Whether the operand is what `made` gives, there or written again in its place."""
    operand = hazard.operand
    if operand.node is None or made_from(operand.value) is not made:
        return False
    return made.node is operand.node or can_be_repeated(hazard, made, operand.node)


def in_place_of(hazard: Hazard, outer: ast.AST, inner: ast.AST, base: ast.AST, text: str) -> str | None:
    """What to write for `outer` so that only `inner` is left of it, with `text` for `base`; None if a comment would be lost."""
    source = hazard.source
    old, new = source.text_of(outer), text if base is inner else _spliced(hazard, inner, [(base, text)])
    if not _keeps_comments(old, new):
        new = _in_the_brackets_of(hazard, outer, inner, new)
        if not _keeps_comments(old, new):
            return None
    elif "\n" in new and not _is_expression(new):
        new = f"({new})"  # line breaks relied on the brackets of `outer`
    span = source.span_of(outer)
    before = source.line(span.line)[: span.column - 1][-1:]
    # `return(x).log()`: a bracket may be all that keeps two words apart.
    return f"({new})" if (before.isalnum() or before == "_") and not new.startswith("(") else new


def _is_within(whole: ast.AST, part: ast.AST) -> bool:
    return any(node is part for node in walk(whole))


def _spliced(hazard: Hazard, whole: ast.AST, changes: list[tuple[ast.AST, str | None]]) -> str:
    """The text of `whole` with new text for some of its parts."""
    source = hazard.source
    text, start = source.text_of(whole), source.offset_of(whole)
    for part, new in sorted(changes, key=lambda change: -source.offset_of(change[0])):
        at = source.offset_of(part) - start
        text = text[:at] + (new or "") + text[at + len(source.text_of(part)) :]
    return text


def _in_the_brackets_of(hazard: Hazard, outer: ast.AST, inner: ast.AST, new: str) -> str:
    """The operand in the brackets of its call, so that the comments between them stay where they are."""
    if not isinstance(outer, ast.Call) or outer.keywords or len(outer.args) != 1 or outer.args[0] is not inner:
        return new
    source = hazard.source
    whole, start = source.text_of(outer), source.offset_of(outer)
    first = source.offset_of(inner) - start
    last = first + len(source.text_of(inner))
    behind_name = source.offset_of(outer.func) - start + len(source.text_of(outer.func))
    before, after = whole[behind_name:first], whole[last:]
    return f"{before}{new}{after.replace(',', '', 1) if after.lstrip().startswith(',') else after}"


def _keeps_comments(old: str, new: str) -> bool:
    """Whether every comment of `old` is in `new`. A `#` in a string looks like one, which only asks for too much."""
    return sorted(_comments(old)) == sorted(_comments(new))


def _comments(text: str) -> Iterator[str]:
    yield from _COMMENT.findall(text)


def _is_expression(text: str) -> bool:
    try:
        ast.parse(text.strip(), mode="eval")
    except SyntaxError:
        return False
    return True


def of_exponents(hazard: Hazard, outer: Op, found: ByHand) -> str | None:
    """The call that computes what `found` has written out by hand, to stand in place of `outer`."""
    spelled = spelled_name(found.function, hazard.function) or spelling_of(hazard, found.function)
    settings = _settings(hazard, found)
    exponents = [exp.nodes.get("input") for exp in found.exps]
    if not found.function or spelled is None or settings is None or outer.node is None or None in exponents:
        return None
    if "#" in hazard.source.text_of(outer.node) or any(not hazard.is_here(exp) for exp in found.exps):
        return None
    moved = [
        node
        for node in (*exponents, *(found.total.nodes.values() if found.total is not None else ()))
        if node is not None
    ]
    moved = [node for node in moved if not _is_within(outer.node, node)]
    if moved and not is_same_at(moved, outer.node, hazard.function, hazard.graph):
        return None
    is_of_two = found.function.endswith("logaddexp")
    nodes = [node for node in exponents if node is not None][: 2 if is_of_two else 1]
    lines = [on_one_line(negated(hazard, node) if found.falls else hazard.source.text_of(node)) for node in nodes]
    return (
        f"{spelled}({', '.join([*(line for line in lines if line is not None), *settings])})"
        if None not in lines
        else None
    )


def _settings(hazard: Hazard, found: ByHand) -> list[str] | None:
    """The arguments of the sum that the function needs too; None where it cannot take them."""
    if found.total is None:
        return []
    given = {name: node for name, node in found.total.nodes.items() if name != "input"}
    if "dim" not in given or not found.total.operands.keys() <= {"input", "dim", "keepdim"}:
        return None
    if found.function == "torch.softmax":
        keeps, along = found.total.operands.get("keepdim"), found.total.operands["dim"]
        is_same = keeps is not None and keeps.constant is True and along.number is not None
        return [f"dim={hazard.source.text_of(given['dim'])}"] if is_same else None
    return [f"{name}={hazard.source.text_of(node)}" for name, node in given.items()]


def settings_of(hazard: Hazard, first: Op, second: Op) -> list[str] | None:
    """The `dim` and `keepdim` that two reductions were given alike; None if they differ, or there is something else."""
    given = [
        {name: hazard.source.text_of(node) for name, node in op.nodes.items() if name != "input"}
        for op in (first, second)
    ]
    if given[0] != given[1] or any(not op.operands.keys() <= {"input", "dim", "keepdim"} for op in (first, second)):
        return None
    return [f"{name}={text}" for name, text in given[0].items()]


def can_be_moved(hazard: Hazard, operand: Operand, place: ast.AST) -> bool:
    """Whether an operand that is written elsewhere has the same value at `place`."""
    if operand.node is None:
        return False
    return _is_within(place, operand.node) or is_same_at([operand.node], place, hazard.function, hazard.graph)
