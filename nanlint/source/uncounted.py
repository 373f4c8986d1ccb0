"""Whether a denominator is the sum of something that nothing in the function has tested: of a mask that was handed in, say.

What is counted by a test can be nothing. Of a mask that came from elsewhere only its name tells, and of what nothing at all is
known, nothing. Whatever else may have made what is summed up is left to the analysis.
"""

from __future__ import annotations

import ast
from typing import TYPE_CHECKING

from nanlint.source.below import all_below, nodes_below
from nanlint.source.makeup import OWN
from nanlint.source.measures import TESTING, is_masked_mean, names_in, subject_of, without_views, words_in
from nanlint.source.references import SELVES, last_word
from nanlint.source.telling_names import ADJACENCIES, GRADIENTS, RARE

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from nanlint.source.choices import Choices
    from nanlint.source.handed import Place
    from nanlint.source.measures import Measures
    from nanlint.source.slices import Slices

# Of what they make nothing more is known than of what they are given, but that it is a whole number.
_PLAIN = frozenset(
    {
        "view", "reshape", "flatten", "squeeze", "unsqueeze", "permute", "transpose", "contiguous", "clone", "expand", "expand_as", "float",
        "double", "half", "bfloat16", "to", "detach", "type_as", "view_as", "repeat", "long", "int", "bool", "type", "cpu", "cuda", "t",
        "gather", "topk", "size", "numel", "dim", "len", "cat", "stack", "ones", "ones_like", "zeros", "zeros_like", "range", "enumerate", "zip",
    }
)  # fmt: skip
_SIZES = frozenset({"len", "size", "numel"})
# Of what they are given, their values are.
_SIZED, _JOINING = frozenset({"ones", "zeros"}), frozenset({"cat", "stack", "gather", "topk"})
# What they make is something else, and no count.
_MAKING = frozenset({"sigmoid", "softmax", "linear", "matmul", "exp", "softplus", "tanh"})
_KNOWN = _PLAIN | _MAKING
_TELLING = GRADIENTS | {"one_hot", "stft"}
# Whoever writes one of these may do anything in it.
_OPEN = (ast.Lambda, ast.ListComp, ast.SetComp, ast.DictComp, ast.GeneratorExp, ast.JoinedStr, ast.Yield)
_OPERATORS = (ast.Add, ast.Sub, ast.BitOr, ast.Div)
# What takes more than this to make is not looked into further.
_MOST_NODES = 200
_DEEPEST = 4


class Uncounted:
    """The sums of one file of what nothing has tested."""

    def __init__(self, slices: Slices, choices: Choices, measures: Measures) -> None:
        self._slices = slices
        self._choices = choices
        self._measures = measures
        self._spoken_of: dict[str, frozenset[str]] = {}
        """Each chunk -> the names of what is compared in it, or set in part."""

    def is_one(self, home: str, node: ast.AST, depth: int = _DEEPEST) -> bool:
        """Whether `node` is such a sum whatever its name holds, or one with such a sum or a size for a term."""
        choices = list(self._choices.of_all([(home, node)], set()))
        return bool(choices) and depth > 0 and all(self._is_harmless(*choice, depth) for choice in choices)

    def _is_harmless(self, home: str, node: ast.AST, depth: int) -> bool:
        if isinstance(node, ast.Constant) or _is_size(node):
            return True
        inner = without_views(node, self._choices.is_library)
        if inner is not node and isinstance(inner, ast.Name):
            return self.is_one(home, inner, depth - 1)
        if isinstance(inner, (ast.BinOp, ast.AugAssign)) and isinstance(inner.op, ast.Add):
            sides = (inner.left, inner.right) if isinstance(inner, ast.BinOp) else (inner.value,)
            return any(self.is_one(home, side, depth - 1) for side in sides)
        if not isinstance(inner, ast.Call) or last_word(inner.func) != "sum":
            return False
        subject = subject_of(inner, self._choices.is_library)
        return subject is not None and self._is_untested(home, subject)

    def _is_untested(self, home: str, subject: ast.AST) -> bool:
        words = {word for name in names_in(subject) for word in words_in(name)}
        # By these names alone it is nothing at times.
        is_rare = not RARE.isdisjoint(words) or is_masked_mean(self._slices.function_of(home))
        if not ADJACENCIES.isdisjoint(words) or (is_rare and not words.isdisjoint({"mask", "masks"})):
            return False
        names = self._names_behind(home, subject)
        if names is None or self._are_compared_or_set(home, names):
            return False
        made_by = {self._measures.word_of(node) for _, node in self._measures.made_of(home, subject)}
        return all(_TELLING.isdisjoint(words_in(word)) and word not in _TELLING for word in made_by)

    def _names_behind(self, home: str, subject: ast.AST) -> set[str] | None:
        """The names of the data that the subject was made of here; None if anything on the way may tell something of it."""
        names: set[str] = set()
        pending, seen = [(subject, True)], set[tuple[ast.AST, bool]]()
        while pending:
            node, is_data = pending.pop()
            if (node, is_data) in seen:
                continue
            seen.add((node, is_data))
            if len(seen) > _MOST_NODES or _tests(node) or (is_data and not self._is_plain(home, node)):
                return None
            if isinstance(node, (ast.Name, ast.Attribute)):
                if is_data and not self._choices.is_library(node):
                    names.add(last_word(node))
                pending += [(value, is_data) for chunk, value in self._given(home, node) if chunk == home]
            pending += [(part, is_data and part in _data(node)) for part in _parts(node)]
        return names - SELVES

    def _given(self, home: str, node: ast.Name | ast.Attribute) -> Iterator[Place]:
        yield from self._choices.given(home, node)
        if isinstance(node, ast.Attribute):
            yield from ((home, value) for value in self._slices.flows_of(home).attributes.get(OWN + node.attr, ()))

    def _is_plain(self, home: str, node: ast.AST) -> bool:
        if isinstance(node, ast.Call):
            is_of_file = self._choices.is_called_by_name(node) and any(self._choices.given(home, node.func))
            return is_of_file or (last_word(node.func) in _KNOWN and not self._choices.is_library(node.func))
        if isinstance(node, (ast.BinOp, ast.AugAssign)):
            return isinstance(node.op, _OPERATORS) or _is_scaled(node)
        return not isinstance(node, _OPEN)

    def _are_compared_or_set(self, home: str, names: set[str]) -> bool:
        """Whether something here is known of what goes by one of `names`, or a part of it is set."""
        if home not in self._spoken_of:
            self._spoken_of[home] = frozenset(self._compared_or_set(home))
        return not names.isdisjoint(self._spoken_of[home])

    def _compared_or_set(self, home: str) -> Iterator[str]:
        for node in self._slices.nodes_of(home):
            for target in node.targets if isinstance(node, ast.Assign) else [getattr(node, "target", None)]:
                if target is not None and not isinstance(target, ast.Name):
                    parts = (part for part in all_below(target) if isinstance(part, ast.Subscript))
                    yield from (last_word(inner) for part in parts for inner in all_below(part.value))
        if self._slices.holds(home, TESTING):
            for node in self._slices.all_nodes_of(home):
                if _tells(node):
                    yield from map(last_word, all_below(node))


def _tells(node: ast.AST) -> bool:
    """Whether `node` asks for more than whether something is there."""
    if isinstance(node, ast.Compare):
        return not all(isinstance(sign, (ast.Is, ast.IsNot)) for sign in node.ops)
    return _tests(node)


def _tests(node: ast.AST) -> bool:
    return isinstance(node, ast.Compare) or (isinstance(node, ast.Call) and last_word(node.func) in TESTING)


def _parts(node: ast.AST) -> Sequence[ast.AST]:
    """What is below `node`; how large something is tells nothing of it."""
    return [] if isinstance(node, ast.Call) and last_word(node.func) in _SIZED else nodes_below(node)


def _data(node: ast.AST) -> Sequence[ast.AST]:
    """The parts of `node` whose values it has: of `x.view(n)` that is x, of `f(x)` nothing that stands here."""
    if isinstance(node, (ast.BinOp, ast.AugAssign)) and isinstance(node.op, ast.Div):
        return [node.left if isinstance(node, ast.BinOp) else node.target]
    if not isinstance(node, ast.Call):
        return [node.value] if isinstance(node, ast.Subscript) else nodes_below(node)
    word = last_word(node.func)
    if word in _MAKING:
        return []
    return [node.func, *node.args] if word in _JOINING else [node.func]


def _is_scaled(node: ast.BinOp | ast.AugAssign) -> bool:
    """`0.5 * x`."""
    factors = (node.left, node.right) if isinstance(node, ast.BinOp) else (node.value,)
    return isinstance(node.op, ast.Mult) and any(isinstance(factor, ast.Constant) for factor in factors)


def _is_size(node: ast.AST) -> bool:
    """`x.shape[0]`, `len(x)`."""
    if isinstance(node, ast.Subscript):
        return isinstance(node.value, ast.Attribute) and node.value.attr == "shape"
    return isinstance(node, ast.Call) and last_word(node.func) in _SIZES
