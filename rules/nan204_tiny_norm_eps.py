"""NAN204 tiny-norm-eps."""

from __future__ import annotations

from nanlint.rule import Direction, Edit, Finding, Fix, Iterator, OpHazard, Rule, every, items, norms, unsafe

# Below it the gradient, 1 / sqrt(eps) for a row of zeros, comes near the end of float16 and passes it at 2.3e-10.
SMALLEST = 1e-8
# Below the first a row of zeros has its gradient multiplied by a million in every format; below the second rsqrt's slope there is inf.
SMALLEST_ANYWHERE, NAN_BELOW, FORMATS = 1e-12, 2e-26, ("float16", "bfloat16", "float32")
# The gradient of rsqrt is made of eps ** -1.5: past the end of float16 already here. What is smaller than the last is 0 there.
SMALLEST_IN_HALF, LOST_IN_HALF = 65504.0 ** (-2 / 3), 2.0**-25
QUOTED = 40


class TinyNormEps(Rule):
    """A normalisation whose eps is too small for a row of zeros.

    ## Why it hurts
    A padded row is all 0, and its norm is the root of eps alone: the gradient is multiplied by `1 / sqrt(eps)`, which
    float16 cannot hold below 2e-10. Written by hand in float16 an eps of 1e-8 is 0, and the row is 0 / 0.

    ## Flagged
        norm = nn.LayerNorm(512, eps=0)
        half = x.half()
        y = half * torch.rsqrt(half.pow(2).mean(-1, keepdim=True) + 1e-8)
        z = x * torch.rsqrt(x.pow(2).mean(-1, keepdim=True) + 1e-20)

    ## Instead
        norm = nn.LayerNorm(512, eps=1e-6)
        single = x.float()
        y = single * torch.rsqrt(single.pow(2).mean(-1, keepdim=True) + 1e-6)

    ## Silent when
    every eps that callers and settings of the project give is at least 1e-8 (6e-4 for a `rsqrt` by hand in float16), or nobody knows it;
    for batch norm with 0, which refuses it by itself. From 1e-12 on it fails in float16 alone.

    ## Fix
    Unsafe: `eps=1e-6` (1e-5 for batch norm) changes rows that are next to 0. Under a `rsqrt` by hand it becomes a bound, `clamp_min(1e-6)`,
    since the slope of `rsqrt` at 1e-6 is past the end of float16. None for an eps that is given by a name.
    """

    code, name = "NAN204", "tiny-norm-eps"
    direction = Direction.BACKWARD
    hazards = tuple(every(operation, operand) for operation, operand in norms.WATCHED)

    def check(self, hazard: OpHazard) -> Iterator[Finding]:
        """Look at the smallest eps that somebody gives."""
        found = norms.norm_eps(hazard.op)
        reach = hazard.graph.with_callers(found.value).range if found is not None else None
        if found is None or reach is None or not 0 <= reach.low < SMALLEST_IN_HALF or reach.high > 1:
            return
        message, where, direction, likely = _harm(hazard, found, reach.low)
        if message:
            evidence = (likely,) if likely is not None else ()
            fix = _fix(hazard, found)
            yield self.told(hazard, message, fix=fix, dtypes=where, direction=direction, evidence=evidence)


def _harm(  # noqa: PLR0911 - one answer for each size of eps
    hazard: OpHazard, found: norms.NormEps, eps: float
) -> tuple[str, tuple[str, ...], Direction, items.Item | None]:
    """What an eps does to a row of zeros, in which formats and directions, and how sure that is; an empty text for nothing."""
    word, dtype = hazard.word, hazard.operand.value.dtype
    text = hazard.source.text_of(found.node) if found.node is not None else f"{eps:g}"
    norm = f"a norm with the eps `{text}`" if found.added is not None else f"`{word}`"
    by_rsqrt = (
        "rms" in word.lower() or word == "rsqrt" or (word == "pow" and hazard.op.operands["exponent"].range.low < 0)
    )
    if eps == 0:
        is_refused = word.startswith(("BatchNorm", "batch_norm", "InstanceNorm", "instance_norm"))
        row = "row of zeros" if found.added is not None else "row of equal values"
        return "" if is_refused else f"{norm} with an eps of 0 divides 0 by 0 in a {row}", FORMATS, Direction.BOTH, None
    if eps < SMALLEST_ANYWHERE:
        factor = f"multiplied by {eps**-0.5:.0e} in a row of zeros"
        is_nan = by_rsqrt and eps <= NAN_BELOW
        harm = f"NaN in a row of zeros: {eps:g} ** -1.5 overflows" if is_nan else factor
        return f"the gradient of {norm} is {harm}", FORMATS, Direction.BACKWARD, None
    likely = items.RANGE_REACHES if dtype == "float16" and not hazard.op.autocast else None
    if found.added is None:
        message = f"the gradient of {norm} is multiplied by {eps**-0.5:.0e} in a row of zeros: inf in float16"
        return message if eps < SMALLEST else "", ("float16",), Direction.BACKWARD, likely
    if dtype not in {"", "float16"}:
        return "", (), Direction.BACKWARD, None
    if eps <= LOST_IN_HALF:
        return f"the eps `{text}` is 0 in float16: a row of zeros is 0 / 0", ("float16",), Direction.BOTH, likely
    if dtype == "float16" and by_rsqrt:
        slope = f"with the eps `{text}` the slope of rsqrt is {0.5 * eps**-1.5:.0e} in a row of zeros: inf in float16"
        return slope, ("float16",), Direction.BACKWARD, None
    return "", (), Direction.BACKWARD, None


def _fix(hazard: OpHazard, found: norms.NormEps) -> Fix | None:
    """The eps of published models in place of a number that is written there."""
    if found.node is None or not hazard.source.text_of(found.node)[:1].isdigit():
        return None
    number = "1e-5" if "batch" in hazard.op.function.lower() else "1e-6"
    if found.added is None or hazard.op.function != "torch.rsqrt":
        return unsafe(f"Set eps to {number}", Edit(hazard.source.span_of(found.node), number))
    name = next((name for name, value in found.added.operands.items() if value is not found.value), "input")
    rest = hazard.operand_of(found.added, name)
    if rest.node is None or found.added.node is None or "#" in hazard.source.text_of(found.added.node):
        return None
    bounded = Edit(hazard.source.span_of(found.added.node), f"{rest.as_receiver}.clamp_min({number})")
    return unsafe(f"Hold it above {number}", bounded)
