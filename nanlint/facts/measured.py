"""What is 0 for some input by its making alone: totals, sizes, differences and products of vectors that nothing keeps from it.

No name and no setting tells that it happens; but nobody asked for it either, and the day on which it does is not announced.
Worth a word at `info`.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import libcst as cst

from nanlint.facts.counting import COMPARISONS, behind, is_of_shares
from nanlint.facts.eps import is_eps
from nanlint.facts.naming import words_of
from nanlint.facts.silence import CARRYING, is_drawn
from nanlint.facts.unkept import is_chosen, is_kept
from nanlint.facts.values import UNKNOWN, Kind
from nanlint.facts.vanishing import LARGEST
from nanlint.source import telling_names as named

if TYPE_CHECKING:
    from nanlint.facts.evaluate import Evaluator
    from nanlint.facts.values import Call, Value

_NORMS = frozenset({"torch.norm", "torch.linalg.norm", "torch.linalg.vector_norm"})
# Of everything they are given they make one number, which is 0 where all of it is, or where it cancels out.
_REDUCTIONS = frozenset(
    f"torch.{name}"
    for name in (
        "sum", "nansum", "count_nonzero", "mean", "nanmean", "max", "amax", "min", "amin", "median", "norm", "linalg.norm",
        "linalg.vector_norm", "std", "var", "prod", "quantile", "trace",
    )
)  # fmt: skip
_PRODUCTS = frozenset(f"torch.{name}" for name in ("matmul", "bmm", "einsum", "dot", "inner", "linalg.vecdot"))
# Of anything and itself they are 0.
_DISTANCES = frozenset({"torch.cdist", "torch.dist", "torch.pdist"})
_TESTS = COMPARISONS | {"torch.isnan", "torch.isfinite", "torch.isinf"}
# There is always some of it, or somebody counted what occurs; of what goes into a model, where it is marked and not measured.
_FILLED = named.ATTENTION | named.BINS | named.RANDOM | named.OCCURRING | named.ADJACENCIES | named.SPLITS | named.SIZES
_DEEPEST, _SQUARE = 8, 2


def is_measured(node: cst.BaseExpression | None, evaluator: Evaluator, depth: int = 0) -> bool:
    """Whether `node` is a total, a size, a difference or a product of vectors, as it is or scaled, and may be 0."""
    value = evaluator.values.get(node, UNKNOWN) if node is not None else UNKNOWN
    if value.learnable or depth == _DEEPEST:
        return False
    return any(_is_measured(choice, evaluator, depth) for choice in value.possible)


def _is_measured(value: Value, evaluator: Evaluator, depth: int) -> bool:
    made_by = value.made_by
    # How a helper's result comes about is not seen from here, and a constant is a buffer that is filled elsewhere.
    if made_by is None or made_by.node not in evaluator.values or not value.range.has_zero or value.range.constant == 0:
        return False
    if made_by.function in CARRYING:
        return is_measured(made_by.subject, evaluator, depth + 1)
    if made_by.function == "torch.mul":
        return any(is_measured(factor, evaluator, depth + 1) for factor in made_by.arguments.values())
    if made_by.function == "torch.sub":
        # Of what is known to be in order, the order is all that keeps it from 0, and judged where it is known.
        return not (value.is_known and value.range.low == 0) and _is_open_difference(made_by, evaluator)
    if made_by.function == "torch.add":
        return all(is_measured(term, evaluator, depth + 1) for term in made_by.arguments.values())
    return made_by.function in _PRODUCTS | _DISTANCES or (
        made_by.function in _REDUCTIONS and _is_of_data(made_by, evaluator)
    )


def _is_of_data(call: Call, evaluator: Evaluator) -> bool:
    """Whether what is reduced is neither shares of a whole, nor drawn, nor a test, nor a setting of the object."""
    subject = call.subject
    # The larger of two has a bound in the other.
    if (
        subject is None
        or "other" in call.arguments
        or is_drawn(subject, evaluator)
        or is_kept(subject)
        or not _FILLED.isdisjoint(words := words_of(subject))
    ):
        return False
    value = evaluator.values.get(subject, UNKNOWN)
    if not named.ENCODED.isdisjoint(words) and (value.range.integer or not named.MARKED.isdisjoint(words)):
        return False
    made_by = value.origin.function if value.origin is not None else ""
    # The largest class is not empty.
    if value.range.integer and call.function in LARGEST:
        return False
    if value.kind is Kind.NUMBER or made_by in _NORMS or (made_by != "torch.mul" and is_of_shares(subject, evaluator)):
        return False
    return not (value.range.integer and any(_is_judged(inner, evaluator) for inner in behind(subject, evaluator)))


def _is_judged(node: cst.BaseExpression, evaluator: Evaluator) -> bool:
    """Whether it is a test, which tells more of how likely it is, or is about padding, of which there is never nothing else."""
    call = evaluator.calls.get(node)
    is_test = isinstance(node, cst.Comparison) or (call is not None and call.function in _TESTS)
    return is_test or not named.LENGTHS.isdisjoint(words_of(node))


def is_of_squares(node: cst.BaseExpression | None, evaluator: Evaluator, depth: int = 0) -> bool:
    """Whether `node` is made of squares alone, summed up or not, whatever else may be wrong with them."""
    made_by = evaluator.values.get(node, UNKNOWN).origin if node is not None else None
    if node is None or made_by is None or made_by.node not in evaluator.values or depth == _DEEPEST:
        return False
    if is_drawn(node, evaluator):
        return False
    if made_by.function == "torch.add":
        parts = [made_by.arguments.get(name) for name in ("input", "other")]
        return all(is_of_squares(part, evaluator, depth + 1) for part in parts)
    if made_by.function == "torch.pow":
        exponent = made_by.arguments.get("exponent")
        return evaluator.values.get(exponent, UNKNOWN).number == _SQUARE  # type: ignore[arg-type] # a node or nothing
    if made_by.function in {"torch.sum", "torch.mean"}:
        return is_of_squares(made_by.subject, evaluator, depth + 1)
    return made_by.function == "torch.square"


def _is_open_difference(call: Call, evaluator: Evaluator) -> bool:
    """`1 - rho ** 2`, `high - low`: of two things that are no settings, in no order that is known."""
    sides = [call.arguments.get(name) for name in ("input", "other")]
    if any(side is None or is_eps(side, evaluator) or is_kept(side) or is_chosen(side, evaluator) for side in sides):
        return False
    # What two things hold together is judged by its form.
    total = evaluator.values.get(call.subject, UNKNOWN).origin if call.subject is not None else None
    if total is not None and total.function == "torch.add":
        return False
    values = [evaluator.values.get(side, UNKNOWN) for side in sides]  # type: ignore[arg-type] # none of them is None
    if any(value.learnable for value in values) or all(value.kind is Kind.NUMBER for value in values):
        return False
    are_slices = all(isinstance(side, cst.Subscript) for side in sides)
    return are_slices or any(value.kind is Kind.TENSOR or _is_power(value) for value in values)


def _is_power(value: Value) -> bool:
    """A square or a size: nobody takes that of a Python number before a difference."""
    return value.made_by is not None and value.made_by.function in {"torch.pow", "torch.square", "torch.abs"}
