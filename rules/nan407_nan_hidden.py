"""NAN407 nan-hidden."""

from __future__ import annotations

import math

from nanlint.rule import Direction, Finding, Hazard, Iterator, OpHazard, Rule, Syntax, every, hidden_nan, items, show

AVERAGING = ("torch.nanmean", "torch.nansum")
FRESH = (
    "torch.zeros_like", "torch.zeros", "torch.tensor", "torch.full_like", "torch.Tensor.new_tensor", "torch.Tensor.new_zeros",
)  # fmt: skip
# A bound that no healthy loss comes near is there for the one that exploded.
CURE = 10.0


class NanHidden(Rule):
    """A NaN in a loss, a gradient or a parameter is replaced by a number, and nobody is told.

    ## Why it hurts
    The NaN had a cause, and the cause is still there: the model that made it, the batch that triggers it, the weight that
    is already NaN. With 0 in its place the run goes on for days, learning from nothing. `clamp(max=100)` keeps NaN as it
    is, and gives an exploded loss no gradient at all.

    ## Flagged
        loss = model(batch).mean()
        loss = torch.nan_to_num(loss)
        loss.backward()
        optimizer.step()

    ## Instead
        loss = model(batch).mean()
        if not torch.isfinite(loss):
            raise FloatingPointError(f"loss is {loss.item()}")
        loss.backward()
        optimizer.step()

    ## Silent when
    it is done to inputs, labels, targets, metrics, attention weights of masked rows, or to anything that is not a loss, a
    gradient, a norm, a parameter or a prediction by its name; without a gradient; in tests; where the same `if` asserts what made it so, or asks for a setting by that name (`replace_nan`);
    where inf takes the place of NaN, which no log overlooks. At `info` for what a mask has a part in, where NaN may stand for what is missing. A `clamp` of a loss is flagged with a constant `max` of 10 or more and no `min`, for the usual names of a loss.

    ## Fix
    Sketch: what to do about a NaN is to find where it comes from.
    """

    code = "NAN407"
    name = "nan-hidden"
    direction = Direction.LOOP
    hazards = (
        *(every(name, "input") for name in ("torch.nan_to_num", "torch.clamp", *AVERAGING, *hidden_nan.TESTS)),
        every("torch.masked_fill", "mask"),
        every("torch.where", "condition"),
        *(every(name) for name in FRESH),
    )

    def check(self, hazard: OpHazard) -> Iterator[Finding]:
        """Judge one operation that can put a number in the place of NaN."""
        node = hazard.op.node
        if node is None or hazard.is_in_tests:
            return
        for thing, place, told in _told(hazard):
            if hidden_nan.is_meant(place, hazard.code):
                continue
            is_masked = hidden_nan.is_masked(hazard.operand.sources, hazard.op, hazard.code)
            yield self.finding(
                hazard.source.span_of(place),
                told,
                fix=show("raise where it is not finite, and let `nanlint trace` tell where it comes from"),
                hazard=Hazard(hazard.op.function, hazard.quote(thing), "NaN"),
                evidence=(items.RARE,) if is_masked else (),
            )


def _told(hazard: OpHazard) -> Iterator[tuple[Syntax, Syntax, str]]:
    """What is replaced, where, and the message."""
    function, thing, node = hazard.op.function, hazard.operand.node, hazard.op.node
    if function in FRESH and node is not None:
        made = hidden_nan.made_anew(node, hazard.code)
        if made and hazard.op.recorded and hidden_nan.may_train(hazard.ends_with_gradient, hazard.code):
            yield node, node, f"`{made}` becomes `{hazard.quote(node, 40)}` where it was not finite"
        return
    if function in hidden_nan.FILLS:
        yield from _overwritten(hazard)
        return
    if (
        thing is None
        or node is None
        or not hidden_nan.is_trained_with(thing, hazard.op, hazard.ends_with_gradient, hazard.code)
    ):
        return
    text, whole = hazard.quote(thing, 30), hazard.quote(node, 40)
    if function == "torch.nan_to_num":
        stated = hazard.op.operands.get("nan")
        if stated is None or stated.number != math.inf:
            yield thing, node, f"`{whole}` puts a number in the place of NaN in `{text}`"
    elif function in AVERAGING:
        yield thing, node, f"`{whole}` leaves every NaN of `{text}` out of the loss"
    elif function in hidden_nan.TESTS:
        number = hidden_nan.number_instead(node, thing, hazard.code)
        if number is not None:
            yield thing, number, f"`{text}` becomes `{hazard.quote(number)}` where it was not finite"
    else:
        yield from _clamped(hazard, thing, node)


def _overwritten(hazard: OpHazard) -> Iterator[tuple[Syntax, Syntax, str]]:
    """`x[torch.isnan(x)] = 0`, `torch.where(x != x, 0, x)`, under whatever name the mask goes."""
    asked, filled = hidden_nan.broken_elements(hazard.operand.value), hidden_nan.filled_with(hazard.op)
    if asked is None or filled is None or not math.isfinite(filled.number or 0.0):
        return
    if hidden_nan.is_trained_with(asked.thing, hazard.op, hazard.ends_with_gradient, hazard.code):
        told = f"`{hazard.quote(asked.thing, 30)}` is overwritten where `{hazard.quote(asked.test, 40)}`"
        yield asked.thing, asked.test, told


def _clamped(hazard: OpHazard, thing: Syntax, place: Syntax) -> Iterator[tuple[Syntax, Syntax, str]]:
    stated = hazard.op.operands.get("max")
    bound = stated.number if stated is not None and "min" not in hazard.op.operands else None
    if bound is not None and bound >= CURE and hidden_nan.is_whole_loss(thing, hazard.code):
        told = f"`{hazard.quote(place, 40)}` keeps NaN, and gives a `{hazard.quote(thing, 20)}` above {bound:g} no gradient"
        yield thing, place, told
