"""NAN102 log-of-zero."""

from __future__ import annotations

from nanlint.rule import (
    Direction,
    Finding,
    Fix,
    Iterator,
    OpHazard,
    Rule,
    items,
    log_arguments,
    unsafe,
    uses,
    word_set,
    zone,
)

LOGS = ("torch.log", "torch.log2", "torch.log10", "torch.log1p")
LOG1P = LOGS[-1]
# Why the argument can be 0 -> how that is said, and how sure it is.
REASONS = {
    "mask": ("{argument} is 0 where `{mask}` is: log(0) is -inf", items.MADE_SO),
    "rounds": ("{argument} can be 0 where the {kind} rounds: log(0) is -inf", items.MADE_SO),
    "odds": ("{argument} can be 0: these are log-odds, -inf at one end of the range and inf at the other", items.RARE),
    "reaches": ("{argument} can be 0{below} (range {reach}): log gives -inf{nan}", items.MADE_SO),
    "made": ("{argument} can be 0 where what it is made of is: log(0) is -inf", items.MADE_SO),
    "difference": ("{argument} is a difference and can round to 0 or below: log gives -inf or NaN", items.RARE),
    "products": ("{argument} is a sum of products and can be 0: log(0) is -inf", items.RARE),
    "either": ("{argument} is 0 where a sure model is wrong: log(0) is -inf", items.RANGE_REACHES),
    "learned": ("{argument} is learned, and nothing keeps it above 0: log(0) is -inf", items.MADE_SO),
    "unknown": ("nothing keeps {argument} above 0: log(0) is -inf", items.NOTHING_KNOWN),
    LOG1P: ("log1p(-1) is -inf: {argument} can reach -1 (range {reach})", items.RANGE_REACHES),
}
# Of these a message tells of what is below 0 as well, where the slope is a number.
BELOW = word_set("reaches difference")
QUOTED = 50


class LogOfZero(Rule):
    """The argument of a logarithm can be 0.

    ## Why it hurts
    `log(0)` is -inf and its slope is inf; below 0 it is NaN. A silent clip, an empty class, a mask of zeros, a tanh that
    rounds to 1 makes the argument 0, the loss -inf, and every gradient of the step NaN.

    ## Flagged
        energy = frames.pow(2).sum(dim=-1)
        level = 10 * torch.log10(energy)
        log_prob = normal.log_prob(u) - torch.log(1 - torch.tanh(u) ** 2)

    ## Instead
        level = 10 * torch.log10(energy.clamp_min(1e-12))
        log_prob = normal.log_prob(u) - 2 * (math.log(2) - u - F.softplus(-2 * u))

    ## Silent when
    the argument stays above 0, as after `clamp_min(1e-12)` or `+ 1e-8`; of `exp(x)`, which only underflow makes 0, and of a mask, where -inf
    is meant; under `no_grad`; when a `where` drops the result (NAN302 judges its gradient).

    ## Fix
    Unsafe: `clamp_min(1e-7)`, or 1e-12 where the dtype is not float16, changes the result where the argument was below that.
    """

    code, name = "NAN102", "log-of-zero"
    evidence = (items.LOST_AT_ONCE,)
    hazards = tuple(zone(log, "input") for log in LOGS)
    yields_to = word_set("NAN110 NAN111 NAN112 NAN202 NAN203 NAN210 NAN211 NAN302")

    def check(self, hazard: OpHazard) -> Iterator[Finding]:
        """Word one logarithm."""
        argument, reach = hazard.callers, hazard.callers.range
        kind, way = log_arguments.reason_for(hazard.op, argument, hazard.function.ops)
        if not kind or not hazard.op.recorded or hazard.is_of_arrays or uses.is_replaced(hazard):
            return
        is_open = kind == "unknown" and not log_arguments.is_kept_on_some_path(argument)
        is_likelihood = is_open and uses.is_a_likelihood(hazard)
        sentence, item = REASONS[LOG1P if hazard.op.function == LOG1P else kind]
        message = sentence.format(
            argument=f"`{hazard.operand.quoted(QUOTED)}`",
            mask=hazard.operand_of(way.op, way.mask).quoted(QUOTED // 2) if way and way.op and way.mask else "",
            kind=way.kind if way else "",
            reach=reach,
            below=" or negative" if reach.low < 0 else "",
            nan=" or NaN" if reach.low < 0 else "",
        )
        is_below = kind in BELOW and reach.low < 0
        is_forward = is_below or uses.is_read_off(hazard) or hazard.is_behind_relu
        yield self.told(
            hazard,
            message,
            labels=hazard.label(way.op, f"the {way.kind} is made here") if way and way.kind else (),
            # The slope of a relu is 0 at 0, whatever comes back.
            direction=Direction.FORWARD if is_forward else Direction.BOTH,
            fix=_fix(hazard) if kind not in {"odds", "unknown"} or is_likelihood else None,
            evidence=(items.MADE_SO if is_likelihood else item,),
        )


def _fix(hazard: OpHazard) -> Fix | None:
    value = hazard.operand.value
    is_odd = value.range.nan or uses.is_read_off(hazard) or log_arguments.is_odds(hazard.op, hazard.function.ops)
    # Where an eps is there already, what is wrong is below it.
    if is_odd or hazard.op.function == LOG1P or log_arguments.is_raised(value) or not hazard.takes_methods:
        return None
    edit = hazard.with_call(f".clamp_min({hazard.floor})")
    return unsafe("Keep the argument of the logarithm above 0", edit)
