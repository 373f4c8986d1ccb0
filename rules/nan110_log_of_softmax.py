"""NAN110 log-of-softmax."""

from __future__ import annotations

from nanlint.rule import (
    Applicability,
    Call,
    Direction,
    Edit,
    Expression,
    Facts,
    Finding,
    Fix,
    Hazard,
    Iterator,
    Rule,
    Severity,
)

LOGARITHMS = frozenset({"torch.log", "torch.log2", "torch.log10"})
BINARY_CROSS_ENTROPY = "torch.nn.functional.binary_cross_entropy"
AUTOCAST = frozenset({"torch.autocast", "torch.amp.autocast", "torch.cuda.amp.autocast"})


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
    the logarithm is taken by `log_softmax`, `logsigmoid` or a `*_with_logits` loss; when the probability was clamped or
    got an eps first (NAN102 judges that eps); when `BCELoss` and `Categorical(probs=...)` are used outside autocast, since they
    clamp inside.

    ## Fix
    Safe: `log_softmax` and `logsigmoid` are the same function computed without the detour; a BCELoss under autocast is
    shown as `binary_cross_entropy_with_logits`.
    """

    code = "NAN110"
    name = "log-of-softmax"
    severity = Severity.ERROR
    direction = Direction.BOTH
    calls = LOGARITHMS | {"torch.log1p", BINARY_CROSS_ENTROPY}
    beside = frozenset({"softmax", "sigmoid", "Softmax", "Softmax2d", "Sigmoid", "expit"})

    def check_call(self, call: Call, facts: Facts) -> Iterator[Finding]:
        """Judge one logarithm, or one BCE on probabilities."""
        ...
