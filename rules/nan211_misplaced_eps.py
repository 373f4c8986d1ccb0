"""NAN211 misplaced-eps."""

from __future__ import annotations

from nanlint.rule import Call, Direction, Edit, Facts, Finding, Hazard, Iterator, Rule, items, unsafe

SUM, ROOT, INVERSE_ROOT, POWER, RELU = "torch.add", "torch.sqrt", "torch.rsqrt", "torch.pow", "torch.relu"
SAME = "which is 0 all the same for values"
SWALLOWING = {RELU: f"relu, {SAME} below", "torch.nn.functional.softplus": f"softplus, {SAME} far below"}
LOGARITHMS = frozenset({"torch.log", "torch.log2", "torch.log10"})
DIVISIONS = {"torch.div": "other", "torch.reciprocal": "input"}
CLAMPS, PRODUCTS = frozenset({"torch.clamp", "torch.clamp_min"}), frozenset({"torch.matmul", "torch.bmm"})
QUOTED, LEAST_IN_HALF = 30, 1e-7


class MisplacedEps(Rule):
    """An eps that looks like a guard and stands where it guards nothing.

    ## Why it hurts
    The slope of `sqrt` at 0 is infinite, and `sqrt(x) + eps` has the same slope; `log(0) + eps` is -inf; `relu(x + eps)` is
    0 for every x below -eps. The reader sees an eps and trusts the line.

    ## Flagged
        scale = torch.sqrt((x * x).sum(dim=-1)) + 1e-6
        logits = torch.log(p) + 1e-8

    ## Instead
        scale = torch.sqrt((x * x).sum(dim=-1) + 1e-6)
        logits = torch.log(p + 1e-8)

    ## Silent when
    the eps is added to the operand of what breaks, or the operand cannot be 0 anyway; for a root without a gradient, as in optimizers and
    metrics; for `== 0` tests, which hold for the value that they name; when nothing says that it is an eps: neither its name nor its size,
    below 1e-3; in tests. At `info` where an eps inside `relu` or before a product of matrices is not seen to end in a division or a logarithm.

    ## Fix
    Unsafe: the eps moves to where it guards, which changes results of its own size; for a logarithm, an inverse root or an eps that
    has a name it becomes a bound of 1e-7 at least, which float16 can hold, unless the dtype is known to be wider.
    """

    code = "NAN211"
    name = "misplaced-eps"
    calls = frozenset({SUM, *SWALLOWING, *DIVISIONS})

    def check_call(self, call: Call, facts: Facts) -> Iterator[Finding]:
        """Judge one sum with an eps, or one operation that an eps was meant for."""
        judges = {SUM: self._check_late, **dict.fromkeys(SWALLOWING, self._check_swallowed)}
        yield from judges.get(call.function, self._check_floor)(call, facts) if not facts.is_test() else ()

    def _check_late(self, call: Call, facts: Facts) -> Iterator[Finding]:
        """`sqrt(x) + eps`, `rsqrt(x) + eps`, `log(x) + eps`."""
        late = facts.raised(call)
        broken = facts.value_of(late.value).made_by if late is not None else None
        if late is None or broken is None or (inner := broken.subject) is None or not facts.is_here(broken.node):
            return
        is_root, is_trained = broken.function in {ROOT, POWER}, facts.is_trained() or facts.serves_a_forward()
        if not (_breaks_backward(broken, facts) if is_root else _breaks(broken, call, facts)):
            return
        word, result = broken.function.rpartition(".")[2], "slope is inf" if is_root else "value is infinite"
        edit = _moved_inside(call, broken, facts.source_of(late.eps), facts.constant_of(late.eps) or 0.0, facts)
        yield self.finding(
            facts.span_of(broken.node),
            f"`{facts.quote(late.eps, QUOTED)}` comes after the {word} of `{facts.quote(inner, QUOTED)}`, whose {result} at 0",
            fix=unsafe("Add the eps inside", edit) if edit is not None else None,
            hazard=Hazard(broken.function, facts.source_of(inner), "0"),
            direction=Direction.BACKWARD if is_root else Direction.BOTH,
            evidence=(items.RARE,) if is_root and not is_trained else (items.RANGE_REACHES,),
        )

    def _check_swallowed(self, call: Call, facts: Facts) -> Iterator[Finding]:
        """`relu(x + eps)`; of softplus, which only underflow makes 0, where that ends in a division or a logarithm."""
        found = facts.raised(facts.call_of(call.subject)) if call.subject is not None else None
        if found is None or facts.range_of(found.value).least >= 0:
            return
        relied_on = any(_operand(user, facts) is call for user in facts.calls_of(*DIVISIONS, *LOGARITHMS, INVERSE_ROOT))
        if relied_on or call.function == RELU:
            message = f"`{facts.quote(found.eps, QUOTED)}` is added inside {SWALLOWING[call.function]} 0"
            hazard = Hazard(call.function, facts.source_of(found.value), "below 0")
            evidence = (items.MADE_SO if relied_on else items.RARE,)
            yield self.finding(facts.span_of(call.node), message, hazard=hazard, evidence=evidence)

    def _check_floor(self, call: Call, facts: Facts) -> Iterator[Finding]:
        """`a / x.clamp(min=0)` and `a / ((p + eps) @ q)`: neither is kept from 0. Of logarithms NAN102 tells."""
        made_by, inner = _operand(call, facts), call.arguments.get(DIVISIONS[call.function])
        if inner is None or made_by is None or not facts.is_here(made_by.node) or not facts.range_of(inner).has_zero:
            return
        floor = made_by.arguments.get("min") if made_by.function in CLAMPS else None
        if floor is not None and facts.constant_of(floor) == 0 and not facts.is_given(floor):
            reason = "is clamped to 0"
        elif made_by.function in PRODUCTS and any(map(facts.raised, map(facts.origin_of, made_by.arguments.values()))):
            reason = "has its eps before the product, which can be 0"
        else:
            return
        first = next(other for other in facts.calls_of(*DIVISIONS) if _operand(other, facts) is made_by)
        if first is not call or facts.is_tested(inner) or facts.is_mended(call.node) or not facts.is_tensor(call.node):
            return
        message = f"`{facts.quote(inner, QUOTED)}` {reason}, where the quotient is inf or NaN"
        yield self.finding(facts.span_of(call.node), message, hazard=Hazard(call.function, facts.source_of(inner), "0"))


def _breaks_backward(root: Call, facts: Facts) -> bool:
    """Whether a gradient passes through the root of what can be exactly 0."""
    inner, power = root.subject, facts.constant_of(root.arguments.get("exponent")) if root.function == POWER else 0.5
    reach, origin = facts.range_of(inner), facts.origin_of(inner)
    if power is None or not 0 < power < 1 or not facts.is_known(inner) or reach.low < 0 or reach.integer:
        return False
    if inner is None or not facts.may_train() or not (facts.has_gradient(root.node) and facts.has_gradient(inner)):
        return False
    is_harmless = (origin is not None and origin.function == RELU) or facts.is_picked_zero(inner)
    return facts.reaches_zero(inner) and not is_harmless


def _breaks(call: Call, late: Call, facts: Facts) -> bool:
    """Whether it is a logarithm or an inverse root of what can be 0; the eps in `a / (log(x) + eps)` is for the log of 1."""
    reach, origin = facts.range_of(call.subject), facts.origin_of(call.subject)
    # Another eps, or a bound, in the operand of an inverse root keeps it from 0, whatever it is.
    is_kept = origin is not None and (origin.function in CLAMPS or facts.raised(origin) is not None)
    is_root = call.function == INVERSE_ROOT and not is_kept
    is_meant = is_root or (call.function in LOGARITHMS and not facts.is_denominator(late.node))
    return is_meant and facts.is_tensor(call.node) and reach.has_zero and not reach.integer


def _operand(call: Call, facts: Facts) -> Call | None:
    """What made the denominator, or the argument of a logarithm or an inverse root."""
    return facts.origin_of(call.arguments.get(DIVISIONS.get(call.function, "input")))


def _moved_inside(call: Call, broken: Call, eps: str, number: float, facts: Facts) -> Edit | None:
    """`sqrt(x + eps)` for `sqrt(x) + eps` as it is written; a bound where an eps that is added would not do in float16."""
    inner, is_direct = broken.subject, facts.is_within(broken.node, call.node)
    changes = facts.changes_its_operand(call) or facts.changes_its_operand(broken)
    if inner is None or not is_direct or changes or broken.function == POWER or "#" in facts.source_of(call.node):
        return None
    floor = facts.floor_for(inner)
    is_wide, is_enough = float(floor) < LEAST_IN_HALF, number >= float(floor)
    if not is_wide and not eps[:1].isdigit():  # what a name holds is for the caller to say, so it stays where it is
        return facts.append_call(inner, f".clamp_min({floor})")
    total = f"{facts.as_receiver(inner)}.clamp_min({eps if is_enough else floor})"
    if is_wide or (broken.function == ROOT and is_enough):
        total = f"{facts.source_of(inner)} + {eps}"
        total = total if broken.form.value == "function" else f"({total})"
    new = facts.text_as(broken, broken.function, input=total)
    return Edit(facts.span_of(call.node), new) if new is not None else None
