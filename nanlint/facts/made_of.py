"""The names that an expression was made of in its chunk: who asks something of one of them asks something of the expression."""

from __future__ import annotations

from typing import TYPE_CHECKING

import libcst as cst

from nanlint.facts.arrays import MODULE_NAMES
from nanlint.facts.names import dotted_text
from nanlint.facts.values import UNKNOWN
from nanlint.source.walk import walk

if TYPE_CHECKING:
    from collections.abc import Sequence

    from nanlint.facts.flow import Flow


def names_behind(node: cst.BaseExpression, flow: Flow, *, indices: bool = True) -> set[str]:
    """The names in `node`, and those that these were made of; without `indices`, not those that say where something is read."""
    found: set[str] = set()
    waiting, seen = [node], {node}
    while waiting:
        nodes = list(walk(waiting.pop()))
        apart = _apart(nodes, flow, indices=indices)
        for inner in nodes:
            if not isinstance(inner, (cst.Name, cst.Attribute)) or inner in apart:
                continue
            text = dotted_text(inner)
            if text is not None:
                found.add(text)
            made_by = flow.values.get(inner, UNKNOWN).made_by
            if made_by is not None and made_by.node not in seen and made_by.node in flow.values:
                seen.add(made_by.node)
                waiting.append(made_by.node)
    return found - MODULE_NAMES


def _apart(nodes: Sequence[cst.CSTNode], flow: Flow, *, indices: bool) -> set[cst.CSTNode]:
    """What tells nothing of the values: the functions that are called, and where something is read."""
    apart: set[cst.CSTNode] = {
        node.func for node in nodes if isinstance(node, cst.Call) and isinstance(node.func, cst.Name)
    }
    places = [place for node in nodes for place in _places_in(node, indices=indices)]
    if not indices:
        calls = (flow.calls[node] for node in nodes if node in flow.calls)
        places += [call.arguments["index"] for call in calls if "index" in call.arguments]
    apart.update(each for place in places for each in walk(place))
    return apart


def _places_in(node: cst.CSTNode, *, indices: bool) -> Sequence[cst.CSTNode]:
    """The bounds of a stretch, a place among several (`matrix[..., i, j]`), and without `indices` any index."""
    if isinstance(node, cst.Subscript) and len(node.slice) > 1:
        return node.slice
    return [node] if isinstance(node, cst.Slice if indices else (cst.Slice, cst.Index)) else []
