"""Where no gradient comes back: every use of a result ends in a plain number, an index, a comparison or a detached copy."""

from __future__ import annotations

from typing import TYPE_CHECKING

from nanlint.analysis.gradients import CHOOSING, WITHOUT_GRADIENT
from nanlint.analysis.interpreter.conditions import AND, IS_NONE, NOT, OR
from nanlint.analysis.op_graph import CALL, DICT, TUPLE, Op, Value, name_of
from nanlint.analysis.operation_results import COMPARISONS
from nanlint.ops.names import tensor_methods

if TYPE_CHECKING:
    import ast
    from collections.abc import Iterator

    from nanlint.analysis.project.graph import Graph

# Nothing passes back through them.
_CUTTING = (
    tensor_methods("detach item tolist numpy numel size dim argsort sign round floor ceil")
    | WITHOUT_GRADIENT
    | COMPARISONS
    | {"float", "int", "bool", "len", "torch.nn.Parameter", AND, OR, NOT, IS_NONE}
)  # fmt: skip
_MOST_USES, _MOST_PARTS = 60, 200


def _is_draw(op: Op) -> bool:
    """`Categorical(probs).sample()`: what is drawn has no gradient, unlike that of `rsample`."""
    held = op.subject.op if op.function == CALL and op.where == ".sample" and op.subject is not None else None
    return held is not None and name_of(held).startswith("torch.distributions.")


class Gradients:
    """The uses of every operation of a graph."""

    def __init__(self, graph: Graph) -> None:
        self._graph = graph
        self._read = 0
        self._listed: set[Op] = set()
        self._users: dict[Op, list[tuple[Op, str]]] = {}
        self._kept: set[Op] = set()
        """What is returned, stored or has a backward called on it."""
        self._written: set[ast.AST] = set()
        """Calls that only show what they are given."""

    def _read_on(self) -> None:
        """Note the uses in functions that were interpreted since it was last asked."""
        functions = self._graph.done[self._read :]
        self._read += len(functions)
        self._listed.update(op for function in functions for op in function.ops)
        for function in functions:
            for op in function.ops:
                if op.copy_of is not None:
                    self._users.setdefault(op.copy_of, []).append((op, ""))
                for name, value in op.operands.items():
                    made = value.op
                    if name == "result" or (made is None and not value.parts):
                        continue
                    is_one = made in self._listed and value.kind not in {TUPLE, DICT}
                    for each in (made,) if is_one and made is not None else self._makers(value):
                        self._users.setdefault(each, []).append((op, name))
            self._written.update(node for kind, _, node in function.sinks if kind == "written")
            kept = [value for kind, value, _ in function.sinks if kind != "written"]
            kept += [value for stored in function.stores.values() for value in stored]
            self._kept.update(op for value in kept for op in self._makers(value))

    def is_cut_off(self, op: Op) -> bool:
        """Whether no gradient comes back to `op`, whatever is done with its result."""
        self._read_on()
        seen, waiting = {op}, [op]
        while waiting:
            current = waiting.pop()
            users = self._users.get(current, ())
            # What is not used here may be used by whom it was passed to, or is yet to be.
            if current in self._kept or not users or len(seen) > _MOST_USES:
                return False
            for user, name in users:
                if user not in seen and self._passes(user, name):
                    seen.add(user)
                    waiting.append(user)
        return True

    def _passes(self, user: Op, name: str) -> bool:
        is_cut = not user.recorded or user.function in _CUTTING or name in CHOOSING or _is_draw(user)
        return not is_cut and user.node not in self._written

    def _makers(self, value: Value) -> Iterator[Op]:
        """The operations behind a value, seen through what only guards, joins or collects."""
        seen: set[int] = set()
        waiting = [value]
        while waiting and len(seen) < _MOST_PARTS:
            current = waiting.pop()
            if id(current) in seen:
                continue
            seen.add(id(current))
            if current.kind in {TUPLE, DICT}:
                waiting.extend(current.parts)
            if current.op is not None:
                yield current.op
                if current.op not in self._listed:
                    waiting.extend(current.op.operands.values())
