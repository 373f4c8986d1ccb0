"""NAN110 log-of-softmax."""

from __future__ import annotations

from typing import NamedTuple

from nanlint.rule import Call, Direction, Edit, Expression, Facts, Finding, Hazard, Iterator, Rule, items, safe

LOGS = frozenset({"torch.log", "torch.log1p", "torch.log2", "torch.log10"})
SOFTMAX, SIGMOID = "torch.softmax", "torch.sigmoid"
KINDS = {SOFTMAX: "softmax", SIGMOID: "sigmoid", "torch.nn.functional.softmin": "softmin"}
LOG_SOFTMAX, LOG_SIGMOID = "torch.log_softmax", "torch.nn.functional.logsigmoid"
ENTROPY = "torch.nn.functional.binary_cross_entropy"
# A longer quotation would carry the message past 100 characters.
QUOTED = 35


class Log(NamedTuple):
    """A logarithm of the probability `of`, or of what is left of it to 1; `made_by` is its softmax or sigmoid."""

    call: Call
    made_by: Call
    of: Expression
    is_of_rest: bool


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
    the logarithm is taken by `log_softmax`, `logsigmoid` or a `*_with_logits` loss; when the probability was clamped, is the sigmoid of a size or
    got an eps first on some path (NAN102 judges that eps); under `no_grad` and in tests, where -inf is a result like any
    other (at `info` in trackers, translations and other inference); when `BCELoss` and `Categorical(probs=...)` are used outside autocast, since they clamp inside. Under autocast on
    a GPU `BCELoss` raises, so there a sigmoid given to it is flagged.

    ## Fix
    Safe: `log_softmax`, `logsigmoid` and `binary_cross_entropy_with_logits` are the same functions computed without the
    detour; the probabilities go if nothing else reads them. There is none where the logits are out of reach or may have changed since, nor for `log2` and `log10`.
    """

    code = "NAN110"
    name = "log-of-softmax"
    evidence = (items.LOST_AT_ONCE,)
    direction = Direction.BOTH
    calls = LOGS | {ENTROPY}

    def check_call(self, call: Call, facts: Facts) -> Iterator[Finding]:
        """Judge one logarithm, or one cross entropy of probabilities."""
        if call.function == ENTROPY:
            yield from self._check_entropy(call, facts)
            return
        log = _log(call, facts)
        if log is None or facts.is_test() or not facts.is_recorded(call.node):
            return
        # y * log(p) + (1 - y) * log(1 - p) is one mistake, told where it begins.
        logs = _logs_like(log, facts)
        if logs[0].call is call:
            zone = "-1" if call.function == "torch.log1p" else "0"
            hazard = Hazard(call.function, facts.source_of(call.subject or log.of), zone)
            message, edits = _message(logs, facts), _edits(logs, facts)
            better = "log_softmax" if log.made_by.function == SOFTMAX else "logsigmoid"
            fix = safe(f"Use {better}", *edits) if edits else None
            origin = f"the {KINDS[log.made_by.function]} is made here"
            labels = facts.labels_at(log.made_by.node, origin, apart_from=call.node)
            span = facts.span_of(call.node)
            yield self.finding(span, message, fix=fix, hazard=hazard, evidence=(items.MADE_SO,), labels=labels)

    def _check_entropy(self, call: Call, facts: Facts) -> Iterator[Finding]:
        made_by = facts.origins_of(call.subject)
        if not made_by or call.subject is None or any(each.function != SIGMOID for each in made_by):
            return
        if not facts.autocast_at(call.node, device="cuda"):
            return
        message = f"`{facts.quote(call.subject, QUOTED)}` is a sigmoid, and its cross entropy raises under autocast"
        text = None
        logits = made_by[0].subject
        if logits is not None and facts.can_be_repeated(made_by[0], call.subject, call.node):
            text = facts.text_as(call, f"{ENTROPY}_with_logits", input=facts.source_of(logits))
        edits = facts.with_leftovers(Edit(facts.span_of(call.node), text)) if text else ()
        fix = safe("Use binary_cross_entropy_with_logits", *edits) if edits else None
        span, halves = facts.span_of(call.node), ("float16", "bfloat16")
        yield self.finding(
            span, message, fix=fix, direction=Direction.FORWARD, dtypes=halves, evidence=(items.RANGE_REACHES,)
        )


def _log(call: Call, facts: Facts) -> Log | None:
    is_log1p = call.function == "torch.log1p"
    rest = facts.operand_of(call.subject, "torch.neg") if is_log1p else facts.rest_to_one(call.subject)
    of = call.subject if rest is None and not is_log1p else rest
    made_by = facts.origins_of(of) if facts.range_of(call.subject).low <= (-1 if is_log1p else 0) else ()
    if of is None or not made_by or any(each.function not in KINDS for each in made_by):
        return None
    return Log(call, made_by[0], of, rest is not None)


def _logs_like(log: Log, facts: Facts) -> list[Log]:
    """The logarithms in the same statement of the same probability."""
    statement = facts.statement_of(log.call.node)
    beside = [_log(call, facts) for call in facts.calls_of(*LOGS) if facts.statement_of(call.node) is statement]
    return [other for other in beside if other is not None and _is_same(log.made_by, other.made_by, facts)]


def _is_same(first: Call, second: Call, facts: Facts) -> bool:
    return first is second or (
        first.function == second.function == SIGMOID and facts.is_same(first.subject, second.subject)
    )


def _message(logs: list[Log], facts: Facts) -> str:
    log, kind = logs[0], KINDS[logs[0].made_by.function]
    if len({each.is_of_rest for each in logs}) == 2:
        return f"`{facts.quote(log.of, QUOTED)}` is a {kind} and rounds to exactly 0 and 1: its logs can be -inf"
    word, operand = log.call.function.rpartition(".")[2], facts.quote(log.call.subject or log.of, QUOTED)
    return f"{word} of `{operand}` is -inf once the {kind} rounds to {1 if log.is_of_rest else 0}"


def _edits(logs: list[Log], facts: Facts) -> tuple[Edit, ...]:
    texts = [(log, _text(log, facts)) for log in logs]
    edits = [Edit(facts.span_of(log.call.node), text) for log, text in texts if text is not None]
    return facts.with_leftovers(*edits) if len(edits) == len(logs) else ()


def _text(log: Log, facts: Facts) -> str | None:
    """What to write instead of the logarithm."""
    call, made_by, root = log.call, log.made_by, facts.root_of(log.of)
    if call.function not in {"torch.log", "torch.log1p"} or len(call.arguments) != 1 or facts.changes_its_operand(call):
        return None
    if made_by.subject is None or not facts.can_be_repeated(made_by, root, call.node):
        return None
    text, spelled = None, facts.spelling_of(LOG_SIGMOID)
    if made_by.function == SIGMOID and spelled is not None:
        text = f"{spelled}({facts.negated(made_by.subject) if log.is_of_rest else facts.source_of(made_by.subject)})"
    elif made_by.function == SOFTMAX and not log.is_of_rest:
        text = facts.text_as(made_by, LOG_SOFTMAX)
    if text is not None and root is not made_by.node:
        text = facts.on_one_line(text)
    return facts.text_in_place_of(call.node, log.of, root, text) if text is not None else None
