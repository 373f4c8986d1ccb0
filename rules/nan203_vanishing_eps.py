"""NAN203 vanishing-eps."""

from __future__ import annotations

from nanlint.rule import Edit, Finding, Fix, Iterator, OpHazard, Rule, in_half, items, lost_bounds, unsafe, uses

DIVISORS = {"torch.div": "other", "torch.reciprocal": "input", "torch.pow": "input"}
AT_ZERO = ("torch.log", "torch.log2", "torch.log10", "torch.sqrt", "torch.rsqrt")
# Where they break besides at 0; of an angle the gradient alone.
AT_ONE = {"torch.log1p": -1, "torch.logit": 1, "torch.atanh": 1, "torch.erfinv": 1, "torch.acos": 1, "torch.asin": 1}
# Its reciprocal, which the gradient is multiplied by, is below the end of float16, too.
FLOOR, QUOTED = "1e-4", 30


class VanishingEps(Rule):
    """An eps that is rounded to nothing in the dtype it is used in.

    ## Why it hurts
    The smallest float16 is 6e-8, so 1e-8 rounds to 0, and so does the default eps of `F.normalize` and `cosine_similarity`. In
    float32 `1 - 1e-8` is 1. The guard is there to be read, and guards nothing.

    ## Flagged
        p = torch.sigmoid(x).clamp(1e-8, 1 - 1e-8)
        loss = -torch.log(1 - p)

    ## Instead
        p = torch.sigmoid(x.float()).clamp(1e-6, 1 - 1e-6)
        loss = -torch.log(1 - p)

    ## Silent when
    the eps survives in the dtype in effect, in every half format where nobody knows it; when a cast to float32 or autocast's own list
    comes first; when the value stays away from the limit by itself, or nothing breaks there. At `info` where neither the code nor the
    project says that it runs in a half format.

    ## Fix
    Unsafe: `torch.finfo(x.dtype).tiny` for a floor and `1 - torch.finfo(x.dtype).eps` for a ceiling fit every dtype, and
    move what lies between the two; `eps=1e-4` for `normalize` and `cosine_similarity` keeps their gradient in float16.
    """

    code, name = "NAN203", "vanishing-eps"
    evidence = (items.LOST_AT_ONCE,)
    hazards = (
        *(in_half(division, operand, contains=0) for division, operand in DIVISORS.items()),
        *(in_half(function, "input", contains=0) for function in AT_ZERO),
        *(in_half(function, "input", contains=limit) for function, limit in AT_ONE.items()),
        *(in_half(function, "input", contains=0) for function in lost_bounds.OWN_EPS),
    )
    yields_to = frozenset({"NAN204"})

    def check(self, hazard: OpHazard) -> Iterator[Finding]:
        """Look for the bound that was to keep the operand away from the limit."""
        if uses.is_replaced(hazard) or hazard.is_of_arrays or hazard.is_decided_by_dtype:
            return
        if hazard.op.function in lost_bounds.OWN_EPS:
            yield from self._check_own(hazard)
            return
        find = lost_bounds.lost_ceiling if AT_ONE.get(hazard.op.function) == 1 else lost_bounds.lost_bound
        lost = {dtype: found for dtype in hazard.dtypes if (found := find(hazard.operand.value, dtype)) is not None}
        if lost and lost_bounds.is_of_tensors(next(iter(lost.values())), hazard.op):
            dtypes = tuple(lost)
            first = "float32" if "float32" in lost else dtypes[0]
            yield self._finding(hazard, lost[first], first, dtypes)

    def _finding(self, hazard: OpHazard, lost: lost_bounds.LostBound, first: str, dtypes: tuple[str, ...]) -> Finding:
        eps, value = hazard.operand_of(lost.op, lost.name), hazard.operand_of(lost.op, lost.value_name)
        is_here = lost.op.scope is not None and lost.op.scope.module is hazard.function.module
        text, kept = (eps.quoted(QUOTED), value.quoted(QUOTED)) if is_here and eps.span is not None else ("", "")
        return self.told(
            hazard,
            f"`{text or lost.bound.number}` is {lost.limit:g} in {first}, so `{kept or hazard.operand.quoted(QUOTED)}` can still be {lost.limit:g}",
            at=eps.span if text else None,
            fix=_fix(hazard, lost),
            dtypes=dtypes,
            evidence=(items.RANGE_REACHES,) if hazard.is_format_stated or first == "float32" else (),
        )

    def _check_own(self, hazard: OpHazard) -> Iterator[Finding]:
        eps, edit = lost_bounds.own_eps(hazard.op), hazard.with_keyword("eps", FLOOR)
        if eps and lost_bounds.may_be_a_row_of_zeros(hazard.operand.value):
            message = f"the eps of `{hazard.word}`, {eps:g}, is 0 in float16, so a row of zeros becomes NaN"
            fix = unsafe(f"Set eps={FLOOR}", edit)
            evidence = (items.RANGE_REACHES,) if hazard.is_format_stated else ()
            yield self.told(hazard, message, fix=fix, dtypes=("float16",), evidence=evidence)


def _fix(hazard: OpHazard, lost: lost_bounds.LostBound) -> Fix | None:
    """A bound of the dtype in place of one that is written here, for a tensor that has a name."""
    torch, eps, value = (
        hazard.name_of("torch"),
        hazard.operand_of(lost.op, lost.name),
        hazard.operand_of(lost.op, lost.value_name),
    )
    name = value.text.replace(".", "").replace("_", "a")
    if torch is None or eps.span is None or not name.isalnum() or not hazard.is_here(lost.op):
        return None
    dtype = f"{torch}.finfo({value.text}.dtype)"
    return unsafe(
        "Take the eps from the dtype", Edit(eps.span, f"{dtype}.tiny" if lost.limit == 0 else f"1 - {dtype}.eps")
    )
