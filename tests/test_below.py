"""The walk over `ast` sees every statement and expression that the standard library's sees."""

from __future__ import annotations

import ast
from pathlib import Path

import pytest

from nanlint.source.syntax.below import all_below, nodes_below

ROOT = Path(__file__).resolve().parents[1]
OUR_OWN = sorted((ROOT / "nanlint").rglob("*.py"))
LEFT_OUT = (ast.expr_context, ast.operator, ast.unaryop, ast.cmpop, ast.boolop)

RARE = """
match a:
    case {"b": c, **d} | [e, *f] | G(h, i=j) | None if k: global l
{**a, 1: 2}
async def m(n, /, o=1, *p, q, r: int = 2, **s) -> t:
    async with u as v: del w[x:y:z], w.x
    try: nonlocal_ = f"{a!r:>{b}}"
    except (C, D) as e: raise f from g
    return lambda h=i, *, j=k: (yield)
"""


def plain(nodes: list[ast.AST]) -> list[str]:
    return sorted(ast.dump(node) for node in nodes if not isinstance(node, LEFT_OUT))


@pytest.mark.slow
@pytest.mark.parametrize("path", OUR_OWN, ids=lambda path: path.relative_to(ROOT).as_posix())
def test_all_nodes_of_our_own_files_are_seen(path: Path) -> None:
    tree = ast.parse(path.read_text(encoding="utf-8"))
    usual = [node for node in ast.walk(tree) if not isinstance(node, LEFT_OUT)]
    assert {id(node) for node in all_below(tree)} == {id(node) for node in usual}


def test_rare_syntax_is_seen_too() -> None:
    tree = ast.parse(RARE)
    assert plain(list(all_below(tree))) == plain(list(ast.walk(tree)))


def test_contexts_and_operators_are_left_out() -> None:
    (statement,) = ast.parse("a + -b < c").body
    assert isinstance(statement, ast.Expr)
    assert [type(node) for node in nodes_below(statement.value)] == [ast.BinOp, ast.Name]
