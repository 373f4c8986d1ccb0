"""NAN208 tiny-temperature."""

from __future__ import annotations

from nanlint.rule import Finding, Hazard, Iterator, OpHazard, Rule, every, items, temperatures, unsafe, uses

# A logit of 3,300 over this is past the end of float16.
SMALLEST, LARGEST = 0.05, 65504.0
FLOOR, QUOTED = "1e-2", 40
BREAKS = "where the logits are inf or NaN"


class TinyTemperature(Rule):
    """Logits divided by a temperature that can be 0, or next to it.

    ## Why it hurts
    A temperature that is learned follows its gradient through 0, and one that a user gives for sampling is 0 when greedy
    choice is meant: `logits / 0` is inf, and the softmax of it NaN. One that is lowered every epoch gets there some day.
    In float16 a constant below 0.05 is enough.

    ## Flagged
        temperature = nn.Parameter(torch.ones(()))
        probs = torch.softmax(logits / temperature, dim=-1)

    ## Instead
        temperature = nn.Parameter(torch.ones(()))
        probs = torch.softmax(logits / temperature.clamp(min=1e-2), dim=-1)

    ## Silent when
    the temperature is clamped, made by `softplus` or `exp`, or asked for on the way (`if temperature > 0`); for a setting
    of the model that no one changes, or lowers to a floor (`max(tau, 0.1)`); for a parameter of a function that does not sample; for a constant above 0.05, or
    in float32 and bfloat16; for one that is fitted by LBFGS, as calibrations are. At `info` for a setting of what
    samples by itself (`self.temperature`, `args.temperature`), which somebody may set to 0, and for one that is multiplied step by step.

    ## Fix
    Unsafe: `clamp(min=1e-2)` holds a learned temperature above 0, and moves what was below that.
    """

    code, name = "NAN208", "tiny-temperature"
    hazards = (every("torch.div", "other"),)

    def check(self, hazard: OpHazard) -> Iterator[Finding]:
        """Judge one division; of several by the same temperature, the first."""
        below = hazard.operand.value
        if below.number is not None and 0 < below.number < SMALLEST and not below.assumed:
            yield from self._check_constant(hazard, below.number)
        if (
            hazard.siblings[0] is not hazard
            or not temperatures.suggests_temperature(hazard.operand.text)
            or uses.is_replaced(hazard)
        ):
            return
        if temperatures.is_asked_about(hazard.operand.node, hazard.function):
            return
        harm, item = _harm(hazard)
        fix = None
        if below.learned:
            fix = unsafe("Keep the temperature above 0", hazard.with_call(f".clamp(min={FLOOR})"))
        if harm:
            message = f"`{hazard.operand.quoted(QUOTED)}` {harm}"
            yield self.told(hazard, message, at=hazard.operand.span, fix=fix, evidence=(item,))

    def _check_constant(self, hazard: OpHazard, constant: float) -> Iterator[Finding]:
        """In float16 alone, of values that are not bounded by themselves, as cosines are."""
        above = hazard.op.operands["input"]
        if above.dtype != "float16" or max(-above.range.low, above.range.high) / constant <= LARGEST:
            return
        logits = hazard.operand_of(hazard.op, "input").quoted(QUOTED)
        message = f"`{logits}` over {hazard.operand.text} can be inf in float16"
        large = Hazard(hazard.op.function, logits, "large values")
        yield self.finding(hazard.span, message, hazard=large, evidence=(items.RARE,), dtypes=("float16",))


def _harm(hazard: OpHazard) -> tuple[str, items.Item]:
    """How the temperature comes to be 0, and how sure that is; an empty text for not at all."""
    below, how = hazard.operand.value, temperatures.lowering(hazard.operand.node, hazard.function)
    draws = temperatures.draws(hazard.function)
    if below.learned:
        is_fitted = temperatures.is_fitted(hazard.function)
        return "" if is_fitted else f"is learned and can reach 0, {BREAKS}", items.MADE_SO
    if temperatures.is_parameter(below) and draws:
        return f"can be given as 0, {BREAKS}", items.MADE_SO
    if how:
        # What is multiplied by 0.99 reaches 0 after tens of thousands of steps.
        is_slow = how == temperatures.MULTIPLIED
        harm = "is lowered and has no floor: at 0 the logits are inf or NaN"
        return harm, items.RARE if is_slow else items.MADE_SO
    return f"can be set to 0, {BREAKS}" if draws and temperatures.is_setting(below) else "", items.RARE
