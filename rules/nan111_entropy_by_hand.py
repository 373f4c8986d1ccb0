"""NAN111 entropy-by-hand."""

from __future__ import annotations

from nanlint.rule import (
    Direction,
    Edit,
    Finding,
    Fix,
    Iterator,
    Op,
    OpHazard,
    Rule,
    entropies,
    items,
    replacing,
    safe,
    show,
    unsafe,
    uses,
    word_set,
    zone,
)

PRODUCT, LOG, QUOTIENT = "torch.mul", "torch.log", "torch.div"
QUOTED = 40


class EntropyByHand(Rule):
    """A value times the logarithm of itself, or a mask times a logarithm: 0 * log(0) is NaN.

    ## Why it hurts
    The limit of p * log(p) at 0 is 0, but floats compute `0 * -inf`, which is NaN. One probability that is exactly 0, as in
    every one-hot target and every saturated softmax, makes the whole sum NaN.

    ## Flagged
        entropy = -(p * torch.log(p)).sum(dim=-1)
        divergence = (t * torch.log(t / q)).sum()

    ## Instead
        entropy = -torch.xlogy(p, p).sum(dim=-1)
        divergence = torch.nn.functional.kl_div(q.log(), t, reduction="sum")

    ## Silent when
    the argument of the logarithm stays above 0 (clamped, + eps); for `xlogy`, `special.entr` and `kl_div`, but for a target of `kl_div`
    whose logits are trained beside it, where the gradient is NaN; when a `where` drops the NaN.

    ## Fix
    Safe where no gradient passes: `xlogy(p, p)` is the same function with the value 0 at 0. Its gradient at 0 is still NaN, so
    with a gradient the fix bounds the argument as well, which is unsafe; of `log(p / q)` it bounds both, as two logarithms. Better
    still: compute from logits with `log_softmax`. For a target of `kl_div` a sketch.
    """

    code, name = "NAN111", "entropy-by-hand"
    evidence = (items.LOST_AT_ONCE,)
    hazards = (zone(PRODUCT, "input"), zone(PRODUCT, "other"), zone(entropies.DIVERGENCE, "target", backward=True))
    yields_to = word_set("NAN110 NAN303")

    def check(self, hazard: OpHazard) -> Iterator[Finding]:
        """Word one product, or one divergence."""
        if hazard.op.function == entropies.DIVERGENCE:
            yield from self._check_divergence(hazard)
            return
        found = entropies.entropy_in(hazard.op, hazard.operand_name)
        if found is None or uses.is_replaced(hazard):
            return
        factor = hazard.operand_of(found.sign, "input") if found.sign else hazard.operand_of(hazard.op, found.factor)
        argument = hazard.operand_of(found.log, "input")
        message = f"`{factor.quoted(QUOTED)}` can be 0, and 0 times the logarithm of `{argument.quoted(QUOTED)}` is NaN"
        fix = _fix(hazard, found.factor, found.log)
        yield self.told(hazard, message, fix=fix, direction=Direction.FORWARD, evidence=(items.MADE_SO,))

    def _check_divergence(self, hazard: OpHazard) -> Iterator[Finding]:
        if hazard.op.recorded and entropies.is_trained_target(hazard.op, hazard.function.ops):
            message = f"`{hazard.operand.quoted(QUOTED)}` is a trained target and can be 0, where its gradient is NaN"
            sketch = show("the log_softmax as its target, with log_target=True")
            yield self.told(hazard, message, fix=sketch, evidence=(items.SATURATES,))


def _fix(hazard: OpHazard, name: str, log: Op) -> Fix | None:
    """`torch.xlogy(p, p)` where the logarithm is written in the product itself."""
    spelled, factor, argument = (
        replacing.spelling_of(hazard, "torch.xlogy"),
        hazard.op.nodes.get(name),
        hazard.operand_of(log, "input"),
    )
    is_here = (
        log.function == LOG
        and log.node in hazard.op.nodes.values()
        and factor is not None
        and argument.node is not None
    )
    if spelled is None or not is_here or factor is None or argument.value.kind != "tensor" or hazard.is_in_place:
        return None
    text = hazard.source.text_of(factor)
    if "#" in hazard.text:
        return None
    if not hazard.op.recorded or argument.value.detached:
        return safe("Use xlogy", Edit(hazard.span, f"{spelled}({text}, {argument.text})"))
    # The gradient of the logarithm at 0 is infinite still; only a bound keeps it finite.
    bound, quotient = f".clamp_min({argument.floor})", argument.value.op
    if quotient is None or quotient.function != QUOTIENT or quotient.node is not argument.node:
        return unsafe("Use xlogy with a bound", Edit(hazard.span, f"{spelled}({text}, {argument.as_receiver}{bound})"))
    # A quotient by what is next to 0 is past the end of float16, a difference of logarithms never is.
    sides = [hazard.operand_of(quotient, side) for side in ("input", "other")]
    parts = " - ".join(f"{spelled}({text}, {side.as_receiver}.clamp_min({side.floor}))" for side in sides)
    return unsafe("Use xlogy with bounds", Edit(hazard.span, parts if hazard.is_bracketed else f"({parts})"))
