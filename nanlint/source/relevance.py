"""Which names of a chunk can matter to a finding: those behind what a rule looks at, behind results that somebody may use, and in tests of such names.

The value of `self.encoder(x)` costs a look at other functions, and mostly nobody asks for it. Names are followed as in a
slice, but through everything: the range of a sum rests on what is summed up. Only a size is one whatever has it, and what
something is reshaped to tells nothing of what is in it.
"""

from __future__ import annotations

import ast
from typing import TYPE_CHECKING, Any, NamedTuple

from nanlint.source.below import nodes_below
from nanlint.source.makeup import OWN
from nanlint.source.references import SELVES

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

    from nanlint.source.flows import Flows
    from nanlint.source.outline import Outline

_CONTAINERS = frozenset({"dict", "list", "set", "tuple"})
_TELLING_NOTHING = (ast.Is, ast.IsNot, ast.In, ast.NotIn)
# What they say is of the form of something, not of what is in it.
_FORMS = frozenset({"device", "ndim", "shape"})
_SIZES = frozenset({"dim", "len", "numel", "size"})
# Of what they are given beside the object itself, nothing gets into the result.
_RESHAPING = frozenset(
    {
        "chunk", "expand", "flatten", "permute", "repeat", "reshape", "split", "squeeze", "transpose", "unflatten",
        "unsqueeze", "view",
    }
)  # fmt: skip
# Of a function that asks more often than this, each test counts: looking behind each one takes longer.
_MOST_TESTS = 60


class Untelling(NamedTuple):
    """The names whose calls tell nothing of what goes in, or not of all of it, as far as a file does not call its own functions so."""

    opaque: frozenset[str] = frozenset()
    """What is made of these is unknown."""
    sizes: frozenset[str] = _SIZES
    reshaping: frozenset[str] = _RESHAPING


_ANYWHERE = Untelling()


def relevant_names(
    flows: Flows, roots: Sequence[ast.AST], *, results: bool = True, untelling: Untelling = _ANYWHERE
) -> frozenset[str]:
    """Every name (`x`, `self.x`) that may flow into one of `roots`, into the chunk's results if they count, or into a test of such a name.

    A test tells of what it asks for, and of what that was made of: `if area > 0` of the sides. Whatever goes into a call of
    an opaque name, nothing is known of what comes out; only rules look at what such a call is given.
    """
    behind = _Behind(flows, untelling._replace(opaque=frozenset()) if roots else untelling)
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

    def __init__(self, flows: Flows, untelling: Untelling) -> None:
        super().__init__()
        self._given = flows.values, flows.attributes
        self._untelling = untelling._replace(opaque=untelling.opaque - flows.values.keys())

    def __missing__(self, name: str) -> set[str]:
        values = [value for given in self._given for value in given.get(name, ())]
        found = self[name] = self.names_in(values)
        return found

    def names_in(self, nodes: Iterable[ast.AST]) -> set[str]:
        """The names that can tell something of what these are."""
        return set[str]().union(*(names_in(node, self._untelling) for node in nodes))

    def all_of(self, names: set[str]) -> set[str]:
        """These names, and all that are behind them."""
        found, pending = set(names), list(names)
        while pending:
            new = self[pending.pop()] - found
            found |= new
            pending += new
        return found


def names_in(node: ast.AST, untelling: Untelling = _ANYWHERE) -> set[str]:
    """The names that `node` reads, attributes of the object itself among them, and that can tell something of what it is."""
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
            elif inner.attr not in _FORMS:
                pending.append(inner.value)
        elif kind is ast.Call:
            pending += _telling(inner, untelling)
        elif kind is not ast.Constant:
            pending += nodes_below(inner)
    return found


def _telling(call: ast.Call, untelling: Untelling) -> Sequence[ast.AST]:
    """The parts of a call that can tell something of its result."""
    function = call.func
    if function.__class__ is ast.Name:
        word = function.id
        return () if word in untelling.opaque or word in untelling.sizes else nodes_below(call)
    whose = getattr(function, "value", None)
    if function.__class__ is not ast.Attribute or getattr(whose, "id", "") in SELVES:
        return nodes_below(call)
    word = function.attr
    if word in untelling.sizes:
        return ()
    return (whose,) if word in untelling.reshaping and whose is not None else nodes_below(call)


def untelling_in(outline: Outline, of_the_module: Flows) -> Untelling:
    """As far as nothing of the file is called so: what is made of a class that is imported, and not from torch, or a container."""
    classes = (
        name
        for name, dotted in outline.imports.items()
        if dotted.rpartition(".")[2][:1].isupper() and not dotted.startswith("torch")
    )
    known = outline.chunks.keys() | of_the_module.values.keys()
    opaque = frozenset({*classes, *(_CONTAINERS - outline.imports.keys())} - known)
    own = {chunk.name for chunk in outline.chunks.values()} | outline.imports.keys() | of_the_module.values.keys()
    return Untelling(opaque, _SIZES - own, _RESHAPING - own)
