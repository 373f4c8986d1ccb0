"""NAN208 tiny-temperature."""

from __future__ import annotations

from nanlint.rule import Call, Edit, Expression, Facts, Finding, Hazard, Iterator, Rule, items, unsafe

DIV = "torch.div"
WORDS = frozenset({"temperature", "temp", "tau"})
SAMPLING = ("multinomial", "Categorical", "gumbel_softmax")
# A logit of 3,300 over this is past the end of float16.
SMALLEST = 0.05
LARGEST = 65504.0
FLOOR = "1e-2"
SETTING, QUOTED = "setting", 40


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
    in float32 and bfloat16; for one that is fitted by LBFGS, as calibrations are; in tests. At `info` for a setting of what
    samples by itself (`self.temperature`, `args.temperature`), which somebody may set to 0, and for one that is multiplied step by step.

    ## Fix
    Unsafe: `clamp(min=1e-2)` holds a learned temperature above 0, and moves what was below that.
    """

    code = "NAN208"
    name = "tiny-temperature"
    calls = frozenset({DIV})

    def check_call(self, call: Call, facts: Facts) -> Iterator[Finding]:
        """Judge one division."""
        below, above = call.arguments.get("other"), call.subject
        if below is None or above is None or facts.is_test():
            return
        constant = facts.constant_of(below)
        if constant is not None and 0 < constant < SMALLEST and not facts.value_of(below).assumed:
            yield from self._check_constant(call, above, below, facts)
        how, thing = "", facts.source_of(below)
        alike = (
            other for other in facts.calls_of(DIV) if facts.source_of(other.arguments.get("other", other.node)) == thing
        )
        if next(alike) is not call:
            return
        if WORDS.isdisjoint(facts.words_of(below)) or facts.is_tested(below) or facts.is_mended(call.node):
            return
        # A calibration ends where the loss is lowest, which is at no temperature of 0.
        if facts.value_of(below).learnable and facts.class_mentions("LBFGS"):
            return
        if facts.value_of(below).learnable:
            text = f"{facts.as_receiver(below)}.clamp(min={FLOOR})"
            fix = unsafe("Keep the temperature above 0", Edit(facts.span_of(below), text))
            message = f"`{facts.quote(below, QUOTED)}` is learned and can reach 0, where the logits are inf or NaN"
        elif facts.is_parameter(below) and facts.mentions(*SAMPLING) and not facts.is_tensor(below):
            fix, message = None, f"`{facts.quote(below, QUOTED)}` can be given as 0, where the logits are inf or NaN"
        elif how := facts.lowering(below):
            fix, message = (
                None,
                f"`{facts.quote(below, QUOTED)}` is lowered and has no floor: at 0 the logits are inf or NaN",
            )
        elif facts.mentions(*SAMPLING) and facts.is_named_setting(below):
            how, fix = SETTING, None
            message = f"`{facts.quote(below, QUOTED)}` can be set to 0, where the logits are inf or NaN"
        else:
            return
        # What is multiplied by 0.99 reaches 0 after tens of thousands of steps.
        evidence = (items.RARE if how in {"multiplied", SETTING} else items.MADE_SO,)
        hazard = Hazard(DIV, facts.source_of(below), "0")
        yield self.finding(facts.span_of(below), message, fix=fix, hazard=hazard, evidence=evidence)

    def _check_constant(self, call: Call, above: Expression, below: Expression, facts: Facts) -> Iterator[Finding]:
        """In float16 alone, of values that are not bounded by themselves, as cosines are."""
        reach, constant = facts.range_of(above), facts.constant_of(below)
        if facts.dtype_of(above) != "float16" or constant is None or max(-reach.low, reach.high) / constant <= LARGEST:
            return
        message = f"`{facts.quote(above, QUOTED)}` over {facts.quote(below, QUOTED)} can be inf in float16"
        yield self.finding(
            facts.span_of(call.node),
            message,
            hazard=Hazard(DIV, facts.source_of(above), "large values"),
            evidence=(items.RARE,),
            dtypes=("float16",),
        )
