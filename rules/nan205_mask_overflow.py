"""NAN205 mask-overflow."""

from __future__ import annotations

import math

from nanlint.rule import Edit, Finding, Fix, Iterator, OpHazard, Rule, every, items, mask_constants, unsafe, uses

FILL, WHERE, PLACED, PRODUCT, SUM = (
    mask_constants.FILL,
    mask_constants.WHERE,
    mask_constants.PLACED,
    mask_constants.PRODUCT,
    mask_constants.SUM,
)
FORMATS = ("float16", "bfloat16", "float32", "float64")
QUOTED = 24


class MaskOverflow(Rule):
    """A mask constant that float16 cannot hold.

    ## Why it hurts
    float16 ends at -65504. `masked_fill(mask, -1e9)` raises there, `where` and arithmetic turn the -1e9 into -inf: `0 * -inf`
    is NaN for what the mask keeps, and a row that is masked as a whole is NaN after the softmax. The least number of a dtype
    fits, but not twice: two masks of `finfo.min` that are added give -inf where both mask, in every dtype.

    ## Flagged
        scores = torch.matmul(query, key).half()
        scores = torch.where(mask, scores, -1e9)

    ## Instead
        scores = torch.matmul(query, key).half()
        scores = torch.where(mask, scores, torch.finfo(scores.dtype).min)

    ## Silent when
    the constant fits (`-1e4`) or is -inf (NAN107 judges that), the scores were cast to float32, or nothing says that they are
    float16 at times: neither a product of matrices, which autocast computes in half, nor the name of attention scores; where the
    sum of two masks is raised again (`clamp`, `max`, `masked_fill`), there or before a softmax of the file. At `info` for a mask times a constant that is not seen
    to be cast to the dtype of the scores, for `scores[mask] = -1e9`, and for a tensor that nothing tells of, or that is cast back.

    ## Fix
    Unsafe: `torch.finfo(scores.dtype).min` masks in every dtype.
    """

    code, name = "NAN205", "mask-overflow"
    dtypes = ("float16",)
    hazards = (
        every(FILL, "input"),
        every(WHERE, "input"),
        every(PLACED, "0"),
        every(PRODUCT, "input"),
        every(SUM, "input"),
    )

    def check(self, hazard: OpHazard) -> Iterator[Finding]:
        """Judge one mask."""
        if hazard.op.function == SUM:
            yield from self._check_sum(hazard)
        elif not hazard.is_decided_by_dtype:
            check = self._check_product if hazard.op.function == PRODUCT else self._check_filling
            yield from check(hazard)

    def _check_filling(self, hazard: OpHazard) -> Iterator[Finding]:
        """`scores.masked_fill(mask, -1e9)` and the like."""
        found = mask_constants.filled(hazard.op)
        if found is None:
            return
        scores, is_set = found.scores(hazard.op), hazard.is_item_set
        is_plane = scores.number is not None
        # Filled in float32 and cast back to what the scores were.
        is_narrowed = (scores.dtype == "float32" or is_plane) and mask_constants.is_cast_back(
            hazard.op, [op for op, _ in hazard.uses]
        )
        is_certain = mask_constants.can_be_half(scores) and not is_set and found.number < 0 and not is_plane
        is_open = not scores.dtype and not is_plane and (not is_set or mask_constants.uses_softmax(hazard.function))
        if is_certain or is_narrowed or is_open:
            is_raising = hazard.op.function == FILL and not is_set and not is_narrowed
            result = "and masked_fill raises" if is_raising else f"so it is {math.copysign(math.inf, found.number)}"
            text = f"where float16 ends at {math.copysign(65504, found.number):g}, {result}"
            yield self._finding(hazard, found, text, is_certain=is_certain)

    def _check_sum(self, hazard: OpHazard) -> Iterator[Finding]:
        """Two masks of the least number: twice that is -inf, and a row of it NaN after the softmax."""
        terms = list(hazard.op.operands.values())
        if len(terms) != 2 or not all(map(mask_constants.holds_least, terms)):
            return
        is_raised = mask_constants.is_raised(hazard.op, hazard.function) or uses.is_replaced(hazard)
        if is_raised or mask_constants.raises_scores(hazard.function):
            return
        message = f"`{hazard.quoted(hazard.op, QUOTED)}` adds finfo.min to finfo.min where both mask: that is -inf"
        yield self.told(hazard, message, evidence=(items.MADE_SO,), dtypes=FORMATS)

    def _check_product(self, hazard: OpHazard) -> Iterator[Finding]:
        """`(1 - mask) * -1e9`, which is then added to scores, or `1e9 * (1 - mask)`, which is subtracted."""
        found = mask_constants.multiplied(hazard.op, hazard.function)
        if found is not None:
            # A mask that is not cast to the dtype of scores is float32, and so is what it is added to.
            is_cast = mask_constants.is_cast_to_another(found.scores(hazard.op))
            text = "where float16 ends at -65504, so it is -inf or NaN"
            yield self._finding(
                hazard, found, text, is_certain=is_cast and mask_constants.is_about_scores(hazard.op, hazard.function)
            )

    def _finding(self, hazard: OpHazard, found: mask_constants.Constant, result: str, *, is_certain: bool) -> Finding:
        scores, value = (hazard.operand_of(hazard.op, name) for name in (found.scores_name, found.value_name))
        is_stated = found.scores(hazard.op).dtype == "float16"
        return self.told(
            hazard,
            f"`{scores.quoted(QUOTED)}` is masked with {value.quoted(20) or mask_constants.written(found.number)} {result}",
            fix=_fix(hazard, found) if found.number < 0 and is_certain else None,
            evidence=(items.RANGE_REACHES,) if is_stated else (items.MADE_SO,) if is_certain else (),
        )


def _fix(hazard: OpHazard, found: mask_constants.Constant) -> Fix | None:
    torch, scores = hazard.name_of("torch"), hazard.operand_of(hazard.op, found.scores_name).text
    span = hazard.operand_of(hazard.op, found.value_name).span
    if torch is None or span is None or not scores.replace(".", "").isidentifier():
        return None
    return unsafe("Mask with the least number of the dtype", Edit(span, f"{torch}.finfo({scores}.dtype).min"))
