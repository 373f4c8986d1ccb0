"""Which names of a chunk can matter to a finding: those behind what a rule looks at, behind results that somebody may use, and in tests of such names.

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
    from collections.abc import Iterable, Iterator, Sequence

    from nanlint.source.flows import Flows
    from nanlint.source.outline import Outline

_CONTAINERS = frozenset({"dict", "list", "set", "tuple"})
_TELLING_NOTHING = (ast.Is, ast.IsNot, ast.In, ast.NotIn)
# Of a function that asks more often than this, each test counts: looking behind each one takes longer.
_MOST_TESTS = 60


def relevant_names(
    flows: Flows, roots: Sequence[ast.AST], *, results: bool = True, opaque: frozenset[str] = frozenset()
) -> frozenset[str]:
    """Every name (`x`, `self.x`) that may flow into one of `roots`, into the chunk's results if they count, or into a test of such a name.

    A test tells of what it asks for, and of what that was made of: `if area > 0` of the sides. Whatever goes into a call of
    one of the `opaque` names, nothing is known of what comes out; only rules look at what such a call is given.
    """
    behind = _Behind(flows, frozenset() if roots else opaque)
    pending = [*roots, *(flows.results if results else ()), *flows.rounds]
    asking = [part for test in flows.tests for part in _asking(test)]
    if len(asking) > _MOST_TESTS:
        pending, asking = [*pending, *asking], []
    tests = [behind.names_in([each]) for each in asking]
    names = behind.all_of(behind.names_in(pending))
    left = len(tests) + 1
    while len(tests) < left:
        left = len(tests)
        further = []
        for asked in tests:
            if not asked <= names:
                found = behind.all_of(asked)
                if names.isdisjoint(found):
                    further.append(asked)
                else:
                    names |= found
        tests = further
    return frozenset(names)


def _asking(test: ast.AST) -> Iterator[ast.AST]:
    """The parts of a test that tell something of values, each for itself: `x is None` and `key in found` tell nothing."""
    if isinstance(test, ast.BoolOp):
        for value in test.values:
            yield from _asking(value)
    elif isinstance(test, ast.UnaryOp) and isinstance(test.op, ast.Not):
        yield from _asking(test.operand)
    elif not isinstance(test, ast.Compare) or not all(isinstance(sign, _TELLING_NOTHING) for sign in test.ops):
        yield test


class _Behind(dict[str, "set[str]"]):
    """Each name of a chunk -> the names in what is handed to it, found when somebody asks."""

    def __init__(self, flows: Flows, opaque: frozenset[str]) -> None:
        super().__init__()
        self._given = flows.values, flows.attributes
        self._opaque = opaque - flows.values.keys()

    def __missing__(self, name: str) -> set[str]:
        values = [value for given in self._given for value in given.get(name, ())]
        found = self[name] = self.names_in(values)
        return found

    def names_in(self, nodes: Iterable[ast.AST]) -> set[str]:
        """The names that can tell something of what these are."""
        return set[str]().union(*(names_in(node, self._opaque) for node in nodes))

    def all_of(self, names: set[str]) -> set[str]:
        """These names, and all that are behind them."""
        found, pending = set(names), list(names)
        while pending:
            new = self[pending.pop()] - found
            found |= new
            pending += new
        return found


def names_in(node: ast.AST, opaque: frozenset[str] = frozenset()) -> set[str]:
    """The names that `node` reads, attributes of the object itself among them; not in calls of `opaque` names."""
    found: set[str] = set()
    pending: list[Any] = [node]
    while pending:
        inner = pending.pop()
        kind = inner.__class__
        if kind is ast.Name:
            found.add(inner.id)
        elif kind is ast.Attribute:
            if inner.value.__class__ is ast.Name and inner.value.id in SELVES:
                found.add(OWN + inner.attr)
            else:
                pending.append(inner.value)
        elif kind is not ast.Constant and not (kind is ast.Call and getattr(inner.func, "id", "") in opaque):
            pending += nodes_below(inner)
    return found


def opaque_names(outline: Outline, of_the_module: Flows) -> frozenset[str]:
    """What is imported as a class, and not from torch, or a container: what is made of it is unknown, whatever goes in."""
    classes = (
        name
        for name, dotted in outline.imports.items()
        if dotted.rpartition(".")[2][:1].isupper() and not dotted.startswith("torch")
    )
    known = outline.chunks.keys() | of_the_module.values.keys()
    return frozenset({*classes, *(_CONTAINERS - outline.imports.keys())} - known)
