"""Resuming a run: the parts whose saved state a call restores, itself or through helpers and frameworks."""

from __future__ import annotations

import ast
from functools import cached_property
from typing import TYPE_CHECKING, NamedTuple

from nanlint.analysis.op_graph import CALL, ELEMENT, JOIN, PARAMETER, Op, Value
from nanlint.analysis.project.definitions import Class
from nanlint.analysis.training_loop.runs.rate_setting import setters
from nanlint.analysis.training_loop.runs.run_parts import elements, makers, prepared, role_of

if TYPE_CHECKING:
    from collections.abc import Iterator

    from nanlint.analysis.project.definitions import Function
    from nanlint.analysis.project.graph import Graph
    from nanlint.analysis.training_loop.runs.rate_setting import Setter

_LOADING = ".load_state_dict"
_FRAMEWORKS_LOADING = "load_objects"
_DEEPEST = 8


class Part(NamedTuple):
    """One object whose state is restored."""

    value: Value
    node: ast.AST | None
    """Where it is written in the call, if it is."""
    makers: tuple[Op, ...]
    role: str
    made_in: Class | None
    """The class of which a framework restores it."""
    is_given: bool
    """Whether it comes from the caller of the function, who restores it by this call."""

    @property
    def is_taken_out(self) -> bool:
        """Whether it is an element of something."""
        return self.value.op is not None and self.value.op.function in {ELEMENT, JOIN}


class Restoring:
    """Which calls of a project restore the state of what."""

    def __init__(self, graph: Graph) -> None:
        self._graph = graph
        self._known: dict[Op, list[Part]] = {}
        self._parameters: dict[Function, frozenset[str]] = {}
        self._running: set[Function] = set()

    def of(self, op: Op) -> list[Part]:
        """The parts of a run that a call restores."""
        if op in self._known:
            return self._known[op]
        parts = [self._part(op, *each) for each in self._found(op)]
        if parts:
            self._known[op] = parts
        return parts

    @cached_property
    def setters(self) -> list[Setter]:
        """The functions of the project that set the rates of optimizers themselves."""
        return list(setters(self._graph))

    def in_function(self, function: Function) -> list[Part]:
        """All that is restored in a function."""
        return [part for op in _calls(function) for part in self.of(op)]

    def _part(self, op: Op, value: Value, node: ast.AST | None, owner: Class | None) -> Part:
        scope = op.scope
        found = makers(value, self._graph, scope.owner if scope is not None else None)
        is_given = scope is not None and bool(_parameter(value, scope))
        return Part(value, node, tuple(found), role_of(found, node), owner, is_given)

    def _found(self, op: Op) -> list[tuple[Value, ast.AST | None, Class | None]]:
        node, receiver = op.node, op.operands.get("input")
        if not isinstance(node, ast.Call):
            return []
        written = node.func.value if isinstance(node.func, ast.Attribute) else None
        if op.where == _LOADING and receiver is not None:
            return [(receiver, written, None)]
        target = op.scope.callees.get(node) if op.scope is not None else None
        if target is not None and op.where == target.qualname:
            return [(value, each, None) for value, each in self._passed(op, node, target)]
        return [(value, None, owner) for value, owner in self._by_framework(op, node, receiver)]

    # -- helpers --------------------------------------------------------------------------------------------------

    def _passed(self, op: Op, node: ast.Call, target: Function) -> Iterator[tuple[Value, ast.AST | None]]:
        """What a function of the project is given and restores."""
        names = target.names()[1:] if target.is_method else target.names()
        written: dict[str, ast.AST] = {**dict(zip(names, node.args, strict=False))}
        written |= {each.arg: each.value for each in node.keywords if each.arg is not None}
        for name in sorted(self._parameters_of(target)):
            if name in op.operands:
                yield from ((each, written.get(name)) for each in elements(op.operands[name]))
            else:
                yield from ((each, None) for each in op.rest if name not in names)

    def _parameters_of(self, function: Function) -> frozenset[str]:
        """The parameters of a function whose state it restores, itself or by what it calls."""
        if function in self._parameters or function in self._running or len(self._running) > _DEEPEST:
            return self._parameters.get(function, frozenset())
        self._running.add(function)
        values = [value for op in _calls(function) for value, _, _ in self._found(op)]
        self._running.discard(function)
        found = frozenset(name for value in values for name in _parameter(value, function))
        self._parameters[function] = found
        return found

    # -- frameworks -----------------------------------------------------------------------------------------------

    def _by_framework(self, op: Op, node: ast.Call, receiver: Value | None) -> Iterator[tuple[Value, Class | None]]:
        word, given = op.where.rpartition(".")[2], _keywords(op, node)
        if word == "load_state" and receiver is not None and self._is_made_by(receiver, "Accelerator", op.scope):
            yield from ((value, None) for value in self._prepared(op))
        elif word == "fit" and _is_given(given.get("ckpt_path")) and receiver is not None:
            model = next(iter(each for name, each in op.operands.items() if name in {"0", "model"}), None)
            if (
                model is not None
                and self._is_made_by(receiver, "Trainer", op.scope)
                and isinstance(model.target, Class)
            ):
                yield from self._configured(model.target)
        elif word == "train" and _is_given(given.get("resume_from_checkpoint")) and receiver is not None:
            for maker in (each for each in makers(receiver, self._graph) if each.where.endswith("Trainer")):
                yield from ((value, None) for name, value in maker.operands.items() if name in {"1", "args"})
        elif word == _FRAMEWORKS_LOADING:
            yield from (
                (each, None)
                for name, value in op.operands.items()
                if name in {"0", "to_load"}
                for each in elements(value)
            )
        elif word == "resume_checkpoint":
            yield from ((value, None) for name, value in op.operands.items() if name in {"optimizer", "2"})

    def _configured(self, owner: Class) -> Iterator[tuple[Value, Class]]:
        """What a LightningModule's `configure_optimizers` makes."""
        method = owner.module.project.method(owner, "configure_optimizers")
        if method is not None and self._graph.run(method):
            for op in method.ops:
                if op.function == CALL and op.where.startswith("torch.optim."):
                    yield Value(op=op), owner

    def _prepared(self, load: Op) -> Iterator[Value]:
        """What the accelerator at hand was given, here or in another method of the class."""
        scope = load.scope
        owner = scope.owner if scope is not None else None
        methods = [*owner.methods.values()] if owner is not None else [scope]
        for method in methods:
            if method is not None and self._graph.run(method):
                for each in _calls(method):
                    if each.subject is not None and self._is_made_by(each.subject, "Accelerator", method):
                        yield from prepared(each)

    def _is_made_by(self, value: Value, name: str, scope: Function | None) -> bool:
        found = makers(value, self._graph, scope.owner if scope is not None else None)
        return any(each.where.rpartition(".")[2] == name for each in found)


def _calls(function: Function) -> list[Op]:
    return [op for op in function.ops if op.function == CALL and op.copy_of is None]


def _keywords(op: Op, node: ast.Call) -> dict[str, Value]:
    return {each.arg: op.operands[each.arg] for each in node.keywords if each.arg in op.operands}  # type: ignore[misc,index] # those without a name are in no operands


def _is_given(value: Value | None) -> bool:
    return value is not None and value.constant is not None and value.constant is not False


def _parameter(value: Value, function: Function) -> list[str]:
    """The parameter of a function that an object is, or is taken out of; none for any other."""
    op = value.op
    for _ in range(_DEEPEST):
        if op is None or op.function == PARAMETER:
            break
        is_taken_out = op.function == ELEMENT or op.where in {".items", ".values"}
        op = op.subject.op if is_taken_out and op.subject is not None else None
    return [op.where] if op is not None and op.function == PARAMETER and op.scope is function else []
