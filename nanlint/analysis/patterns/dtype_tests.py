"""Branches that a test on dtypes decides: who writes them has thought of the formats."""

from __future__ import annotations

import ast
from functools import lru_cache
from typing import TYPE_CHECKING

from nanlint.analysis.listed_nodes import nodes_of
from nanlint.source.syntax.below import walk
from nanlint.word_sets import word_set

if TYPE_CHECKING:
    from nanlint.analysis.op_graph import Op
    from nanlint.analysis.project.index import Function

_ASKING = word_set("dtype float16 bfloat16 half is_autocast_enabled autocast")
_LEAVING = (ast.Return, ast.Raise, ast.Continue, ast.Break)


def is_decided_by_dtype(op: Op, function: Function, depth: int = 3) -> bool:
    """Whether it runs on one side of a test on dtypes, here or at each call of the function."""
    if any(_decides(each, op.node) for each in _asking_in(function.node)):
        return True
    sites = [site.op for site in function.calls if site.op.scope is not None]
    return bool(depth and sites) and all(
        is_decided_by_dtype(site, site.scope, depth - 1) for site in sites if site.scope is not None
    )


def _asks(test: ast.expr) -> bool:
    words = (getattr(node, "attr", getattr(node, "id", "")) for node in walk(test))
    return any(word in _ASKING for word in words)


@lru_cache(maxsize=32)
def _asking_in(function: ast.AST) -> list[ast.With | ast.IfExp | ast.If]:
    """What stands in a function and asks for a dtype, or switches autocast off."""
    found: list[ast.With | ast.IfExp | ast.If] = []
    found += (
        each for each in nodes_of(function, ast.With) if any(_switches_off(item.context_expr) for item in each.items)
    )
    found += (each for each in nodes_of(function, ast.IfExp) if _asks(each.test))
    found += (each for each in nodes_of(function, ast.If) if _asks(each.test))
    return found


def _decides(each: ast.With | ast.IfExp | ast.If, node: ast.AST | None) -> bool:
    """Whether it is on the way to a node: around it, or left before it."""
    line = getattr(node, "lineno", 0)
    if isinstance(each, ast.IfExp):
        return any(node is inner for inner in walk(each))
    is_around = each.lineno <= line <= (each.end_lineno or 0)
    if isinstance(each, ast.With):
        return is_around
    is_left_before = (each.end_lineno or 0) < line and isinstance(each.body[-1], _LEAVING)
    is_for_half = _is_for_half(each.test) and each.lineno <= line <= (each.body[-1].end_lineno or 0)
    return is_left_before or (is_around and not is_for_half)


def _is_for_half(test: ast.expr) -> bool:
    """`x.dtype == torch.float16`: what is run there is half."""
    is_equal = isinstance(test, ast.Compare) and isinstance(test.ops[0], ast.Eq | ast.Is)
    return is_equal and any(getattr(node, "attr", "") in {"float16", "half"} for node in walk(test))


def _switches_off(region: ast.expr) -> bool:
    """`torch.autocast("cuda", enabled=False)`, which people write to get to float32."""
    named = region.keywords if isinstance(region, ast.Call) else []
    return any(each.arg == "enabled" and getattr(each.value, "value", None) is False for each in named)
