"""NAN105 fractional-power."""

from __future__ import annotations

from nanlint.rule import Call, Direction, Expression, Facts, Finding, Hazard, Iterator, Rule, items, show

POWER = "torch.pow"
PRODUCT = "torch.mul"
ANGLES = frozenset({"torch.cos", "torch.sin"})
CLAMPS = frozenset({"torch.clamp", "torch.clamp_min", "torch.clamp_max"})
# A bound so close below 0 is our own caution about the last digits.
INF, ROUNDING = float("inf"), 1e-4
# Exponents that somebody sets, and sets below 1 at times.
SETTINGS = frozenset({"gamma", "focal", "exponent", "power", "tau"})
QUOTED = 40


class FractionalPower(Rule):
    """A power with an exponent that is no integer, of a value that can be negative.

    ## Why it hurts
    `x ** 1.5` of a negative x is NaN, in the forward and in the gradient, however close to 0 it is. A learnable exponent has
    the gradient `x ** p * log(x)`, which is NaN for every negative x, even where p happens to be 2.

    ## Flagged
        weight = torch.cos(angle) ** 1.5

    ## Instead
        weight = torch.cos(angle).clamp_min(1e-6) ** 1.5

    ## Silent when
    the base is known not to be negative, or is the cosine or sine of an angle that was clamped, or has an eps added to it (whoever adds one knows the angle to be of the first quadrant); for integer exponents; for roots (NAN103 and NAN301 speak of those); when nothing
    bounds the base below (at `info` where it is given or computed here and the code may be trained), unless it is what a size leaves of a number, as `1 - x.abs()`; when a `where` throws the NaN away (NAN302 speaks of the gradient); in tests.
    At `info`: `(1 - p) ** gamma` of a probability, whose slope at 0 is infinite if somebody sets gamma below 1.

    ## Fix
    Sketch: a base held at 0, or the power of its size with its sign. Which of them is meant is for the author to say.
    """

    code = "NAN105"
    name = "fractional-power"
    evidence = (items.LOST_AT_ONCE,)
    direction = Direction.BOTH
    calls = frozenset({POWER})
    yields_to = frozenset({"NAN302"})

    def check_call(self, call: Call, facts: Facts) -> Iterator[Finding]:
        """Judge one power."""
        base, exponent = call.subject, call.arguments.get("exponent")
        if base is None or exponent is None or facts.is_test() or not facts.is_tensor(base):
            return
        around = map(facts.call_of, facts.parents_of(call.node))
        if any(each is not None and each.function == "torch.where" for each in around):
            return
        power, reach = facts.constant_of(exponent), facts.range_of(base)
        if power is None and not reach.has_negative:
            yield from self._check_setting_as_power(call, base, exponent, facts)
        is_open = reach.low == -INF and not _is_rest_of_size(base, facts)
        if reach.low >= -ROUNDING or reach.nan or (is_open and not (facts.could_train() and facts.is_unkept(base))):
            return
        if _is_of_bounded_angle(base, facts):
            return
        learned = power is None and facts.value_of(exponent).learnable
        if not learned and not (facts.is_inverse(exponent) if power is None else _is_fraction(power)):
            return
        shown = f"{power:g}" if power is not None else f"`{facts.quote(exponent, QUOTED)}`"
        reason = "is kept above 0 by nothing here" if is_open else f"can be negative (range {reach})"
        yield self.finding(
            facts.span_of(call.node),
            f"`{facts.quote(base, QUOTED)}` {reason}, and its power {shown} is NaN {'below' if is_open else 'there'}",
            evidence=(items.NOTHING_KNOWN,) if is_open else (items.RANGE_REACHES,),
            fix=show("clamp_min(0) on the base, or its sign times the power of its size"),
            hazard=Hazard(POWER, facts.source_of(base), "below 0"),
            direction=Direction.BACKWARD if learned else Direction.BOTH,
        )

    def _check_setting_as_power(
        self, call: Call, base: Expression, exponent: Expression, facts: Facts
    ) -> Iterator[Finding]:
        """`(1 - p) ** gamma`, as in a focal loss: p is 1 where the model is sure, and the slope infinite for a gamma below 1."""
        is_rest = bool(facts.saturated(base)) or facts.rest_to_one(base) is not None
        is_setting = not facts.is_tensor(exponent) and facts.is_named_for(exponent, SETTINGS)
        is_trained = facts.is_trained() and facts.has_gradient(base) and facts.has_gradient(call.node)
        if is_rest and is_setting and is_trained and facts.range_of(base).has_zero and facts.range_of(base).high <= 1:
            yield self.finding(
                facts.span_of(call.node),
                f"`{facts.quote(base, QUOTED)}` can be 0, where the slope of its power is inf for an exponent below 1",
                fix=show("clamp_min with a small number on the base, or an exponent that is 1 at least"),
                hazard=Hazard(POWER, facts.source_of(base), "0"),
                direction=Direction.BACKWARD,
                evidence=(items.DECIDED_ELSEWHERE,),
            )


def _is_of_bounded_angle(base: Expression, facts: Facts) -> bool:
    """Whether it is a cosine or sine of what was clamped, or a product with one, or was given an eps: not negative."""
    origin = facts.origin_of(base)
    raised = facts.raised(origin)
    if raised is not None:
        inner = facts.origin_of(raised.value)
        return inner is not None and inner.function in ANGLES
    if origin is not None and origin.function == PRODUCT:
        return any(_is_of_bounded_angle(factor, facts) for factor in origin.arguments.values())
    angle = facts.origin_of(origin.subject) if origin is not None and origin.function in ANGLES else None
    return angle is not None and angle.function in CLAMPS


def _is_rest_of_size(base: Expression, facts: Facts) -> bool:
    origin = facts.origin_of(base)
    taken = origin.arguments.get("other") if origin is not None and origin.function == "torch.sub" else None
    size = facts.origin_of(taken)
    if size is None:
        return False
    return size.function in {"torch.abs", "torch.square"} or facts.constant_of(size.arguments.get("exponent")) == 2


def _is_fraction(power: float) -> bool:
    return 0 < power % 1 < 1 and abs(power) != 0.5
