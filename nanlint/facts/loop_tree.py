"""A function as the tree of its training events: what happens, under which conditions, how often, and where it is left.

Calls of functions and methods of the same file are followed, so that a loop which calls `self.train_step(batch)` holds the
events of that method. Statements that have no part in training leave nothing here.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING

import libcst as cst

from nanlint.facts.changes import assigned_in
from nanlint.facts.finite_checks import check_of
from nanlint.facts.loop_calls import event_of
from nanlint.facts.loop_events import Event, EventKind, renamed
from nanlint.facts.loop_items import Assigned, Attempt, Block, Branch, Item, Leave, Repeat, Scope, events_in, items_in
from nanlint.facts.names import dotted_text
from nanlint.facts.values import UNKNOWN, Kind
from nanlint.facts.written import text_of
from nanlint.source.walk import walk

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping

    from nanlint.facts.flow import Flow
    from nanlint.facts.reach import Reach
    from nanlint.source.outline import Outline

# Helpers that call helpers are followed so far.
_DEEPEST = 4
# A function that uses none of these, nor calls one that does, has no part in training.
_WORDS = frozenset(
    {
        "backward", "manual_backward", "step", "zero_grad", "unscale_", "unscale", "unscale_gradients", "scale", "update",
        "clip_grad_norm_", "clip_grad_norm", "clip_grad_value_", "clip_gradients", "clip_grad", "update_parameters", "grad", "save",
        "save_checkpoint", "save_pretrained", "save_state", "save_model", "isnan", "isinf", "isfinite", "ema", "all_reduce",
    }
)  # fmt: skip
_EXITS = frozenset({"sys.exit", "exit", "quit", "os._exit", "os.abort"})
_TRUTHS = {"True": True, "False": False, "None": False}
_STOPS = frozenset({"exit", "abort", "terminate", "kill", "fail"})


def relevant(outline: Outline) -> frozenset[str]:
    """The functions that may have a part in training by the words they use, or by those of what they call."""
    chunks = {name: chunk for name, chunk in outline.chunks.items() if f"{name}#2" not in outline.chunks}
    found = {name for name, chunk in chunks.items() if chunk.mentions(_WORDS)}
    waiting = set(found)
    while waiting:
        called = {(chunks[name].name, chunks[name].owner) for name in waiting}
        waiting = {
            name
            for name, chunk in chunks.items()
            if name not in found and chunk.mentions([word for word, owner in called if owner in {"", chunk.owner}])
        }
        found |= waiting
    return frozenset(found)


class TreeBuilder:
    """Builds the tree of one function, with those of the functions it calls."""

    def __init__(self, reach: Reach) -> None:
        self._reach = reach
        self.followed: set[str] = set()
        """The functions of this file whose bodies are in some tree, below another one."""
        self.relevant = relevant(reach.outline)
        self.known: dict[tuple[str, frozenset[tuple[str, str]]], Block] = {}
        """The bodies of functions, by what their parameters are called."""

    def tree_of(self, qualname: str) -> Block:
        """The tree of a function, a method, or the module's own statements."""
        flow = self._reach.flow(qualname)
        if flow is None:
            return ()
        only = flow.parsed.body[0] if len(flow.parsed.body) == 1 else None
        body = only.body.body if isinstance(only, (cst.FunctionDef, cst.ClassDef)) else flow.parsed.body
        return _Reader(self, self._reach, flow, (qualname,), {}).block(body)


@dataclass(slots=True)
class _Reader:
    """Reads the statements of one chunk, called by way of `stack`; `names` are the caller's words for its parameters."""

    builder: TreeBuilder
    reach: Reach
    flow: Flow
    stack: tuple[str, ...]
    names: Mapping[str, str]
    nested: dict[str, cst.FunctionDef] = field(default_factory=dict)
    under_way: list[str] = field(default_factory=list)

    def block(self, body: Iterable[cst.CSTNode]) -> Block:
        return tuple(item for statement in body for item in self._statement(statement))

    def _statement(self, node: cst.CSTNode) -> Iterator[Item]:  # noqa: C901 - one branch per kind of statement
        if isinstance(node, (cst.SimpleStatementLine, cst.IndentedBlock, cst.SimpleStatementSuite)):
            yield from self.block(node.body)
        elif isinstance(node, cst.If):
            yield from self._if(node)
        elif isinstance(node, (cst.For, cst.While)):
            yield from self._loop(node)
        elif isinstance(node, cst.With):
            for item in node.items:
                yield from self._calls(item)
            yield from self._statement(node.body)
        elif isinstance(node, (cst.Try, cst.TryStar)):
            yield from self._try(node)
        elif isinstance(node, cst.Match):
            for case in node.cases:
                yield Attempt((), (self.block([case.body]),))
        elif isinstance(node, cst.FunctionDef):
            self.nested[node.name.value] = node
        elif isinstance(node, (cst.Else, cst.Finally)):
            yield from self._statement(node.body)
        elif not isinstance(node, cst.ClassDef):
            yield from self._simple(node)

    def _simple(self, node: cst.CSTNode) -> Iterator[Item]:
        yield from self._calls(node)
        if isinstance(node, cst.Assert):
            yield self._branch(node.test, (), (Leave("raise", node, self.flow),))
        elif isinstance(node, (cst.Return, cst.Raise, cst.Break, cst.Continue)):
            yield Leave(type(node).__name__.lower(), node, self.flow)
        elif isinstance(node, cst.Expr) and _exits(node):
            yield Leave("exit", node, self.flow)
        elif isinstance(node, (cst.Assign, cst.AugAssign, cst.AnnAssign)):
            yield from self._assigned(node)

    def _assigned(self, node: cst.Assign | cst.AugAssign | cst.AnnAssign) -> Iterator[Item]:
        names = frozenset(assigned_in(node))
        if isinstance(node, cst.Assign) and any(text.rpartition(".")[2] == "grad" for text in names):
            yield Event(EventKind.CLEAR, node, self.flow, next(iter(names)))
        word = dotted_text(node.value) if node.value is not None and not isinstance(node, cst.AugAssign) else None
        source = renamed(text_of(node.value), self.names) if isinstance(node.value, cst.Call) else ""
        yield Assigned(names, True if _is_norm(node.value) else _TRUTHS.get(word or ""), source)

    # -- compound statements ----------------------------------------------------------------------------------

    def _if(self, node: cst.If) -> Iterator[Item]:
        yield from self._calls(node.test)
        then = self.block([node.body])
        otherwise = self.block([node.orelse]) if node.orelse is not None else ()
        if then or otherwise:
            yield self._branch(node.test, then, otherwise)

    def _branch(self, test: cst.BaseExpression, then: Block, otherwise: Block) -> Branch:
        return Branch(test, self.flow, check_of(test, self.flow), then, otherwise, self.names)

    def _loop(self, node: cst.For | cst.While) -> Iterator[Item]:
        head = node.iter if isinstance(node, cst.For) else node.test
        yield from self._calls(head)
        yield Repeat(node, self.flow, self.block([node.body]))
        if node.orelse is not None:
            yield from self._statement(node.orelse)

    def _try(self, node: cst.Try | cst.TryStar) -> Iterator[Item]:
        body = self.block([node.body, *([node.orelse] if node.orelse is not None else [])])
        handlers = tuple(self.block([handler.body]) for handler in node.handlers)
        yield Attempt(body, handlers)
        if node.finalbody is not None:
            yield from self._statement(node.finalbody)

    # -- calls ------------------------------------------------------------------------------------------------

    def _calls(self, node: cst.CSTNode) -> Iterator[Item]:
        """What the calls inside a statement or an expression do, in the order in which they are made."""
        inside = [inner for inner in walk(node) if isinstance(inner, cst.Call)]
        # An argument is evaluated before the call that gets it.
        for inner in sorted(inside, key=lambda call: _depth(call, node, self.flow), reverse=True):
            yield from self._call(inner)

    def _call(self, node: cst.Call) -> Iterator[Item]:
        for arg in node.args:
            # `optimizer.step(closure)` runs the closure first; an object that is made with one keeps it for later.
            if not _is_class(node) and isinstance(arg.value, cst.Name) and arg.value.value in self.nested:
                yield from self._nested(arg.value.value)
        if isinstance(node.func, cst.Name) and node.func.value in self.nested:
            yield from self._nested(node.func.value)
            return
        followed = self._followed(node)
        if followed:
            yield Scope(renamed(text_of(node), self.names), followed)
            return
        call = self.flow.calls.get(node)
        event = event_of(call, self.flow, self.names) if call is not None else None
        if event is not None:
            yield event

    def _nested(self, name: str) -> Iterator[Item]:
        if name not in self.under_way:
            self.under_way.append(name)
            yield Scope(f"{name}()", self.block([self.nested[name].body]))
            self.under_way.pop()

    def _followed(self, node: cst.Call) -> Block | None:
        """The tree of a function of this file that is called, if it has a part in training."""
        value = self.flow.values.get(node.func, UNKNOWN)
        name = value.name if value.kind is Kind.FUNCTION else ""
        if name not in self.builder.relevant or name in self.stack or len(self.stack) > _DEEPEST:
            return None
        flow = self.reach.flow(name)
        only = flow.parsed.body[0] if flow is not None and len(flow.parsed.body) == 1 else None
        if flow is None or not isinstance(only, cst.FunctionDef):
            return None
        names = _arguments(node, only, self.names)
        body = self._body(name, flow, only, names)
        if not _has_a_part(body):
            return None
        self.builder.followed.add(name)
        return body

    def _body(self, name: str, flow: Flow, function: cst.FunctionDef, names: Mapping[str, str]) -> Block:
        key = name, frozenset(names.items())
        if key not in self.builder.known:
            reader = _Reader(self.builder, self.reach, flow, (*self.stack, name), names)
            self.builder.known[key] = reader.block(function.body.body)
        return self.builder.known[key]


_PARTS = frozenset(EventKind) - {EventKind.LOG, EventKind.REDUCE, EventKind.FORWARD, EventKind.LOSS, EventKind.OPAQUE}


def _has_a_part(body: Block) -> bool:
    """Whether a helper does something to the training, or stops it; one that only answers a question is asked, not followed."""
    if any(event.kind in _PARTS for event in events_in(body)):
        return True
    leaves = [item for item in items_in(body) if isinstance(item, Leave)]
    answers = any(isinstance(leave.node, cst.Return) and leave.node.value is not None for leave in leaves)
    return not answers and any(leave.how in {"raise", "exit"} for leave in leaves)


def _is_class(call: cst.Call) -> bool:
    """Whether an object is made, as far as its name tells."""
    return (dotted_text(call.func) or "").rpartition(".")[2][:1].isupper()


def _arguments(node: cst.Call, function: cst.FunctionDef, names: Mapping[str, str]) -> dict[str, str]:
    """Parameter -> the caller's text for what it is given."""
    declared = [parameter.name.value for parameter in function.params.params]
    if isinstance(node.func, cst.Attribute) and declared[:1] in (["self"], ["cls"]):
        declared = declared[1:]
    given: dict[str, str] = {}
    for position, arg in enumerate(node.args):
        name = arg.keyword.value if arg.keyword is not None else declared[position : position + 1]
        name = name if isinstance(name, str) else next(iter(name), "")
        if name and not arg.star and isinstance(arg.value, (cst.Name, cst.Attribute)):
            given[name] = renamed(text_of(arg.value), names)
    return given


def _is_norm(value: cst.BaseExpression | None) -> bool:
    """Whether it is the norm that a clip returns, which is never None."""
    return isinstance(value, cst.Call) and (dotted_text(value.func) or "").endswith(
        ("clip_grad_norm_", "clip_grad_norm")
    )


def _depth(call: cst.Call, whole: cst.CSTNode, flow: Flow) -> int:
    depth, around = 0, flow.parsed.parents.get(call)
    while around is not None and around is not whole:
        depth, around = depth + 1, flow.parsed.parents.get(around)
    return depth


def _exits(node: cst.Expr) -> bool:
    call = node.value
    if not isinstance(call, cst.Call):
        return False
    text = dotted_text(call.func) or ""
    return text in _EXITS or text.rpartition(".")[2].lstrip("_") in _STOPS
