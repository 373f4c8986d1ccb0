"""What an expression is made of, up to where something else is made: a sum, a matrix product, another file's module.

Views, selections and elementwise operations hand on what they are given, so they are looked through. Which operations
these are is the op table's to say, and nothing that this package may know: the words come with the question.
"""

from __future__ import annotations

import ast
from typing import TYPE_CHECKING

from nanlint.source.below import nodes_below
from nanlint.source.kinds import (
    HUGE,
    LEAST,
    LOW,
    MINUTE,
    NUMBER_KINDS,
    PICKED,
    PLAIN_INDEX,
    POWERS,
    is_least,
    is_number_elsewhere,
    name_words,
    number_words,
    power_words,
)
from nanlint.source.references import CALLED, CONTAINER, SELVES, last_word
from nanlint.source.words import OPERATOR_WORDS

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping, Sequence

OWN = "self."
"""How an attribute of the object itself is called among the names."""
# Whatever they are imported as by habit: no operation of theirs is one of torch's.
OTHER_LIBRARIES = frozenset({"math", "np", "numpy", "jnp", "tf"})
VIEWS = frozenset({"data", "values", "T", "mT", "H", "mH", "real", "imag", "grad"})
"""Attributes of a tensor that hold its values."""
UNARY_WORDS: dict[type[ast.AST], str] = {ast.USub: "neg", ast.Invert: "~", ast.UAdd: "positive"}
"""`-x` is no difference."""


_HOLDING = (ast.Attribute, ast.IfExp, ast.List, ast.NamedExpr, ast.Starred, ast.Subscript, ast.Tuple)
_LIMITS = frozenset({"min", "max"})
# Of the names in a large repository, the last ones are kept.
_MOST_NAMES = 50_000


class Telling(dict[str, tuple[str, ...]]):
    """Each name in the code -> the words that it is, among those that somebody asks for: most names are none."""

    def __init__(self, asked: frozenset[str] | None = None) -> None:
        super().__init__()
        self._asked = asked
        """None for all."""

    def __missing__(self, name: str) -> tuple[str, ...]:
        if len(self) >= _MOST_NAMES:
            self.clear()
        words = (name, *name_words(name))
        self[name] = words if self._asked is None else tuple(word for word in words if word in self._asked)
        return self[name]


class Makeup:
    """What an expression is made of: words, and names whose values lie elsewhere (`x`, `self.x`)."""

    __slots__ = ("_telling", "_through", "names", "words")

    def __init__(self, through: frozenset[str], telling: Telling) -> None:
        self._through = through
        self._telling = telling
        self.names: set[str] = set()
        self.words: set[str] = set()

    def add(self, node: ast.AST) -> None:
        """Add what `node` is made of."""
        kind = node.__class__
        if kind is ast.Name:
            self.names.add(node.id)  # type: ignore[attr-defined] # mypy does not narrow by __class__
            told = self._telling[node.id]  # type: ignore[attr-defined]
            if told:
                self.words.update(told)
        elif kind is ast.Constant:
            self._constant(node.value)  # type: ignore[attr-defined]
        elif kind in _ADD:
            _ADD[kind](self, node)
        else:
            self._parts(node)

    def _word(self, word: str) -> None:
        told = self._telling[word]
        if told:
            self.words.update(told)

    def _constant(self, value: object) -> None:
        if value is None:
            return
        self.words.update(number_words(value))
        if isinstance(value, str) and value.startswith("-"):  # float("-1e9")
            self.words.add(LOW)

    def _parts(self, node: ast.AST) -> None:
        for child in nodes_below(node):
            self.add(child)

    def attribute(self, node: ast.Attribute) -> None:
        """`self.x` has its value elsewhere; of other attributes the word is all that is known."""
        self._word(node.attr)
        is_limit = node.attr in _LIMITS
        if is_limit and is_least(node):
            self.words.add(LEAST)
        if isinstance(node.value, ast.Name):
            self._word(node.value.id)
            if node.value.id in SELVES:
                self.names.add(OWN + node.attr)
            elif is_limit:  # of `limits = torch.finfo(dtype)`
                self.names.add(node.value.id)
        elif isinstance(node.value, ast.Call):
            self._word(last_word(node.value.func))
            if is_limit:
                self._limits(node.value)
        if node.attr in VIEWS:
            self.add(node.value)

    def _limits(self, node: ast.Call) -> None:
        """Those of a dtype, `torch.finfo(dtype)`, under another name maybe."""
        if isinstance(node.func, ast.Name):
            self.names.add(node.func.id)
        for given in node.args:
            self.add(given)

    def call(self, node: ast.Call) -> None:
        """An operation that hands on what it is given, or a function of the file, is looked through."""
        function = node.func
        receiver = function.value if isinstance(function, ast.Attribute) else None
        whose = receiver.id if isinstance(receiver, ast.Name) else ""
        if whose in OTHER_LIBRARIES:
            return
        word = last_word(function)
        is_own = receiver is None or whose in SELVES
        if isinstance(function, ast.Name) and function.id in SELVES:
            self.names.update(OWN + method for method in CALLED)
        if is_own:
            self.add(function)
        else:
            self._word(word)
        if word in POWERS:
            self.words.update(power_words(node))
        if word == "finfo":
            self._limits(node)
        if word == CONTAINER and node.args:
            self.add(node.args[-1])
        # A function of the file, or one under another name, may hand its arguments on.
        if is_own or word in self._through:
            for part in operands_of(node):
                self.add(part)

    def operator(self, node: ast.BinOp | ast.AugAssign) -> None:
        """All operators but `@` are elementwise."""
        self.words.add(OPERATOR_WORDS[node.op.__class__])
        if isinstance(node.op, ast.Pow):
            self.words.add(HUGE)  # -2 ** 32 is a popular mask
            self.words.update(power_words(node))
        if isinstance(node.op, ast.MatMult):
            return
        if isinstance(node.op, ast.Mult) and isinstance(node, ast.BinOp) and _is_negative(node.left, node.right):
            self.words.add(LOW)  # -1 * 1e9
        for part in (node.left, node.right) if isinstance(node, ast.BinOp) else (node.target, node.value):
            self.add(part)

    def unary(self, node: ast.UnaryOp) -> None:
        """`-x` is made of x, and -1 is a number."""
        if not isinstance(node.operand, ast.Constant):
            self.words.add(UNARY_WORDS.get(node.op.__class__, ""))
        elif HUGE in number_words(node.operand.value):
            self.words.add(LOW)
        self.add(node.operand)

    def comparison(self, node: ast.Compare) -> None:
        """A test is made of both sides."""
        self.words.update(OPERATOR_WORDS.get(operator.__class__, "") for operator in node.ops)
        self.add(node.left)
        for side in node.comparators:
            self.add(side)

    def keyword(self, node: ast.keyword) -> None:
        """The name of an argument tells something, too; an eps of 0 is as good as none."""
        self.words.add(node.arg or "")
        if node.arg == "eps" and isinstance(node.value, ast.Constant) and node.value.value == 0:
            self.words.add(MINUTE)
        self.add(node.value)

    def subscript(self, node: ast.Subscript) -> None:
        """An element of x is made of x, and of what picks it."""
        self.add(node.value)
        if not isinstance(node.slice, PLAIN_INDEX):
            self.words.add(PICKED)
            self.add(node.slice)
        elif isinstance(node.slice, ast.Constant) and node.slice.value.__class__ is str:
            self.words.update(name_words(node.slice.value))  # `batch["log_probs"]`


_ADD: dict[type[ast.AST], Callable[..., None]] = {
    ast.Attribute: Makeup.attribute,
    ast.AugAssign: Makeup.operator,
    ast.BinOp: Makeup.operator,
    ast.Call: Makeup.call,
    ast.Compare: Makeup.comparison,
    ast.Subscript: Makeup.subscript,
    ast.keyword: Makeup.keyword,
    ast.UnaryOp: Makeup.unary,
}


class Makeups(dict[ast.AST, Makeup]):
    """Each expression of a file that somebody asks for -> what it is made of, imported names by what they are."""

    def __init__(self, through: frozenset[str], telling: Telling, imports: Mapping[str, str]) -> None:
        super().__init__()
        self._through = through
        self._telling = telling
        self._imports = imports

    def __missing__(self, node: ast.AST) -> Makeup:
        makeup = self[node] = Makeup(self._through, self._telling)
        makeup.add(node)
        for name in makeup.names:
            if name in self._imports:
                dotted = self._imports[name]
                makeup.words.update(self._telling[dotted.rpartition(".")[2]])
                if is_number_elsewhere(dotted):
                    makeup.words |= NUMBER_KINDS
        return makeup


def _is_negative(*factors: ast.AST) -> bool:
    return any(isinstance(each, ast.UnaryOp) and isinstance(each.operand, ast.Constant) for each in factors)


def makers_of(node: ast.AST) -> Iterator[str]:
    """The names under which something hands over what `node` is: functions, and what is a copy, a part or a view of it."""
    pending = [node]
    while pending:
        current = pending.pop()
        if isinstance(current, ast.Call):
            called = current.func
            if isinstance(called, ast.Name) and called.id in SELVES:
                yield from (OWN + method for method in CALLED)
            elif isinstance(called, ast.Attribute) and last_word(called) == CONTAINER:
                pending += current.args[-1:]
            else:
                pending.append(called)
        elif isinstance(current, ast.Name):
            yield current.id
        elif isinstance(current, ast.Attribute) and isinstance(current.value, ast.Name) and current.value.id in SELVES:
            yield OWN + current.attr
        elif isinstance(current, _HOLDING):
            pending += nodes_below(current)


def operands_of(place: ast.AST) -> Sequence[ast.AST]:
    """What an operation can break on: of a division what it divides by, of a power its base, of others any operand."""
    if isinstance(place, ast.Call):
        receiver = [place.func.value] if isinstance(place.func, ast.Attribute) else []
        return [*receiver, *place.args, *place.keywords]
    if isinstance(place, ast.BinOp):
        if isinstance(place.op, ast.Pow):
            return [place.left]
        return [place.right] if isinstance(place.op, ast.Div) else [place.left, place.right]
    if isinstance(place, ast.AugAssign):
        return [place.value] if isinstance(place.op, ast.Div) else [place.target, place.value]
    if isinstance(place, ast.Subscript):
        return [place.value, place.slice]
    return [place]
