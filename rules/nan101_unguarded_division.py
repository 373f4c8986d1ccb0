"""NAN101 unguarded-division."""

from __future__ import annotations

from nanlint.rule import Finding, Fix, Iterator, OpHazard, Rule, items, torch_names, unsafe, word_set, zone

COUNT, VALUE, QUOTED = "count", "value", 31
NORMS = torch_names("norm linalg.norm linalg.vector_norm")


class UnguardedDivision(Rule):
    """A division by a tensor that can be 0.

    ## Why it hurts
    Tensors and arrays do not raise: `x / 0` is inf and `0 / 0` is NaN. An empty mask, a batch without positives, a zero row, a silent
    clip or a constant image is enough, and one NaN in a loss is NaN in every weight after the next step.

    ## Flagged
        loss = (losses * mask).sum() / mask.sum()

    ## Instead
        loss = (losses * mask).sum() / mask.sum().clamp(min=1)

    ## Silent when
    the denominator stays away from 0 in its dtype, or a condition on the way says so; when the quotient is replaced, capped or only
    compared where it breaks; for Python's own numbers, and for what comes from outside and of which nothing is known.

    ## Fix
    Unsafe: `clamp(min=1)` for a count (exact where there is something to count), `F.normalize` for `x / x.norm()`,
    `clamp_min(1e-4)` for norms and spreads, or 1e-6 where the dtype is not float16, which moves results below that.
    """

    code, name = "NAN101", "unguarded-division"
    hazards = (
        zone("torch.div", "other", contains=0, backward=False),
        zone("torch.reciprocal", "input", contains=0, backward=False),
        zone("torch.pow", "input", contains=0, backward=False),
        zone("torch.addcdiv", "tensor2", contains=0, backward=False),
    )
    yields_to = word_set("NAN103 NAN106 NAN201 NAN202 NAN203 NAN204 NAN210 NAN211 NAN301 NAN302")

    def check(self, hazard: OpHazard) -> Iterator[Finding]:
        """Word one division; of several by the same thing, the first that a gradient passes."""
        zero, divisions = hazard.zero, [each for each in hazard.siblings if each.zero is not None]
        if zero is None or not hazard.is_foremost(divisions):
            return
        yield self.told(
            hazard,
            f"`{hazard.operand.quoted(QUOTED)}` can be 0{zero.when}: the quotient is NaN or inf",
            at=hazard.operand.span,
            fix=_fix(divisions, zero.kind),
            evidence=(items.NAME_ALONE if zero.is_by_name else items.MADE_SO if zero.is_ordinary else items.RARE,),
            labels=hazard.label(hazard.operand.made_by, "it is made here"),
        )


def _fix(divisions: list[OpHazard], kind: str) -> Fix | None:
    """A lower bound at every division: right for what is not negative, and for what is no value among others."""
    first = divisions[0]
    by_norm = unsafe("Use F.normalize", first.rewritten(_normalized(first))) if len(divisions) == 1 else None
    if by_norm is not None:
        return by_norm
    if kind == VALUE or (kind != COUNT and not all(each.is_of_one_sign for each in divisions)):
        return None
    floor = first.operand.divisor_floor
    bound = (".clamp(min=1)", "1") if kind == COUNT else (f".clamp_min({floor})", floor)
    return unsafe("Keep the denominator above 0", *(each.at_least(*bound) for each in divisions))


def _normalized(hazard: OpHazard) -> str | None:
    """`F.normalize(x, dim=1)` for `x / x.norm(dim=1, keepdim=True)` as it is written; its own eps of 1e-12 is 0 in float16."""
    norm, function = hazard.operand.call_of(NORMS), hazard.name_of("torch.nn.functional")
    if norm is None or function is None or hazard.op.function != "torch.div" or hazard.is_in_place:
        return None
    if (
        norm.subject is not hazard.op.subject
        or norm.operands.keys() != {"input", "dim", "keepdim"}
        or norm.operands["keepdim"].constant is not True
    ):
        return None
    x, dim = (hazard.source.text_of(norm.nodes[name]) for name in ("input", "dim"))
    return f"{function}.normalize({x}, dim={dim}, eps={hazard.operand.divisor_floor})"
