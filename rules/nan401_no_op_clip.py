"""NAN401 no-op-clip."""

from __future__ import annotations

import math
import re

from nanlint.rule import (
    Call,
    Direction,
    Edit,
    Expression,
    Facts,
    Finding,
    Fix,
    Item,
    Iterator,
    Rule,
    Value,
    items,
    unsafe,
)

# Where each function takes its bound: by name, or as its second or only positional argument.
BOUNDS = {
    "torch.nn.utils.clip_grad_norm_": ("max_norm",),
    "torch.nn.utils.clip_grad_value_": ("clip_value",),
    ".clip_grad_norm_": ("max_norm", "1", "0"),
    ".clip_grad_norm": ("max_norm", "1", "0"),
    ".clip_grad_value_": ("clip_value", "1", "0"),
    ".clip_gradients": ("max_norm", "clip_val", "gradient_clip_val"),
    "lightning.Trainer": ("gradient_clip_val",),
    "lightning.pytorch.Trainer": ("gradient_clip_val",),
    "pytorch_lightning.Trainer": ("gradient_clip_val",),
    "transformers.TrainingArguments": ("max_grad_norm",),
}
MEASURING = re.compile(r"measur|monitor|\blog|track|record|comput|report|\b(no|not|never|without|n't) (actual(ly)? )?clip|disabl")  # fmt: skip


class NoOpClip(Rule):
    """Gradients are clipped at a bound so high that no gradient is ever clipped.

    ## Why it hurts
    Clipping is there for the one batch whose gradient has a norm of 1e5: with a bound of 1e6 it passes unchanged, the
    step throws the weights far away, and the next loss is NaN. The code looks protected.

    ## Flagged
        if config.clip:
            norm = torch.nn.utils.clip_grad_norm_(model.parameters(), config.clip)
        else:
            norm = torch.nn.utils.clip_grad_norm_(model.parameters(), 1e6)

    ## Instead
        norm = torch.nn.utils.clip_grad_norm_(model.parameters(), config.clip or 1.0)

    ## Silent when
    in tests; when the call only measures the norm: the bound is inf and the result is used, or a comment or the name of
    the function says so. A finite bound on a call whose result is used, with no real clip beside it, may be meant so too:
    info. So is `inf` for a bound that nobody has set. Set `max-norm` to the lowest bound that is worth a finding.

    ## Fix
    Unsafe: the bound becomes 1.0, which changes every step with a larger gradient. Only a bound that is written at the
    call is changed, and none that is reported as info.
    """

    code = "NAN401"
    name = "no-op-clip"
    direction = Direction.LOOP
    calls = frozenset(BOUNDS)
    options = {"max-norm": 1e3}  # noqa: RUF012 - declared as a ClassVar in Rule

    def check_call(self, call: Call, facts: Facts) -> Iterator[Finding]:
        """Judge one clip, or one setting of a trainer that clips."""
        bound = _bound(call, facts)
        largest = self._largest(bound, facts)
        if bound is None or largest is None or facts.is_test():
            return
        evidence = self._evidence(call, bound, largest, facts)
        if evidence is None:
            return
        yield self.finding(
            facts.span_of(bound),
            _message(BOUNDS[call.function][0], bound, largest, facts),
            fix=_fix(bound, largest, facts) if not evidence else None,
            evidence=evidence,
            labels=facts.labels_at(largest.node, "the bound is set here", apart_from=bound),
        )

    def _largest(self, bound: Expression | None, facts: Facts) -> Value | None:
        """The value of the bound that clips nothing, if it has one."""
        too_large = [value for value in facts.possible_values(bound) if self._is_too_large(value)]
        return max(too_large, key=lambda value: value.number or 0.0, default=None)

    def _is_too_large(self, value: Value) -> bool:
        return value.number is not None and value.number >= float(self.option("max-norm"))

    def _evidence(self, call: Call, bound: Expression, largest: Value, facts: Facts) -> tuple[Item, ...] | None:
        """What speaks against it; None for a call that only measures."""
        checked = call.arguments.get("error_if_nonfinite")
        is_used = facts.is_used(call.node) or (checked is not None and facts.value_of(checked).constant is not False)
        is_method = call.function.startswith((".", "torch."))
        if is_method and is_used and (_says_it_measures(call, facts) or largest.number == math.inf):
            return None
        unset = largest.assumed or len(facts.possible_values(bound)) > 1
        return (items.DECIDED_ELSEWHERE,) if largest.number == math.inf and unset else ()


def _bound(call: Call, facts: Facts) -> Expression | None:
    """The argument that says how much is too much."""
    for name in BOUNDS[call.function]:
        argument = call.arguments.get(name)
        # FSDP's own method takes the bound first and the kind of norm second.
        first = call.arguments.get("0")
        if name == "1" and first is not None and _is_a_bound(first, facts):
            argument = first
        if argument is not None:
            return argument
    return None


def _is_a_bound(argument: Expression, facts: Facts) -> bool:
    return facts.constant_of(argument) is not None or not {"norm", "clip", "max"}.isdisjoint(facts.words_of(argument))


def _says_it_measures(call: Call, facts: Facts) -> bool:
    name = facts.function_name().lower()
    return ("norm" in name and "clip" not in name) or bool(MEASURING.search(facts.comments_at(call.node).lower()))


def _message(name: str, bound: Expression, largest: Value, facts: Facts) -> str:
    certain = len(facts.possible_values(bound)) == 1 and not largest.assumed
    known = "" if largest.node is bound else f" {'is' if certain else 'can be'} {largest.number:g}, which"
    reason = "no gradient is above it" if largest.number == math.inf else "it is far above what a run survives"
    written = f"{name}={facts.quote(bound, 26)}" if largest.node is bound else facts.quote(bound, 26)
    return f"`{written}`{known} never clips: {reason}"


def _fix(bound: Expression, largest: Value, facts: Facts) -> Fix | None:
    if largest.node is None or not facts.is_here(largest.node) or not facts.is_within(largest.node, bound):
        return None
    return unsafe("Clip at 1.0", Edit(facts.span_of(largest.node), "1.0"))
