"""Where a result goes: backwards from what trains and from what is only written down, each operation once.

An operation has a bit for each kind of end that its result reaches, through names, calls, returns and attributes. Reaching none of them
is no knowledge: a function that nobody calls, or one that is called through a table, says nothing.
"""

from __future__ import annotations

import ast
from typing import TYPE_CHECKING

from nanlint.analysis.op_graph import DICT, TUPLE, Op, Value

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from nanlint.analysis.project.graph import Graph
    from nanlint.analysis.project.index import Function

BACKWARD, OUTPUT, LEARNED, KEPT, DATA, WRITTEN, RETURNED = 1, 2, 4, 8, 16, 32, 64
"""It reaches a backward; what a module returns; a weight or buffer; an attribute; what a dataset gives; a log; the function's own caller."""
TRAINS = BACKWARD | LEARNED
# What these return is what a framework calls backward on.
_LOSSES = frozenset({"training_step", "compute_loss"})
_DATA = frozenset({"__getitem__", "__iter__", "collate_fn"})


class Consequence:
    """The ends that each operation of a graph reaches."""

    def __init__(self, graph: Graph) -> None:
        self._graph = graph
        self.bits: dict[Op, int] = {}
        self.places: dict[Op, tuple[Function, ast.AST]] = {}
        """The backward that an operation reaches first."""
        self._feeds: dict[Op, list[Op]] = {}
        """An operation -> those whose result it is made of, or passes on."""
        self._results: dict[Function, list[Op]] = {}
        for function in graph.done:
            self._link(function)
        self._spread()

    def of(self, op: Op) -> int:
        """The ends that the result of `op` reaches."""
        return self.bits.get(op, 0)

    def _link(self, function: Function) -> None:
        for op in function.ops:
            inputs = self._feeds.setdefault(op, [])
            for name, value in op.operands.items():
                if name != "result":
                    inputs += _makers(value)
            if op.copy_of is not None:
                # What becomes of the copy becomes of what it was copied from.
                inputs.append(op.copy_of)
        for name, value in function.parameters.items():
            parameter = value.op
            if parameter is None or parameter.function != "<parameter>":
                continue
            inputs = self._feeds.setdefault(parameter, [])
            for site in function.calls:
                passed = site.arguments.get(name)
                if passed is not None:
                    inputs += _makers(passed)
        for site in function.calls:
            if function.result is not None:
                self._feeds.setdefault(site.op, []).extend(_makers(function.result))
        for owner, stored in function.stores.items():
            del owner
            for value in stored:
                for op in _makers(value):
                    self._feeds.setdefault(op, [])

    def _spread(self) -> None:
        waiting: list[tuple[Op, int, tuple[Function, ast.AST] | None]] = []
        for function in self._graph.done:
            for kind, value, node in function.sinks:
                bit = self._bit(function, kind)
                if bit:
                    waiting += [(op, bit, (function, node)) for op in _makers(value)]
            for name, stored in function.stores.items():
                bit = self._stored_bit(function, name)
                waiting += [(op, bit, (function, function.node)) for value in stored for op in _makers(value)]
        while waiting:
            op, bits, place = waiting.pop()
            known = self.bits.get(op, 0)
            if known | bits == known:
                continue
            self.bits[op] = known | bits
            if bits & TRAINS and place is not None:
                self.places.setdefault(op, place)
            waiting += [
                (each, bits & ~(0 if _carries(op) else TRAINS | OUTPUT | DATA), place) for each in self._inputs(op)
            ]

    def _inputs(self, op: Op) -> Iterable[Op]:
        found = self._feeds.get(op)
        if found is None:
            found = self._feeds[op] = [each for value in op.operands.values() for each in _makers(value)]
        return found

    def _bit(self, function: Function, kind: str) -> int:
        if kind == "backward":
            return BACKWARD
        if kind == "written":
            return WRITTEN
        if kind == "stored":
            return KEPT
        if kind in {"returned", "yielded"}:
            if function.name in _LOSSES:
                return BACKWARD
            if function.name in _DATA:
                return DATA
            owner = function.owner
            if function.name == "forward" and owner is not None and self._graph.project.is_module_class(owner):
                return OUTPUT
            return RETURNED if not function.calls else 0
        return 0

    def _stored_bit(self, function: Function, name: str) -> int:
        del function, name
        return KEPT


def _carries(op: Op) -> bool:
    """Whether what is behind it is trained on if it is: all but what only counts, compares or becomes a plain number."""
    return op.function not in {"torch.Tensor.size", "torch.Tensor.numel", "len"}


def _makers(value: Value) -> Iterator[Op]:
    """The operations behind a value, those of its elements included."""
    waiting = [value]
    for _ in range(200):
        if not waiting:
            return
        current = waiting.pop()
        if current.op is not None:
            yield current.op
        if current.kind in {TUPLE, DICT}:
            waiting.extend(current.parts)
