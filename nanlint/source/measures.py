"""What was measured, by its name: `weights.sum()` and `query.norm()` measure what a model makes, and that is not all 0."""

from __future__ import annotations

import ast
import re
from functools import lru_cache
from typing import TYPE_CHECKING

from nanlint.source.below import all_below, nodes_below
from nanlint.source.makeup import VIEWS
from nanlint.source.references import last_word
from nanlint.source.telling_names import COUNTED, GRADIENTS, LEARNED, SIGNALS
from nanlint.source.words import OPERATOR_WORDS

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Sequence

    from nanlint.source.choices import Choices
    from nanlint.source.handed import Place
    from nanlint.source.slices import Slices

MEASURES = frozenset({"sum", "norm", "vector_norm", "std", "var", "mean", "median", "max", "amax"})
# What is measured is the same before them and after them.
_CARRYING = frozenset(
    {
        "view", "reshape", "flatten", "squeeze", "unsqueeze", "permute", "transpose", "contiguous", "clone", "expand", "float",
        "double", "half", "bfloat16", "to", "detach", "expand_as", "type_as", "view_as", "sqrt",
    }
)  # fmt: skip
_WORD = re.compile(r"[A-Z]+(?![a-z])|[A-Z]?[a-z]+")
COMPARING = frozenset(
    {
        "==", "!=", "<", "<=", ">", ">=", "eq", "ne", "lt", "le", "gt", "ge", "isin", "greater", "less", "greater_equal", "less_equal",
        "not_equal",
    }
)  # fmt: skip
"""Words of a function that tests values, and so may count them."""
TESTING = COMPARING | {"isnan"}
"""The same, and what is missing."""
_SUMS, _LARGEST, _NORMS = frozenset({"sum"}), frozenset({"max", "amax"}), frozenset({"norm", "vector_norm"})
_PRODUCTS = frozenset({"*", "mul", "mul_", "multiply", "multiply_"})
# Of the members of a class there may be none.
_CLASSES = "one_hot"
_APPENDING = frozenset({"unsqueeze", "unsqueeze_"})
_DEEPEST = 4


class Measures:
    """What the denominators of a file measure."""

    def __init__(self, slices: Slices, choices: Choices) -> None:
        self._slices = slices
        self._choices = choices

    def are_of_learned(self, home: str, node: ast.AST, depth: int = _DEEPEST) -> bool:
        """Whether `node` measures, whatever its name holds, what a model makes by its name, and counts nothing."""
        choices = list(self._choices.of_all([(home, node)], set()))
        for chunk, choice in choices:
            inner = without_views(choice, self._choices.is_library)
            if isinstance(inner, ast.Name) and inner is not choice and depth:
                if not self.are_of_learned(chunk, inner, depth - 1):
                    return False
            elif not self._is_of_learned(chunk, inner):
                return False
        return bool(choices)

    def _is_of_learned(self, home: str, node: ast.AST) -> bool:
        measure = last_word(node.func) if isinstance(node, ast.Call) else ""
        subject = subject_of(node, self._choices.is_library) if isinstance(node, ast.Call) else None
        if measure not in MEASURES or subject is None:
            return False
        words = {word for name in names_in(subject) for word in words_in(name)}
        if LEARNED.isdisjoint(words):
            return False
        if measure in _SUMS and (self._slices.holds(home, TESTING) or not COUNTED.isdisjoint(words)):
            return False
        # Something is divided by its own peak, which a silent clip has none of.
        if measure in _LARGEST and not SIGNALS.isdisjoint(words):
            return False
        made_of = self.made_of(home, subject)
        if measure in _NORMS and any(self._may_blank(*place) for place in made_of):
            return False
        made_by = {self.word_of(each) for _, each in made_of}
        return _CLASSES not in made_by and all(GRADIENTS.isdisjoint(words_in(word)) for word in made_by)

    def made_of(self, home: str, node: ast.AST) -> list[Place]:
        """All that `node` was made of, here and in functions of the file that return it."""
        pending: list[Place] = [(home, node)]
        passed: list[Place] = []
        for place in self._choices.of_all(pending, set(), passed):
            pending += [(place[0], part) for part in self._parts(*place)]
        return passed

    def _may_blank(self, home: str, node: ast.AST) -> bool:
        """`x * mask[..., None]`: a row that a mask sets to 0 has no length. What nothing tests is no mask for sure."""
        if self.word_of(node) not in _PRODUCTS:
            return False
        factors = [node.target, node.value] if isinstance(node, ast.AugAssign) else self._parts(home, node)
        return any(self._is_of_rows(home, factor) for factor in factors)

    def _is_of_rows(self, home: str, factor: ast.AST) -> bool:
        pending: list[Place] = [(home, factor)]
        for chunk, node in self._choices.of_all(pending, set()):
            if isinstance(node, ast.Subscript) or (isinstance(node, ast.Call) and last_word(node.func) in _APPENDING):
                if any(_may_test(each) for _, each in self.made_of(chunk, node)):
                    return True
            elif isinstance(node, ast.Call) and self._choices.is_called_by_name(node):
                pending.append((chunk, node.func))
        return False

    def _parts(self, home: str, node: ast.AST) -> Sequence[ast.AST]:
        """What the values of `node` come from."""
        if isinstance(node, ast.Call):
            return self._choices.handed_on(home, node)
        if isinstance(node, ast.Attribute):
            return [node.value] if node.attr in VIEWS else []
        return [node.value] if isinstance(node, ast.Subscript) else nodes_below(node)

    def word_of(self, node: ast.AST) -> str:
        """What an operation is called, an imported name by what it is."""
        if isinstance(node, (ast.BinOp, ast.AugAssign)):
            return OPERATOR_WORDS[node.op.__class__]
        word = last_word(node.func if isinstance(node, ast.Call) else node)
        return self._slices.meaning_of(word) if isinstance(node, ast.Name) else word


def _may_test(node: ast.AST) -> bool:
    """Whether `node` may make 0 and 1; a name, a view, a number and an annotation do not."""
    if isinstance(node, ast.Call):
        return last_word(node.func) not in _CARRYING
    if isinstance(node, ast.BinOp):
        return not isinstance(node.op, ast.BitOr)  # Tensor | None
    return isinstance(node, ast.Compare) or (
        isinstance(node, ast.UnaryOp) and not isinstance(node.operand, ast.Constant)
    )


def without_views(node: ast.AST, is_library: Callable[[ast.AST], bool]) -> ast.AST:
    """`x.sum()` of `x.sum().view(-1)[0]`."""
    while isinstance(node, (ast.Subscript, ast.Call)):
        inner = node.value if isinstance(node, ast.Subscript) else subject_of(node, is_library)
        if inner is None or (isinstance(node, ast.Call) and last_word(node.func) not in _CARRYING):
            break
        node = inner
    return node


def subject_of(call: ast.Call, is_library: Callable[[ast.AST], bool]) -> ast.AST | None:
    """`x` of `x.sum(0)`, of `torch.sum(x, 0)` and of `torch.linalg.norm(x)`; None of a function by itself."""
    if not isinstance(call.func, ast.Attribute):
        return None
    root: ast.AST = call.func.value
    while isinstance(root, ast.Attribute):
        root = root.value
    if not is_library(root):
        return call.func.value
    return call.args[0] if call.args else None


def names_in(node: ast.AST) -> Iterable[str]:
    """The last word of each name and attribute in `node`."""
    for inner in all_below(node):
        if isinstance(inner, (ast.Name, ast.Attribute)):
            yield last_word(inner)


@lru_cache(maxsize=4096)
def words_in(name: str) -> frozenset[str]:
    """The words of a name: `top_k_weights` has three."""
    return frozenset(word.lower() for word in _WORD.findall(name))


def is_masked_mean(function: str) -> bool:
    """Whether a function offers an average under a mask by its name, `masked_mean`: it gets every mask there is."""
    words = words_in(function)
    return not words.isdisjoint({"mask", "masked"}) and not words.isdisjoint({"mean", "average", "avg"})


def is_normalising(function: str) -> bool:
    """Whether a function offers to give a vector the length 1 by its name: `normalize`, `l2_norm`, `unit_vector`."""
    return not words_in(function).isdisjoint({"normalize", "normalise", "normalized", "normalised", "norm", "unit"})
