"""NAN108 loss-of-nothing."""

from __future__ import annotations

import re

from nanlint.rule import Edit, Finding, Fix, Item, Iterator, OpHazard, Rule, Span, items, too_few, unsafe, word_set

F = "torch.nn.functional."
AVERAGING = (
    "mse_loss",
    "l1_loss",
    "smooth_l1_loss",
    "huber_loss",
    "binary_cross_entropy_with_logits",
    "binary_cross_entropy",
    "kl_div",
)
IGNORING = ("cross_entropy", "nll_loss")
CLASSES = {"torch.nn.CrossEntropyLoss": f"{F}cross_entropy", "torch.nn.NLLLoss": f"{F}nll_loss"}
# With these the mean is no mere sum over a count.
WEIGHTS = word_set("weight label_smoothing")
QUOTED = 34


class LossOfNothing(Rule):
    """The mean loss over targets of which every one can be ignored or deselected.

    ## Why it hurts
    With `ignore_index` the mean divides by the number of targets that are left. A batch whose every label is padding,
    cut off or masked leaves none, and 0 / 0 is NaN; the mean loss over an empty selection is NaN as well.

    ## Flagged
        loss = F.cross_entropy(logits, labels, ignore_index=-100)

    ## Instead
        total = F.cross_entropy(logits, labels, ignore_index=-100, reduction="sum")
        loss = total / (labels != -100).sum().clamp(min=1)

    ## Silent when
    the reduction is "sum" or "none", or not known here; when nothing says that targets are marked: no `ignore_index` of -100 or 255, and
    none that targets are set to; when a condition asks for the targets or the selection; when a NaN is replaced behind it.

    ## Fix
    Unsafe, for `cross_entropy` and `nll_loss` with `ignore_index`: the sum over the count of what is left, `clamp(min=1)`, is
    the same mean, and 0 where nothing is left. There is none with weights, for a loss that is made as a module, and for a
    selection, where what to divide by is for the author to say.
    """

    code, name = "NAN108", "loss-of-nothing"
    evidence = (items.LOST_AT_ONCE,)
    hazards = (
        *(too_few(f"{F}{word}", operand) for word in (*AVERAGING, *IGNORING) for operand in ("input", "target")),
        *(too_few(name, operand) for name in CLASSES for operand in ("ignore_index", "2")),
    )

    def check(self, hazard: OpHazard) -> Iterator[Finding]:
        """Word one loss, or the making of one; of both its operands, the first that is selected."""
        few = hazard.few
        if few is None or not hazard.is_foremost(hazard.siblings) or hazard.is_protected:
            return
        is_made = hazard.op.function in CLASSES
        subject = "the targets" if is_made else f"`{hazard.operand.quoted(QUOTED)}`"
        reason = f"every one of {subject} can be ignored" if few.mask is None else f"{subject} can be empty"
        yield self.told(
            hazard,
            f"{reason}, so the mean loss can be NaN",
            fix=_fix(hazard) if few.mask is None and not is_made else None,
            evidence=(_item(hazard),),
            labels=hazard.label(few.mask.op if few.mask is not None else None, "this may select nothing"),
        )


def _item(hazard: OpHazard) -> Item:
    """What is known of how there come to be no targets."""
    few = hazard.few
    if few is None or few.is_decided_elsewhere:
        return items.DECIDED_ELSEWHERE
    return items.NAME_ALONE if few.is_by_name else items.MADE_SO if few.is_ordinary else items.RARE


def _fix(hazard: OpHazard) -> Fix | None:
    """The sum over the count, of a function's call with plain names in it."""
    nodes = [hazard.op.nodes.get(name) for name in ("target", "ignore_index")]
    summed = hazard.with_keyword("reduction", '"sum"')
    texts = [hazard.source.text_of(node) for node in nodes if node is not None]
    if len(texts) < len(nodes) or summed is None or not WEIGHTS.isdisjoint(hazard.op.operands):
        return None
    if not all(re.fullmatch(r"-?[\w.]+", text) for text in texts):
        return None
    count, span = f" / ({texts[0]} != {texts[1]}).sum().clamp(min=1)", hazard.span
    before, after = hazard.source.around(hazard.op.node)
    if re.fullmatch(r"\s*(return|\w+ =) *", before) and re.fullmatch(r"\s*(#.*)?", after):
        return unsafe("Divide the sum by the count", summed, Edit(span.behind, count))
    start = Span(span.line, span.column, span.line, span.column)
    return unsafe("Divide the sum by the count", Edit(start, "("), summed, Edit(span.behind, f"{count})"))
