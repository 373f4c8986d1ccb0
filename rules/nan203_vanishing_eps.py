"""NAN203 vanishing-eps."""

from __future__ import annotations

from nanlint.rule import Call, Edit, Expression, Facts, Finding, Fix, Hazard, Iterator, Rule, items, unsafe

# Operations that hold a value above an eps, with the parameter that holds it.
FLOORS = dict.fromkeys(("torch.clamp", "torch.clamp_min"), "min")
FLOORS.update(dict.fromkeys(("torch.add", "torch.maximum", "torch.max"), "other"))
CEILINGS = dict.fromkeys(("torch.clamp", "torch.clamp_max"), "max")
# An eps that is not written at the call, and runs in the dtype of the operand.
DEFAULTS = {"torch.nn.functional.normalize": 1e-12, "torch.cosine_similarity": 1e-8}
STEEP = tuple(f"torch.{name}" for name in ("log", "log2", "log10", "sqrt", "rsqrt", "reciprocal"))
BREAKING_FORWARD = tuple(f"torch.{name}" for name in ("log1p", "logit", "atanh", "erfinv"))
BREAKS_AT_ONE = (*BREAKING_FORWARD, "torch.acos", "torch.asin")
# Uniform numbers are below 1 by themselves.
UNIFORM = frozenset({"torch.rand", "torch.rand_like"})
HALVES, QUOTED = ("float16", "bfloat16"), 30
# Its reciprocal, which the gradient is multiplied by, is below the end of float16, too.
FLOOR = "1e-4"


class VanishingEps(Rule):
    """An eps that is rounded to nothing in the dtype it is used in.

    ## Why it hurts
    float16 ends at 6e-8, so 1e-8 is 0 there, and so is the default eps of `F.normalize` and `cosine_similarity`. In
    float32 `1 - 1e-8` is 1. The guard is there to be read, and guards nothing.

    ## Flagged
        p = torch.sigmoid(x).clamp(1e-8, 1 - 1e-8)
        loss = -torch.log(1 - p)

    ## Instead
        p = torch.sigmoid(x.float()).clamp(1e-6, 1 - 1e-6)
        loss = -torch.log(1 - p)

    ## Silent when
    the eps survives in the dtype in effect; when a cast to float32 or autocast's own list comes first; when an eps is merely absorbed by a large value;
    for a ceiling on `torch.rand`, which stays below 1; in tests. At `info` where nothing says that the value is half: a floor that something is divided by, or a root or
    logarithm taken of, in a function that casts nothing to float32 (metrics, data sets, signals, rewards and what a module makes beforehand are float32); the default eps of `normalize` and `cosine_similarity`
    unless given weights, embeddings or pooled features; a ceiling that survives in float32, not in half, before `log(1 - p)`; and one that nothing here is seen to need.

    ## Fix
    Unsafe: `torch.finfo(x.dtype).tiny` for a floor and `1 - torch.finfo(x.dtype).eps` for a ceiling fit every dtype, and
    move what lies between the two; `eps=1e-4` for `normalize` and `cosine_similarity` keeps their gradient in float16.
    """

    code = "NAN203"
    name = "vanishing-eps"
    evidence = (items.LOST_AT_ONCE,)
    calls = frozenset(FLOORS) | frozenset(CEILINGS) | frozenset(DEFAULTS)
    yields_to = frozenset({"NAN204"})

    def check_call(self, call: Call, facts: Facts) -> Iterator[Finding]:
        """Judge one eps."""
        subject = call.subject
        if subject is None or facts.is_test():
            return
        if call.function in DEFAULTS:
            yield from self._check_default(call, subject, facts)
            return
        value, floor = _floor(call, subject, facts)
        dtype = facts.dtype_of(value)
        if floor is not None and facts.rounds_to(floor, 0.0, dtype or "float16"):
            is_half = dtype in HALVES and facts.is_tensor(value)
            if is_half or (not dtype and facts.is_relied_on(call, value) and _may_be_half(facts)):
                yield self._finding(call, floor, 0.0, dtype, facts)
        yield from self._check_ceiling(call, subject, facts)

    def _check_ceiling(self, call: Call, subject: Expression, facts: Facts) -> Iterator[Finding]:
        eps, dtype = call.arguments.get(CEILINGS.get(call.function, "")), facts.dtype_of(subject)
        origin = facts.origin_of(subject)
        if eps is None or not facts.is_tensor(subject) or (origin is not None and origin.function in UNIFORM):
            return
        if dtype in {"", "float32", *HALVES} and facts.rounds_to(eps, 1.0, dtype or "float32"):
            yield self._finding(call, eps, 1.0, dtype or "float32", facts)
            return
        is_needed = facts.needs_less_than_one(call, "torch.log1p", *STEEP)
        if is_needed and not dtype and facts.rounds_to(eps, 1.0, "bfloat16") and _may_be_half(facts):
            yield self._finding(call, eps, 1.0, "", facts)

    def _finding(self, call: Call, eps: Expression, limit: float, dtype: str, facts: Facts) -> Finding:
        """A floor that is rounded to 0, or a ceiling that is rounded to 1; in half, if no dtype is given."""
        subject = call.subject if call.subject is not eps else call.arguments.get("other")
        lost = [dtype] if dtype else [half for half in HALVES if facts.rounds_to(eps, limit, half)]
        is_certain = dtype != "" and (limit == 0 or _is_needed(call, facts))
        text, value = facts.quote(eps, QUOTED), facts.quote(subject or call.node, QUOTED)
        return self.finding(
            facts.span_of(eps),
            f"`{text}` is {limit:g} in {lost[0]}, so `{value}` is not kept from {limit:g}",
            fix=_fix(call, eps, limit, facts),
            hazard=Hazard(call.function, facts.source_of(subject or call.node), f"{limit:g}"),
            dtypes=tuple(lost),
            evidence=(items.RANGE_REACHES,) if is_certain else (items.DECIDED_ELSEWHERE,),
        )

    def _check_default(self, call: Call, subject: Expression, facts: Facts) -> Iterator[Finding]:
        stated, dtype = call.arguments.get("eps"), facts.dtype_of(subject)
        eps = facts.constant_of(stated) if stated is not None else DEFAULTS[call.function]
        if eps is None or facts.rounded(eps, "float16") != 0 or facts.autocast_at(call.node):
            return
        if dtype == "float16" or (dtype == "" and facts.may_have_empty_rows(subject) and _may_be_half(facts)):
            edit = Edit(facts.span_of(stated), FLOOR) if stated is not None else facts.add_keyword(call, "eps", FLOOR)
            word = call.function.rpartition(".")[2]
            message = f"the eps of `{word}`, {eps:g}, is 0 in float16, so a row of zeros becomes NaN"
            hazard = Hazard(call.function, facts.source_of(subject), "0")
            fix = unsafe(f"Set eps={FLOOR}", edit) if edit is not None else None
            found = self.finding(
                facts.span_of(call.node),
                message,
                fix=fix,
                hazard=hazard,
                dtypes=("float16",),
                evidence=(items.RANGE_REACHES if dtype else items.DECIDED_ELSEWHERE,),
            )
            yield found


def _floor(call: Call, subject: Expression, facts: Facts) -> tuple[Expression, Expression | None]:
    """What is kept from 0, and by what: either term of a sum may be the eps."""
    raised = facts.raised(call)
    return raised or (subject, call.arguments.get(FLOORS.get(call.function, "")))


def _may_be_half(facts: Facts) -> bool:
    return facts.may_be_half() and not facts.is_widened()


def _is_needed(call: Call, facts: Facts) -> bool:
    """Whether something here breaks at a ceiling of 1. Of an angle the gradient alone is infinite."""
    return facts.needs_less_than_one(call, *(BREAKS_AT_ONE if facts.is_trained() else BREAKING_FORWARD), *STEEP)


def _fix(call: Call, node: Expression, limit: float, facts: Facts) -> Fix | None:
    torch, subject = facts.name_for("torch"), call.subject
    if torch is None or subject is None or subject is node or facts.call_of(subject) is not None:
        return None
    dtype = f"{torch}.finfo({facts.source_of(subject)}.dtype)"
    text = f"{dtype}.tiny" if limit == 0 else f"1 - {dtype}.eps"
    return unsafe("Take the eps from the dtype", Edit(facts.span_of(node), text))
