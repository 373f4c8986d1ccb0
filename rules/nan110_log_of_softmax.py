"""NAN110 log-of-softmax."""

from __future__ import annotations

from nanlint.rule import Edit, Finding, Iterator, Op, OpHazard, Rule, items, probabilities, replacing, safe, zone

OTHER_BASES = ("torch.log2", "torch.log10")
LOGS = ("torch.log", "torch.log1p", *OTHER_BASES)
ENTROPY = "torch.nn.functional.binary_cross_entropy"
# What computes the logarithm without the detour.
BETTER = {probabilities.SOFTMAX: "torch.log_softmax", probabilities.SIGMOID: "torch.nn.functional.logsigmoid"}
HALVES = ("float16", "bfloat16")
QUOTED = 35


class LogOfSoftmax(Rule):
    """The logarithm of a softmax or a sigmoid, which round to exactly 0 and 1.

    ## Why it hurts
    In float32 a softmax probability is exactly 0 once its logit lies 104 below the largest, and 1 - sigmoid(x) is
    exactly 0 from x = 16.7 on: the logarithm is -inf, and the backward multiplies its infinite slope by 0, so every
    gradient of the step is NaN.

    ## Flagged
        probs = torch.softmax(logits, dim=-1)
        loss = -(target * torch.log(probs)).sum()

    ## Instead
        loss = -(target * torch.log_softmax(logits, dim=-1)).sum()

    ## Silent when
    the probability was clamped or got an eps on some path (NAN102 judges that eps); under `no_grad`, where -inf is a result like any
    other; for `BCELoss` and `Categorical(probs=...)`, which clamp inside. Under autocast on a GPU `BCELoss` raises: there it is flagged.

    ## Fix
    Safe: `log_softmax`, `logsigmoid` and `binary_cross_entropy_with_logits` are the same functions computed without the
    detour. There is none where the logits are out of reach or may have changed since, nor for `log2` and `log10`.
    """

    code, name = "NAN110", "log-of-softmax"
    evidence = (items.LOST_AT_ONCE,)
    hazards = (*(zone(log, "input") for log in LOGS), zone(ENTROPY, "input"))

    def check(self, hazard: OpHazard) -> Iterator[Finding]:
        """Word one logarithm, or one cross entropy of probabilities."""
        if hazard.op.function == ENTROPY:
            yield from self._check_entropy(hazard)
            return
        found = probabilities.in_log(hazard.op, hazard.operand.value) or probabilities.in_log(hazard.op, hazard.callers)
        if found is None or not hazard.op.recorded or hazard.is_of_arrays:
            return
        # y * log(p) + (1 - y) * log(1 - p) is one mistake, told where it begins.
        beside = {op: probabilities.in_log(op, op.operands["input"]) for op in hazard.beside if op.function in LOGS}
        logs = {op: other for op, other in beside.items() if other is not None and probabilities.is_same(found, other)}
        if next(iter(logs), hazard.op) is not hazard.op:
            return
        kind = probabilities.KINDS[found.made_by.function]
        better = BETTER.get(found.made_by.function, "log_softmax").rpartition(".")[2]
        word, quoted = hazard.word, hazard.operand.quoted(QUOTED)
        message = f"{word} of `{quoted}` is -inf once the {kind} rounds to {1 if found.rest_of else 0}"
        if len({other.rest_of is None for other in logs.values()}) == 2:
            message = f"`{quoted}` is a {kind} and rounds to exactly 0 and 1: its logs can be -inf"
        texts = {op: _text(op, other, hazard) for op, other in logs.items()}
        edits = [Edit(hazard.source.span_of(op.node), text) for op, text in texts.items() if text is not None]
        yield self.told(
            hazard,
            message,
            labels=hazard.label(found.made_by, f"the {kind} is made here"),
            help=f"compute it from the logits with {better}{hazard.elsewhere(found.made_by, f'; the {kind} is made in')}",
            fix=safe(f"Use {better}", *(() if None in texts.values() else replacing.with_leftovers(hazard, *edits))),
            evidence=(items.SATURATES,),
        )

    def _check_entropy(self, hazard: OpHazard) -> Iterator[Finding]:
        made = probabilities.origins(hazard.operand.value)
        if not made or any(op.function != probabilities.SIGMOID for op in made):
            return
        logits, text = made[0].nodes.get("input"), None
        if logits is not None and replacing.is_repeatable(hazard, made[0]):
            text = replacing.text_as(hazard, hazard.op, f"{ENTROPY}_with_logits", input=hazard.source.text_of(logits))
        edits = replacing.with_leftovers(hazard, Edit(hazard.span, text)) if text else ()
        message = f"`{hazard.operand.quoted(QUOTED)}` is a sigmoid, and its cross entropy raises under autocast"
        fix = safe("Use binary_cross_entropy_with_logits", edits)
        yield self.told(hazard, message, fix=fix, dtypes=HALVES, evidence=(items.RANGE_REACHES,))


def _text(log: Op, found: probabilities.Probability, hazard: OpHazard) -> str | None:
    """What to write instead of the logarithm."""
    made, rest = found.made_by, found.rest_of
    better, logits, of = BETTER.get(made.function), made.nodes.get("input"), found.node_in(log)
    is_softmax = made.function == probabilities.SOFTMAX
    if (
        better is None
        or logits is None
        or of is None
        or log.function in OTHER_BASES
        or (is_softmax and rest is not None)
    ):
        return None
    if not hazard.is_here(made):
        return None
    text, spelled = replacing.text_as(hazard, made, better), replacing.spelling_of(hazard, better)
    if not is_softmax:
        of_logits = replacing.negated(hazard, logits) if rest is not None else hazard.source.text_of(logits)
        text = f"{spelled}({of_logits})" if spelled else None
    return replacing.instead_of(hazard, log, (found.value, of), made, text) if text else None
