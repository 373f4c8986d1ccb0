"""What each name holds at each point of a chunk: one pass over the statements, joined where paths meet.

Terminates on anything: a loop body is interpreted once, with every name that it assigns unknown on entry.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import libcst as cst

from nanlint.facts.environment import Env
from nanlint.facts.evaluate import Evaluator
from nanlint.facts.names import dotted_text
from nanlint.facts.values import UNKNOWN, Call, Form, Kind, Value, join
from nanlint.source.walk import walk

if TYPE_CHECKING:
    from nanlint.facts.module_facts import ModuleFacts
    from nanlint.source.parse import ParsedChunk

_ASSIGNING = (cst.AssignTarget, cst.AugAssign, cst.AnnAssign, cst.NamedExpr, cst.For, cst.CompFor)
_Body = Sequence[cst.BaseStatement | cst.BaseSmallStatement]


class Flow(Evaluator):
    """A chunk, interpreted. `returned` is what its function gives back, `final` what names hold at its end."""

    def __init__(self, parsed: ParsedChunk, facts: ModuleFacts) -> None:
        super().__init__(parsed, facts)
        self._returns: list[Value] = []
        self.returned: Value | None = None
        only = parsed.body[0] if len(parsed.body) == 1 else None
        if isinstance(only, cst.FunctionDef):
            self.returned = self._interpret_function(only)
        else:
            self._run(only.body.body if isinstance(only, cst.ClassDef) else parsed.body)
        self.final = self.env

    def _interpret_function(self, node: cst.FunctionDef) -> Value | None:
        """Run a function's body in the environment where it is defined; the environment is left at the body's end."""
        outer_returns, self._returns = self._returns, []
        regions = tuple(call for decorator in node.decorators if (call := self._region(decorator.decorator)))
        for default in _defaults(node.params):
            self.evaluate(default)
        self.env = self.env.within(regions)
        for parameter in _parameters(node.params):
            self.env = self.env.bind(parameter.name.value, self._parameter_value(parameter))
        self._run(node.body.body)
        returns, self._returns = self._returns, outer_returns
        if not returns:
            return None
        result = returns[0]
        for value in returns[1:]:
            result = join(result, value)
        return result

    def _parameter_value(self, parameter: cst.Param) -> Value:
        """A parameter is unknown, but keeps a default number as what it is when the caller says nothing."""
        default = self.values.get(parameter.default, UNKNOWN) if parameter.default is not None else UNKNOWN
        return Value(Kind.UNKNOWN, constant=default.constant) if default.number is not None else Value()

    def _run(self, body: _Body) -> bool:
        """Interpret statements in order; False when control does not reach their end."""
        return all(self._statement(statement) for statement in body)

    def _statement(self, node: cst.CSTNode) -> bool:
        handler = _STATEMENTS.get(type(node))
        return handler(self, node) if handler is not None else self._small_statement(node)

    def _block(self, node: cst.BaseSuite | cst.SimpleStatementLine) -> bool:
        return self._run(node.body)  # type: ignore[arg-type] # libcst types a suite's body by its subclass

    def _clause(self, node: cst.Else | cst.Finally) -> bool:
        return self._statement(node.body)

    def _small_statement(self, node: cst.CSTNode) -> bool:
        if isinstance(node, cst.Assign):
            self._assign(node)
        elif isinstance(node, cst.AnnAssign):
            if node.value is not None:
                self.bind_target(node.target, self.evaluate(node.value))
        elif isinstance(node, cst.AugAssign):
            self._augmented(node)
        elif isinstance(node, cst.Expr):
            self._expression_statement(node.value)
        elif isinstance(node, cst.Return):
            self._returns.append(self.evaluate(node.value) if node.value is not None else Value(Kind.NONE))
            return False
        elif isinstance(node, cst.Assert):
            self._evaluate_children(node)
            self.env = self.under(node.test, holds=True)
        elif isinstance(node, (cst.Raise, cst.Break, cst.Continue)):
            self._evaluate_children(node)
            return False
        else:
            self._evaluate_children(node)
        return True

    def _assign(self, node: cst.Assign) -> None:
        value = self.evaluate(node.value)
        for target in node.targets:
            self.bind_target(target.target, value)

    def _augmented(self, node: cst.AugAssign) -> None:
        self.evaluate(node.target)
        self.evaluate(node.value)
        kind = self.values[node.target].kind
        self.bind_target(node.target, Value(kind))

    def _expression_statement(self, node: cst.BaseExpression) -> None:
        """Evaluate; `x.add_(1)` changes what x holds."""
        value = self.evaluate(node)
        call = self.calls.get(node)
        if call is None or not isinstance(node, cst.Call) or not isinstance(node.func, cst.Attribute):
            return
        if node.func.attr.value.endswith("_") and dotted_text(node.func.value) is not None:
            self.bind_target(node.func.value, value)

    def _if(self, node: cst.If) -> bool:
        self.evaluate(node.test)
        start = self.env
        self.env = self.under(node.test, holds=True)
        then_goes_on = self._statement(node.body)
        then_env, self.env = self.env, start
        self.env = self.under(node.test, holds=False)
        else_goes_on = self._statement(node.orelse) if node.orelse is not None else True
        return self._meet([(then_goes_on, then_env), (else_goes_on, self.env)])

    def _meet(self, paths: Iterable[tuple[bool, Env]]) -> bool:
        """Go on with what all paths that go on agree about."""
        open_ends = [env for goes_on, env in paths if goes_on]
        if not open_ends:
            return False
        self.env = open_ends[0]
        for env in open_ends[1:]:
            self.env = self.env.joined(env)
        return True

    def _loop(self, node: cst.For | cst.While) -> bool:
        before = self.env
        if isinstance(node, cst.For):
            self.evaluate(node.iter)
        self.env = self.env.forget(_assigned_in(node))
        start = self.env
        if isinstance(node, cst.For):
            self.bind_target(node.target, Value())
        else:
            self.evaluate(node.test)
            self.env = self.under(node.test, holds=True)
        body_goes_on = self._statement(node.body)
        self._meet([(True, before), (True, start), (body_goes_on, self.env)])
        if isinstance(node, cst.While) and not any(isinstance(inner, cst.Break) for inner in walk(node.body)):
            self.env = self.under(node.test, holds=False)
        return self._statement(node.orelse) if node.orelse is not None else True

    def _with(self, node: cst.With) -> bool:
        outer = self.env.regions
        for item in node.items:
            value = self.evaluate(item.item)
            call = self.calls.get(item.item)
            if call is not None:
                self.env = self.env.within([call])
            if item.asname is not None:
                self.bind_target(item.asname.name, value)
        goes_on = self._statement(node.body)
        self.env = replace(self.env, regions=outer)
        return goes_on

    def _region(self, decorator: cst.BaseExpression) -> Call | None:
        """`@torch.no_grad()` and `@torch.no_grad` put the whole body into a region."""
        self.evaluate(decorator)
        if decorator in self.calls:
            return self.calls[decorator]
        dotted = self.facts.imported(decorator, self.parsed.chunk)
        return Call(dotted, decorator, Form.FUNCTION) if dotted else None

    def _try(self, node: cst.Try | cst.TryStar) -> bool:
        before = self.env
        goes_on = self._statement(node.body)
        if goes_on and node.orelse is not None:
            goes_on = self._statement(node.orelse)
        paths = [(goes_on, self.env)]
        for handler in node.handlers:
            self.env = before.forget(_assigned_in(node.body))
            paths.append((self._statement(handler.body), self.env))
        if node.finalbody is None:
            return self._meet(paths)
        goes_on = self._meet(paths)
        return self._statement(node.finalbody) and goes_on

    def _match(self, node: cst.Match) -> bool:
        self.evaluate(node.subject)
        start = self.env.forget(_assigned_in(node))
        paths = [(True, self.env)]
        for case in node.cases:
            self.env = start
            if case.guard is not None:
                self.evaluate(case.guard)
            paths.append((self._statement(case.body), self.env))
        return self._meet(paths)

    def _nested_function(self, node: cst.FunctionDef) -> bool:
        outer = self.env
        returned = self._interpret_function(node)
        self.env = outer.bind(node.name.value, Value(Kind.FUNCTION, parts=(returned,) if returned else ()))
        return True

    def _nested_class(self, node: cst.ClassDef) -> bool:
        outer = self.env
        self._run(node.body.body)
        self.env = outer.bind(node.name.value, Value())
        return True


def _assigned_in(node: cst.CSTNode) -> set[str]:
    """Every name or attribute that something inside `node` assigns, grows or changes in place."""
    found: set[str] = set()
    for inner in walk(node):
        if isinstance(inner, _ASSIGNING):
            _note_target(inner.target, found)
        elif isinstance(inner, cst.AsName):
            _note_target(inner.name, found)
        elif isinstance(inner, cst.MatchAs) and inner.name is not None:
            found.add(inner.name.value)
        elif isinstance(inner, cst.Call) and isinstance(inner.func, cst.Attribute):
            if inner.func.attr.value.endswith("_"):
                _note_target(inner.func.value, found)
        elif isinstance(inner, (cst.FunctionDef, cst.ClassDef)):
            found.add(inner.name.value)
    return found


def _note_target(target: cst.CSTNode, found: set[str]) -> None:
    if isinstance(target, (cst.Tuple, cst.List)):
        for element in target.elements:
            _note_target(element.value, found)
    elif isinstance(target, cst.Subscript):
        _note_target(target.value, found)
    elif isinstance(target, cst.BaseExpression):
        text = dotted_text(target)
        if text:
            found.add(text)


def _parameters(parameters: cst.Parameters) -> list[cst.Param]:
    named = [*parameters.posonly_params, *parameters.params, *parameters.kwonly_params]
    starred = [star for star in (parameters.star_arg, parameters.star_kwarg) if isinstance(star, cst.Param)]
    return [*named, *starred]


def _defaults(parameters: cst.Parameters) -> list[cst.BaseExpression]:
    return [parameter.default for parameter in _parameters(parameters) if parameter.default is not None]


_STATEMENTS: Mapping[type[cst.CSTNode], Callable[[Flow, Any], bool]] = {
    cst.SimpleStatementLine: Flow._block,  # noqa: SLF001 - the table is part of the class, below it for readability
    cst.SimpleStatementSuite: Flow._block,  # noqa: SLF001
    cst.IndentedBlock: Flow._block,  # noqa: SLF001
    cst.Else: Flow._clause,  # noqa: SLF001
    cst.Finally: Flow._clause,  # noqa: SLF001
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
