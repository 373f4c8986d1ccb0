"""What a function does with a parameter, read from its source: the dimensions it must have, whether it is called, indexed, compared.

Evidence only; `inputs` weighs it. Every reading is testable from a line of text.
"""

from __future__ import annotations

import ast
import re

from nanlint.confirm.tensor_words import SAME_SHAPE
from nanlint.confirm.worker.evidence import Resolve, Resolved, Uses

_REDUCING = frozenset(
    {"sum", "mean", "softmax", "log_softmax", "norm", "std", "var", "max", "min", "size", "cumsum", "flip", "flatten"}
)
_MASKING = frozenset({"masked_fill", "masked_fill_", "masked_select", "logical_not", "logical_and", "where"})
_PATTERN = frozenset({"rearrange", "reduce", "repeat", "einsum"})
_PRODUCTS = frozenset({"matmul", "bmm", "mm", "einsum", "baddbmm", "scaled_dot_product_attention", "cdist"})
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


_MOST_FOLLOWED = 30
_TINY = 1e-3


def uses_in(function: ast.AST, names: set[str], resolve: Resolve = lambda _: None) -> dict[str, Uses]:
    """The evidence on each of `names` in the body of a function, and in the functions that it hands them to."""
    reader = _Reader(names, resolve)
    reader.visit(function)
    return reader.found


class _Reader(ast.NodeVisitor):
    def __init__(self, names: set[str], resolve: Resolve) -> None:
        self.found = {name: Uses() for name in names}
        self.known = dict(self.found)
        """The names, and those that were assigned a part of what they stand for."""
        self.resolve = resolve
        self.followed: set[str] = set()

    def _follow(self, node: ast.Call) -> None:
        """Read the function that is called, with its parameters standing for the arguments; each function once."""
        name = ast.unparse(node.func) if isinstance(node.func, (ast.Name, ast.Attribute)) else ""
        resolved = self.resolve(name) if name and name not in self.followed else None
        if resolved is None or len(self.followed) >= _MOST_FOLLOWED:
            return
        given = resolved.function.args
        parameters = [one.arg for one in (*given.posonlyargs, *given.args)]
        bound = {}
        if name.startswith("self.") and parameters[:1] == ["self"]:
            bound["self"] = self.known.get("self")
            parameters = parameters[1:]
        bound |= {parameter: self._of(one) for parameter, one in zip(parameters, node.args, strict=False)}
        bound |= {word.arg: self._of(word.value) for word in node.keywords if word.arg}
        self._read_with({parameter: uses for parameter, uses in bound.items() if uses is not None}, name, resolved)

    def _read_with(self, bound: dict[str, Uses], name: str, resolved: Resolved) -> None:
        if bound:
            self.followed.add(name)
            outside = self.known, self.resolve
            self.known, self.resolve = bound, resolved.resolve
            self.visit(resolved.function)
            self.known, self.resolve = outside

    def _of(self, node: ast.AST) -> Uses | None:
        """The evidence on an expression: a name, a part of it, what it holds or what a call of it gives."""
        if isinstance(node, ast.Name):
            return self.known.get(node.id)
        if isinstance(node, ast.Attribute):
            owner = self._of(node.value)
            return owner.parts.setdefault(node.attr, Uses()) if owner is not None else None
        if isinstance(node, ast.Subscript) and isinstance(node.slice, ast.Constant):
            owner, key = self._of(node.value), node.slice.value
            is_key = isinstance(key, (str, int)) and not isinstance(key, bool)
            return owner.items.setdefault(key, Uses()) if owner is not None and is_key else None  # type: ignore[arg-type] # it is one
        if isinstance(node, ast.Call):
            return self._of_call(node)
        return None

    def _of_call(self, node: ast.Call) -> Uses | None:
        if isinstance(node.func, ast.Attribute):
            owner = self._of(node.func.value)
            if owner is not None and node.func.attr in SAME_SHAPE:
                return owner
            key = _constant(node.args[0]) if node.func.attr in {"get", "pop"} and node.args else None
            if owner is not None and isinstance(key, str):
                owner.attributes.add(node.func.attr)
                known = key in owner.items
                found = owner.items.setdefault(key, Uses())
                found.looked_for = found.looked_for if known else True
                return found
        called = self._of(node.func)
        if called is None:
            return None
        called.result = called.result or Uses()
        return called.result

    def visit_Assign(self, node: ast.Assign) -> None:
        self._unpacked(node.targets[0], node.value)
        self.generic_visit(node)
        for target in node.targets:
            self._bind(target, self._of(node.value))

    def _bind(self, target: ast.AST, uses: Uses | None) -> None:
        """Let a name stand for what was assigned to it; a parameter keeps standing for itself."""
        if isinstance(target, ast.Name) and target.id not in self.found:
            if uses is not None:
                self.known[target.id] = uses
            else:
                self.known.pop(target.id, None)
        elif isinstance(target, (ast.Tuple, ast.List)) and not any(isinstance(one, ast.Starred) for one in target.elts):
            for place, one in enumerate(target.elts):
                self._bind(one, uses.items.setdefault(place, Uses()) if uses is not None else None)

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
        bounds = [index.lower, index.upper] if isinstance(index, ast.Slice) else []
        for bound in (one for one in bounds if one is not None):
            limit = self._of(bound)
            if limit is not None:
                limit.counted = True
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
            if isinstance(index.value, str):
                uses.items.setdefault(index.value, Uses())

    def visit_Attribute(self, node: ast.Attribute) -> None:
        uses = self._of(node.value)
        if uses is not None and isinstance(node.ctx, ast.Load):
            uses.attributes.add(node.attr)
            uses.parts.setdefault(node.attr, Uses())
        self.generic_visit(node)
        self._follow_property(node)

    def _follow_property(self, node: ast.Attribute) -> None:
        """Read the body of `self.logger`, if that is a property."""
        name = ast.unparse(node) if isinstance(node.value, ast.Name) and node.value.id == "self" else ""
        resolved = self.resolve(name) if name and name not in self.followed and "self" in self.known else None
        if resolved is not None and any("property" in ast.unparse(one) for one in resolved.function.decorator_list):
            own = self.known["self"]
            self._read_with({"self": own}, name, resolved)
            last = resolved.function.body[-1]
            returned = self._of(last.value) if isinstance(last, ast.Return) and last.value is not None else None
            if returned is not None:
                # What is known of the property is known of what it returns.
                returned.take(own.parts[node.attr])
                own.parts[node.attr] = returned

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
        if name in _PRODUCTS:
            for factor in (*node.args, node.func.value if isinstance(node.func, ast.Attribute) else node.func):
                self._projecting(factor)
        if name in {"gather", "index_select", "embedding", "one_hot", "scatter", "cross_entropy", "nll_loss"}:
            self._indexing(node, name)
        self.generic_visit(node)
        self._follow(node)

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
        self._member(node)
        uses = self._of(node.left)
        if uses is not None:
            for other in node.comparators:
                parts = other.elts if isinstance(other, (ast.Tuple, ast.List, ast.Set)) else [other]
                constants = [part.value for part in parts if isinstance(part, ast.Constant)]
                uses.words += [constant for constant in constants if isinstance(constant, str)]
                uses.numbers += [constant for constant in constants if type(constant) is int]
            is_ordered = isinstance(node.ops[0], (ast.Lt, ast.LtE, ast.Gt, ast.GtE))
            uses.ordered = uses.ordered or (is_ordered and isinstance(_constant(node.comparators[0]), (int, float)))
        self.generic_visit(node)

    def _member(self, node: ast.Compare) -> None:
        """`"labels" in batch`."""
        key, holder = _constant(node.left), self._of(node.comparators[0])
        if holder is not None and isinstance(key, str) and isinstance(node.ops[0], (ast.In, ast.NotIn)):
            holder.items.setdefault(key, Uses()).looked_for = True

    def visit_If(self, node: ast.If) -> None:
        for part in node.test.values if isinstance(node.test, ast.BoolOp) else [node.test]:
            uses = self._of(part.operand if isinstance(part, ast.UnaryOp) else part)
            if uses is not None and isinstance(part, (ast.Name, ast.Attribute, ast.UnaryOp)):
                uses.is_switch = True
        for inner in ast.walk(node.test):
            tested = self._of(inner)
            if tested is not None:
                tested.tested = True
        self.generic_visit(node)

    visit_IfExp = visit_If  # type: ignore[assignment] # noqa: N815 - both have a test

    def visit_Assert(self, node: ast.Assert) -> None:
        for inner in ast.walk(node.test):
            tested = self._of(inner)
            if tested is not None:
                tested.tested = True
        self.generic_visit(node)

    def visit_For(self, node: ast.For) -> None:
        uses = self._of(node.iter)
        if uses is not None:
            uses.iterated = True
            self._bind(node.target, uses.items.setdefault(0, Uses()))
        self.generic_visit(node)

    def visit_AugAssign(self, node: ast.AugAssign) -> None:
        """`self.count += 1` reads before it writes."""
        owner = self._of(node.target.value) if isinstance(node.target, ast.Attribute) else None
        if owner is not None and isinstance(node.target, ast.Attribute):
            owner.parts.setdefault(node.target.attr, Uses())
        self.generic_visit(node)

    def _comprehend(self, node: ast.ListComp | ast.SetComp | ast.GeneratorExp | ast.DictComp) -> None:
        """What is done with each element is known before the elements are."""
        for generator in node.generators:
            uses = self._of(generator.iter)
            if uses is not None:
                uses.iterated = True
                self._bind(generator.target, uses.items.setdefault(0, Uses()))
        self.generic_visit(node)

    visit_ListComp = visit_SetComp = visit_GeneratorExp = visit_DictComp = _comprehend  # noqa: N815 - four of a kind

    def visit_UnaryOp(self, node: ast.UnaryOp) -> None:
        uses = self._of(node.operand)
        if uses is not None and isinstance(node.op, ast.Invert):
            uses.masks = True
        self.generic_visit(node)

    def _projecting(self, node: ast.AST) -> None:
        uses = self._of(node)
        if uses is not None:
            uses.projected = True

    def _lifting(self, node: ast.AST, by: ast.AST) -> None:
        uses, number = self._of(node), _constant(by)
        if uses is not None and isinstance(number, float) and 0 < number <= _TINY:
            uses.lifted = True

    def visit_BinOp(self, node: ast.BinOp) -> None:
        if isinstance(node.op, ast.MatMult):
            self._projecting(node.left)
            self._projecting(node.right)
        if isinstance(node.op, ast.Add):
            self._lifting(node.left, node.right)
            self._lifting(node.right, node.left)
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
