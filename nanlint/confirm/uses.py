"""What a function does with a parameter, read from its source: the dimensions it must have, whether it is called, indexed, compared.

Evidence only; `inputs` weighs it. Knows no torch, so every reading is testable from a line of text.
"""

from __future__ import annotations

import ast
import re
from dataclasses import dataclass, field

_REDUCING = frozenset(
    {"sum", "mean", "softmax", "log_softmax", "norm", "std", "var", "max", "min", "size", "cumsum", "flip", "flatten"}
)
_MASKING = frozenset({"masked_fill", "masked_fill_", "masked_select", "logical_not", "logical_and", "where"})
_PATTERN = frozenset({"rearrange", "reduce", "repeat", "einsum"})
_SPATIAL = {
    "conv1d": 3,
    "conv2d": 4,
    "conv3d": 5,
    "avg_pool2d": 4,
    "max_pool2d": 4,
    "interpolate": 4,
    "pixel_shuffle": 4,
    "bmm": 3,
    "unfold": 4,
    "grid_sample": 4,
}
_TENSOR_ONLY = frozenset(
    [
        "T",
        "abs",
        "add",
        "all",
        "amax",
        "amin",
        "any",
        "argmax",
        "backward",
        "bmm",
        "chunk",
        "clamp",
        "clone",
        "contiguous",
        "cpu",
        "cumsum",
        "data",
        "detach",
        "device",
        "diag",
        "dim",
        "div",
        "double",
        "dtype",
        "eq",
        "exp",
        "expand",
        "flatten",
        "flip",
        "float",
        "floor",
        "gather",
        "ge",
        "grad",
        "gt",
        "half",
        "index_select",
        "int",
        "isinf",
        "isnan",
        "item",
        "le",
        "log",
        "log1p",
        "logsumexp",
        "long",
        "lt",
        "masked_fill",
        "masked_select",
        "matmul",
        "max",
        "mean",
        "min",
        "mul",
        "narrow",
        "ndim",
        "ne",
        "new_zeros",
        "nonzero",
        "norm",
        "numel",
        "permute",
        "pow",
        "prod",
        "relu",
        "repeat",
        "requires_grad",
        "reshape",
        "roll",
        "round",
        "scatter",
        "select",
        "shape",
        "sigmoid",
        "sign",
        "size",
        "softmax",
        "sort",
        "split",
        "sqrt",
        "square",
        "squeeze",
        "std",
        "stride",
        "sub",
        "sum",
        "tanh",
        "to",
        "topk",
        "transpose",
        "type",
        "type_as",
        "unbind",
        "unsqueeze",
        "var",
        "view",
    ]
)


@dataclass
class Uses:
    """The evidence on one parameter."""

    ranks: list[int] = field(default_factory=list)
    """Numbers of dimensions that some statement needs exactly."""
    least_rank: int = 0
    letters: str = ""
    """The names of the dimensions, from an einops or jaxtyping pattern or from an unpacked shape."""
    called: bool = False
    attributes: set[str] = field(default_factory=set)
    keys: set[object] = field(default_factory=set)
    words: list[str] = field(default_factory=list)
    """Strings it is compared with."""
    counted: bool = False
    """Used where Python wants an integer."""
    iterated: bool = False
    masks: bool = False
    indexes: bool = False
    ctc: int | None = None
    """The place it has among the arguments of a CTC loss."""
    tested: bool = False
    """In the condition of an `if`."""

    @property
    def is_tensor(self) -> bool:
        """Whether something is done with it that only a tensor can."""
        return bool(self.ranks or self.least_rank or self.letters or self.attributes & _TENSOR_ONLY or self.masks)


def uses_in(function: ast.AST, names: set[str]) -> dict[str, Uses]:
    """The evidence on each of `names` in the body of a function."""
    reader = _Reader(names)
    reader.visit(function)
    return reader.found


class _Reader(ast.NodeVisitor):
    def __init__(self, names: set[str]) -> None:
        self.found = {name: Uses() for name in names}

    def _of(self, node: ast.AST) -> Uses | None:
        return self.found.get(node.id) if isinstance(node, ast.Name) else None

    def visit_Assign(self, node: ast.Assign) -> None:
        self._unpacked(node.targets[0], node.value)
        self.generic_visit(node)

    def _unpacked(self, target: ast.AST, value: ast.AST) -> None:
        """`b, c, h, w = x.shape` and `b, *_, d = x.size()`; trailing `, x.device` are common, too."""
        values = value.elts if isinstance(value, ast.Tuple) else [value]
        targets = target.elts if isinstance(target, ast.Tuple) else [target]
        starred = [part for part in values if isinstance(part, ast.Starred)]
        shape = starred[0].value if starred else values[0] if len(values) == 1 else None
        count = len(targets) - (len(values) - 1 if starred else 0)
        origin = _shape_of(shape) if shape is not None else None
        uses = self._of(origin) if origin is not None else None
        if uses is None or not isinstance(target, ast.Tuple):
            return
        if any(isinstance(part, ast.Starred) for part in targets):
            uses.least_rank = max(uses.least_rank, count - 1)
        else:
            uses.ranks.append(count)

    def visit_Subscript(self, node: ast.Subscript) -> None:
        origin, index = _shape_of(node.value), node.slice
        uses = self._of(origin) if origin is not None else self._of(node.value)
        if uses is not None and origin is not None:
            place = _constant(index)
            if isinstance(place, int):
                uses.least_rank = max(uses.least_rank, place + 1 if place >= 0 else -place)
        elif uses is not None:
            self._indexed(uses, index)
        selector = self._of(index)
        if selector is not None:
            selector.indexes = True
        self.generic_visit(node)

    @staticmethod
    def _indexed(uses: Uses, index: ast.AST) -> None:
        if isinstance(index, ast.Tuple):
            parts = [part for part in index.elts if not (isinstance(part, ast.Constant) and part.value in {None, ...})]
            uses.least_rank = max(uses.least_rank, len(parts))
        elif isinstance(index, ast.Constant):
            uses.keys.add(index.value)

    def visit_Attribute(self, node: ast.Attribute) -> None:
        uses = self._of(node.value)
        if uses is not None:
            uses.attributes.add(node.attr)
        self.generic_visit(node)

    def visit_Call(self, node: ast.Call) -> None:
        name = node.func.attr if isinstance(node.func, ast.Attribute) else getattr(node.func, "id", "")
        called = self._of(node.func)
        if called is not None:
            called.called = True
        subject = self._of(node.func.value) if isinstance(node.func, ast.Attribute) else None
        first = self._of(node.args[0]) if node.args else None
        for uses in (subject, first):
            if uses is not None:
                self._called_on(uses, name, node)
        if name in _MASKING and subject is not None and node.args:
            self._masking(node.args[0])
        if name == "where" and node.args and subject is None:
            self._masking(node.args[0])
        if name in {
            "range",
            "zeros",
            "ones",
            "randn",
            "rand",
            "arange",
            "eye",
            "full",
            "empty",
            "view",
            "reshape",
            "repeat",
            "expand",
            "chunk",
            "topk",
            "Linear",
            "Embedding",
        }:
            self._counting(node)
        self._ctc(node, name)
        if name in {"gather", "index_select", "embedding", "one_hot", "scatter", "cross_entropy", "nll_loss"}:
            self._indexing(node, name)
        self.generic_visit(node)

    def _ctc(self, node: ast.Call, name: str) -> None:
        if "ctc" not in name.lower() and not (name == "criterion" and len(node.args) == 4):
            return
        for place, argument in enumerate(node.args[:4]):
            uses = self._of(argument)
            if uses is not None and uses.ctc is None:
                uses.ctc = place

    def _called_on(self, uses: Uses, name: str, node: ast.Call) -> None:
        dims = [_constant(word.value) for word in node.keywords if word.arg in {"dim", "axis", "start_dim"}]
        if name in _REDUCING and isinstance(node.func, ast.Attribute) and node.args and not dims:
            dims = [_constant(node.args[0])]
        for dim in dims:
            if isinstance(dim, int) and not isinstance(dim, bool):
                uses.least_rank = max(uses.least_rank, dim + 1 if dim >= 0 else -dim)
        if name in _SPATIAL:
            uses.ranks.append(_SPATIAL[name])
        if name == "permute" and len(node.args) > 1:
            uses.ranks.append(len([arg for arg in node.args if isinstance(_constant(arg), int)]))
        if name == "transpose":
            for arg in node.args:
                dim = _constant(arg)
                if isinstance(dim, int):
                    uses.least_rank = max(uses.least_rank, dim + 1 if dim >= 0 else -dim)
        if name in _PATTERN:
            text = next(
                (arg.value for arg in node.args if isinstance(arg, ast.Constant) and isinstance(arg.value, str)), ""
            )
            self._patterned(uses, text)

    @staticmethod
    def _patterned(uses: Uses, text: str) -> None:
        left = text.partition("->")[0].strip()
        dims = re.sub(r"\([^)]*\)", "_", left).split()
        if not left or "," in left:
            return
        if "..." in dims:
            uses.least_rank = max(uses.least_rank, len(dims))
        else:
            uses.ranks.append(len(dims))

    def _masking(self, node: ast.AST) -> None:
        inner = node.operand if isinstance(node, ast.UnaryOp) else node
        uses = self._of(inner)
        if uses is not None:
            uses.masks = True

    def _counting(self, node: ast.Call) -> None:
        for arg in [*node.args, *(word.value for word in node.keywords)]:
            for part in arg.elts if isinstance(arg, (ast.Tuple, ast.List)) else [arg]:
                uses = self._of(part)
                if uses is not None and not (isinstance(node.func, ast.Name) and node.func.id == "repeat"):
                    uses.counted = True

    def _indexing(self, node: ast.Call, name: str) -> None:
        place = 1 if name in {"cross_entropy", "nll_loss"} or not isinstance(node.func, ast.Attribute) else 0
        if name in {"gather", "index_select", "scatter"} and isinstance(node.func, ast.Attribute):
            place = 1
        if name in {"one_hot", "embedding"}:
            place = 0
        if place < len(node.args):
            uses = self._of(node.args[place])
            if uses is not None:
                uses.indexes = True

    def visit_Compare(self, node: ast.Compare) -> None:
        uses = self._of(node.left)
        if uses is not None:
            for other in node.comparators:
                parts = other.elts if isinstance(other, (ast.Tuple, ast.List, ast.Set)) else [other]
                uses.words += [
                    part.value for part in parts if isinstance(part, ast.Constant) and isinstance(part.value, str)
                ]
        self.generic_visit(node)

    def visit_If(self, node: ast.If) -> None:
        for part in ast.walk(node.test):
            uses = self._of(part)
            if uses is not None:
                uses.tested = True
        self.generic_visit(node)

    visit_IfExp = visit_If  # type: ignore[assignment] # noqa: N815 - both have a test

    def visit_For(self, node: ast.For) -> None:
        uses = self._of(node.iter)
        if uses is not None:
            uses.iterated = True
        self.generic_visit(node)

    def visit_UnaryOp(self, node: ast.UnaryOp) -> None:
        uses = self._of(node.operand)
        if uses is not None and isinstance(node.op, ast.Invert):
            uses.masks = True
        self.generic_visit(node)

    def visit_BinOp(self, node: ast.BinOp) -> None:
        if isinstance(node.op, (ast.BitAnd, ast.BitOr)):
            for side in (node.left, node.right):
                uses = self._of(side)
                if uses is not None:
                    uses.masks = True
        self.generic_visit(node)


def _shape_of(node: ast.AST) -> ast.AST | None:
    """`x` of `x.shape`, `x.shape[-2:]` and `x.size()`."""
    if isinstance(node, ast.Attribute) and node.attr == "shape":
        return node.value
    if (
        isinstance(node, ast.Call)
        and isinstance(node.func, ast.Attribute)
        and node.func.attr == "size"
        and not node.args
    ):
        return node.func.value
    return None


def _constant(node: ast.AST) -> object:
    try:
        return ast.literal_eval(node)
    except (ValueError, TypeError, SyntaxError, MemoryError):
        return None
