"""Assignments that nothing reads any more once a fix is made: what else to delete.

`probs = logits.softmax(-1)` is left behind when `probs.log()` becomes `logits.log_softmax(-1)`. It goes if that was all
that read it, and only from a function, where nobody else can see the name. What may have an effect stays, as does what
somebody has written a comment on.
"""

from __future__ import annotations

import ast
import re
from collections import Counter
from functools import lru_cache
from typing import TYPE_CHECKING

from nanlint.model import Edit, Span
from nanlint.source.lines import split_lines
from nanlint.source.syntax.below import walk
from nanlint.word_sets import word_set

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence

# Calls of these compute and do nothing else: no random numbers, no modules, nothing in place.
_PURE = word_set("""
    abs add clamp clamp_max clamp_min contiguous div double exp expm1 flatten float log log1p log_softmax mean mul neg
    norm permute pow prod reshape sigmoid softmax sqrt square squeeze std sub sum t to transpose unsqueeze var
    vector_norm view
""")
_VALUES = (ast.Name, ast.Attribute, ast.Constant, ast.BinOp, ast.UnaryOp, ast.Subscript, ast.Slice, ast.Tuple, ast.Call,
           ast.keyword, ast.expr_context, ast.operator, ast.unaryop)  # fmt: skip
# With these a name can be read that is not written.
_READERS = word_set("locals vars eval exec")


def leftovers(function: ast.AST, edits: Sequence[Edit], line: Callable[[int], str]) -> list[Edit]:
    """Deletions of the assignments in `function` that only what `edits` replace has read; `line` gives a line's text."""
    if not isinstance(function, (ast.FunctionDef, ast.AsyncFunctionDef)):
        return []
    if not _READERS.isdisjoint(_reads_in(function)[0]):
        return []
    deletions: list[Edit] = []
    # What is deleted may have been all that read another name.
    while True:
        made = [*edits, *deletions]
        found = {edit for name in _unread(function, made, line) for edit in _deletion(function, name, line)}
        if found <= set(deletions):
            return deletions
        deletions += sorted(found.difference(deletions), key=lambda edit: edit.span)


@lru_cache(1)
def _names_in(function: ast.AST) -> list[ast.Name]:
    """Every name in a function, which the next fix is mostly about, too."""
    return [node for node in walk(function) if isinstance(node, ast.Name)]


def without_leftovers(before: str, after: str) -> str:
    """`after` less the assignments that something of `before` has read and nothing reads any more.

    Two fixes may each leave the last reader of a name to the other; when both are made, nobody is left.
    """
    try:
        old, new = _functions(before), _functions(after)
    except (SyntaxError, ValueError, RecursionError):
        # A config file, say.
        return after
    lines = split_lines(after)
    deletions: set[Edit] = set()
    for name, function in new.items():
        if name in old and ast.dump(old[name]) != ast.dump(function):
            deletions.update(_unread_since(old[name], function, lambda number: lines[number - 1]))
    gone = {number for edit in deletions for number in range(edit.span.line, edit.span.end_line)}
    return "".join(line for number, line in enumerate(lines, 1) if number not in gone)


def _functions(text: str) -> dict[str, ast.AST]:
    """The functions of a module by their names; of several with one name, each by how many came before it."""
    found: dict[str, ast.AST] = {}
    before: Counter[str] = Counter()
    for node in walk(ast.parse(text)):
        if isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef)):
            found[f"{node.name}#{before[node.name]}"] = node
            before[node.name] += 1
    return found


def _unread_since(old: ast.AST, new: ast.AST, line: Callable[[int], str]) -> list[Edit]:
    """Deletions of the assignments in `new` whose names `old` has read and `new` does not read."""
    if _READERS & _read_in(new, [], line):
        return []
    deletions: list[Edit] = []
    while True:
        unread = _read_in(old, [], line) - _read_in(new, deletions, line)
        found = {edit for name in unread for edit in _deletion(new, name, line)}
        if found <= set(deletions):
            return deletions
        deletions += found.difference(deletions)


def _read_in(function: ast.AST, deletions: Sequence[Edit], line: Callable[[int], str]) -> set[str]:
    """The names that are read outside of what is deleted."""
    names = (node for node in walk(function) if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Load))
    return {node.id for node in names if not deletions or not _is_replaced(node, deletions, line)}


def _unread(function: ast.AST, edits: Sequence[Edit], line: Callable[[int], str]) -> Iterator[str]:
    """The names that were read, and after `edits` are not."""
    reads, by_line = _reads_in(function)
    touched = {number for edit in edits for number in range(edit.span.line, edit.span.end_line + 1)}
    near = [node for number in touched for node in by_line.get(number, ())]
    replaced = Counter(node.id for node in near if _is_replaced(node, edits, line))
    gone = {name for name, times in replaced.items() if times == reads[name]}
    written = {word for edit in edits for word in re.findall(r"\w+", edit.text)}
    yield from sorted(gone - written)


@lru_cache(1)
def _reads_in(function: ast.AST) -> tuple[Counter[str], dict[int, list[ast.Name]]]:
    """How often each name is read in a function, and what is read in each line."""
    found = [node for node in _names_in(function) if isinstance(node.ctx, ast.Load)]
    by_line: dict[int, list[ast.Name]] = {}
    for node in found:
        by_line.setdefault(node.lineno, []).append(node)
    return Counter(node.id for node in found), by_line


def _is_replaced(node: ast.Name, edits: Sequence[Edit], line: Callable[[int], str]) -> bool:
    place = node.lineno, _column(line(node.lineno), node.col_offset)
    return any(
        (edit.span.line, edit.span.column) <= place < (edit.span.end_line, edit.span.end_column) for edit in edits
    )


def _column(text: str, offset: int) -> int:
    """Python's ast counts in bytes from 0, spans in characters from 1."""
    return len(text.encode()[:offset].decode(errors="ignore")) + 1


def _deletion(function: ast.AST, name: str, line: Callable[[int], str]) -> Iterator[Edit]:
    """The deletion of the one statement that binds `name`, if there is just one and nothing else on its lines."""
    if name in _bound_otherwise(function):
        return
    bindings = _bindings_in(function).get(name, [])
    for statement in _assignments_in(function).get(name, ()):
        if statement.targets == bindings and _is_pure(statement.value) and _stands_alone(statement, line):
            first, last = statement.lineno, statement.end_lineno or statement.lineno
            yield Edit(Span(first, 1, last + 1, 1), "")


@lru_cache(1)
def _bindings_in(function: ast.AST) -> dict[str, list[ast.Name]]:
    """A name -> where it is assigned or deleted in a function."""
    found: dict[str, list[ast.Name]] = {}
    for node in _names_in(function):
        if not isinstance(node.ctx, ast.Load):
            found.setdefault(node.id, []).append(node)
    return found


@lru_cache(1)
def _bound_otherwise(function: ast.AST) -> set[str]:
    """The names that are more than assigned: declared, taken as a parameter, imported."""
    others = (ast.Global, ast.Nonlocal, ast.arg, ast.ExceptHandler, ast.alias)
    return {name for node in walk(function) if isinstance(node, others) for name in _bound(node)}


@lru_cache(1)
def _assignments_in(function: ast.AST) -> dict[str, list[ast.Assign]]:
    """A name -> the assignments to it that are not all of their block."""
    found: dict[str, list[ast.Assign]] = {}
    for block in _blocks(function):
        for statement in block if len(block) > 1 else ():
            target = statement.targets[0] if isinstance(statement, ast.Assign) else None
            if isinstance(statement, ast.Assign) and isinstance(target, ast.Name):
                found.setdefault(target.id, []).append(statement)
    return found


def _bound(node: ast.AST) -> list[str]:
    if isinstance(node, (ast.Global, ast.Nonlocal)):
        return node.names
    return [getattr(node, "arg", None) or getattr(node, "asname", None) or getattr(node, "name", None) or ""]


def _blocks(function: ast.AST) -> Iterator[list[ast.stmt]]:
    for node in walk(function):
        for field in ("body", "orelse", "finalbody"):
            block = getattr(node, field, None)
            if isinstance(block, list):
                yield block


def _is_pure(value: ast.expr) -> bool:
    """Whether nothing happens when it is not computed."""
    for node in walk(value):
        if not isinstance(node, _VALUES):
            return False
        if isinstance(node, ast.Call) and not (isinstance(node.func, ast.Attribute) and node.func.attr in _PURE):
            return False
    return True


def _stands_alone(statement: ast.stmt, line: Callable[[int], str]) -> bool:
    """Whether its lines hold neither another statement nor a comment, and no comment stands right above them."""
    first, last = statement.lineno, statement.end_lineno or statement.lineno
    texts = [line(number) for number in range(first, last + 1)]
    rest = texts[-1][_column(texts[-1], statement.end_col_offset or 0) - 1 :]
    above = line(first - 1).strip() if first > 1 else ""
    is_commented = above.startswith("#") or any("#" in text for text in texts)
    return not texts[0][: statement.col_offset].strip() and not rest.strip() and not is_commented
