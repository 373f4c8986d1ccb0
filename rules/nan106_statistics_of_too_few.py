"""NAN106 statistics-of-too-few."""

from __future__ import annotations

from nanlint.rule import Call, Edit, Expression, Facts, Finding, Fix, Hazard, Item, Iterator, Rule, items, unsafe

SPREADS = frozenset({"torch.std", "torch.var"})
AVERAGES = frozenset({"torch.mean", "torch.median"})
MOVES = frozenset({"torch.Tensor.to", "torch.Tensor.cuda", "torch.Tensor.cpu", "torch.Tensor.float", "torch.detach"})
# What is normalised per minibatch, of which the last one may hold a single element.
BATCHES = frozenset({"advantage", "advantages", "adv", "advs", "gae", "returns", "reward", "rewards"})
WIDE, QUOTED = frozenset({"bfloat16", "float32", "float64"}), 40
# The eps of float16: what is divided by it stays below its end.
BOUND = "1e-3"


class StatisticsOfTooFew(Rule):
    """A standard deviation of one value, or a mean of none.

    ## Why it hurts
    `std` and `var` divide by n - 1: of one element they are 0 / 0, and `+ 1e-8` behind them does not help. The mean and the median of an empty selection are NaN. The last
    minibatch of an epoch, or a class that a batch lacks, is enough.

    ## Flagged
        advantages = batch["advantages"]
        advantages = (advantages - advantages.mean()) / (advantages.std() + 1e-8)

    ## Instead
        advantages = batch["advantages"]
        advantages = (advantages - advantages.mean()) / (advantages.std(correction=0) + 1e-8)

    ## Silent when
    `correction=0` or `unbiased=False` is given; when a condition on the way asks for the size or the selection; when the result is replaced behind it, compared with the values it
    is of, logged, or a number of a metric; for the rewards of a whole data set, which an object is built with; for a `std` over features, time or pixels, of which there is more than one; under `no_grad`, beside jax, and in tests. Of spreads those over a
    whole batch of advantages or returns are judged, and those of a selection by a test on values (`x[labels > 0]`); of means and medians those of such a selection. A mask that was
    made from padding is taken to hold a True. At `info` for a batch that the function itself has computed, which is all of a rollout, and that is divided by its
    deviation with an eps; for the batch dimension of what a model or a loss is given; for the members of a stack, and groups of rewards whose size is set; for a mask that was made elsewhere, and what several tests leave together.

    ## Fix
    Unsafe: `correction=0` is 0 for one element, and a little smaller for more of them. There is none for a mean of nothing. A deviation that is divided by is held above
    `torch.finfo(x.dtype).eps` as well, by which float16, too, can divide; not where there is an eps of 1e-3 beside it, or any in a dtype that is known to be wider.
    """

    code = "NAN106"
    name = "statistics-of-too-few"
    calls = SPREADS | AVERAGES

    def check_call(self, call: Call, facts: Facts) -> Iterator[Finding]:
        """Judge one statistic."""
        subject = call.subject
        if subject is None or facts.is_test() or not facts.is_recorded(call.node) or facts.name_for("jax") is not None:
            return
        is_spread = call.function in SPREADS
        is_batch = is_spread and _is_batch(call, subject, facts)
        sure = facts.selection_behind(subject) if _is_over_all(call, facts) else None
        selection = sure or (facts.doubtful_selection_behind(subject) if _is_over_all(call, facts) else None)
        if not selection and not is_batch and not (is_spread and _is_of_rows(call, subject, facts)):
            return
        if (is_spread and _is_corrected(call, facts)) or facts.is_tested(selection or subject):
            return
        is_known = facts.is_mended(call.node) or facts.is_logged(call.node)
        if is_known or (selection and not facts.is_first_of_selection(call, selection, SPREADS | AVERAGES)):
            return
        # What is compared with the values it is of is as empty as it is NaN.
        is_reported = facts.is_cut_off(call.node) and "metric" in facts.function_name()
        if not is_spread and (is_reported or facts.is_compared_with(call, subject)):
            return
        word, text = call.function.rpartition(".")[2], facts.quote(subject, QUOTED)
        reason = f"can have one element, whose {word} is NaN" if is_spread else f"can be empty, and its {word} is NaN"
        yield self.finding(
            facts.span_of(call.node),
            f"`{text}` {reason}",
            fix=_fix(call, facts) if is_spread and not selection else None,
            hazard=Hazard(call.function, facts.source_of(subject), "one element" if is_spread else "no elements"),
            evidence=_evidence(call, subject, facts)
            if is_batch and not selection
            else (items.MADE_SO,)
            if sure
            else (items.RARE,),
        )


def _evidence(call: Call, subject: Expression, facts: Facts) -> tuple[Item, ...]:
    """A minibatch that was handed in can hold one element; what was computed here is all of a rollout, and breaks without an eps."""
    if any(facts.origin_of(quotient.arguments.get("other")) is call for quotient in facts.calls_of("torch.div")):
        return (items.MADE_SO,)
    node, made_by = subject, facts.value_of(subject).made_by
    while made_by is not None and made_by.function in MOVES and made_by.subject is not None:
        node, made_by = made_by.subject, facts.value_of(made_by.subject).made_by
    is_part = made_by.function == "subscript" if made_by is not None else facts.source_of(node).endswith("]")
    return (items.MADE_SO,) if is_part or facts.is_given(subject) else (items.RARE,)


def _is_batch(call: Call, subject: Expression, facts: Facts) -> bool:
    """Whether all of a batch of advantages or rewards, or its first dimension, is looked at; an object is built with all there are."""
    return not BATCHES.isdisjoint(facts.words_of(subject)) and facts.function_name() != "__init__" and _is_over_all(call, facts)  # fmt: skip


def _is_of_rows(call: Call, subject: Expression, facts: Facts) -> bool:
    """Whether it is over members, or the batch dimension, which has one element in a batch of one, of what the function was given."""
    is_batch = facts.constant_of(call.arguments.get("dim")) == 0 and facts.is_given(subject) and facts.is_trained()
    return is_batch or facts.is_of_members(call)


def _is_over_all(call: Call, facts: Facts) -> bool:
    """Whether everything is looked at, or the first dimension, which a selection is along."""
    return call.arguments.get("dim") is None or facts.constant_of(call.arguments["dim"]) == 0


def _is_corrected(call: Call, facts: Facts) -> bool:
    """Whether something is said about the correction other than that it is 1."""
    stated = call.arguments.get("correction") or call.arguments.get("unbiased")
    return stated is not None and facts.value_of(stated).constant is not True and facts.constant_of(stated) != 1


def _fix(call: Call, facts: Facts) -> Fix | None:
    stated = next((name for name in ("unbiased", "correction") if call.arguments.get(name) is not None), "")
    if stated:
        value = "False" if stated == "unbiased" else "0"
        edits = [Edit(facts.span_of(call.arguments[stated]), value)]
    else:
        stated, value = "correction", "0"
        added = facts.add_keyword(call, stated, value)
        edits = [added] if added is not None else []
    bound = _bound(call, facts)
    if edits and bound is not None:
        edits.append(bound)
    return unsafe(f"Set {stated}={value}", *edits) if edits else None


def _bound(call: Call, facts: Facts) -> Edit | None:
    """A lower bound for a deviation that is divided by, where the eps beside it may be too small for the dtype."""
    torch, named = facts.name_for("torch"), facts.source_of(call.subject) if call.subject is not None else ""
    for quotient in facts.calls_of("torch.div"):
        below = facts.origin_of(quotient.arguments.get("other"))
        raised = facts.raised(below) if below is not None else None
        made_by = facts.value_of(raised.value).made_by if raised is not None else below
        eps = facts.constant_of(raised.eps) if raised is not None else None
        is_enough = raised is not None and (facts.dtype_of(call.subject) in WIDE or (eps or 0.0) >= float(BOUND))
        if made_by is call and not is_enough:
            is_plain = torch is not None and named.replace(".", "").isidentifier()
            floor = f"{torch}.finfo({named}.dtype).eps" if is_plain else BOUND
            return Edit(facts.span_of(call.node).behind, f".clamp_min({floor})")
    return None
