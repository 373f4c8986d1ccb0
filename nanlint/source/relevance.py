"""Which names of a chunk can matter to a finding: those behind what a rule looks at, behind its results, and in its tests.

The value of `self.encoder(x)` costs a look at other functions, and mostly nobody asks for it. Names are followed as in a
slice, but through everything: the range of a sum rests on what is summed up.
"""

from __future__ import annotations

import ast
from typing import TYPE_CHECKING, Any

from nanlint.source.below import nodes_below
from nanlint.source.makeup import OWN
from nanlint.source.references import SELVES

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

    from nanlint.source.flows import Flows


def relevant_names(flows: Flows, roots: Iterable[ast.AST]) -> frozenset[str]:
    """Every name (`x`, `self.x`) that may flow into one of `roots`, into the chunk's results or into its tests."""
    names: set[str] = set()
    pending = [*roots, *flows.results, *flows.tests]
    seen: set[ast.AST] = set()
    while pending:
        for name in names_in(pending.pop(), seen) - names:
            names.add(name)
            pending += _given(name, flows.values, flows.attributes)
    return frozenset(names)


def _given(name: str, *given: Mapping[str, Sequence[ast.AST]]) -> list[ast.AST]:
    return [value for values in given for value in values.get(name, ())]


def names_in(node: ast.AST, seen: set[ast.AST]) -> set[str]:
    """The names that `node` reads outside of what was `seen` before, attributes of the object itself among them."""
    found: set[str] = set()
    pending: list[Any] = [node]
    while pending:
        inner = pending.pop()
        if inner in seen:
            continue
        seen.add(inner)
        kind = inner.__class__
        if kind is ast.Name:
            found.add(inner.id)
        elif kind is ast.Attribute:
            if inner.value.__class__ is ast.Name and inner.value.id in SELVES:
                found.add(OWN + inner.attr)
            else:
                pending.append(inner.value)
        elif kind is not ast.Constant:
            pending += nodes_below(inner)
    return found
