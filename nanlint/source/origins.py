"""What made an operand, as far as names, views and plain arithmetic lead back: the sum of `2 * x.sum().view(-1)`.

Narrower than a slice, which looks through all that is elementwise: what a clamp or a `where` has passed on is no longer
what it was. The answer is words, as of a slice; whoever asks knows which of them matter.
"""

from __future__ import annotations

import ast
from typing import TYPE_CHECKING

from nanlint.source.makeup import OTHER_LIBRARIES, OWN, VIEWS, operands_of
from nanlint.source.references import CALLED, CONTAINER, SELVES, last_word
from nanlint.source.words import OPERATOR_WORDS

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from nanlint.source.slices import Slices

_Place = tuple[str, ast.AST]

# Python's own: what they give is no operation of torch's.
_PYTHONS_OWN = frozenset({"max", "min", "sum", "abs", "len", "pow", "round", "getattr"})
THROUGH = frozenset(
    {
        "view", "reshape", "flatten", "squeeze", "squeeze_", "unsqueeze", "unsqueeze_", "permute", "transpose", "contiguous", "clone",
        "expand", "select", "narrow", "gather", "index_select", "float", "double", "half", "bfloat16", "to", "detach", "cpu", "t",
        "expand_as", "view_as", "reshape_as", "type_as", "repeat", "broadcast_to", "cuda", "flip", "roll", "movedim", "unflatten",
        "sqrt", "sqrt_", "abs", "abs_", "absolute", "square", "square_", "item", "long", "int", "neg", "neg_", "negative", "div", "div_", "divide",
        "true_divide", "mul", "mul_", "multiply", "add", "add_", "sub", "sub_", "subtract", "pow", "pow_", "float_power",
        "chunk", "split", "unbind", "rearrange", "swapaxes", "swapdims", "moveaxis", "type", "tensor", "as_tensor", "tensor_split",
        "transpose_", "t_", "detach_", "swapaxes_", "swapdims_", "narrow_copy",
    }
)  # fmt: skip
"""They carry on what they are given, as `float` and `int` do."""
_PARAMETER = "Parameter"
# Of these the first operand is carried on: `x / n`, `x ** 2`, and `high - low`, which is known by what is high.
_FIRST = (ast.Div, ast.Pow, ast.Sub, ast.FloorDiv, ast.Mod)


class Origins:
    """What made the operands of one file's operations."""

    def __init__(self, slices: Slices) -> None:
        self._slices = slices

    def of(self, home: str, operands: Sequence[ast.AST]) -> set[str]:
        """The words of all operations that may have made one of `operands`, which stand in the chunk called `home`."""
        words: set[str] = set()
        pending: list[_Place] = [(home, operand) for operand in operands]
        seen: set[tuple[str, ast.AST | str]] = set()
        while pending:
            home, node = pending.pop()
            # A name is the same wherever it stands.
            key = home, (node.id if isinstance(node, ast.Name) else node)
            if key not in seen:
                seen.add(key)
                before = list(self._before(home, node, words))
                self._slices.spend(1 + len(before))
                pending += before
        return words

    def _before(self, home: str, node: ast.AST, words: set[str]) -> Iterator[_Place]:
        """What `node` was made of, as long as nothing else is made; the word of its maker goes to `words`."""
        if isinstance(node, (ast.Name, ast.Attribute)):
            yield from self._before_name(home, node, words)
        elif isinstance(node, ast.Call):
            yield from self._before_call(home, node, words)
        elif isinstance(node, (ast.BinOp, ast.AugAssign)):
            words.add(OPERATOR_WORDS[node.op.__class__])
            first, second = (node.left, node.right) if isinstance(node, ast.BinOp) else (node.target, node.value)
            yield home, first
            if not isinstance(node.op, (*_FIRST, ast.MatMult)):
                yield home, second
        elif isinstance(node, ast.Subscript):
            yield home, node.value
        else:
            words.update(OPERATOR_WORDS.get(each.__class__, "") for each in getattr(node, "ops", ()))
            yield from ((home, child) for child in ast.iter_child_nodes(node))

    def _before_name(self, home: str, node: ast.Name | ast.Attribute, words: set[str]) -> Iterator[_Place]:
        if isinstance(node, ast.Name):
            # A variable by the name of an operation is none.
            if self._slices.may_be_imported(node.id) and not _is_annotation(node.id):
                words.add(self._slices.meaning_of(node.id))
            yield from self._slices.given_to(home, node.id)
        elif isinstance(node.value, ast.Name) and node.value.id in SELVES:
            yield from self._slices.given_to(home, OWN + node.attr)
        elif node.attr in VIEWS:
            yield home, node.value
        elif self._slices.may_be_imported(_root(node)) and not _is_annotation(node.attr):
            words.add(node.attr)  # `norm = torch.norm`

    def _before_call(self, home: str, node: ast.Call, words: set[str]) -> Iterator[_Place]:
        function = node.func
        receiver = function.value if isinstance(function, ast.Attribute) else None
        if receiver is not None and _root(receiver) in OTHER_LIBRARIES:
            return
        word = last_word(function)
        if receiver is None and word in _PYTHONS_OWN and not self._slices.is_bound(home, word):
            return
        words.add(word)
        is_own = receiver is None or (isinstance(receiver, ast.Name) and receiver.id in SELVES)
        if is_own:
            yield home, function
        if isinstance(function, ast.Name) and function.id in SELVES:
            for method in CALLED:
                yield from self._slices.given_to(home, OWN + method)
        if word == CONTAINER and node.args:
            yield home, node.args[-1]
        # A function of the file, or one under another name, may hand its arguments on; a parameter begins anew.
        if (is_own and self._slices.meaning_of(word) != _PARAMETER) or word in THROUGH:
            yield from ((home, part) for part in operands_of(node))


def _is_annotation(word: str) -> bool:
    """`Tensor`, which is among what a parameter is given; who makes one calls it."""
    return word.endswith("Tensor")


def _root(node: ast.AST) -> str:
    """`np` of `np.linalg.norm`; "" of what is no chain of names."""
    while isinstance(node, ast.Attribute):
        node = node.value
    return node.id if isinstance(node, ast.Name) else ""
