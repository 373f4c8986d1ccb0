"""NAN201 exp-overflow."""

from __future__ import annotations

from nanlint.rule import (
    Direction,
    Finding,
    Fix,
    Iterator,
    OpHazard,
    Rule,
    exponents,
    items,
    show,
    unsafe,
    uses,
    word_set,
    zone,
)

# From here on the result is inf in float32; in float16 all of them overflow at 11 to 16.
OVERFLOW_FLOAT16 = 11.09
OVERFLOW = {
    **dict.fromkeys(("torch.exp", "torch.expm1", "torch.i0", "torch.special.i1"), 88.72),
    **dict.fromkeys(("torch.sinh", "torch.cosh"), 89.42),
    "torch.exp2": 128.0,
    "torch.nn.functional.poisson_nll_loss": 88.72,
}
# Why the exponent is large -> how that is said, and how sure it is.
REASONS = {
    "reaches": ("can be {greatest:g}", items.RANGE_REACHES),
    "sampled": ("are weights to sample by", items.MADE_SO),
    "cosh": ("has no known bound", items.MADE_SO),
    "amplified": ("is amplified, and nothing bounds it", items.MADE_SO),
    "ratio": ("is a log-ratio that nothing bounds", items.MADE_SO),
    "learned": ("is learned, and nothing bounds it", items.MADE_SO),
    "layer": ("is the output of a layer, and nothing bounds it", items.MADE_SO),
    "variance": ("is a log-variance that nothing bounds", items.MADE_SO),
    "unknown": ("has no known bound", items.NOTHING_KNOWN),
}
WIDE = word_set("bfloat16 float32 float64")
LOG_COSH = "log(cosh(x)) is x.abs() + F.softplus(-2 * x.abs()) - math.log(2), without the detour"
LOG_SPACE = "stay in log space: logsumexp for the sum of products, and a difference for the quotient"
LARGE, QUOTED = 1e6, 26


class ExpOverflow(Rule):
    """The exponential of a value that nothing bounds.

    ## Why it hurts
    `exp` is inf from 88.7 on in float32, from 11.1 on in float16. A policy that moved away has a log-ratio of 100 easily;
    clipped afterwards, the ratio still has the gradient `0 * inf`, NaN.

    ## Flagged
        ratio = torch.exp(policy.log_prob(action) - old_log_prob)

    ## Instead
        ratio = torch.exp((policy.log_prob(action) - old_log_prob).clamp(max=20.0))

    ## Silent when
    the exponent stays below: clamped, on some path at least, `x - x.max()`, `-x**2`, a log-probability by itself, a decay `-x`; where no
    gradient passes, but for weights that `multinomial` is given.

    ## Fix
    Unsafe: `clamp(max=10.0)` caps the result at 2.2e4, which float16 holds (20.0 and 4.9e8 where the dtype is wider), and cuts the gradient above.
    A sketch for what is amplified, for a kernel that is divided by and for `log(cosh(x))`: they belong in log space.
    """

    code, name = "NAN201", "exp-overflow"
    hazards = (
        *(zone(exp, "input", contains=LARGE) for exp in OVERFLOW),
        zone("torch.div", "other", contains=0),
        zone("torch.reciprocal", "input", contains=0),
    )
    yields_to = frozenset({"NAN202"})

    def check(self, hazard: OpHazard) -> Iterator[Finding]:
        """Word one exponential, or one division by the rows of a kernel."""
        if hazard.op.function not in OVERFLOW:
            yield from self._check_kernel(hazard)
            return
        exponent = hazard.callers
        edge = OVERFLOW_FLOAT16 if exponent.dtype == "float16" else OVERFLOW[hazard.op.function]
        kind = exponents.why_large(hazard.op, exponent, hazard.function.ops)
        is_lost = not hazard.op.recorded or hazard.is_without_gradient or uses.is_cut_off(hazard.op, hazard)
        if not kind or exponent.range.greatest < edge or hazard.is_of_arrays or (is_lost and kind != "sampled"):
            return
        reason, item = REASONS[kind]
        message = f"`{hazard.operand.quoted(QUOTED)}` {reason.format(greatest=exponent.range.greatest)}"
        message += f": {hazard.op.function.rpartition('.')[2].partition('_')[0]} overflows above {edge:.3g}"
        yield self.told(hazard, message, direction=Direction.BOTH, fix=_fix(hazard, kind), evidence=(item,))

    def _check_kernel(self, hazard: OpHazard) -> Iterator[Finding]:
        """`K = exp(-cost / eps)`, then `a / (K @ v)`: a row that is 0 as a whole is divided by."""
        kernel = exponents.kernel_divided_by(hazard.operand.value)
        if kernel is None or uses.is_replaced(hazard):
            return
        exponent = hazard.operand_of(kernel, "input").quoted(QUOTED)
        message = f"exp of `{exponent}` is 0 below -104, and a row of it is divided by"
        place = hazard.span_of(kernel) if hazard.is_here(kernel) else None
        yield self.told(
            hazard, message, at=place, direction=Direction.BOTH, fix=show(LOG_SPACE), evidence=(items.MADE_SO,)
        )


def _fix(hazard: OpHazard, kind: str) -> Fix | None:
    if kind in {"amplified", "cosh"}:
        return show(LOG_COSH if kind == "cosh" else LOG_SPACE)
    bound = "20.0" if hazard.operand.value.dtype in WIDE else "10.0"
    edit = hazard.with_call(f".clamp(max={bound})") if hazard.takes_methods else None
    return unsafe("Bound the exponent", edit)
