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
    FUNCTION,
    INSTANCE,
    PARAMETER,
    REFERENCE,
    UNKNOWN,
    Op,
    Value,
)
from nanlint.analysis.project.replay import Replay
from nanlint.analysis.project.index import MODULE_BODY, CallSite, Class, Function, Module, Project

from nanlint.analysis.storage import storages

if TYPE_CHECKING:
    from collections.abc import Mapping

    from nanlint.analysis.interpreter.calls import Calls
    from nanlint.analysis.interpreter.environment import Env

# A function that calls a function that calls …: beyond this depth what is returned is unknown.
_DEEPEST = 12
# Nor is a function interpreted from within an expression that is nested deeper than this.
_DEEPEST_NESTING = 100
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
        self.nesting = 0
        """How many expressions and blocks are being interpreted inside each other."""
        self._attributes: dict[tuple[Class, str], Value] = {}
        self._references: dict[str, Value] = {}
        self.done: list[Function] = []

    def run(self, function: Function, closure: Env | None = None) -> bool:
        """Interpret a function, unless that was done; False while it is being interpreted, or too deep to begin."""
        if function.is_done:
            return True
        if function.is_running or self._depth > _DEEPEST or self.nesting > _DEEPEST_NESTING:
            return False
        function.is_running = True
        self._depth += 1
        nesting = self.nesting
        try:
            Interpreter(self, function, closure).run()
        except RecursionError:
            function.result = None
        finally:
            self._depth -= 1
            self.nesting = nesting
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
        value = self.maker.unknown(ATTRIBUTE, name, None, None)
        value.key = ("global", module.path, name)  # read twice, it is the same
        return value

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
        self,
        function: Function,
        given: list[Value],
        named: Mapping[str, Value],
        node: ast.Call,
        caller: Calls,
        *,
        is_whole: bool,
    ) -> Value:
        """What a call of a function of the project returns; the call is noted with it."""
        arguments = self._arguments(function, given, named)
        op = Op(CALL, {**arguments}, node, caller.function, recorded=caller.recorded)
        op.where = function.qualname
        site = CallSite(op, arguments, is_whole=is_whole)
        function.calls.append(site)
        caller.sites.append((function, site))
        caller.function.ops.append(op)
        result = self._result_of(function)
        self._pass_changes_on(function, arguments, caller, node)
        unsure = function.decorators and not _TRANSPARENT.issuperset(function.decorators)
        if result is None or unsure or isinstance(function.node, ast.AsyncFunctionDef):
            awaited = (result,) if result is not None and not unsure else ()
            return Value(UNKNOWN, op, detached=not caller.recorded, parts=awaited)
        replay = Replay(self, arguments, function, op, is_whole=is_whole)
        value = replay.of(result)
        caller.function.ops += replay.made
        op.operands = {**op.operands, "result": result}
        if not caller.recorded and not value.detached:
            value = value.but(detached=True)
        return value

    def _pass_changes_on(
        self, function: Function, arguments: Mapping[str, Value], caller: Calls, node: ast.Call
    ) -> None:
        """What the function changes in place is changed for its caller."""
        roots: set[Op] = set()
        for op in function.changes:
            if op.function != PARAMETER or op.scope is not function:
                roots.add(op)
            elif op.where in arguments:
                roots |= storages(arguments[op.where])
        caller.changed_by_call(roots, node)

    def constructed(
        self,
        owner: Class,
        given: list[Value],
        named: Mapping[str, Value],
        node: ast.Call,
        caller: Calls,
        *,
        is_whole: bool,
    ) -> Value:
        """An object of a class of the project; its constructor is called."""
        constructor = self.project.method(owner, "__init__")
        arguments = self._arguments(constructor, given, named) if constructor is not None else {}
        op = Op(CALL, arguments, node, caller.function)
        op.where = owner.qualname
        caller.function.ops.append(op)
        if constructor is not None:
            site = CallSite(op, arguments, is_whole=is_whole)
            constructor.calls.append(site)
            caller.sites.append((constructor, site))
        return Value(INSTANCE, op, target=owner, name=owner.qualname)

    def _arguments(self, function: Function, given: list[Value], named: Mapping[str, Value]) -> dict[str, Value]:
        names = function.names()[1:] if function.is_method else function.names()
        return {
            **dict(zip(names, given, strict=False)),
            **{name: value for name, value in named.items() if name in names},
        }

    def _result_of(self, function: Function) -> Value | None:
        return function.result if self.run(function) else None

    # -- what callers pass ----------------------------------------------------------------------------------------

    def with_callers(self, value: Value) -> Value:
        """The value as it is with all that the callers in the project pass, joined; as it was where nobody knows them."""
        return Replay(self, {}, None, None, is_whole=True).of(value)

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


__all__ = ["MODULE_BODY", "Graph"]
