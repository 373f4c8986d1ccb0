"""NAN301 root-gradient-at-zero."""

from __future__ import annotations

from nanlint.rule import (
    Direction,
    Finding,
    Fix,
    Iterator,
    OpHazard,
    Rule,
    items,
    roots,
    safe,
    unsafe,
    word_set,
    zone,
)

HYPOT, INF, QUOTED = "torch.hypot", float("inf"), 36


class RootGradientAtZero(Rule):
    """The root of a value that can be exactly 0, on the way of a gradient.

    ## Why it hurts
    The slope of `sqrt` at 0 is infinite. The forward is a harmless 0; the backward multiplies that slope by the gradient of a square, which is 0 there, and `inf * 0` is NaN. Two
    equal points, a padded row or a silent clip are enough.

    ## Flagged
        distance = ((a - b) ** 2).sum(dim=-1).sqrt()

    ## Instead
        distance = torch.linalg.vector_norm(a - b, dim=-1)
        spread = (x.var(dim=-1) + 1e-6).sqrt()

    ## Silent when
    something above 0 is added or clamped to inside the root; no gradient passes; the gradient is defined at 0, as of norms, `std`,
    `cdist` and `relu(x).sqrt()`; only underflow could make the value 0; for settings and counts.

    ## Fix
    Safe for the root of a sum of squares: `torch.linalg.vector_norm` is the same function with a gradient of 0 at 0. Elsewhere unsafe: `clamp_min(1e-7)`, or 1e-12 where the dtype
    is not float16, moves what lies below it. An eps after the root does not help.
    """

    code, name = "NAN301", "root-gradient-at-zero"
    evidence = (items.LOST_AT_ONCE,)
    hazards = (
        zone("torch.sqrt", "input", contains=0, backward=True),
        zone("torch.rsqrt", "input", contains=0),
        zone("torch.pow", "input", contains=0),
        zone(HYPOT, "input", contains=0, backward=True),
    )
    yields_to = word_set("NAN103 NAN105 NAN204 NAN210 NAN211 NAN302")

    def check(self, hazard: OpHazard) -> Iterator[Finding]:
        """Word one root."""
        value = roots.what_is_zero(hazard.callers)
        if hazard.is_half_alone or not hazard.is_of_tensors or not _is_root(hazard) or value.range.integer:
            return
        what = f"{hazard.word} is" if hazard.is_forward else f"the gradient of {hazard.word} is"
        quoted, is_known = f"`{hazard.operand.quoted(QUOTED)}`", True
        if hazard.op.function == HYPOT:
            message = f"the gradient of hypot is NaN where {quoted} and the other side are both 0"
        elif value.range.low == -INF and value.range.high == INF:
            if hazard.is_presumed_safe or hazard.is_forward or value.range.nan or roots.is_kept_elsewhere(value):
                return
            message, is_known = f"nothing keeps {quoted} above 0: {what} infinite at 0", False
        elif roots.breaks_at_zero(value):
            message = f"{quoted} can be 0: {what} infinite there"
        else:
            return
        is_expected = hazard.op.function == HYPOT or roots.is_often_zero(value) or hazard.is_guarded_too_late
        known = items.MADE_SO if is_expected else items.RARE
        yield self.told(
            hazard,
            message,
            fix=_fix(hazard) if is_known else None,
            direction=Direction.BOTH if is_known and hazard.is_divided_by else hazard.direction,
            labels=hazard.label(hazard.operand.made_by, "it is computed here"),
            evidence=(known if is_known else items.NOTHING_KNOWN,),
        )


def _is_root(hazard: OpHazard) -> bool:
    """Whether it is a power that is no integer, if it is one at all; that of an integer is a division's business."""
    number = hazard.exponent.number if hazard.exponent is not None else None
    return not hazard.is_exponent_open and (number is None or number % 1 != 0)


def _fix(hazard: OpHazard) -> Fix | None:
    if hazard.is_in_place or hazard.op.function == HYPOT:
        return None
    edit = hazard.with_call(f".clamp_min({hazard.floor})")
    by_norm = safe("Use vector_norm", hazard.rewritten(_norm(hazard)))
    return by_norm or unsafe("Keep the value under the root above 0", edit)


def _norm(hazard: OpHazard) -> str | None:
    """`torch.linalg.vector_norm(x, dim=1)` for `x.pow(2).sum(dim=1).sqrt()` as it is written."""
    exponent, total, torch = hazard.op.operands.get("exponent"), hazard.operand.written, hazard.name_of("torch")
    is_square_root = hazard.op.function == "torch.sqrt" or (exponent is not None and exponent.number == 0.5)
    if not is_square_root or total is None or total.function != "torch.sum" or torch is None or "#" in hazard.text:
        return None
    base = hazard.operand_of(total, "input").written
    inner = hazard.operand_of(base, "input").text if base is not None and roots.squared(total.operands["input"]) else ""
    rest = {name: hazard.operand_of(total, name).text for name in total.operands if name != "input"}
    if not inner or not all(rest.values()) or "dtype" in rest:
        return None
    return f"{torch}.linalg.vector_norm({', '.join([inner, *(f'{name}={text}' for name, text in rest.items())])})"
