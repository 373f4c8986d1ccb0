"""NAN101 unguarded-division."""

from __future__ import annotations

from nanlint.rule import (
    Call,
    Edit,
    Expression,
    Facts,
    Finding,
    Fix,
    Hazard,
    Item,
    Iterator,
    Rule,
    Vanishing,
    items,
    unsafe,
)

DIV, RECIPROCAL, POWER, NORMALIZE = "torch.div", "torch.reciprocal", "torch.pow", "torch.nn.functional.normalize"
NORMS = frozenset({"torch.norm", "torch.linalg.norm", "torch.linalg.vector_norm"})
COUNT, DATUM, QUOTED = "count", "datum", 31


class UnguardedDivision(Rule):
    """A division by a tensor that can be 0.

    ## Why it hurts
    Tensors do not raise: `x / 0` is inf and `0 / 0` is NaN. An empty mask, a batch without positives, a zero row, a silent
    clip or a constant image is enough, and one NaN in a loss is NaN in every weight after the next step.

    ## Flagged
        loss = (losses * mask).sum() / mask.sum()

    ## Instead
        loss = (losses * mask).sum() / mask.sum().clamp(min=1)

    ## Silent when
    the denominator is known to stay away from 0 in the dtype in effect: clamped, `+ eps`, `1 + x ** 2`, `exp(x)`; when a
    condition on the way asks for it or for what it is made of, or the function compares it with 0 anywhere; when the result is replaced, asserted
    or cut down behind it (`where`, `nan_to_num`, `x[n == 0] = 0`, `min(limit / peak, 1)`), or the docstring or a comment speaks of NaN; where a module is built or initialised, but for what is counted there; for masks of
    padding and of lengths, and tallies read at what was counted (`n[ids]`); for Python's own numbers, `len` and shapes; for parameters, buffers and everything of which
    nothing is known; in tests, plots and logs. At `info` where the test is for other statements, of everything at once and not of each row, or of how many there are and not of their length; where a name, a setting or the caller alone tells of the zero, or its making alone (whatever is summed up, contracted, measured or subtracted): a mask made elsewhere (but in a `masked_mean`, which gets every mask), `x.norm()` (but of what `normalize` is given), a total that its own terms are divided by, what two things hold together, a part of a sum (`tp / (tp + fp)`), an element of what is divided, a determinant, a trace, a sine, what has a sign for a factor, `high - low` (but not `(x - x_min) / (x_max - x_min)` of tensors, nor the error by its target, nor masks that share something), `size - 1`, `avg_factor`, a degree, a disparity, the extremes of a whole table, whatever a function makes that speaks of NaN elsewhere or a script makes once, the share of those above one threshold among those above another.

    ## Fix
    Unsafe: `clamp(min=1)` for a count (exact where there is something to count), `F.normalize` for `x / x.norm()`,
    `clamp_min(1e-4)` for norms and spreads, or 1e-6 where the dtype is not float16, which moves results below that.
    """

    code = "NAN101"
    name = "unguarded-division"
    calls = frozenset({DIV, RECIPROCAL, POWER})
    yields_to = frozenset({"NAN103", "NAN106", "NAN201", "NAN202", "NAN203", "NAN204", "NAN210", "NAN211", "NAN301"})

    def check_call(self, call: Call, facts: Facts) -> Iterator[Finding]:
        """Judge one division."""
        below = _denominator(call, facts)
        if below is None or facts.is_test() or not _is_unguarded(call, below, facts):
            return
        # One denominator that can be 0 is one defect, however many things are divided by it.
        shown = next((each for each, node in _divisions_by(below, facts) if not facts.is_tested(node)), None)
        if call is not (shown or next(_divisions_by(below, facts))[0]):
            return
        found = facts.vanishes_as(below, call.arguments.get("input"))
        if facts.is_building() and found.kind != COUNT:
            return
        made_by = facts.origin_of(below)
        yield self.finding(
            facts.span_of(below),
            f"`{facts.quote(below, QUOTED)}` can be 0{facts.when_zero(below, found)}: the quotient is NaN or inf",
            fix=_fix(list(_divisions_by(below, facts)), found.kind, facts),
            hazard=Hazard(call.function, facts.source_of(below), "0"),
            evidence=_evidence(call, below, found, facts) if shown is not None else (items.RARE,),
            labels=facts.labels_at(made_by.node if made_by else None, "it is made here", apart_from=call.node),
        )


def _divisions_by(below: Expression, facts: Facts) -> Iterator[tuple[Call, Expression]]:
    """Every unguarded division by the same thing, in order, with its denominator as it is written there."""
    for call in facts.calls_of(*UnguardedDivision.calls):
        node = _denominator(call, facts)
        if node is not None and facts.is_same_total(node, below) and _is_unguarded(call, node, facts):
            yield call, node


def _denominator(call: Call, facts: Facts) -> Expression | None:
    if call.function == POWER:
        exponent = facts.constant_of(call.arguments.get("exponent"))
        return call.subject if exponent is not None and exponent < 0 else None
    return call.arguments.get("other") if call.function == DIV else call.subject


def _evidence(call: Call, below: Expression, found: Vanishing, facts: Facts) -> tuple[Item, ...]:
    is_sure = facts.is_tensor(call.node) or facts.is_tensor_on_a_path(below)
    if not is_sure or facts.is_share(call.arguments.get("input"), below):
        return (items.RARE,)
    return (items.MADE_SO,) if found.is_ordinary or facts.is_measured(below) else (items.NAME_ALONE,)


def _is_unguarded(call: Call, below: Expression, facts: Facts) -> bool:
    # A tensor divided by Python's own 0 does not raise either.
    if not facts.is_tensor_on_a_path(below) and not facts.is_used_as_array(call):
        return False
    if not facts.vanishes_as(below, call.arguments.get("input")) or facts.is_tested(below, exactly=True):
        return False
    return not (facts.is_mended(call.node) or facts.is_logged(call.node) or facts.is_announced(call.node, "nan"))


def _fix(divisions: list[tuple[Call, Expression]], kind: str, facts: Facts) -> Fix | None:
    call, below = divisions[0]
    if not all(facts.is_tensor(node) or facts.is_number(node) for _, node in divisions):
        return None
    # A lower bound is right for what is not negative, and for what is no value among others.
    if kind == DATUM or (kind != COUNT and facts.range_of(below).low < 0):
        return None
    normalized = _normalized(call, below, facts)
    if normalized is not None and len(divisions) == 1:
        return unsafe("Use F.normalize", Edit(facts.span_of(call.node), normalized))
    return unsafe("Keep the denominator above 0", *(_bounded(node, kind, facts) for _, node in divisions))


def _bounded(below: Expression, kind: str, facts: Facts) -> Edit:
    floor = facts.floor_for(below, divides=True)
    if facts.is_tensor(below):
        return facts.append_call(below, ".clamp(min=1)" if kind == COUNT else f".clamp_min({floor})")
    return Edit(facts.span_of(below), f"max({facts.source_of(below)}, {1 if kind == COUNT else floor})")


def _normalized(call: Call, below: Expression, facts: Facts) -> str | None:
    """`F.normalize(x, dim=1)` for `x / x.norm(dim=1, keepdim=True)` as it is written."""
    norm, spelled, above = facts.call_of(below), facts.spelling_of(NORMALIZE), call.arguments.get("input")
    if norm is None or norm.function not in NORMS or spelled is None or call.function != DIV or above is None:
        return None
    if set(norm.arguments) != {"input", "dim", "keepdim"} or not facts.is_same(above, norm.subject):
        return None
    if facts.value_of(norm.arguments["keepdim"]).constant is not True or facts.changes_its_operand(call):
        return None
    # Its own 1e-12 is 0 in float16.
    dim, floor = facts.source_of(norm.arguments["dim"]), facts.floor_for(below, divides=True)
    return f"{spelled}({facts.source_of(above)}, dim={dim}, eps={floor})"
