"""How what stands under a root comes to be exactly 0, and whether a gradient passes there.

`exp(x)` is 0 in float32 from x = -104 on; a sum of squares is 0 for a row of zeros. Only the second is an everyday event.
"""

from __future__ import annotations

import ast
from typing import TYPE_CHECKING

from nanlint.analysis.interpreter.conditions import range_where
from nanlint.analysis.op_graph import ATTRIBUTE, ELEMENT, JOIN, NUMBER, REFERENCE, Op, Value, made_from
from nanlint.analysis.relations import aligned, maker, op_behind, same
from nanlint.analysis.selection import SUBSCRIPT
from nanlint.ops.names import tensor_methods
from nanlint.source.syntax.below import walk
from nanlint.word_sets import torch_names

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping

# They round to 0 far out alone. A softmax is not among them: it is a share, and a confident model drives it to 0.
_UNDERFLOWING = torch_names("""
    exp exp2 sigmoid nn.functional.softplus erfc reciprocal Tensor.exponential_ special.erfcx special.ndtr
""")
# They are 0 where their operand is, or where all of its elements are.
_CARRYING = tensor_methods("""
    expm1 log1p tanh sin diff diag masked_fill clamp_max prod cumprod sum mean nansum nanmean cumsum amax max amin min
    median abs neg square sqrt pow gather index_select select narrow
""") | {SUBSCRIPT, "torch.tensor", "torch.as_tensor"}
# Of these a 0 is an everyday result: of equal values, below a bound, of a silent signal.
_OFTEN_ZERO = torch_names("sub var nn.functional.mse_loss clamp clamp_min add maximum hypot stft")
_TOTALS, _SQUARES = torch_names("sum mean"), torch_names("pow square mul")
_MADE_OF = _TOTALS | _SQUARES | {"torch.div", "torch.abs", "torch.norm"}
# Their own backward is 0 at 0, whatever comes in.
_STOPPING = torch_names("relu nn.functional.relu6")
_CLAMPS = torch_names("clamp clamp_min")
_BOUNDING = torch_names("clamp clamp_min clamp_max maximum minimum masked_fill nan_to_num")
_MATRIX_PRODUCTS = torch_names("matmul mm bmm")
_LARGEST_EPS, _ROUNDING, _DEEPEST = 1e-3, 1e-4, 20
# Paths that join are followed for a few joins alone.
_PATH = 6


def what_is_zero(value: Value) -> Value:
    """`x` of `x / n` and `bank @ x` if x is never negative and nothing is known of the other: they are 0 together."""
    product, quotient = maker(value, _MATRIX_PRODUCTS), maker(value, "torch.div")
    if product is not None:
        sizes = [each for each in product.operands.values() if _is_size(each)]
        # What is above 0 before the product is not so behind it, where a row of the other one is 0.
        return sizes[0] if len(sizes) == 1 and sizes[0].range.has_zero else value
    above, below = (quotient.operands.get(name) for name in ("input", "other")) if quotient else (None, None)
    is_open = above is not None and below is not None and not below.is_known
    return above if above is not None and is_open and _is_size(above) else value


def squared(value: Value) -> Value | None:
    """`x`, if the value is `x ** 2`, `x.square()` or `x * x`; None for anything else."""
    op = made_from(value)
    if op is None or op.function not in _SQUARES:
        return None
    exponent = op.operands.get("exponent")
    is_power = op.function == "torch.square" or (exponent is not None and exponent.number == 2)
    is_product = op.function == "torch.mul" and aligned(op.subject, op.operands.get("other"))
    return op.subject if is_power or is_product else None


def is_kept_elsewhere(value: Value) -> bool:
    """Whether it is a setting, or somebody put a bound to it of which nobody knows what it is: `x.clamp(min=self.eps)`."""
    return is_setting(value) or _is_bounded(value)


def _is_bounded(value: Value) -> bool:
    op = op_behind(value)
    if op is None or op.function != JOIN:
        return op is not None and op.function in _BOUNDING
    return any(made is not None and made.function in _BOUNDING for made in map(made_from, op.operands.values()))


def is_setting(value: Value, depth: int = 0) -> bool:
    """Whether it is computed of an attribute, an entry of a config or a number of Python's alone: somebody chose it."""
    op = op_behind(value)
    if op is None or value.learned or depth == _DEEPEST:
        return value.kind in {NUMBER, REFERENCE}
    if op.function == ATTRIBUTE:
        return "stored" not in op.operands or is_setting(op.operands["stored"], depth + 1)
    index = op.operands.get("index")
    if op.function == ELEMENT and index is not None and isinstance(index.constant, str):
        return True
    if value.kind is NUMBER or not op.operands or op.function.startswith("<"):
        return value.kind is NUMBER
    return all(is_setting(each, depth + 1) for each in op.operands.values())


def stops_gradient_at_zero(value: Value) -> bool:
    """Whether a 0 of it is one that relu or `where` puts there, so that no gradient passes: `where(x > 0, x, 0)`."""
    op = op_behind(value)
    if op is None or op.function in _STOPPING:
        return op is not None
    condition = op.operands.get("condition" if op.function == "torch.where" else "mask")
    if condition is None or op.function not in {"torch.where", "torch.masked_fill"}:
        return False
    sides = [(op.operands.get("input"), op.function == "torch.where"), (op.operands.get("other"), False)]
    moving = [(side, holds) for side, holds in sides if side is not None and not side.detached]
    return all(not range_where(side, condition, holds=holds).has_zero for side, holds in moving)


def breaks_at_zero(value: Value) -> bool:
    """Whether it is never negative, can be exactly 0, and a gradient passes there."""
    is_never_negative = value.range.low >= 0 or _is_rest_of_square(value)
    return is_never_negative and reaches_zero(value) and not stops_gradient_at_zero(value)


def _is_rest_of_square(value: Value) -> bool:
    """`1 - c * c` of a cosine: 0 or above, but for its last digits."""
    less = maker(value, frozenset({"torch.sub"}))
    is_rest = less is not None and less.operands["input"].number == 1 and squared(less.operands["other"]) is not None
    return is_rest and value.range.low > -_ROUNDING


def reaches_zero(value: Value, depth: int = 0) -> bool:
    """Whether it can be exactly 0 without an underflow."""
    if not value.range.has_zero:
        return False
    if value.kind is NUMBER:
        return value.number == 0
    op = op_behind(value)
    if op is None or depth == _DEEPEST:
        return True
    if op.function == JOIN:
        return any(reaches_zero(each, depth + 1) for each in op.operands.values())
    return _makes_zero(op, depth)


def _makes_zero(op: Op, depth: int) -> bool:
    subject, least = op.subject, op.operands.get("min")
    if op.function in _CLAMPS and least is not None and least.range.constant is None:
        return False  # a bound that nobody knows, as `self.eps`, is there to keep the value from 0
    if op.function in _UNDERFLOWING:
        return subject is not None and subject.range.minus_inf
    carried = subject if op.function in _CARRYING else _blended(op)
    if carried is not None:
        return reaches_zero(carried, depth + 1)
    combine = _COMBINING.get(op.function)
    operands = [op.operands[name] for name in ("input", "other") if name in op.operands]
    if combine is None or not operands:
        return True
    if op.function in _ADDING and any(is_setting(each) or _is_tiny(each) for each in operands):
        return all(each.number == 0 or not (is_setting(each) or _is_tiny(each)) for each in operands)
    return combine(reaches_zero(each, depth + 1) for each in operands)


def is_often_zero(value: Value | None, depth: int = 0, *, is_summed: bool = False) -> bool:
    """Whether it is made of what is often exactly 0: a difference, a variance, a clamp, two squares side by side."""
    op = op_behind(value)
    if op is None or value is None or value.presumed or depth == _DEEPEST or _is_apart(op):
        return False
    parts = list(op.operands.values())
    if op.function == JOIN:
        return any(is_often_zero(part, depth + _PATH, is_summed=is_summed) for part in parts)
    if op.function == "torch.add":
        made = [op_behind(part) for part in parts]
        if any(each is not None and _is_apart(each) for each in made):
            return False
        # Squares side by side that are summed up besides are the length of one vector.
        if is_summed and all(each is not None and each.function in _SQUARES for each in made):
            return any(is_often_zero(part, depth + 1, is_summed=True) for part in parts)
    # Of the larger of two things one is a bound; of the largest element nothing is.
    if op.function in _OFTEN_ZERO or (op.function == "torch.max" and "other" in op.operands):
        return True
    is_summed = is_summed or op.function in _TOTALS
    return op.function in _MADE_OF and any(is_often_zero(part, depth + 1, is_summed=is_summed) for part in parts)


def _is_size(value: Value) -> bool:
    return value.is_known and value.range.low >= 0


def _is_apart(op: Op) -> bool:
    """`x[i] - x[j]`: two rows of one thing, as of atoms or of the ends of an edge, are equal by coincidence alone."""
    one, two = (maker(op.operands.get(name), frozenset({SUBSCRIPT})) for name in ("input", "other"))
    if op.function != "torch.sub" or one is None or two is None or not same(one.subject, two.subject):
        return False
    return all(isinstance(part.node, ast.Subscript) and not _is_stretch(part.node.slice) for part in (one, two))


def _is_stretch(index: ast.expr) -> bool:
    return any(isinstance(node, ast.Slice) for node in walk(index))


def _blended(op: Op) -> Value | None:
    """`x` of `x * mask + (1 - mask)`: where one term is 0 the other is not."""
    for term, rest in (("input", "other"), ("other", "input")) if op.function == "torch.add" else ():
        product = maker(op.operands.get(term), "torch.mul")
        less = maker(op.operands.get(rest), "torch.sub")
        if product is None or less is None or less.subject is None or less.subject.number != 1:
            continue
        factors = [product.operands.get(name) for name in ("input", "other")]
        masks = [same(factor, less.operands.get("other")) for factor in factors]
        if any(masks) and not all(masks):
            return factors[masks.index(False)]
    return None


def _is_tiny(value: Value) -> bool:
    """Whether it is something times an eps, as `mask * 1e-16`."""
    product = maker(value, "torch.mul")
    return product is not None and any(0 < (each.number or 0) < _LARGEST_EPS for each in product.operands.values())


_ADDING = torch_names("add maximum max")
_COMBINING: Mapping[str, Callable[[Iterable[bool]], bool]] = {
    "torch.add": all,
    "torch.maximum": all,
    "torch.mul": any,
    "torch.where": any,
    "torch.div": lambda zeros: next(iter(zeros)),
}
"""What makes a result 0 whose operands are not negative; of others nothing is known here, and a 0 counts as ordinary."""
