"""One chunk: its operations by their words, and what is handed to its names, in any order and by anybody."""

from __future__ import annotations

import ast
from functools import cached_property
from typing import TYPE_CHECKING, Any

from nanlint.source.kinds import (
    BOUNDS,
    CLAMPS,
    OWN_ELEMENT,
    PICKED,
    POWERS,
    has_two_bounds,
    is_own_element,
    power_words,
)
from nanlint.source.makeup import OTHER_LIBRARIES, OWN, UNARY_WORDS
from nanlint.source.references import changed_by, last_word
from nanlint.source.words import OPERATOR_WORDS

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Sequence

    from nanlint.source.outline import Chunk


class Flows:
    """What is handed to the names of one chunk."""

    def __init__(self, chunk: Chunk) -> None:
        self.values: dict[str, list[ast.AST]] = {}
        self.attributes: dict[str, list[ast.AST]] = {}
        self.tests: list[ast.AST] = []
        self.rounds: list[ast.AST] = []
        self._functions: list[str] = []
        self._nodes = chunk.contents.nodes
        for node in self._nodes:
            note = _NOTE.get(node.__class__)
            if note is not None:
                note(self, node)
        # A function inside the chunk returns what any of them returns.
        for name in self._functions:
            self.values.setdefault(name, []).extend(self.results)

    @cached_property
    def results(self) -> list[ast.AST]:
        """What the chunk gives back."""
        return results_in(self._nodes)

    def give(self, target: ast.AST | None, value: ast.AST | None) -> None:
        """Note that `value` may be in `target` from now on."""
        if value is None:
            return
        kind = target.__class__
        if kind is ast.Name:
            self.values.setdefault(target.id, []).append(value)  # type: ignore[union-attr]
        elif kind is ast.Attribute:
            self.attributes.setdefault(OWN + target.attr, []).append(value)  # type: ignore[union-attr]
        elif isinstance(target, (ast.Tuple, ast.List)):
            for element in target.elts:
                self.give(element, value)
        elif isinstance(target, (ast.Subscript, ast.Starred)):
            self.give(target.value, value)

    def assignment(self, node: ast.Assign) -> None:
        """`a = b = value`."""
        value = node.value
        for target in node.targets:
            if target.__class__ is ast.Name:  # as most are
                self.values.setdefault(target.id, []).append(value)
            else:
                self.give(target, value)

    def other_assignment(self, node: ast.AnnAssign | ast.NamedExpr) -> None:
        """`a: T = value`, `(a := value)`."""
        self.give(node.target, node.value)

    def augmented(self, node: ast.AugAssign) -> None:
        """The whole of `a += value` is in `a`."""
        self.give(node.target, node)

    def statement(self, node: ast.Expr) -> None:
        """A call by itself may change what it is given."""
        call = node.value
        if not isinstance(call, ast.Call):
            return
        for target in changed_by(call):
            for value in (call, *call.args, *(keyword.value for keyword in call.keywords)):
                self.give(target, value)

    def function(self, node: ast.FunctionDef | ast.AsyncFunctionDef) -> None:
        """A function inside the chunk."""
        self._functions.append(node.name)

    def test(self, node: ast.If | ast.Assert | ast.IfExp) -> None:
        """What is asked before something is done."""
        self.tests.append(node.test)

    def repeated(self, node: ast.While) -> None:
        """What is asked before each round; what always holds is an end that nobody reaches."""
        self.rounds.append(node.test)

    def loop(self, node: ast.For | ast.AsyncFor | ast.comprehension) -> None:
        """`for target in iter`."""
        self.give(node.target, node.iter)

    def context(self, node: ast.withitem) -> None:
        """`with value as target`."""
        self.give(node.optional_vars, node.context_expr)

    def match(self, node: ast.Match) -> None:
        """Any name of any pattern may take the subject, or a part of it."""
        for case in node.cases:
            for part in ast.walk(case.pattern):
                for name in (getattr(part, "name", None), getattr(part, "rest", None)):
                    if name:
                        self.values.setdefault(name, []).append(node.subject)

    def parameters(self, node: ast.arguments) -> None:
        """A parameter may be its default, and is what its annotation says; without one it may be a tensor."""
        values = self.values
        positional = [*node.posonlyargs, *node.args] if node.posonlyargs else node.args
        for parameter in (*positional, *node.kwonlyargs):
            values.setdefault(parameter.arg, []).append(_annotation(parameter))
        # Those with defaults come last.
        for parameter, default in zip(positional[len(positional) - len(node.defaults) :], node.defaults, strict=True):
            values[parameter.arg].append(default)
        for parameter, value in zip(node.kwonlyargs, node.kw_defaults, strict=True):
            if value is not None:
                values[parameter.arg].append(value)


_NOTE: dict[type[ast.AST], Callable[..., None]] = {
    ast.AnnAssign: Flows.other_assignment,
    ast.Assert: Flows.test,
    ast.Assign: Flows.assignment,
    ast.AsyncFor: Flows.loop,
    ast.AsyncFunctionDef: Flows.function,
    ast.AugAssign: Flows.augmented,
    ast.Expr: Flows.statement,
    ast.For: Flows.loop,
    ast.FunctionDef: Flows.function,
    ast.Match: Flows.match,
    ast.If: Flows.test,
    ast.IfExp: Flows.test,
    ast.NamedExpr: Flows.other_assignment,
    ast.While: Flows.repeated,
    ast.arguments: Flows.parameters,
    ast.comprehension: Flows.loop,
    ast.withitem: Flows.context,
}


def _words_of_call(node: ast.Call) -> Sequence[str]:
    """A call is an operation by its last word, unless it is one of Python's or numpy's."""
    function = node.func
    if isinstance(function, ast.Attribute) and isinstance(function.value, ast.Name):
        if function.value.id in OTHER_LIBRARIES:
            return ()
        word = function.attr
    else:
        word = last_word(function)
    if word in POWERS:
        return (word, *power_words(node))
    return (word, BOUNDS) if word in CLAMPS and has_two_bounds(node) else (word,)


# A sum with one of these is longer, and no number.
_JOINED = (ast.Tuple, ast.List, ast.ListComp, ast.JoinedStr)


def _words_of_operator(node: ast.BinOp) -> Sequence[str]:
    """A power is one by its exponent, too."""
    operator = node.op.__class__
    word = OPERATOR_WORDS[operator]
    if operator is ast.Add:
        return () if isinstance(node.left, _JOINED) or isinstance(node.right, _JOINED) else (word,)
    if operator is ast.Pow:
        return (word, *power_words(node))
    return (word, OWN_ELEMENT) if operator is ast.Div and is_own_element(node) else (word,)


def _words_of_augmented(node: ast.AugAssign) -> Sequence[str]:
    """`a += value` is an operation by two words."""
    if isinstance(node.op, ast.Add) and isinstance(node.value, _JOINED):
        return ()
    word = OPERATOR_WORDS[node.op.__class__]
    return (word, f"{word}=", *(power_words(node) if isinstance(node.op, ast.Pow) else ()))


_WORDS: dict[type[ast.AST], Callable[..., Sequence[str]]] = {
    ast.AugAssign: _words_of_augmented,
    ast.BinOp: _words_of_operator,
    ast.Call: _words_of_call,
    # A selection by values is an operation, and so is an operator; `-x` is no difference.
    ast.Subscript: lambda _: (PICKED,),
    ast.UnaryOp: lambda node: (UNARY_WORDS.get(node.op.__class__, ""),),
}


MANIFOLD = POWERS | CLAMPS
"""What is called so may be an operation by another word, too."""


def operations_in(nodes: Iterable[Any], called: frozenset[str]) -> dict[str, list[ast.AST]]:
    """The operations among `nodes` by their words, of all calls those alone of what is called so."""
    found: dict[str, list[ast.AST]] = {}
    for node in nodes:
        kind = node.__class__
        if kind is ast.Call:
            function = node.func
            # Most calls are of something else.
            if (function.attr if function.__class__ is ast.Attribute else last_word(function)) not in called:
                continue
        elif kind not in _WORDS:
            continue
        for word in _WORDS[kind](node):
            if word in found:
                found[word].append(node)
            else:
                found[word] = [node]
    return found


_RETURNING = frozenset({ast.Return, ast.Yield, ast.YieldFrom})


def results_in(nodes: Iterable[ast.AST]) -> list[ast.AST]:
    """What a function with these nodes gives back."""
    returns: list[Any] = [node for node in nodes if node.__class__ in _RETURNING]
    return [node.value for node in returns if node.value is not None]


_LOOPS = frozenset({ast.For, ast.AsyncFor, ast.comprehension})


def loop_sources(nodes: Iterable[ast.AST]) -> dict[str, list[ast.AST]]:
    """Each name that a loop or a comprehension sets -> what it runs over."""
    found: dict[str, list[ast.AST]] = {}
    loops: list[Any] = [node for node in nodes if node.__class__ in _LOOPS]
    for loop in loops:
        for inner in ast.walk(loop.target):
            if isinstance(inner, ast.Name):
                found.setdefault(inner.id, []).append(loop.iter)
    return found


_TENSOR = ast.Name("Tensor", ast.Load())


def _annotation(parameter: ast.arg) -> ast.AST:
    """What is said of a parameter. A text may say anything, as may nothing at all."""
    stated = parameter.annotation
    return _TENSOR if stated is None or isinstance(stated, ast.Constant) else stated
