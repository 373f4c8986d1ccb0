"""What an operation keeps of a value and what it throws away: by a condition, a mask, an index, because it is not finite.

That protects the forward alone. What is thrown away gets a gradient of 0, and behind it 0 times an infinite slope is NaN. A product
with a mask does not even protect the forward.
"""

from __future__ import annotations

import ast
import math
from typing import TYPE_CHECKING, NamedTuple

from nanlint.analysis.dtypes import format_of
from nanlint.analysis.interpreter.conditions import range_where
from nanlint.analysis.op_graph import NUMBER, Op, Value, made_from
from nanlint.analysis.operation_results import COMPARISONS
from nanlint.analysis.relations import aligned, op_behind, root
from nanlint.analysis.selection import SUBSCRIPT, is_mask
from nanlint.analysis.sources import suggests_mask
from nanlint.ops.formats import FORMATS
from nanlint.ops.interval import NAN, UNIT, Interval
from nanlint.ops.ranges import transfer
from nanlint.ops.zone import BACKWARD, FORWARD, Zone
from nanlint.word_sets import torch_names, word_set

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

WHERE, FILL, PRODUCT = "torch.where", "torch.masked_fill", "torch.mul"
NAN_TO_NUM, CLAMPS = "torch.nan_to_num", torch_names("clamp clamp_min")
NOT, AND, OR = (
    word_set("<not> torch.logical_not torch.bitwise_not"),
    word_set("<and> torch.logical_and torch.bitwise_and"),
    word_set("<or> torch.logical_or torch.bitwise_or"),
)

FINITE_TESTS = {"torch.isnan": False, "torch.isinf": False, "torch.isfinite": True}
"""The tests for what is not finite, with what they say of a number."""
SELECTING = frozenset({WHERE, FILL, PRODUCT, NAN_TO_NUM, SUBSCRIPT}) | CLAMPS
TESTS = COMPARISONS | NOT | AND | OR | FINITE_TESTS.keys()
# Through these a bound on x is one on what is made of it.
_FOLLOWED = torch_names("add sub mul div pow square neg reciprocal")
# Through these a gradient of 0 stays 0, and so meets the infinite slope behind them.
_PASSING = torch_names("""
    mul pow square add sub neg abs log1p div log clamp clamp_min exp sqrt sin cos tan tanh sum mean
""")
# Of these the slope is made of the values themselves: 0 times NaN where one is NaN.
_LOSSES = frozenset(
    f"torch.nn.functional.{word}"
    for word in ("mse_loss", "l1_loss", "smooth_l1_loss", "huber_loss", "binary_cross_entropy", "binary_cross_entropy_with_logits", "kl_div")
)  # fmt: skip
_ELEMENTWISE = _FOLLOWED | _LOSSES | torch_names("abs exp log sqrt")
_CURVED = _LOSSES | torch_names("pow square abs mul div exp log")
# What overflows together, of the same values.
_EXPONENTIALS = torch_names("exp expm1")
_DEEPEST = 6


class Kept(NamedTuple):
    """`value` is kept where `condition` holds (or where it does not); no condition for what goes by the numbers themselves."""

    op: Op
    operand: str
    value: Value
    condition: Value | None = None
    holds: bool = True
    fill: Value | None = None
    """What stands in place of what is thrown away, if an operand says so."""

    @property
    def word(self) -> str:
        """The operation as people call it."""
        is_index = self.op.function == SUBSCRIPT or isinstance(self.op.node, ast.Subscript)
        is_product = self.op.function == PRODUCT
        return "the index" if is_index else "the product with a mask" if is_product else f"`{self.op.function[6:]}`"


def kept(op: Op, operand: str) -> Kept | None:  # noqa: PLR0911 - one for each way
    """What `op` keeps of an operand; None if all of it, or nobody knows."""
    given = op.operands
    value = given.get(operand)
    if value is None:
        return None
    if op.function == WHERE and operand in {"input", "other"} and "condition" in given:
        other = given.get("other" if operand == "input" else "input")
        return Kept(op, operand, value, given["condition"], operand == "input", other)
    if op.function == FILL and operand == "input" and "mask" in given:
        return Kept(op, operand, value, given["mask"], holds=False, fill=given.get("value"))
    if (op.function == NAN_TO_NUM and operand == "input") or (op.function in CLAMPS and "min" in given):
        return Kept(op, operand, value, fill=given.get("min"))
    if op.function == SUBSCRIPT and operand == "input":
        index = given.get("index")
        made = made_from(index)
        is_test = index is not None and (is_mask(index) or (made is not None and made.function in TESTS))
        return Kept(op, operand, value, index) if is_test else None
    if op.function == PRODUCT:
        mask = given.get("other" if operand == "input" else "input")
        is_infinite = value.number is not None and math.isinf(value.number)
        test = _test_behind(mask, is_share_enough=is_infinite) if mask is not None else None
        return Kept(op, operand, value, test[0], test[1]) if test is not None else None
    return None


def _test_behind(mask: Value, *, is_share_enough: bool = False) -> tuple[Value, bool] | None:
    """The test that a factor of 0 and 1 was made of, cast or taken from 1, or a share; and whether it is 1 where the test holds."""
    bare = root(mask)
    op = made_from(bare)
    if op is not None and op.function == "torch.sub" and op.subject is not None and op.subject.number == 1:
        rest = op.operands.get("other")
        inner = _test_behind(rest, is_share_enough=is_share_enough) if rest is not None else None
        return (inner[0], not inner[1]) if inner is not None else None
    if bare.kind == NUMBER or bare.number is not None:
        return None
    is_test = (op is not None and op.function in TESTS) or is_mask(bare) or suggests_mask(bare)
    return (bare, True) if is_test or (is_share_enough and bare.range.is_subset(UNIT)) else None


def range_kept(value: Value, found: Kept, depth: int = _DEEPEST) -> Interval:
    """The numbers of `value` in the places that are kept, for values that the condition is about and what is made of them."""
    if found.condition is None:
        return value.range
    plain = range_where(value, found.condition, holds=found.holds)
    op = op_behind(value)
    if plain != value.range or op is None or op.function not in _FOLLOWED or not depth:
        return plain
    ranges = {name: range_kept(each, found, depth - 1) for name, each in op.operands.items()}
    if all(ranges[name] == each.range for name, each in op.operands.items()):
        return plain
    constants: dict[str, object] = {name: each.number for name, each in op.operands.items() if each.number is not None}
    moved = transfer(op.function, ranges, constants, format_of(value.dtype))
    return moved if moved.low > plain.low or moved.high < plain.high else plain


def thrown_away(ops: Sequence[Op]) -> dict[Op, list[Kept]]:
    """The operations of a function whose results are thrown away in some places, with what does that, in the order of the code."""
    found: dict[Op, list[Kept]] = {}
    for op in ops:
        if op.function not in SELECTING:
            continue
        for each in filter(None, (kept(op, name) for name in ("input", "other"))):
            for made in behind(each):
                # Whose quotient is multiplied by a mask has NaN already: that is another defect.
                if made.function != "torch.div" or op.function != PRODUCT:
                    found.setdefault(made, []).append(each)
    return found


def zones_thrown_away(op: Op, operand: str, found: Kept, zones: Sequence[Zone]) -> list[Zone]:
    """The zones of the gradient that an operand enters only where the result is thrown away."""
    slopes = [zone for zone in zones if zone.direction is BACKWARD and not zone.row]
    results = {zone.result for zone in zones if zone.direction is FORWARD}
    if found.op.function in CLAMPS:
        return slopes if "-inf" in results else []
    if results and slopes and thrown_away_as_broken(found, op):
        return slopes
    if nan_operand(found, op) == operand:
        return [Zone(op.function, operand, BACKWARD, name, "nan", (NAN,)) for name in FORMATS]
    if found.condition is None or _breaks_instead(found, op):
        return []
    reach = range_kept(op.operands[operand], found)
    return [zone for zone in slopes if avoids(zone, reach)] if reach != op.operands[operand].range else []


def _breaks_instead(found: Kept, op: Op) -> bool:
    """Whether what is taken in its place overflows with it, so that nothing is hidden: `where(x < 0.5, expm1(x), exp(x) - 1)`."""
    if found.fill is None or op.function not in _EXPONENTIALS:
        return False
    instead = behind(found._replace(value=found.fill))
    return any(each.function in _EXPONENTIALS and aligned(each.subject, op.subject) for each in instead)


def avoids(zone: Zone, reach: Interval) -> bool:
    """Whether values of this range stay out of a zone, but for the end of it, which `x > 1` leaves out."""
    if not zone.meets_ordinarily(reach):
        return True
    touching = [part for part in zone.values if part.meets(reach)]
    return all(
        part.low < part.high and (part.high == reach.low or part.low == reach.high or _is_edge(part, reach))
        for part in touching
    )


def _is_edge(part: Interval, reach: Interval) -> bool:
    both = part.meet(reach)
    return both.low == both.high


def behind(found: Kept) -> Iterator[Op]:
    """The operations whose results a gradient of 0 meets behind what is thrown away, nearest first."""
    waiting, seen = [(found.value, _DEEPEST)], set[Op]()
    while waiting:
        value, depth = waiting.pop(0)
        op = op_behind(value)
        if op is None or op in seen or not op.recorded:
            continue
        seen.add(op)
        if not op.function.startswith("<"):
            yield op
        if depth and op.function in _PASSING:
            waiting += [(each, depth - 1) for each in op.operands.values() if each.kind != NUMBER and not each.detached]


def spreads(found: Kept, op: Op) -> bool:
    """Whether what `op` breaks stays broken in the forward: what a product with 0 leaves of an infinity is NaN."""
    return found.op.function == PRODUCT and op.function not in {"torch.sqrt", "torch.pow"}


def asked_for_nan(condition: Value | None, *, holds: bool, depth: int = _DEEPEST) -> Iterator[tuple[Value, bool]]:
    """The values that are not finite where the condition is not as `holds` says; and whether NaN alone was asked for."""
    op = op_behind(condition)
    if op is None or not depth:
        return
    if op.function in NOT:
        for each in op.operands.values():
            yield from asked_for_nan(each, holds=not holds, depth=depth - 1)
    elif op.function in (AND if holds else OR):
        for each in op.operands.values():
            yield from asked_for_nan(each, holds=holds, depth=depth - 1)
    elif op.function in FINITE_TESTS and op.subject is not None and FINITE_TESTS[op.function] is holds:
        yield op.subject, op.function == "torch.isnan"
    elif op.function == ("torch.eq" if holds else "torch.ne") and aligned(
        op.operands.get("input"), op.operands.get("other")
    ):
        yield op.operands["input"], True


def thrown_away_as_broken(found: Kept, op: Op) -> bool:
    """Whether what `op` breaks is thrown away because it is broken: `nan_to_num`, a clamp of -inf, `y[isnan(y)] = 0`."""
    if found.condition is None:
        return found.op.function == NAN_TO_NUM
    return any(_is_made_of(value, op) for value, _ in asked_for_nan(found.condition, holds=found.holds))


def nan_operand(found: Kept, op: Op) -> str | None:
    """The operand of `op` that is NaN in the places thrown away, and that its slope is made of: `((x - t) ** 2)[~isnan(t)]`."""
    if op.function not in _CURVED:
        return None
    for name, each in op.operands.items():
        others = [other for other in op.operands.values() if other is not each]
        is_slope = op.function not in {"torch.mul", "torch.div"} or any(_has_gradient(other) for other in others)
        if not is_slope or not any(map(_has_gradient, op.operands.values())):
            continue
        for value, is_nan in asked_for_nan(found.condition, holds=found.holds):
            if holds_nan_of(each, value) or (is_nan and op_behind(value) is op and each.number is None):
                return name
    return None


def _has_gradient(value: Value) -> bool:
    return not value.detached and value.kind != NUMBER and value.number is None


def holds_nan_of(value: Value, asked: Value, depth: int = _DEEPEST) -> bool:
    """Whether `value` is NaN where `asked` is: it is that, or was computed of it element by element."""
    if aligned(value, asked):
        return True
    op = op_behind(value)
    return (
        op is not None
        and depth > 0
        and op.function in _ELEMENTWISE
        and any(holds_nan_of(each, asked, depth - 1) for each in op.operands.values())
    )


def _is_made_of(value: Value, op: Op, depth: int = _DEEPEST) -> bool:
    """Whether `value` is the result of `op`, or was computed of it."""
    made = op_behind(value)
    if made is op:
        return True
    return (
        made is not None
        and depth > 0
        and made.function in _PASSING
        and any(_is_made_of(each, op, depth - 1) for each in made.operands.values())
    )


def infinite_where_dropped(found: Kept) -> str:
    """Why a factor is not finite where the mask that it is multiplied with is 0; empty if nothing says so."""
    value = found.value
    if any(holds_nan_of(value, asked) for asked, _ in asked_for_nan(found.condition, holds=found.holds)):
        return "is not finite"
    if value.number is not None and math.isinf(value.number) and not value.assumed:
        return f"is {value.number:g} also" if found.condition is not None and found.condition.range.has_zero else ""
    made = op_behind(value)
    filled = kept(made, "input") if made is not None and made.function == FILL else None
    if filled is not None and filled.fill is not None and filled.fill.range.minus_inf and filled.condition is not None:
        bare = root(found.condition) if found.condition is not None else None
        same_way = bare is not None and aligned(filled.condition, bare) and filled.holds is found.holds
        return "is -inf" if same_way else ""
    return ""
