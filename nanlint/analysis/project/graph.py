"""The operations of a whole project as one graph: what functions return, what objects hold, what callers pass.

A function is interpreted once, when somebody first asks for it, called functions before their callers. What it returns is repeated at a
call with what the caller passes, so that a helper's result is known as if it were written there.
"""

from __future__ import annotations

import ast
import builtins
from typing import TYPE_CHECKING

from nanlint.analysis.interpreter.statements import Interpreter
from nanlint.analysis.make import Maker
from nanlint.analysis.op_graph import (
    ATTRIBUTE,
    CALL,
    CLASS,
    DICT,
    ELEMENT,
    FUNCTION,
    GUARDED,
    INSTANCE,
    JOIN,
    LITERAL,
    PARAMETER,
    REFERENCE,
    TUPLE,
    UNKNOWN,
    Op,
    Value,
)
from nanlint.analysis.project.index import MODULE_BODY, CallSite, Class, Function, Module, Project

if TYPE_CHECKING:
    from collections.abc import Mapping

    from nanlint.analysis.interpreter.calls import Calls
    from nanlint.analysis.interpreter.environment import Env

# A function that calls a function that calls …: beyond this depth what is returned is unknown.
_DEEPEST = 12
# A result that takes more operations than this is not repeated at the call.
_LONGEST_REPLAY = 120
_BUILTINS = frozenset(vars(builtins))
# They return what the function below them returns.
_TRANSPARENT = frozenset(
    {
        "staticmethod", "classmethod", "property", "cached_property", "abstractmethod", "override", "final", "overload", "no_grad",
        "inference_mode", "enable_grad", "autocast", "custom_fwd", "custom_bwd", "lru_cache", "cache", "compile", "script", "script_method",
        "ignore", "unused", "typechecked", "jaxtyped", "beartype", "deprecated", "disable", "register", "register_module", "register_model",
    }
)  # fmt: skip
_BUILDING = frozenset({"__init__", "setup", "reset_parameters", "build", "__post_init__", "_build", "__new__"})


class Graph:
    """Interprets functions of a project on demand and joins what they know."""

    def __init__(self, project: Project) -> None:
        self.project = project
        self.maker = Maker()
        self._depth = 0
        self._attributes: dict[tuple[Class, str], Value] = {}
        self._references: dict[str, Value] = {}
        self.done: list[Function] = []

    def run(self, function: Function, closure: Env | None = None) -> bool:
        """Interpret a function, unless that was done; False while it is being interpreted, or too deep to begin."""
        if function.is_done:
            return True
        if function.is_running or self._depth > _DEEPEST:
            return False
        function.is_running = True
        self._depth += 1
        try:
            Interpreter(self, function, closure).run()
        except RecursionError:
            function.result = None
        finally:
            self._depth -= 1
            function.is_running = False
        function.is_done = True
        self.done.append(function)
        return True

    def run_module(self, module: Module) -> None:
        """Interpret every function of a file."""
        for function in module.all_functions():
            self.run(function)

    # -- names ----------------------------------------------------------------------------------------------------

    def global_value(self, module: Module, name: str) -> Value:
        """What a name stands for that the function itself does not bind."""
        if name in module.functions:
            return Value(FUNCTION, None, target=module.functions[name], name=name)
        if name in module.classes:
            return Value(CLASS, None, target=module.classes[name], name=name)
        if name in module.assigned and self.run(module.body):
            held = module.body.parameters.get(name)
            if held is not None:
                return held
        if name in module.imports:
            return self.imported(module.imports[name], module)
        if name in _BUILTINS and name not in module.assigned:
            return self._reference(name)
        if module.stars:
            found = self.project.named(name, module)
            if found is not None:
                return self._symbol(found, name)
        return self.maker.unknown(ATTRIBUTE, name, None, None)

    def imported(self, full: str, module: Module) -> Value:
        """What a full name stands for: something of the project, or a reference to something outside of it."""
        if full.startswith(("torch.", "numpy.", "math.")) or full in {"torch", "numpy", "math"}:
            return self._reference(full)
        found = self.project.resolve(full, module)
        if found is not None and not isinstance(found, Module):
            return self._symbol(found, full)
        if found is None and "." in full:
            owner, _, name = full.rpartition(".")
            home = self.project.resolve(owner, module) if owner.strip(".") or owner else None
            if isinstance(home, Module) and name in home.assigned and self.run(home.body):
                held = home.body.parameters.get(name)
                if held is not None:
                    return held
        return self._reference(full)

    def _reference(self, full: str) -> Value:
        if full not in self._references:
            self._references[full] = Value(REFERENCE, None, name=full, key=("ref", full))
        return self._references[full]

    def _symbol(self, found: Function | Class | Module, name: str) -> Value:
        if isinstance(found, Function):
            return Value(FUNCTION, None, target=found, name=name)
        if isinstance(found, Class):
            return Value(CLASS, None, target=found, name=name)
        return self._reference(name)

    # -- objects --------------------------------------------------------------------------------------------------

    def attribute(self, owner: Class, name: str, base: Value, node: ast.AST) -> Value:
        """What an attribute of an object of the class holds: a method, or what all its methods store there."""
        method = self.project.method(owner, name)
        if method is not None:
            if {"property", "cached_property"}.isdisjoint(method.decorators):
                return Value(FUNCTION, None, target=method, name=name, parts=(base,))
            return self._result_of(method) or self.maker.unknown(ATTRIBUTE, f"self.{name}", node, None)
        key = (owner, name)
        if key not in self._attributes:
            value = self._stored(owner, name)
            if value is None:
                return self.maker.unknown(ATTRIBUTE, f"self.{name}", node, None)
            self._attributes[key] = value
        return self._attributes[key]

    def _stored(self, owner: Class, name: str) -> Value | None:
        """All that is stored under a name, joined; None while some of it is being interpreted."""
        held: list[Value] = []
        for each in self.project.lineage(owner):
            for method_name in sorted(each.stored_by.get(name, ())):
                method = each.methods[method_name]
                if not self.run(method):
                    return None
                held += method.stores.get(name, ())
            if not held:
                for builder in _BUILDING & each.methods.keys():
                    if self.run(each.methods[builder]):
                        held += each.methods[builder].stores.get(name, ())
            if not held and name in each.constants:
                held.append(Interpreter(self, each.module.body).evaluate(each.constants[name]))
        if not held:
            return None
        value = self.maker.join(held)
        op = Op(ATTRIBUTE, {"stored": value}, None, None)
        op.where = f"{owner.qualname}.{name}"
        return value.but(op=op, key=op) if value.kind not in {FUNCTION, CLASS} else value

    def calling_method(self, owner: Class) -> Function | None:
        """What runs when an object of the class is called."""
        return self.project.method(owner, "forward") or self.project.method(owner, "__call__")

    def above(self, function: Function) -> Value:
        """What `super()` is, if the class above is of the project."""
        owner = function.owner
        lineage = self.project.lineage(owner) if owner is not None else []
        return Value(INSTANCE, None, target=lineage[1]) if len(lineage) > 1 else self._reference("super()")

    # -- calls ----------------------------------------------------------------------------------------------------

    def called(
        self, function: Function, given: list[Value], named: Mapping[str, Value], node: ast.Call, caller: Calls, *, is_whole: bool
    ) -> Value:
        """What a call of a function of the project returns; the call is noted with it."""
        arguments = self._arguments(function, given, named)
        op = Op(CALL, {**arguments}, node, caller.function, recorded=caller.recorded)
        op.where = function.qualname
        function.calls.append(CallSite(op, arguments, is_whole=is_whole))
        caller.function.ops.append(op)
        result = self._result_of(function)
        unsure = function.decorators and not _TRANSPARENT.issuperset(function.decorators)
        if result is None or unsure or isinstance(function.node, ast.AsyncFunctionDef):
            return Value(UNKNOWN, op, detached=not caller.recorded)
        replay = _Replay(self, arguments, function, op, is_whole=is_whole)
        value = replay.of(result)
        caller.function.ops += replay.made
        op.operands = {**op.operands, "result": result}
        if not caller.recorded and not value.detached:
            value = value.but(detached=True)
        return value

    def constructed(
        self, owner: Class, given: list[Value], named: Mapping[str, Value], node: ast.Call, caller: Calls, *, is_whole: bool
    ) -> Value:
        """An object of a class of the project; its constructor is called."""
        constructor = self.project.method(owner, "__init__")
        arguments = self._arguments(constructor, given, named) if constructor is not None else {}
        op = Op(CALL, arguments, node, caller.function)
        op.where = owner.qualname
        caller.function.ops.append(op)
        if constructor is not None:
            constructor.calls.append(CallSite(op, arguments, is_whole=is_whole))
        return Value(INSTANCE, op, target=owner, name=owner.qualname)

    def _arguments(self, function: Function, given: list[Value], named: Mapping[str, Value]) -> dict[str, Value]:
        names = function.names()[1:] if function.is_method else function.names()
        return {**dict(zip(names, given, strict=False)), **{name: value for name, value in named.items() if name in names}}

    def _result_of(self, function: Function) -> Value | None:
        return function.result if self.run(function) else None

    # -- what callers pass ----------------------------------------------------------------------------------------

    def with_callers(self, value: Value) -> Value:
        """The value as it is with all that the callers in the project pass, joined; as it was where nobody knows them."""
        return _Replay(self, {}, None, None, is_whole=True).of(value)

    def passed(self, function: Function, name: str) -> Value | None:
        """What all callers pass for a parameter, joined; None if there are none, or one of them is not readable."""
        if not function.calls or len(function.calls) > 200:
            return None
        values = []
        for site in function.calls:
            value = site.arguments.get(name)
            if value is None:
                if not site.is_whole:
                    return None
                value = function.parameters.get(name)
            if value is not None:
                values.append(value)
        return self.maker.join(values) if values else None


class _Replay:
    """Repeats the operations behind a value with other values for the parameters of a function, or with what all callers pass."""

    def __init__(self, graph: Graph, arguments: Mapping[str, Value], function: Function | None, call: Op | None, *, is_whole: bool) -> None:
        self._graph = graph
        self._arguments = arguments
        self._function = function
        self._call = call
        self._is_whole = is_whole
        self._known: dict[int, Value] = {}
        self._kept: list[Value] = []
        self._left = _LONGEST_REPLAY
        self._depth = 0
        self.made: list[Op] = []

    def of(self, value: Value) -> Value:
        """The value, repeated; itself where nothing of it changes."""
        held = self._known.get(id(value))
        if held is None:
            self._known[id(value)] = value  # for circles, which loops make
            self._kept.append(value)
            self._depth += 1
            held = self._repeat(value) if self._depth < 60 else value
            self._depth -= 1
            self._known[id(value)] = held
            self._kept.append(held)
        return held

    def _repeat(self, value: Value) -> Value:
        op = value.op
        if op is None or op.function == LITERAL:
            return value
        if op.function == PARAMETER:
            return self._parameter(value, op)
        if value.kind in {TUPLE, DICT} and value.parts:
            parts = tuple(self.of(part) for part in value.parts)
            return value.but(parts=parts) if any(one is not other for one, other in zip(parts, value.parts, strict=True)) else value
        if op.function in {CALL, "<element>"} and self._call is not None:
            return value
        operands = {name: self.of(each) for name, each in op.operands.items()}
        if all(operands[name] is each for name, each in op.operands.items()):
            return value
        self._left -= 1
        if self._left < 0:
            return value
        return self._made_again(value, op, operands)

    def _made_again(self, value: Value, op: Op, operands: dict[str, Value]) -> Value:
        maker = self._graph.maker
        if op.function == GUARDED:
            inner = operands["input"]
            left = inner.range.meet(value.range)
            return maker.guarded(inner, left if not left.is_empty else value.range, op.node, some=value.some)
        if op.function == JOIN:
            made = maker.join(list(operands.values()), op.node, op.scope)
            return made if not op.where else value.but(range=value.range, op=made.op)
        if op.function == ATTRIBUTE and "stored" in operands:
            return operands["stored"].but(op=op, key=op)
        if op.function in {CALL, ATTRIBUTE, ELEMENT} or op.function.startswith("<"):
            return value
        made = maker.make(op.function, operands, op.node, op.scope, recorded=op.recorded, operator=value.kind is not op.function, module=op.module)
        whole = made
        if made.kind is TUPLE and value.kind is not TUPLE and made.parts:
            made = made.parts[0]
        if made.op is not None:
            made.op.copy_of, made.op.nodes = op, op.nodes
            self.made.append(made.op)
        del whole
        if made.kind is UNKNOWN and value.kind is not UNKNOWN:
            made.kind = value.kind
        # Both are true: what was known before, and what is known with these arguments.
        both = made.range.meet(value.range)
        made.range = both if not both.is_empty else made.range
        made.dtype = made.dtype or value.dtype
        made.some = made.some or value.some
        return made

    def _parameter(self, value: Value, op: Op) -> Value:
        if self._function is not None:
            if op.scope is not self._function:
                return value
            passed = self._arguments.get(op.where)
            if passed is None and value.assumed and not self._is_whole:
                return value.but(assumed=True)
            return passed if passed is not None else value
        if op.scope is None:
            return value
        passed = self._graph.passed(op.scope, op.where)
        if passed is None:
            return value
        again = self.of(passed)
        # That they computed it says more than its range.
        if again.range == value.range and again.kind is value.kind and (again.op is None or again.op.function.startswith("<")):
            return value
        left = again.range.meet(value.range) if not value.assumed else again.range
        return again.but(range=left if not left.is_empty else again.range)


__all__ = ["MODULE_BODY", "Graph"]
