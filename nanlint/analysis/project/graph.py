"""The operations of a whole project as one graph: what functions return, what objects hold, what callers pass.

A function is interpreted once, when somebody first asks for it, called functions before their callers. What it returns is repeated at a
call with what the caller passes, so that a helper's result is known as if it were written there.
"""

from __future__ import annotations

import ast
from typing import TYPE_CHECKING

from nanlint.analysis.interpreter.statements import Interpreter
from nanlint.analysis.op_graph import (
    CALL,
    INSTANCE,
    PARAMETER,
    UNKNOWN,
    Op,
    Value,
)
from nanlint.analysis.operation_results import Maker
from nanlint.analysis.project.index import MODULE_BODY, CallSite, Class, Function, Module, Project
from nanlint.analysis.project.names import Names
from nanlint.analysis.project.objects import Objects
from nanlint.analysis.project.replay import Replay
from nanlint.analysis.storage import in_order, storages
from nanlint.analysis.training_loop.runs.resuming import Restoring
from nanlint.word_sets import word_set

if TYPE_CHECKING:
    from collections.abc import Mapping

    from nanlint.analysis.interpreter.environment import Env
    from nanlint.analysis.interpreter.expressions import Expressions
    from nanlint.analysis.training_loop.code import WrittenValues

# A function that calls a function that calls …: beyond this depth what is returned is unknown.
_DEEPEST = 12
# Nor is a function interpreted from within an expression that is nested deeper than this.
_DEEPEST_NESTING = 100
# They return what the function below them returns.
_TRANSPARENT = word_set("""
    staticmethod classmethod property cached_property abstractmethod override final overload no_grad inference_mode
    enable_grad autocast custom_fwd custom_bwd lru_cache cache compile script script_method ignore unused typechecked
    jaxtyped beartype deprecated disable register register_module register_model
""")


class Graph(Names, Objects):
    """Interprets functions of a project on demand and joins what they know."""

    def __init__(self, project: Project) -> None:
        self.project = project
        self.maker = Maker()
        self._depth = 0
        self.nesting = 0
        """How many expressions and blocks are being interpreted inside each other."""
        self._attributes: dict[tuple[Class, str, bool], Value] = {}
        self._references: dict[str, Value] = {}
        self._looked_for: set[tuple[Module, str]] = set()
        """Names that are being looked for, each in one file."""
        self._running_files: dict[Module, Interpreter] = {}
        self.done: list[Function] = []
        self.restoring = Restoring(self)
        """Which calls restore the saved state of what."""
        self.asked_again: dict[Function, int] = {}
        """How many operations were interpreted once more, for each function, to see whether a fix means the same."""
        self.written: dict[Module, WrittenValues] = {}
        """The values of a file by the place where they are written, for those that somebody has asked about."""

    def run(self, function: Function, closure: Env | None = None) -> bool:
        """Interpret a function, unless that was done; False while it is being interpreted, or too deep to begin."""
        if function.is_done:
            return True
        if function.is_running or self._depth > _DEEPEST or self.nesting > _DEEPEST_NESTING:
            return False
        function.is_running = True
        self._depth += 1
        nesting = self.nesting
        interpreter = Interpreter(self, function, closure)
        if function is function.module.body:
            self._running_files[function.module] = interpreter
        try:
            interpreter.run()
        except RecursionError:
            function.result, function.is_too_deep = None, True
        finally:
            self._depth -= 1
            self.nesting = nesting
            function.is_running = False
        if function is function.module.body:
            del self._running_files[function.module]
        function.is_done = True
        self.done.append(function)
        function.module.interpreted.append(function)
        return True

    def run_module(self, module: Module) -> None:
        """Interpret every function of a file."""
        for function in module.all_functions():
            self.run(function)

    def let_go(self) -> None:
        """Take the graph apart: it is full of circles, and what is one of them waits for the collector."""
        for function in self.done:
            function.forget()
        self.project.let_go()
        del self.restoring
        self.maker.formatted.clear()
        self.written.clear()
        self.done.clear()
        self._attributes.clear()

    # -- calls ----------------------------------------------------------------------------------------------------

    def called(  # noqa: PLR0913 - a call is all of this
        self,
        function: Function,
        given: list[Value],
        named: Mapping[str, Value],
        node: ast.Call,
        caller: Expressions,
        *,
        is_whole: bool,
    ) -> Value:
        """What a call of a function of the project returns; the call is noted with it."""
        arguments = self._arguments(function, given, named)
        op = Op(CALL, {**arguments}, node, caller.function, recorded=caller.recorded)
        op.where = function.qualname
        bound = list(map(id, arguments.values()))
        op.rest = tuple(value for value in (*given, *named.values()) if id(value) not in bound)
        site = CallSite(op, arguments, is_whole=is_whole)
        if not caller.is_asking_again:
            function.calls.append(site)
            caller.sites.append((function, site))
        callees = caller.function.callees
        callees[node] = function if callees.get(node, function) is function else None
        caller.function.ops.append(op)
        result = self.result_of(function)
        self._pass_changes_on(function, arguments, caller, node)
        unsure = function.decorators and not _TRANSPARENT.issuperset(function.decorators)
        if result is None or unsure or isinstance(function.node, ast.AsyncFunctionDef):
            awaited = (result,) if result is not None and not unsure else ()
            return Value(UNKNOWN, op, detached=not caller.recorded, parts=awaited)
        replay = Replay(self, arguments, function, op, is_whole=is_whole, caller=caller)
        value = replay.of(result)
        caller.function.ops += replay.made
        site.made = replay.made
        op.operands = {**op.operands, "result": result}
        if not caller.recorded and not value.detached:
            value = value.but(detached=True)
        return value

    def _pass_changes_on(
        self, function: Function, arguments: Mapping[str, Value], caller: Expressions, node: ast.Call
    ) -> None:
        """What the function changes in place is changed for its caller."""
        roots: set[Op] = set()
        for op in function.changes:
            if op.function != PARAMETER or op.scope is not function:
                roots.add(op)
            elif op.where in arguments:
                roots |= storages(arguments[op.where])
        caller.changed_by_call(in_order(roots), node)

    def constructed(  # noqa: PLR0913 - as `called`
        self,
        owner: Class,
        given: list[Value],
        named: Mapping[str, Value],
        node: ast.Call,
        caller: Expressions,
        *,
        is_whole: bool,
    ) -> Value:
        """An object of a class of the project; its constructor is called."""
        constructor = self.project.method(owner, "__init__")
        arguments = self._arguments(constructor, given, named) if constructor is not None else {}
        op = Op(CALL, arguments, node, caller.function)
        op.where = owner.qualname
        caller.function.ops.append(op)
        if constructor is not None and not caller.is_asking_again:
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

    def result_of(self, function: Function) -> Value | None:
        """What a function returns; None where nobody knows."""
        return function.result if self.run(function) else None

    def evaluated(self, node: ast.expr, module: Module) -> Value:
        """An expression at the top of a file."""
        return Interpreter(self, module.body).evaluate(node)

    def repeated(self, value: Value, call: Op, function: Function) -> Value:
        """A value that a function has made, as it is with what this call of it passes."""
        return Replay(self, call.operands, function, call, is_whole=True).of(value)

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
