"""NAN106 statistics-of-too-few."""

from __future__ import annotations

from nanlint.rule import Edit, Finding, Fix, Item, Iterator, OpHazard, Rule, items, too_few, unsafe, word_set

SPREADS, AVERAGES = ("torch.std", "torch.var"), ("torch.mean", "torch.median")
WIDE, QUOTED = word_set("bfloat16 float32 float64"), 40
# The eps of float16: what is divided by it stays below its end.
BOUND = 1e-3


class StatisticsOfTooFew(Rule):
    """A standard deviation of one value, or a mean of none.

    ## Why it hurts
    `std` and `var` divide by n - 1: of one element they are 0 / 0, and `+ 1e-8` behind them does not help. The mean and the median
    of an empty selection are NaN. The last minibatch of an epoch, or a class that a batch lacks, is enough.

    ## Flagged
        advantages = batch["advantages"]
        advantages = (advantages - advantages.mean()) / (advantages.std() + 1e-8)

    ## Instead
        advantages = batch["advantages"]
        advantages = (advantages - advantages.mean()) / (advantages.std(correction=0) + 1e-8)

    ## Silent when
    `correction=0` or `unbiased=False` is given; when a condition asks for the size or the selection; when the result is replaced,
    only compared or only shown; for a spread over features or time, of which there is more than one. At `info` for the places of a map.

    ## Fix
    Unsafe: `correction=0` is 0 for one element, and a little smaller for more of them. There is none for a mean of nothing. A
    deviation that is divided by is held above `torch.finfo(x.dtype).eps` as well, unless the eps beside it is enough for its dtype.
    """

    code, name = "NAN106", "statistics-of-too-few"
    hazards = tuple(too_few(operation) for operation in (*SPREADS, *AVERAGES))

    def check(self, hazard: OpHazard) -> Iterator[Finding]:
        """Word one statistic; of several of one selection, the first that a gradient passes."""
        told = [each for each in hazard.siblings if not each.is_protected]
        few = hazard.few
        if few is None or not told or (few.mask is not None and not hazard.is_foremost(told)):
            return
        word, is_spread = hazard.word, hazard.op.function in SPREADS
        reason = f"can have one element, whose {word} is NaN" if is_spread else f"can be empty, and its {word} is NaN"
        why = "it divides by n - 1, which is 0 for one element; an eps behind it does not help" if is_spread else ""
        if few.mask is not None:
            why = f"a batch in which nothing is selected is enough: the {word} of no elements is 0 / 0"
        yield self.told(
            hazard,
            f"`{hazard.operand.quoted(QUOTED)}` {reason}",
            fix=_fix(hazard) if few.mask is None else None,
            evidence=(_item(hazard),),
            labels=hazard.label(few.mask.op if few.mask is not None else None, "this may select nothing"),
            why=why,
            help="divide the sum by the larger of the count and 1: `x.sum() / mask.sum().clamp(min=1)`"
            if few.mask is not None and word == "mean"
            else "",
        )


def _item(hazard: OpHazard) -> Item:
    """What is known of how there come to be too few."""
    few = hazard.few
    if few is None or few.is_decided_elsewhere:
        return items.DECIDED_ELSEWHERE
    return items.NAME_ALONE if few.is_by_name else items.MADE_SO if few.is_ordinary else items.RARE


def _fix(hazard: OpHazard) -> Fix | None:
    stated, value = ("unbiased", "False") if "unbiased" in hazard.op.operands else ("correction", "0")
    set_to = hazard.with_keyword(stated, value)
    return unsafe(f"Set {stated}={value}", set_to, *_bound(hazard))


def _bound(hazard: OpHazard) -> Iterator[Edit]:
    """A lower bound for a deviation that is divided by, where the eps beside it may be too small for the dtype."""
    eps = hazard.eps_when_divided_by
    if eps is None or (eps and hazard.operand.value.dtype in WIDE) or eps >= BOUND:
        return
    torch, named = hazard.name_of("torch"), hazard.operand.text
    is_plain = torch is not None and named.replace(".", "").isidentifier()
    yield Edit(
        hazard.span.behind, f".clamp_min({torch}.finfo({named}.dtype).eps)" if is_plain else f".clamp_min({BOUND:g})"
    )
