"""NAN303 inf-times-mask."""

from __future__ import annotations

from nanlint.rule import Call, Direction, Edit, Expression, Facts, Finding, Hazard, Iterator, Rule, items, safe

PRODUCT, DIFFERENCE = "torch.mul", "torch.sub"
TESTS = frozenset({"torch.isnan", "torch.isinf", "torch.isfinite"})
# Of logsumexp NAN107 tells.
PEAKS = frozenset({"torch.max", "torch.amax"})
MASKS = frozenset({"mask", "masks", "keep", "valid"})
QUOTED = 24


class InfTimesMask(Rule):
    """A mask multiplied onto a value that is infinite or NaN where the mask is 0.

    ## Why it hurts
    `0 * inf` and `0 * nan` are NaN: a product does not remove what is not finite, it spreads it. So does a difference:
    `scores - scores.max()` of a row that is masked with -inf as a whole is `-inf - -inf`, which is NaN. So is a logsumexp by hand of
    logarithms that are all -inf, at `info`: `torch.logsumexp` gives -inf there.

    ## Flagged
        penalty = float("inf") * mask
        clean = loss * torch.isfinite(loss)

    ## Instead
        penalty = torch.zeros_like(scores).masked_fill(mask, float("inf"))
        clean = torch.where(torch.isfinite(loss), loss, 0.0)

    ## Silent when
    the value is finite for all that is known, as the loss of the usual `loss * mask` is; when the factor cannot be 0; in tests.

    ## Fix
    Safe in the forward: `torch.where` picks instead of multiplying. What makes the value infinite keeps its gradient of NaN.
    """

    code = "NAN303"
    name = "inf-times-mask"
    direction = Direction.FORWARD
    calls = frozenset({PRODUCT, DIFFERENCE})

    def check_call(self, call: Call, facts: Facts) -> Iterator[Finding]:
        """Judge one product or difference."""
        one, two = call.subject, call.arguments.get("other")
        if one is None or two is None or facts.is_test():
            return
        check = self._check_product if call.function == PRODUCT else self._check_difference
        yield from check(call, one, two, facts)

    def _check_product(self, call: Call, one: Expression, two: Expression, facts: Facts) -> Iterator[Finding]:
        for value, mask in ((one, two), (two, one)):
            reason = _reason(value, mask, facts)
            if reason:
                edit = _edit(call, value, mask, facts)
                yield self.finding(
                    facts.span_of(call.node),
                    f"`{facts.quote(value, QUOTED)}` {reason} where `{facts.quote(mask, QUOTED)}` is 0: the product is NaN",
                    fix=safe("Pick instead of multiplying", edit) if edit is not None else None,
                    hazard=Hazard(call.function, facts.source_of(value), "inf"),
                    evidence=(items.MADE_SO,),
                )
                return

    def _check_difference(self, call: Call, one: Expression, two: Expression, facts: Facts) -> Iterator[Finding]:
        peak, found = facts.origin_of(two), facts.filling_behind(one)
        # The largest of all is -inf where nothing at all is kept.
        if peak is None or peak.function not in PEAKS or "dim" not in peak.arguments:
            return
        if not facts.is_same(one, peak.subject):
            return
        text, hazard = facts.quote(one, QUOTED), Hazard(call.function, facts.source_of(one), "-inf")
        if found is None and facts.sums_logarithms():
            message = f"`{text}` of nothing but -inf, the log of 0, gives -inf - -inf here, which is NaN"
            yield self.finding(facts.span_of(call.node), message, hazard=hazard, evidence=(items.NAME_ALONE,))
        if found is None or facts.leaves_something(found) or facts.is_mended(call.node):
            return
        yield self.finding(
            facts.span_of(call.node),
            f"`{text}` is -inf where `{facts.quote(found.mask, QUOTED)}` says so, and -inf - -inf is NaN",
            hazard=hazard,
            evidence=(items.MADE_SO,),
        )


def _reason(value: Expression, mask: Expression, facts: Facts) -> str:
    """Why `value` is not finite where the mask is 0; empty if nothing says so."""
    if not facts.is_tensor(mask):
        return ""
    if _tests(mask, value, facts, 4):
        return "is not finite"
    constant = facts.constant_of(value)
    # A default that somebody asks for is not used where it is infinite.
    if constant in {float("inf"), float("-inf")} and not facts.is_tested(value):
        reach, rest = facts.range_of(mask), facts.rest_to_one(mask)
        mask = rest if rest is not None else mask
        is_mask = (reach.low >= 0 and reach.high <= 1) or not MASKS.isdisjoint(facts.words_of(mask))
        return f"is {constant} also" if is_mask and reach.has_zero else ""
    found = facts.filling_behind(value)
    if found is not None and not found.is_added and facts.is_same(found.mask, mask):
        return "is -inf"
    return ""


def _tests(mask: Expression | None, value: Expression, facts: Facts, depth: int) -> bool:
    """Whether the mask was made by asking whether `value` is finite."""
    call = facts.value_of(mask).made_by if mask is not None else None
    if call is None or depth == 0 or facts.dtype_of(mask) not in {"bool", ""}:
        return False
    if call.function in TESTS:
        return facts.is_same(call.subject, value)
    return any(_tests(operand, value, facts, depth - 1) for operand in call.arguments.values())


def _edit(call: Call, value: Expression, mask: Expression, facts: Facts) -> Edit | None:
    torch = facts.name_for("torch")
    texts = [facts.on_one_line(facts.source_of(node)) for node in (mask, value)]
    is_mask = facts.dtype_of(mask) == "bool" and facts.constant_of(value) is None
    if torch is None or None in texts or not is_mask or facts.changes_its_operand(call) or not facts.is_here(mask):
        return None
    return Edit(facts.span_of(call.node), f"{torch}.where({texts[0]}, {texts[1]}, 0.0)")
