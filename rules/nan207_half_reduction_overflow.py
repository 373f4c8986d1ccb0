"""NAN207 half-reduction-overflow."""

from __future__ import annotations

from nanlint.rule import Finding, Iterator, OpHazard, Rule, every, half_overflows, items, unsafe, word_set

WATCHED = (
    half_overflows.SUMS
    | half_overflows.NORMS
    | half_overflows.POWERS
    | half_overflows.MATRIX_PRODUCTS
    | half_overflows.AREAS
    | half_overflows.AVERAGES
    | {half_overflows.QUOTIENT}
)
QUOTED = 30


class HalfReductionOverflow(Rule):
    """A sum, a square, a norm or a product of matrices that passes the end of float16.

    ## Why it hurts
    float16 ends at 65504. 70 values of 1000 are enough for a sum, one of 256 for a square, a box of 300 by 300 pixels
    for an area: the result is inf, and the quotient or difference that follows is NaN.

    ## Flagged
        half = x.half()
        total = half.pow(2).sum()

    ## Instead
        half = x.half()
        total = half.float().pow(2).sum()

    ## Silent when
    the values are bfloat16 or wider, cast first (`.float()`) or by `dtype=torch.float32`; inside autocast, where sums, powers and
    norms run in float32; when the values are known to be small enough; for `mean` and `var`, which add up in float32.

    Also told, and at `info` where neither the code nor the project says that they are float16: areas in pixels, `q @ k` that is scaled afterwards, `k.T @ v` of a linear attention, the sum of
    log-probabilities over all classes and of what a loss counts over all pixels, the norm of gradients, the sum or mean of squares, or the variance, whose root is taken.

    ## Fix
    Unsafe: `.float()` makes the result float32, which the code around it must accept.
    """

    code, name = "NAN207", "half-reduction-overflow"
    dtypes = ("float16",)
    hazards = tuple(every(operation, "input") for operation in sorted(WATCHED))
    zone = "large values in float16"
    yields_to = word_set("NAN103 NAN203 NAN204 NAN210 NAN211 NAN301")

    def check(self, hazard: OpHazard) -> Iterator[Finding]:
        """Judge one reduction, in float16 or where nobody knows."""
        op, text = hazard.op, hazard.quoted(hazard.op, QUOTED)
        is_half = half_overflows.is_half(op)
        if is_half and half_overflows.overflows(op):
            yield self._of_half(hazard)
            return
        if hazard.is_of_arrays or hazard.is_decided_by_dtype or not (is_half or half_overflows.is_open(op)):
            return
        if half_overflows.is_area(op):
            here = (each for each in hazard.function.ops if each.scope is op.scope and half_overflows.is_area(each))
            if next(here) is op:
                yield self.told(hazard, f"`{text}` is an area: inf in float16 from 256 by 256 pixels on")
        elif half_overflows.is_scaled_late(op, hazard.function):
            message = f"`{hazard.operand.quoted(QUOTED)}` is scaled too late: in float16 the product itself can be inf"
            yield self.told(hazard, message, evidence=(items.RARE,))
        elif half_overflows.is_large(op, hazard.function):
            yield self.told(hazard, f"`{text}` can be inf if it is float16, which ends at 65504")

    def _of_half(self, hazard: OpHazard) -> Finding:
        edit = None if hazard.is_in_place else hazard.with_call(".float()")
        word = "square" if hazard.word == "mul" else hazard.word
        return self.told(
            hazard,
            f"`{hazard.operand.quoted(QUOTED)}` is float16, which ends at 65504: its {word} can be inf",
            fix=unsafe("Compute in float32", edit),
            evidence=(items.RANGE_REACHES,),
        )
