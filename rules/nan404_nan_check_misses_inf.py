"""NAN404 nan-check-misses-inf."""

from __future__ import annotations

from typing import TYPE_CHECKING

from nanlint.rule import Call, Comparison, Direction, Edit, Expression, Facts, Finding, Rule, items, safe

if TYPE_CHECKING:
    from collections.abc import Iterator

FINITE = frozenset({"torch.isfinite", "math.isfinite", "numpy.isfinite"})
NAN = frozenset({"torch.isnan", "math.isnan", "numpy.isnan"})
INF = frozenset({"torch.isinf", "math.isinf", "numpy.isinf"})
WATCHED = frozenset({"loss", "losses", "grad", "grads", "gradient", "gradients", "norm", "norms", "gnorm", "gradnorm"})
# `loss_weight`, `grad_scale`, `norm_type` and `norm_min` are something else.
UNWATCHED = frozenset({"fn", "func", "mask", "masks", "weight", "weights", "scale", "scaler", "type", "layer", "module", "name", "min", "max"})  # fmt: skip
GRADIENTS = frozenset({"grad", "grads", "gradient", "gradients"})
PYTHONS_OWN = frozenset({"max", "min"})
CLIPS = frozenset({"torch.nn.utils.clip_grad_norm_", ".clip_grad_norm_"})
# What they take the mean of has NaN in the place of what is missing.
AROUND_NAN = frozenset({"nanmean", "nansum", "nanmedian", "nanstd", "nanmax", "nanmin"})
TRAINING = frozenset({"backward", "grad", "parameters", "optimizer", "clip_grad_norm_", "clip_grad_norm"})
DIVERGED = 1e3


class NanCheckMissesInf(Rule):
    """A check for NaN that lets inf pass, or the other way round.

    ## Why it hurts
    An overflow gives inf one step before it gives NaN: `isnan(loss)` is False, the backward turns inf into NaN
    gradients, and the step writes them into every weight. A check for inf alone, or `loss > 1e6`, is False for NaN.

    ## Flagged
        if torch.isnan(loss):
            optimizer.zero_grad()
            continue
        loss.backward()

    ## Instead
        if not torch.isfinite(loss):
            optimizer.zero_grad()
            continue
        loss.backward()

    ## Silent when
    `isfinite` is asked, or both `isnan` and `isinf` (or a threshold beside `isnan`) about the same thing in one function;
    when the thing is not a loss, a gradient or a norm of one, by its name or because `backward()` starts there, or goes into `nanmean`; when the
    test decides nothing, as in a log line or a mask; in tests. `loss > 1e6` is flagged where it leaves the loop or the
    function, a comparison with NaN itself in any function that trains or names `nan`. Python's `max` and `min` lose a NaN that is
    not their first argument; flagged where one is written there, and at `info` for the largest of gradients; `info` too for a loss of a validation, which trains nothing, and for a check that only prints or counts. So is `isfinite(p.grad).any()`, which one element answers.

    ## Fix
    Safe: `not isfinite(...)` is the same answer for every finite value.
    """

    code = "NAN404"
    name = "nan-check-misses-inf"
    direction = Direction.LOOP
    calls = NAN | INF | FINITE | PYTHONS_OWN
    comparisons = frozenset({"nan", "float", "backward", "manual_backward", "zero_grad", "clip_grad_norm_", "grad"})

    def check_call(self, call: Call, facts: Facts) -> Iterator[Finding]:
        """Judge one call of isnan or isinf, or of Python's own max or min."""
        subject = call.subject
        if call.function in PYTHONS_OWN:
            yield from self._check_extreme(call, facts)
            return
        if subject is None or facts.is_test() or not _is_watched(subject, facts):
            return
        if facts.asks_for_some(call):
            text = facts.quote(call.node, 40)
            message = f"`{text}` asks for one element: a gradient with some that are not finite passes"
            yield self.finding(facts.span_of(call.node), message)
        if call.function in FINITE:
            return
        has_nan, missed = call.function in NAN, "inf" if call.function in NAN else "NaN"
        if facts.condition_at(call.node) is None or _is_completed(call.node, subject, facts, has_nan=has_nan):
            return
        edit = facts.inverted_test(call, f"{call.function.rpartition('.')[0]}.isfinite")
        yield self._missing(call.node, subject, missed, facts, edit)

    def _check_extreme(self, call: Call, facts: Facts) -> Iterator[Finding]:
        """`max(x, nan)`, and the largest of gradients by a comparison, which is False for NaN."""
        parts = [getattr(node, "elt", node) for node in call.arguments.values()]
        measured = [part for part in parts if facts.is_tensor(part) and not GRADIENTS.isdisjoint(facts.words_of(part))]
        if not any(facts.is_nan(part) for part in parts) and (facts.is_test() or not measured):
            return
        message = f"`{facts.quote(call.node, 36)}` drops a NaN that does not come first: comparing it is False"
        yield self.finding(facts.span_of(call.node), message, evidence=(items.RARE,) if measured else ())

    def check_comparison(self, node: Comparison, facts: Facts) -> Iterator[Finding]:
        """Judge `x == nan`, `x != x` and `x > 1e6`."""
        sides = facts.comparison_of(node)
        if sides is None or not facts.mentions(*self.comparisons):
            return
        left, sign, right = sides
        if sign in {"==", "!="} and any(facts.is_nan(side) for side in (left, right)):
            always = "True" if sign == "!=" else "False"
            yield self.finding(facts.span_of(node), f"`{facts.quote(node)}` is {always} for every value, NaN included")
        elif facts.is_test() or not _is_watched(left, facts) or _is_completed(node, left, facts, has_nan=sign == "!="):
            return
        elif sign == "!=" and facts.source_of(left) == facts.source_of(right) and facts.condition_at(node):
            yield self._missing(node, left, "inf", facts, None)
        elif sign in {">", ">="} and (facts.constant_of(right) or 0.0) >= DIVERGED:
            condition = facts.condition_at(node)
            if condition is not None and condition.leaves and facts.is_condition(node):
                opposite = f"not {facts.source_of(left)} {'<=' if sign == '>' else '<'} {facts.source_of(right)}"
                yield self._missing(node, left, "NaN", facts, Edit(facts.span_of(node), opposite))

    def _missing(self, node: Expression, subject: Expression, missed: str, facts: Facts, edit: Edit | None) -> Finding:
        thing = facts.quote(subject, 25)
        message = f"`{facts.quote(node, 40)}` is False for {missed}, so a `{thing}` of {missed} passes this check"
        informs = facts.only_informs(node)
        fix = safe("Ask whether it is finite", edit) if edit is not None and not informs else None
        evidence = (items.ONLY_LOGGED,) if informs else (items.RARE,) if facts.is_aside(subject) else ()
        return self.finding(facts.span_of(node), message, fix=fix, evidence=evidence)


def _is_watched(subject: Expression, facts: Facts) -> bool:
    """Whether it is a loss, a gradient or a norm of one."""
    words = facts.words_of(subject)
    if words and words[-1] not in UNWATCHED and not WATCHED.isdisjoint(words):
        # A `norm` where nothing is trained is the order of one.
        is_order = words == ("norm",) and not facts.mentions(*TRAINING)
        return not words[-1].endswith("norm") or (facts.training_subject(subject) != "other" and not is_order)
    clipped = facts.origin_of(subject)
    return (clipped is not None and clipped.function in CLIPS) or any(
        facts.is_same_thing(subject, start) for start in facts.backward_starts()
    )


def _is_completed(test: Expression, subject: Expression, facts: Facts, *, has_nan: bool) -> bool:
    """Whether something else in the function asks the other half."""
    for call in facts.calls_with(subject):
        says_so = facts.is_named_check(call) or call.function.rpartition(".")[2] in AROUND_NAN
        if says_so or call.function in FINITE or call.function in (INF if has_nan else NAN):
            return True
    around = [getattr(each, "test", test) for each in (facts.condition_at(test), *facts.parents_of(test))]
    for node, sides in ((node, sides) for node, sides in facts.comparisons_about(subject) if node is not test):
        is_self = facts.source_of(sides.left) == facts.source_of(sides.right)
        # A limit, or `in [-inf, inf]`, stops inf if it is a number, or whatever it is if it stands in a condition around.
        beside = any(facts.is_within(node, asked) for asked in around)
        limits = [part.value for part in getattr(sides.right, "elements", ())] or [sides.right]
        if is_self is not has_nan and (is_self or beside or any(facts.constant_of(x) is not None for x in limits)):
            return True
    return False
