"""NAN108 loss-of-nothing."""

from __future__ import annotations

import re
from dataclasses import replace

from nanlint.rule import Call, Edit, Expression, Facts, Finding, Fix, Hazard, Item, Iterator, Rule, items, unsafe

F = "torch.nn.functional."
IGNORING = {f"{F}cross_entropy": "torch.nn.CrossEntropyLoss", f"{F}nll_loss": "torch.nn.NLLLoss"}
CLASSES = {name: function for function, name in IGNORING.items()}
AVERAGING = frozenset(
    f"{F}{name}"
    for name in ("mse_loss", "l1_loss", "smooth_l1_loss", "huber_loss", "binary_cross_entropy_with_logits", "kl_div")
)
# Where reduction and ignore_index stand among the arguments of the classes, which no signature names.
PLACES = {
    "torch.nn.CrossEntropyLoss": {"ignore_index": "2", "reduction": "4"},
    "torch.nn.NLLLoss": {"ignore_index": "2", "reduction": "4"},
}
# Labels of prompts and of tokens that are not to be learned; all labels of a batch can be that.
MARK = -100
# Pixels without a class; a crop of nothing else is rare.
RARE_MARK = 255
# What is to be written ends with a token of its own, and of an image some pixel has a class: there is always one.
WRITTEN = frozenset({"decoder", "tgt", "text", "caption", "mask", "seg", "segmentation"})
# With these the mean is no mere sum over a count.
WEIGHTS = frozenset({"weight", "label_smoothing"})
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
    the reduction is "sum" or "none", or not known here; when `ignore_index` is not given, or is -100 by a default of which nothing else is made (that such labels occur is then
    nobody's word), or marks padding, as -1 and a pad id do: no sequence is padding alone; for the targets of a decoder, which end with a token of their own; when a condition on the way asks for the targets or the selection; when a NaN is replaced or looked for
    behind it; under `no_grad`, in evaluations and in tests. At `info` for a selection by a mask that was made elsewhere, and where 255 is ignored. An nn.CrossEntropyLoss is told of where it is made.

    ## Fix
    Unsafe, for `cross_entropy` and `nll_loss` with `ignore_index`: the sum over the count of what is left, `clamp(min=1)`, is
    the same mean, and 0 where nothing is left. There is none with weights, for a loss that is made as a module, and for a
    selection, where what to divide by is for the author to say.
    """

    code = "NAN108"
    name = "loss-of-nothing"
    calls = frozenset(IGNORING) | frozenset(CLASSES) | AVERAGING

    def check_call(self, call: Call, facts: Facts) -> Iterator[Finding]:
        """Judge one loss, or the making of one."""
        if facts.is_test() or facts.has_stars(call) or not _is_mean(call, facts):
            return
        if not facts.is_recorded(call.node):
            return
        sure = next(filter(None, map(facts.selection_behind, call.arguments.values())), None)
        selected = sure or next(filter(None, map(facts.doubtful_selection_behind, call.arguments.values())), None)
        is_rare = _mark(call, facts) == RARE_MARK
        if selected is not None:
            reason = f"`{facts.quote(selected, QUOTED)}` can be empty"
            for finding in self._report(
                call, selected, reason, facts, items.MADE_SO if sure is not None else items.RARE
            ):
                yield finding
        elif call.module is None and (is_rare or _ignores(call, facts)):
            target = call.arguments.get("target")
            if target is not None and not WRITTEN.isdisjoint(facts.words_of(target)) and not is_rare:
                return
            subject = f"`{facts.quote(target, QUOTED)}`" if target is not None else "the targets"
            reason = f"every one of {subject} can be ignored"
            for finding in self._report(call, target, reason, facts, items.RARE if is_rare else items.MADE_SO):
                yield replace(finding, fix=_fix(call, facts))

    def _report(
        self, call: Call, about: Expression | None, reason: str, facts: Facts, likely: Item
    ) -> Iterator[Finding]:
        if facts.is_mended(call.node) or (about is not None and facts.is_tested(about)):
            return
        operation = CLASSES.get(call.function, call.function)
        operand = facts.source_of(about) if about is not None else "target"
        yield self.finding(
            facts.span_of(call.node),
            f"{reason}, so the mean loss can be NaN",
            hazard=Hazard(operation, operand, "nothing left to average"),
            evidence=(likely,),
        )


def _argument(call: Call, name: str) -> Expression | None:
    return call.arguments.get(name) or call.arguments.get(PLACES.get(call.function, {}).get(name, ""))


def _mark(call: Call, facts: Facts) -> float | None:
    """The number that marks what is ignored."""
    return facts.constant_of(_argument(call, "ignore_index"))


def _ignores(call: Call, facts: Facts) -> bool:
    """Whether targets are left out on purpose: -100, or what is called so; other marks are those of padding."""
    ignored = _argument(call, "ignore_index")
    constant, words = _mark(call, facts), facts.words_of(ignored) if ignored is not None else ()
    # A default that says what torch says anyway; heard where something is done with it.
    if constant == MARK and ignored is not None and facts.value_of(ignored).assumed:
        return facts.is_named_elsewhere(ignored)
    is_named = "index" in words and not {"ignore", "ignored"}.isdisjoint(words)
    return constant == MARK or (constant is None and is_named)


def _is_mean(call: Call, facts: Facts) -> bool:
    """Whether the loss is averaged, as it is when nobody says otherwise."""
    if call.module is not None:
        return facts.setting_of(call, "reduction") == "mean"
    stated = _argument(call, "reduction")
    old = {"reduce", "size_average"} & set(call.arguments)
    return not old and (stated is None or any(each.constant == "mean" for each in facts.possible_values(stated)))


def _fix(call: Call, facts: Facts) -> Fix | None:
    """The sum over the count, of a function's call with plain names in it."""
    target, ignored, stated = (_argument(call, name) for name in ("target", "ignore_index", "reduction"))
    if call.function not in IGNORING or target is None or ignored is None or not WEIGHTS.isdisjoint(call.arguments):
        return None
    texts = [facts.source_of(node) for node in (target, ignored)]
    summed = (
        Edit(facts.span_of(stated), '"sum"') if stated is not None else facts.add_keyword(call, "reduction", '"sum"')
    )
    if summed is None or not all(re.fullmatch(r"-?[\w.]+", text) for text in texts):
        return None
    count, span = f" / ({texts[0]} != {texts[1]}).sum().clamp(min=1)", facts.span_of(call.node)
    before, _, after = facts.source_of(facts.statement_of(call.node)).partition(facts.source_of(call.node))
    if re.fullmatch(r"\s*(return|\w+ =) *", before) and re.fullmatch(r"\s*(#.*\s*)?", after):
        return unsafe("Divide the sum by the count", summed, Edit(span.behind, count))
    start = replace(span, end_line=span.line, end_column=span.column)
    return unsafe("Divide the sum by the count", Edit(start, "("), summed, Edit(span.behind, f"{count})"))
