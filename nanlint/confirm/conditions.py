"""What must hold for a line to be run: the tests around it, and those before it that leave the function.

Read from the syntax alone: `if mask is not None and self.mode == "soft":` demands that `mask` is given and that
`self.mode` is "soft". A demand is a wish for the first guess, not a promise.
"""

from __future__ import annotations

import ast
from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterator

_LEAVING = (ast.Return, ast.Raise, ast.Continue, ast.Break)
_GIVEN = frozenset({"exists", "is_given"})


@dataclass(frozen=True)
class Demand:
    """One thing that must hold: `what` is `given`, `none`, `true`, `false`, `key` or `is`, the last two with a value."""

    path: str
    """The expression it is about, as `mask`, `self.mode` or `self.args.mode`."""
    what: str
    value: object = None


def demands_of(tree: ast.AST, line: int) -> list[Demand]:
    """What must hold for the line to be run."""
    return [demand for test, truth in _tests(tree, line) for demand in _of(test, truth=truth)]


def _tests(node: ast.AST, line: int) -> Iterator[tuple[ast.expr, bool]]:
    """The tests on the way to a line, each with the answer it must give."""
    for body in _bodies(node):
        here = next(
            (place for place, one in enumerate(body) if one.lineno <= line <= (one.end_lineno or one.lineno)), None
        )
        if here is None:
            continue
        for before in body[:here]:
            if isinstance(before, ast.If) and not before.orelse and isinstance(before.body[-1], _LEAVING):
                yield before.test, False
        inner = body[here]
        if isinstance(inner, (ast.If, ast.While)) and _is_in(inner.body, line):
            yield inner.test, True
        elif isinstance(inner, ast.If) and _is_in(inner.orelse, line):
            yield inner.test, False
        yield from _tests(inner, line)


def _bodies(node: ast.AST) -> Iterator[list[ast.stmt]]:
    for name in ("body", "orelse", "finalbody"):
        found = getattr(node, name, None)
        if isinstance(found, list) and found and isinstance(found[0], ast.stmt):
            yield found
    for handler in getattr(node, "handlers", []):
        yield handler.body


def _is_in(body: list[ast.stmt], line: int) -> bool:
    return bool(body) and body[0].lineno <= line <= (body[-1].end_lineno or body[-1].lineno)


def _of(test: ast.expr, *, truth: bool) -> Iterator[Demand]:
    if isinstance(test, ast.UnaryOp) and isinstance(test.op, ast.Not):
        yield from _of(test.operand, truth=not truth)
    elif isinstance(test, ast.BoolOp):
        all_of_them = isinstance(test.op, ast.And) == truth
        for part in test.values if all_of_them else test.values[:1]:
            yield from _of(part, truth=truth)
    elif isinstance(test, ast.Compare) and len(test.ops) == 1:
        yield from _of_comparison(test.left, test.ops[0], test.comparators[0], truth=truth)
    elif isinstance(test, ast.Call) and isinstance(test.func, ast.Name) and test.func.id in _GIVEN and test.args:
        yield Demand(ast.unparse(test.args[0]), "given" if truth else "none")
    elif isinstance(test, (ast.Name, ast.Attribute)):
        yield Demand(ast.unparse(test), "true" if truth else "false")


def _of_comparison(left: ast.expr, operator: ast.cmpop, right: ast.expr, *, truth: bool) -> Iterator[Demand]:
    try:
        constant = ast.literal_eval(right)
    except (ValueError, TypeError, SyntaxError, MemoryError):
        if isinstance(left, ast.Constant) and isinstance(operator, (ast.In, ast.NotIn)):
            is_there = isinstance(operator, ast.In) == truth
            yield Demand(ast.unparse(right), "key" if is_there else "no key", left.value)
        return
    path = ast.unparse(left)
    if constant is None:
        yield Demand(path, "none" if isinstance(operator, (ast.Is, ast.Eq)) == truth else "given")
    elif isinstance(operator, (ast.Eq, ast.Is)) == truth and isinstance(
        operator, (ast.Eq, ast.Is, ast.NotEq, ast.IsNot)
    ):
        yield Demand(path, "is", constant)
    elif isinstance(operator, ast.In) and truth and constant:
        yield Demand(path, "is", next(iter(constant)))
    elif isinstance(constant, (int, float)) and not isinstance(constant, bool):
        yield from _of_order(path, operator, constant, truth=truth)


def _of_order(path: str, operator: ast.cmpop, constant: float, *, truth: bool) -> Iterator[Demand]:
    is_above = isinstance(operator, (ast.Gt, ast.GtE))
    if is_above or isinstance(operator, (ast.Lt, ast.LtE)):
        yield Demand(path, "is", constant + 1 if is_above == truth else constant - 1)
