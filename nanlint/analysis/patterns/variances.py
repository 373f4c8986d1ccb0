"""The variance as E[x^2] - E[x]^2, which cancels to 0 or below."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from nanlint.analysis.op_graph import NUMBER
from nanlint.analysis.relations import aligned, op_behind, same
from nanlint.word_sets import torch_names

if TYPE_CHECKING:
    from nanlint.analysis.op_graph import Op, Value

_AVERAGES = torch_names("""
    mean sum nanmean div matmul einsum avg_pool1d nn.functional.avg_pool2d nn.functional.avg_pool3d conv1d conv2d
""")
_MEAN = "torch.mean"


class Variance(NamedTuple):
    """`difference` is the mean of squares less the square of `mean`."""

    difference: Op
    squares: Op
    mean: Op
    square: Op | None
    """The square of x where both are means of one and the same x."""
    has_eps: bool = False


def variance_in(value: Value, *, plus_eps: bool) -> Variance | None:
    """The variance that it is; with `plus_eps` also `variance + eps`."""
    bare = _variance(op_behind(value))
    if bare is not None or not plus_eps:
        return bare
    added = op_behind(value)
    terms = list(added.operands.values()) if added is not None and added.function == "torch.add" else []
    others = [term for term in terms if term.kind is not NUMBER]
    found = _variance(op_behind(others[0])) if len(others) == 1 else None
    return found._replace(has_eps=True) if found is not None else None


def _variance(difference: Op | None) -> Variance | None:
    if difference is None or difference.function != "torch.sub" or difference.subject is None:
        return None
    squares, square_of_mean = op_behind(difference.subject), squared(difference.operands.get("other"))
    mean = op_behind(square_of_mean.operands["input"]) if square_of_mean is not None else None
    if squares is None or mean is None or squares.subject is None or not {squares.function, mean.function} <= _AVERAGES:
        return None
    square = squared(squares.subject)
    if square is None and not _has_square(squares.subject):
        return None
    are_means = squares.function == mean.function == _MEAN
    is_same = square is not None and are_means and same(square.operands["input"], mean.subject)
    return Variance(difference, squares, mean, square if is_same else None)


def squared(value: Value | None) -> Op | None:
    """The operation that made `x ** 2`, `x.square()` or `x * x`."""
    op = op_behind(value)
    if op is None or "input" not in op.operands:
        return None
    exponent = op.operands.get("exponent")
    is_power = op.function == "torch.square" or (
        op.function == "torch.pow" and exponent is not None and exponent.number == 2
    )
    return (
        op
        if is_power or (op.function == "torch.mul" and aligned(op.operands["input"], op.operands.get("other")))
        else None
    )


def _has_square(value: Value) -> bool:
    """Whether it is a weighted square, or a sum of squares: `x ** 2 * w`, `(x ** 2).sum()`."""
    op = op_behind(value)
    if op is None or op.function not in _AVERAGES | {"torch.mul"}:
        return False
    return any(squared(each) is not None for each in op.operands.values())
