"""Where a result goes: backwards from what trains and from what is only written down, each operation once.

An operation has a bit for each kind of end that its result reaches, through names, calls, returns and attributes. Reaching none of them
is no knowledge: a function that nobody calls, or one that is called through a table, says nothing.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from nanlint.analysis.op_graph import (
    ATTRIBUTE,
    CALL,
    DICT,
    ELEMENT,
    FUNCTION,
    INSTANCE,
    JOIN,
    PARAMETER,
    TUPLE,
    Op,
    Value,
)
from nanlint.analysis.relations import root
from nanlint.word_sets import torch_names, word_set

if TYPE_CHECKING:
    from collections.abc import Iterator

    from nanlint.analysis.project.graph import Graph
    from nanlint.analysis.project.index import Function

BACKWARD, OUTPUT, LEARNED, KEPT, DATA, WRITTEN, RETURNED = 1, 2, 4, 8, 16, 32, 64
"""It reaches a backward; what a module returns; a weight or buffer; an attribute; what a dataset gives; a log; the function's own caller."""
TRAINS = BACKWARD | LEARNED
# What these return is what a framework calls backward on.
_LOSSES = word_set("training_step compute_loss")
_DATA = word_set("__getitem__ __iter__ collate_fn")
_ENDS = {"backward": BACKWARD, "written": WRITTEN, "stored": KEPT}
# What is trained on does not depend on what they read, but for how many there are.
_ONLY_COUNTING = word_set("torch.Tensor.size torch.Tensor.numel len")
_MOST_ELEMENTS = 200
_HANDED_OVER = frozenset({PARAMETER, ATTRIBUTE, ELEMENT})
_HOLDING = torch_names("nn.ModuleList nn.ModuleDict nn.Sequential") | {JOIN, ELEMENT}
_UNOPENED = frozenset({FUNCTION, INSTANCE})


class Consequence:
    """The ends that each operation of a graph reaches."""

    def __init__(self, graph: Graph) -> None:
        self._graph = graph
        self._bits: dict[Op, int] = {}
        self._inputs: dict[Op, list[Op]] = {}
        """An operation -> those whose result it is made of, or passes on."""
        for function in graph.done:
            self._link(function)
        self._spread()

    def of(self, op: Op) -> int:
        """The ends that the result of `op` reaches."""
        return self._bits.get(op, 0)

    def _link(self, function: Function) -> None:
        """Lead from what is passed to the parameters, and from what is returned to the calls."""
        for op in function.ops:
            self._inputs.setdefault(op, []).extend(self._made_of(op))
            self._link_given(op)
        for name, value in function.parameters.items():
            if value.op is not None and value.op.function == PARAMETER:
                passed = [site.arguments[name] for site in function.calls if name in site.arguments]
                self._inputs.setdefault(value.op, []).extend(maker for each in passed for maker in _makers(each))
        if function.result is not None:
            makers = list(_makers(function.result))
            for site in function.calls:
                self._inputs.setdefault(site.op, []).extend(makers)

    def _link_given(self, call: Op) -> None:
        """A call of what a caller has handed over, a model or a distance: lead to what it returns, and from what it takes."""
        owner, method = call.operands.get("()"), ""
        if owner is None and call.function == CALL and call.where.startswith("."):
            owner, method = call.subject, call.where[1:]
        held = root(owner) if owner is not None else None
        if held is None or held.op is None or held.op.function not in _HANDED_OVER:
            return
        given = [value for name, value in call.operands.items() if name != "()" and not (method and name == "input")]
        for each in _either(self._graph.with_callers(held)):
            called = self._graph.called_by(each, method)
            if called is None or called.result is None:
                continue
            self._inputs[call] += _makers(called.result)
            for place, (name, parameter) in enumerate(called.parameters.items()):
                passed = call.operands.get(name) or (given[place] if place < len(given) else None)
                if parameter.op is not None and passed is not None:
                    self._inputs.setdefault(parameter.op, []).extend(_makers(passed))

    def _made_of(self, op: Op) -> list[Op]:
        """What an operation is made of; what becomes of a copy becomes of what it was copied from, too."""
        makers: list[Op] = [op.copy_of] if op.copy_of is not None else []
        for name, value in op.operands.items():
            if value.parts and name != "result":
                makers += _makers(value)
            elif value.op is not None and name != "result":
                makers.append(value.op)
        return makers

    def _spread(self) -> None:
        """Carry each end back to all that leads there, each operation once for each new end."""
        waiting: list[tuple[Op, int]] = []
        for function in self._graph.done:
            for kind, value, _ in function.sinks:
                end = self._end(function, kind)
                waiting += [(op, end) for op in _makers(value)] if end else []
            for stored in function.stores.values():
                waiting += [(op, KEPT) for value in stored for op in _makers(value)]
        while waiting:
            op, ends = waiting.pop()
            known = self._bits.get(op, 0)
            if known | ends != known:
                self._bits[op] = known | ends
                if op not in self._inputs:
                    self._inputs[op] = self._made_of(op)
                left = ends if op.function not in _ONLY_COUNTING else ends & WRITTEN
                waiting += [
                    (each, left) for each in self._inputs[op] if self._bits.get(each, 0) | left != self._bits.get(each)
                ]

    def _end(self, function: Function, kind: str) -> int:
        """What a value ends in that a function lets go of."""
        if kind in _ENDS:
            return _ENDS[kind]
        if function.name in _LOSSES:
            return BACKWARD
        if function.name in _DATA:
            return DATA
        if function.name == "forward" and function.owner is not None:
            return OUTPUT if self._graph.project.is_module_class(function.owner) else 0
        return RETURNED if not function.calls else 0


def _either(value: Value) -> Iterator[Value]:
    """What a value may be: itself, each of those that are joined in it, each layer of the list that it is taken from."""
    waiting = [value]
    for _ in range(_MOST_ELEMENTS):
        if not waiting:
            return
        current = waiting.pop()
        yield current
        op = current.op
        if current.kind in _UNOPENED or op is None:
            continue
        if op.function in _HOLDING or op.where == "comprehension" or "stored" in op.operands:
            waiting += op.operands.values()
        waiting += current.parts


def _makers(value: Value) -> Iterator[Op]:
    """The operations behind a value, those of its elements included."""
    waiting = [value]
    for _ in range(_MOST_ELEMENTS):
        if not waiting:
            return
        current = waiting.pop()
        if current.op is not None:
            yield current.op
        if current.kind in {TUPLE, DICT}:
            waiting.extend(current.parts)
