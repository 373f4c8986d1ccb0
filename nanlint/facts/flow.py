"""What each name holds at each point of a chunk: one pass over the statements, joined where paths meet.

Terminates on anything: a loop body is interpreted with every name that it assigns unknown on entry, or no less than it was
before the loop if the body leaves that true.
"""

from __future__ import annotations

import ast
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from functools import cached_property
from typing import TYPE_CHECKING, Any

import libcst as cst

from nanlint.analysis.name_hints import STATED
from nanlint.facts import operators
from nanlint.facts.accumulators import Expected, begin_with, expected, kept
from nanlint.facts.aliases import other_names_of
from nanlint.facts.annotations import annotated_kind
from nanlint.facts.changes import assigned_by, assigned_in, binding_in, changed_by_any
from nanlint.facts.environment import Env
from nanlint.facts.evaluate import Evaluator, parameters
from nanlint.facts.imports import bindings
from nanlint.facts.names import dotted_text, names_in
from nanlint.facts.summaries import without_ranges
from nanlint.facts.values import NOTHING, UNKNOWN, Call, Form, Kind, Value, joined
from nanlint.source.walk import walk

if TYPE_CHECKING:
    from nanlint.facts.reach import Reach
    from nanlint.source.parse import ParsedChunk

_Body = Sequence[cst.BaseStatement | cst.BaseSmallStatement]
_ASSERTIONS = frozenset({"_check", "_assert", "_assert_async", "torch_compilable_check"})
_Path = tuple[bool, Env]
"""Whether control reaches the end of a path, and what holds there."""


class Flow(Evaluator):
    """A chunk, interpreted. `returned` is what its function gives back, `final` what names hold at its end."""

    def __init__(self, parsed: ParsedChunk, reach: Reach, *, follows_calls: bool = True) -> None:
        super().__init__(parsed, reach, follows_calls=follows_calls)
        self._returns: list[Value] = []
        self._exits: list[Env] = []
        """What holds at each return."""
        self._breaks: list[Env] = []
        self._continues: list[Env] = []
        self._following: _Body = ()
        """The statements behind an inner function, in its block."""
        self._assigned: dict[cst.CSTNode, set[str]] = {}
        self.returned: Value | None = None
        self.self_name = ""
        only = parsed.body[0] if len(parsed.body) == 1 else None
        if isinstance(only, cst.FunctionDef) and isinstance(parsed.chunk.node, (ast.FunctionDef, ast.AsyncFunctionDef)):
            self.returned = self._interpret_function(only, parsed.chunk.owner)
        else:
            self._run(only.body.body if isinstance(only, cst.ClassDef) and parsed.chunk.owner else parsed.body)
        self.final = self.env

    @property
    def in_constructor(self) -> bool:
        """Whether the object at hand is new, so that an attribute not set on a path is not there at all."""
        return self.parsed.chunk.name == "__init__"

    @cached_property
    def reads(self) -> Mapping[int, Sequence[cst.BaseExpression]]:
        """The id of a value's identity -> every place where a name that holds the value is read."""
        found: dict[int, list[cst.BaseExpression]] = {}
        for node, held in self.values.items():
            if (type(node) is cst.Name or type(node) is cst.Attribute) and node not in self.targets:
                for value in (held, *held.choices):
                    places = found.setdefault(id(value.identity), [])
                    if not places or places[-1] is not node:
                        places.append(node)
        return found

    @cached_property
    def names_read(self) -> Mapping[str, Sequence[cst.Name]]:
        """A name -> every place where it is read."""
        found: dict[str, list[cst.Name]] = {}
        for node in self.values:
            if type(node) is cst.Name and node not in self.targets:
                found.setdefault(node.value, []).append(node)
        return found

    # -- functions --------------------------------------------------------------------------------------------

    def _interpret_function(self, node: cst.FunctionDef, owner: str = "") -> Value | None:
        """Run a function's body in the environment where it is defined; the environment is left at the body's end."""
        outer = self._returns, self._exits
        self._returns, self._exits = [], []
        regions = tuple(call for decorator in node.decorators if (call := self._region(decorator.decorator)))
        declared = parameters(node.params)
        for parameter in declared:
            if parameter.default is not None:
                self.evaluate(parameter.default)
        self.env = self.env.within(regions)
        for parameter in declared:
            self.env = self.env.bind(parameter.name.value, self._parameter_value(parameter, node.name.value))
        if owner and declared:
            self._bind_self(node, declared[0].name.value, owner)
        goes_on = self._run(node.body.body)
        self._meet([(goes_on, self.env), *((True, env) for env in self._exits)])
        returns = self._returns
        self._returns, self._exits = outer
        return joined(returns) if returns else None

    def _bind_self(self, node: cst.FunctionDef, name: str, owner: str) -> None:
        words = {dotted_text(decorator.decorator) for decorator in node.decorators}
        if "staticmethod" in words:
            return
        self.self_name = name
        kind = Kind.CLASS if "classmethod" in words or node.name.value == "__new__" else Kind.INSTANCE
        self.env = self.env.bind(name, Value(kind, name=owner))

    def _parameter_value(self, parameter: cst.Param, function: str) -> Value:
        """A parameter is unknown, but keeps a default number as what it is when the caller says nothing.

        It is a tensor if its annotation says so; what a method called `forward` is given without annotation is one too.
        """
        default = self.values.get(parameter.default, UNKNOWN) if parameter.default is not None else UNKNOWN
        if default.number is not None:
            stated = (
                annotated_kind(parameter.annotation.annotation) if parameter.annotation is not None else Kind.UNKNOWN
            )
            kind = Kind.NUMBER if stated is Kind.NUMBER else Kind.UNKNOWN
            return default.but(kind=kind, assumed=True, same_as=None)
        # What the data set states is not trained.
        detached = not STATED.isdisjoint(parameter.name.value.lower().split("_"))
        if parameter.annotation is not None:
            return Value(annotated_kind(parameter.annotation.annotation), detached=detached)
        unstated = function == "forward" and parameter.name.value != "self" and default.constant is NOTHING
        return Value(Kind.TENSOR if unstated else Kind.UNKNOWN, detached=detached)

    def _region(self, decorator: cst.BaseExpression) -> Call | None:
        """`@torch.no_grad()` and `@torch.no_grad` put the whole body into a region."""
        value = self.evaluate(decorator)
        if decorator in self.calls:
            return self.calls[decorator]
        return Call(value.name, decorator, Form.FUNCTION) if value.kind is Kind.REFERENCE else None

    def _nested_function(self, node: cst.FunctionDef) -> bool:
        outer = self.env
        self.shared |= {
            name.name.value for inner in walk(node) if isinstance(inner, cst.Nonlocal) for name in inner.names
        }
        # It is called later, when names of the function around it may hold something else.
        mentioned = names_in(node)
        self.env = outer.forget(name for name in self._assigned_later() if name.partition(".")[0] in mentioned)
        returned = self._interpret_function(node)
        if node.decorators or node.asynchronous or any(isinstance(inner, cst.Yield) for inner in walk(node)):
            returned = None
        defaults = (parameter.default for parameter in parameters(node.params))
        if returned and any(self.values.get(default, UNKNOWN).number is not None for default in defaults if default):
            # A call may say otherwise.
            returned = without_ranges(returned)
        self.env = outer.bind(node.name.value, Value(Kind.FUNCTION, parts=(returned,) if returned else ()))
        return True

    def _assigned_later(self) -> Iterator[str]:
        """What is assigned behind an inner function, in its block."""
        for statement in self._following:
            if statement not in self._assigned:
                self._assigned[statement] = assigned_in(statement)
            yield from self._assigned[statement]

    def _nested_class(self, node: cst.ClassDef) -> bool:
        outer = self.env
        self._class_header(node)
        self._run(node.body.body)
        self.env = outer.bind(node.name.value, Value())
        return True

    def _class_header(self, node: cst.ClassDef) -> None:
        for part in (*node.decorators, *node.bases, *node.keywords):
            self.evaluate_below(part)

    # -- statements -------------------------------------------------------------------------------------------

    def _run(self, body: _Body) -> bool:
        """Interpret statements in order; False when control does not reach their end."""
        # No all(): its generator would cost a further level of Python's stack at every level of nesting.
        for index, statement in enumerate(body):
            if type(statement) is cst.FunctionDef:
                self._following = body[index + 1 :]
            if not self._statement(statement):
                return False
        return True

    def _statement(self, node: cst.CSTNode) -> bool:
        handler = _STATEMENTS.get(type(node))
        if handler is not None:
            return handler(self, node)
        self.evaluate_below(node)
        return True

    def _block(self, node: cst.BaseSuite | cst.SimpleStatementLine) -> bool:
        return self._run(node.body)

    def _clause(self, node: cst.Else | cst.Finally) -> bool:
        return self._statement(node.body)

    def _assign(self, node: cst.Assign) -> bool:
        value = self.evaluate(node.value)
        for target in node.targets:
            self.bind_target(target.target, value)
        return True

    def _annotated(self, node: cst.AnnAssign) -> bool:
        if node.value is not None:
            self.bind_target(node.target, self.evaluate(node.value))
        return True

    def _augmented(self, node: cst.AugAssign) -> bool:
        value = operators.augmented(self, node)
        before = self.values.get(node.target, UNKNOWN)
        if before.kind is not Kind.NUMBER and isinstance(node.target, (cst.Name, cst.Attribute)):
            # What is changed in place changes under its other names too.
            value = self.written(node.target, value)
            self.change(node.target, value)
        self.bind_target(node.target, value)
        # The statement stands for the result, its target for the operand.
        self.values[node.target] = before
        return True

    def _delete(self, node: cst.Del) -> bool:
        self.evaluate_below(node)
        self.env = self.env.forget(assigned_in(node))
        return True

    def _return(self, node: cst.Return) -> bool:
        self._returns.append(self.evaluate(node.value) if node.value is not None else Value(Kind.NONE))
        self._exits.append(self.env)
        return False

    def _raise(self, node: cst.Raise) -> bool:
        self.evaluate_below(node)
        return False

    def _assert(self, node: cst.Assert) -> bool:
        self.evaluate_below(node)
        self.env = self.under(node.test, holds=True)
        return True

    def _expression(self, node: cst.Expr) -> bool:
        """`torch._check(x.min() > 0)` is an assertion under another name."""
        call = node.value
        word = (dotted_text(call.func) or "").rpartition(".")[2] if isinstance(call, cst.Call) else ""
        # What `fill_(x)` returns is what x holds then.
        self.unused = call if isinstance(call, cst.Call) and not word.endswith("_") else None
        self.evaluate(call)
        if isinstance(call, cst.Call) and call.args and word in _ASSERTIONS:
            self.env = self.under(call.args[0].value, holds=True)
        return True

    def _break(self, _: cst.Break) -> bool:
        self._breaks.append(self.env)
        return False

    def _continue(self, _: cst.Continue) -> bool:
        self._continues.append(self.env)
        return False

    def _import(self, node: cst.Import | cst.ImportFrom) -> bool:
        """An import binds a name as any assignment does."""
        for local, meant in bindings(node):
            self.env = self.env.bind(local, Value(Kind.REFERENCE, name=meant))
        return True

    # -- branches ---------------------------------------------------------------------------------------------

    def _if(self, node: cst.If) -> bool:
        paths: list[_Path] = []
        branch: cst.If | cst.Else | None = node
        while isinstance(branch, cst.If):
            self.evaluate(branch.test)
            start = self.env
            self.env = self.under(branch.test, holds=True)
            paths.append((self._statement(branch.body), self.env))
            self.env = start
            self.env = self.under(branch.test, holds=False)
            branch = branch.orelse
        goes_on = self._statement(branch) if branch is not None else True
        return self._meet([*paths, (goes_on, self.env)])

    def _meet(self, paths: Iterable[_Path]) -> bool:
        """Go on with what all paths that go on agree about."""
        open_ends = [env for goes_on, env in paths if goes_on]
        if not open_ends:
            return False
        self.env = open_ends[0]
        for env in open_ends[1:]:
            self.env = self.env.joined(env, new_object=self.in_constructor)
        return True

    def _loop(self, node: cst.For | cst.While) -> bool:
        if isinstance(node, cst.For):
            self.evaluate(node.iter)
        binding = binding_in(node)
        before, assigned, hidden = self.env, assigned_by(binding), self._changed_unseen(node, changed_by_any(binding))
        touched = assigned | hidden
        outer = self._breaks, self._continues
        expectation: Expected | None = expected(node, assigned - hidden, before)
        while expectation is not None:
            length = len(self.comparisons), len(self._returns)
            self._breaks, self._continues = [], []
            self.env = begin_with(expectation, before.forget(touched))
            endless = self._enter_loop(node)
            goes_on = self._statement(node.body)
            rounds = [(goes_on, self.env), *((True, env) for env in self._continues)]
            expectation = kept(expectation, (env for is_open, env in rounds if is_open))
            if expectation is not None:
                # What was interpreted with the wrong expectation did not happen.
                del self.comparisons[length[0] :], self._returns[length[1] :], self._exits[length[1] :]
        breaks = [(True, env) for env in self._breaks]
        self._breaks, self._continues = outer
        # What follows `while True` is reached by break alone, and a break passes the `else` by.
        reached = not endless and self._meet([*rounds, (True, before)])
        self.env = self.env.in_regions_of(before)
        if isinstance(node, cst.While):
            self.env = self.under(node.test, holds=False, anew=True)
        if node.orelse is not None:
            reached = self._statement(node.orelse) and reached
        goes_on = self._meet([(reached, self.env), *breaks])
        self.env = self.env.in_regions_of(before)
        return goes_on

    def _changed_unseen(self, node: cst.For | cst.While, changed: set[str]) -> set[str]:
        """The names whose content a round may change under another name."""
        found: set[str] = set()
        for name in changed:
            others = other_names_of(name, self.env, self.values)
            found |= others if others != {name} else set()
        if isinstance(node, cst.For) and isinstance(node.target, cst.Name) and node.target.value in changed:
            # `for row in x: row.add_(1)` changes x.
            inside = (dotted_text(inner) for inner in walk(node.iter) if isinstance(inner, (cst.Name, cst.Attribute)))
            found |= {text for text in inside if text is not None}
        return found

    def _enter_loop(self, node: cst.For | cst.While) -> bool:
        """Stand at the top of the body, in any round; True when the loop has no end of its own."""
        if isinstance(node, cst.For):
            self.bind_target(node.target, self.taken_from(node.iter))
            return False
        test = self.evaluate(node.test)
        self.env = self.under(node.test, holds=True)
        return test.constant is not NOTHING and bool(test.constant) and not test.assumed

    def _with(self, node: cst.With) -> bool:
        outer = self.env
        for item in node.items:
            value = self.evaluate(item.item)
            region = self.calls.get(item.item) or value.made_by
            if region is not None:
                self.env = self.env.within([region])
            if item.asname is not None:
                self.bind_target(item.asname.name, value)
        goes_on = self._statement(node.body)
        self.env = self.env.in_regions_of(outer)
        return goes_on

    def _try(self, node: cst.Try | cst.TryStar) -> bool:
        before = self.env
        goes_on = self._statement(node.body)
        if goes_on and node.orelse is not None:
            goes_on = self._statement(node.orelse)
        paths = [(goes_on, self.env)]
        # Nobody knows how far the body came; an import that failed has bound nothing.
        interrupted = before.forget(assigned_in(node.body))
        for handler in node.handlers:
            self.env = interrupted
            if handler.name is not None:
                self.bind_target(handler.name.name, Value())
            paths.append((self._statement(handler.body), self.env))
        goes_on = self._meet(paths)
        return self._statement(node.finalbody) and goes_on if node.finalbody is not None else goes_on

    def _match(self, node: cst.Match) -> bool:
        self.evaluate(node.subject)
        start = self.env.forget(assigned_in(node))
        paths = [(True, self.env)]
        for case in node.cases:
            self.env = start
            if case.guard is not None:
                self.evaluate(case.guard)
                self.env = self.under(case.guard, holds=True)
            paths.append((self._statement(case.body), self.env))
        return self._meet(paths)


_STATEMENTS: Mapping[type[cst.CSTNode], Callable[[Flow, Any], bool]] = {
    cst.SimpleStatementLine: Flow._block,  # noqa: SLF001 - the table is part of the class, below it for readability
    cst.SimpleStatementSuite: Flow._block,  # noqa: SLF001
    cst.IndentedBlock: Flow._block,  # noqa: SLF001
    cst.Else: Flow._clause,  # noqa: SLF001
    cst.Finally: Flow._clause,  # noqa: SLF001
    cst.Assign: Flow._assign,  # noqa: SLF001
    cst.AnnAssign: Flow._annotated,  # noqa: SLF001
    cst.AugAssign: Flow._augmented,  # noqa: SLF001
    cst.Del: Flow._delete,  # noqa: SLF001
    cst.Return: Flow._return,  # noqa: SLF001
    cst.Raise: Flow._raise,  # noqa: SLF001
    cst.Expr: Flow._expression,  # noqa: SLF001
    cst.Assert: Flow._assert,  # noqa: SLF001
    cst.Break: Flow._break,  # noqa: SLF001
    cst.Continue: Flow._continue,  # noqa: SLF001
    cst.Import: Flow._import,  # noqa: SLF001
    cst.ImportFrom: Flow._import,  # noqa: SLF001
    cst.If: Flow._if,  # noqa: SLF001
    cst.For: Flow._loop,  # noqa: SLF001
    cst.While: Flow._loop,  # noqa: SLF001
    cst.With: Flow._with,  # noqa: SLF001
    cst.Try: Flow._try,  # noqa: SLF001
    cst.TryStar: Flow._try,  # noqa: SLF001
    cst.Match: Flow._match,  # noqa: SLF001
    cst.FunctionDef: Flow._nested_function,  # noqa: SLF001
    cst.ClassDef: Flow._nested_class,  # noqa: SLF001
}
