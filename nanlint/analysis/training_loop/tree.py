"""A function as the tree of its training events: what happens, under which conditions, how often, and where it is left.

Calls of functions and methods of the project are followed, so that a loop which calls `self.train_step(batch)` holds the
events of that method. Statements that have no part in training leave nothing here.
"""

from __future__ import annotations

import ast
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from nanlint.analysis.project.syntax_names import dotted, last_word
from nanlint.analysis.training_loop.checks.answers import EXITS
from nanlint.analysis.training_loop.checks.finite_checks import as_called, check_of
from nanlint.analysis.training_loop.conditions import assigned_in
from nanlint.analysis.training_loop.event_calls import event_of
from nanlint.analysis.training_loop.event_tree_parts import (
    Assigned,
    Attempt,
    Block,
    Branch,
    Item,
    Leave,
    Repeat,
    Scope,
    events_in,
)
from nanlint.analysis.training_loop.events import Event, EventKind, renamed
from nanlint.source.syntax.below import given_to
from nanlint.word_sets import word_set

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping

    from nanlint.analysis.project.index import Function
    from nanlint.analysis.training_loop.code import Code
    from nanlint.analysis.training_loop.functions import Functions
    from nanlint.model import Span

# Helpers that call helpers are followed so far, and so many of them for one file.
_DEEPEST, _MOST_FOLLOWED = 4, 500
_STOPS = word_set("exit abort terminate kill fail")
_NO_PART = {EventKind.LOG, EventKind.REDUCE, EventKind.FORWARD, EventKind.LOSS}
_FUNCTIONS = (ast.FunctionDef, ast.AsyncFunctionDef)


class TreeBuilder:
    """Builds the tree of one function, with those of the functions it calls."""

    def __init__(self, functions: Functions) -> None:
        self.functions = functions
        self.followed: set[Function] = set()
        """The functions whose bodies are in some tree, below another one."""
        self.known: dict[object, Block] = {}
        """The bodies of functions, by what their parameters are called, and for another file by where it is called."""
        self.left = _MOST_FOLLOWED

    def tree_of(self, function: Function) -> Block:
        """The tree of a function, a method, or the module's own statements."""
        body = function.node.body if not isinstance(function.node, ast.Lambda) else []
        return _Reader(self, self.functions.code_of(function), (function,), {}).block(body)


@dataclass(slots=True)
class _Reader:
    """Reads the statements of one function, called by way of `stack`; `names` are the caller's words for its parameters."""

    builder: TreeBuilder
    code: Code
    stack: tuple[Function, ...]
    names: Mapping[str, str]
    called_from: Span | None = None
    nested: dict[str, ast.FunctionDef | ast.AsyncFunctionDef] = field(default_factory=dict)
    under_way: list[str] = field(default_factory=list)

    def block(self, body: Iterable[ast.AST]) -> Block:
        return tuple(item for statement in body for item in self._statement(statement))

    def _statement(self, node: ast.AST) -> Iterator[Item]:
        if isinstance(node, ast.If):
            yield from self._if(node)
        elif isinstance(node, ast.For | ast.AsyncFor | ast.While):
            yield from self._calls(node.test if isinstance(node, ast.While) else node.iter)
            yield Repeat(self.block(node.body))
            yield from self.block(node.orelse)
        elif isinstance(node, ast.With | ast.AsyncWith):
            for item in node.items:
                yield from self._calls(item.context_expr)
            yield from self.block(node.body)
        elif isinstance(node, ast.Try) or type(node).__name__ == "TryStar":
            yield from self._try(node)
        elif isinstance(node, ast.Match):
            yield from (Attempt((), (self.block(case.body),)) for case in node.cases)
        elif isinstance(node, _FUNCTIONS):
            # Those at the top of the file are found by what is called.
            if any(child in self.code.parents for child in node.body):
                self.nested[node.name] = node
        elif not isinstance(node, ast.ClassDef):
            yield from self._simple(node)

    def _simple(self, node: ast.AST) -> Iterator[Item]:
        yield from self._calls(node)
        if isinstance(node, ast.Assert):
            yield self._branch(node.test, (), (self._leave("raise", node),))
        elif isinstance(node, ast.Return | ast.Raise | ast.Break | ast.Continue):
            yield self._leave(type(node).__name__.lower(), node)
        elif isinstance(node, ast.Expr) and _exits(node):
            yield self._leave("exit", node)
        elif isinstance(node, ast.Assign | ast.AugAssign | ast.AnnAssign):
            yield from self._assigned(node)

    def _leave(self, how: str, node: ast.AST) -> Leave:
        return Leave(node, self.code, how, called_from=self.called_from)

    def _assigned(self, node: ast.Assign | ast.AugAssign | ast.AnnAssign) -> Iterator[Item]:
        names, value = frozenset(assigned_in(node)), node.value
        if isinstance(node, ast.Assign) and any(text.rpartition(".")[2] == "grad" for text in names):
            yield Event(node, self.code, EventKind.CLEAR, min(names), called_from=self.called_from)
        is_call = isinstance(value, ast.Call)
        source = renamed(self.code.text_of(value), self.names) if value is not None and is_call else ""
        yield Assigned(names, True if _is_norm(value) else truth_of(value, of=node), source)

    # -- compound statements ----------------------------------------------------------------------------------

    def _if(self, node: ast.If) -> Iterator[Item]:
        yield from self._calls(node.test)
        then, otherwise = self.block(node.body), self.block(node.orelse)
        if then or otherwise:
            yield self._branch(node.test, then, otherwise)

    def _branch(self, test: ast.expr, then: Block, otherwise: Block) -> Branch:
        check = check_of(test, self.code)
        check = as_called(check, self.names) if check is not None else None
        return Branch(test, self.code, check, then, otherwise, self.names, called_from=self.called_from)

    def _try(self, node: ast.AST) -> Iterator[Item]:
        body = self.block([*getattr(node, "body", ()), *getattr(node, "orelse", ())])
        yield Attempt(body, tuple(self.block(handler.body) for handler in getattr(node, "handlers", ())))
        yield from self.block(getattr(node, "finalbody", ()))

    # -- calls ------------------------------------------------------------------------------------------------

    def _calls(self, node: ast.AST) -> Iterator[Item]:
        """What the calls inside a statement or an expression do, in the order in which they are made."""
        for inner in _calls_in(node):
            yield from self._call(inner)

    def _call(self, node: ast.Call) -> Iterator[Item]:
        for arg in given_to(node):
            # `optimizer.step(closure)` runs the closure first; `Engine(train_step)` calls it for each batch, other objects keep it for later.
            if isinstance(arg, ast.Name) and arg.id in self.nested:
                called = tuple(self._nested(arg.id))
                if not _is_class(node):
                    yield from called
                elif {EventKind.BACKWARD, EventKind.STEP} <= {event.kind for event in events_in(called)}:
                    yield Repeat(called)
        if isinstance(node.func, ast.Name) and node.func.id in self.nested:
            yield from self._nested(node.func.id)
            return
        callee = self.code.callee_at(node)
        body = self._followed(node, callee) if callee is not None else None
        if body:
            yield Scope(renamed(self.code.text_of(node), self.names), body)
            return
        is_read = callee is not None and (body is not None or not self.builder.functions.may_train(callee))
        event = event_of(node, self.code, self.names, called_from=self.called_from, is_read=is_read)
        if event is not None:
            yield event

    def _nested(self, name: str) -> Iterator[Item]:
        if name not in self.under_way:
            self.under_way.append(name)
            yield Scope(f"{name}()", self.block(self.nested[name].body))
            self.under_way.pop()
            own = self.code.module.functions.get(name)
            if own is not None and own.node is self.nested[name]:
                self.builder.followed.add(own)

    def _followed(self, node: ast.Call, callee: Function) -> Block | None:
        """The tree of a function of the project that is called; () if it has no part in training, None if nobody looked."""
        # What an optimizer does in its own step is its own business.
        if callee in self.stack or self.code.graph.project.is_never_recorded(callee):
            return ()
        if not isinstance(callee.node, _FUNCTIONS) or callee.parent is not None:
            return None
        if len(self.stack) > _DEEPEST or not self.builder.functions.may_train(callee) or self.builder.left <= 0:
            return None
        is_here = callee.module is self.stack[0].module
        called_from = self.called_from or (None if is_here else self.code.source.span_of(node))
        body = self._body(callee, _arguments(node, callee, self.names, self.code), called_from)
        if not _has_a_part(body):
            return ()
        self.builder.followed.add(callee)
        return body

    def _body(self, callee: Function, names: Mapping[str, str], called_from: Span | None) -> Block:
        key = callee, frozenset(names.items()), called_from
        if key not in self.builder.known:
            self.builder.left -= 1
            code = self.builder.functions.code_of(callee)
            reader = _Reader(self.builder, code, (*self.stack, callee), names, called_from)
            self.builder.known[key] = reader.block(getattr(callee.node, "body", ()))
        return self.builder.known[key]


def _calls_in(node: ast.AST) -> Iterator[ast.Call]:
    """The calls of an expression: an argument is evaluated before the call that gets it."""
    for child in ast.iter_child_nodes(node):
        yield from _calls_in(child)
    if isinstance(node, ast.Call):
        yield node


def _has_a_part(body: Block) -> bool:
    """Whether a helper does something to the training, or stops it; one that only answers a question is asked, not followed."""
    return any(event.kind not in _NO_PART for event in events_in(body)) or _stops(body)


def _stops(body: Block) -> bool:
    """Whether it ends the run where something is not finite, or in any case, and does not answer with a value."""
    outer = list(_outermost(body))
    answers = any(isinstance(leave.node, ast.Return) and leave.node.value is not None for leave in outer)
    return not answers and any(leave.how in {"raise", "exit"} for leave in outer)


def _outermost(body: Block) -> Iterator[Leave]:
    """The exits of a block, those under a condition only where that asks whether something is finite."""
    for item in body:
        if isinstance(item, Leave):
            yield item
        elif isinstance(item, Branch):
            inside = [*_outermost(item.then), *_outermost(item.otherwise)]
            yield from (leave for leave in inside if item.check is not None or leave.how == "return")
        elif isinstance(item, Repeat | Scope | Attempt):
            yield from _outermost(item.body)


def _is_class(call: ast.Call) -> bool:
    """Whether an object is made, as far as its name tells."""
    return last_word(call)[:1].isupper()


def _arguments(node: ast.Call, callee: Function, names: Mapping[str, str], code: Code) -> dict[str, str]:
    """Parameter -> the caller's text for what it is given; `self` -> that for the object whose method it is."""
    given: dict[str, str] = {}
    declared = callee.names()
    if isinstance(node.func, ast.Attribute) and declared[:1] in (["self"], ["cls"]):
        receiver = dotted(node.func.value)
        if receiver and receiver.partition(".")[0] not in code.imports:
            given[declared[0]] = renamed(receiver, names)
    for name, value in code.passed_for(node, callee).items():
        if isinstance(value, ast.Name | ast.Attribute):
            given[name] = renamed(code.text_of(value), names)
    return given


def truth_of(value: ast.AST | None, of: ast.AST | None = None) -> bool | None:
    """True or False of an expression for all to see; None is as good as False."""
    if not isinstance(value, ast.Constant) or isinstance(of, ast.AugAssign):
        return None
    return bool(value.value) if value.value is None or isinstance(value.value, bool) else None


def _is_norm(value: ast.AST | None) -> bool:
    """Whether it is the norm that a clip returns, which is never None."""
    return isinstance(value, ast.Call) and last_word(value) in {"clip_grad_norm_", "clip_grad_norm"}


def _exits(node: ast.Expr) -> bool:
    if not isinstance(node.value, ast.Call):
        return False
    return dotted(node.value.func) in EXITS or last_word(node.value).lstrip("_") in _STOPS
