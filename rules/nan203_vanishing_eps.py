"""NAN203 vanishing-eps."""

from __future__ import annotations

from nanlint.rule import Call, Edit, Expression, Facts, Finding, Fix, Hazard, Iterator, Need, Rule, Severity, unsafe

# Operations that hold a value above an eps, with the parameter that holds it.
FLOORS = {
    "torch.add": "other",
    "torch.clamp": "min",
    "torch.clamp_min": "min",
    "torch.maximum": "other",
    "torch.max": "other",
}
CEILINGS = {"torch.clamp": "max", "torch.clamp_max": "max"}
# An eps that is not written at the call, and runs in the dtype of the operand.
DEFAULTS = {"torch.nn.functional.normalize": 1e-12, "torch.cosine_similarity": 1e-8}
# What an eps guards, with the operand that it is added to.
STEEP = tuple(f"torch.{name}" for name in ("log", "log2", "log10", "sqrt", "rsqrt", "reciprocal"))
GUARDED = {**dict.fromkeys(STEEP, "input"), "torch.div": "other"}
BREAKING_FORWARD = tuple(f"torch.{name}" for name in ("log1p", "logit", "atanh", "erfinv"))
BREAKS_AT_ONE = (*BREAKING_FORWARD, "torch.acos", "torch.asin")
BREAKING, TINY, LESS = (frozenset({*BREAKS_AT_ONE, *STEEP}),), frozenset({"<tiny>"}), frozenset({"torch.sub"})
# Uniform numbers are below 1 by themselves.
UNIFORM = frozenset({"torch.rand", "torch.rand_like"})
HALVES = frozenset({"float16", "bfloat16"})
# Its reciprocal, which the gradient is multiplied by, is below the end of float16, too.
FLOOR = "1e-4"
QUOTED = 30


class VanishingEps(Rule):
    """An eps that is rounded to nothing in the dtype it is used in.

    ## Why it hurts
    float16 ends at 6e-8, so 1e-8 is 0 there, and so is the default eps of `F.normalize` and `cosine_similarity`. In
    float32 `1 - 1e-8` is 1. The guard is there to be read, and guards nothing.

    ## Flagged
        p = torch.sigmoid(x).clamp(1e-8, 1 - 1e-8)
        loss = -torch.log(1 - p)

    ## Instead
        p = torch.sigmoid(x).clamp(1e-6, 1 - 1e-6)
        loss = -torch.log(1 - p)

    ## Silent when
    the eps survives in the dtype in effect; when it is a floor and nothing here says that the value is half (at `info`, if the
    value is divided by, or a root or logarithm taken of it, in a function that casts nothing to float32); when a cast to float32 or autocast's own list comes first; when an eps is merely absorbed by a large value; for a ceiling on `torch.rand`,
    which stays below 1; in tests. At `info` for a ceiling that nothing here is seen to need, as `log(1 - p)` does,
    and `acos(p)` where a name says that it is trained.

    ## Fix
    Unsafe: `torch.finfo(x.dtype).tiny` for a floor and `1 - torch.finfo(x.dtype).eps` for a ceiling fit every dtype, and
    move what lies between the two; `eps=1e-4` for `normalize` and `cosine_similarity` keeps their gradient in float16.
    """

    code = "NAN203"
    name = "vanishing-eps"
    severity = Severity.ERROR
    calls = frozenset(FLOORS) | frozenset(CEILINGS) | frozenset(DEFAULTS)
    yields_to = frozenset({"NAN204"})
    needs = (
        Need(frozenset(FLOORS), (TINY, frozenset({"half", "float16"}))),
        Need(frozenset(FLOORS), (TINY,), only_info=True),
        Need(frozenset(CEILINGS), (frozenset({"<near one>"}),)),
        Need(frozenset(CEILINGS), (TINY, LESS), along=BREAKING, spread="one", where="no test"),
        Need(frozenset(CEILINGS), (TINY,), only_info=True),
        Need(frozenset(DEFAULTS), (frozenset({"half", "float16"}),)),
    )

    def check_call(self, call: Call, facts: Facts) -> Iterator[Finding]:
        """Judge one eps."""
        subject = call.subject
        if subject is None or facts.is_test() or not facts.is_tensor(subject):
            return
        dtype = facts.dtype_of(subject)
        if call.function in DEFAULTS:
            yield from self._check_default(call, subject, facts)
            return
        if call.function in FLOORS and (dtype in HALVES or (not dtype and _is_relied_on(call, facts))):
            yield from self._check(call, FLOORS[call.function], 0.0, dtype or "float16", facts)
        if dtype in {"", "float32", *HALVES} and call.function in CEILINGS:
            yield from self._check(call, CEILINGS[call.function], 1.0, dtype or "float32", facts)

    def _check(self, call: Call, name: str, limit: float, dtype: str, facts: Facts) -> Iterator[Finding]:
        """Report a floor that is rounded to 0, or a ceiling that is rounded to 1."""
        node, subject = call.arguments.get(name), call.subject
        written = facts.constant_of(node)
        if node is None or subject is None or written is None or written == limit or abs(written - limit) > 1e-2:
            return
        origin = facts.origin_of(subject)
        if facts.rounded(written, dtype) != limit or (limit == 1 and origin is not None and origin.function in UNIFORM):
            return
        text = facts.quote(node, QUOTED)
        yield self.finding(
            facts.span_of(node),
            f"`{text}` is {limit:g} in {dtype}, so `{facts.quote(subject, QUOTED)}` is not kept from {limit:g}",
            fix=_fix(call, node, limit, facts),
            hazard=Hazard(call.function, facts.source_of(subject), f"{limit:g}"),
            dtypes=(dtype,),
            severity=self.severity if _is_needed(call, limit, facts) else Severity.INFO,
        )

    def _check_default(self, call: Call, subject: Expression, facts: Facts) -> Iterator[Finding]:
        stated = call.arguments.get("eps")
        eps = facts.constant_of(stated) if stated is not None else DEFAULTS[call.function]
        if eps is None or facts.dtype_of(subject) != "float16" or facts.autocast_at(call.node):
            return
        if facts.rounded(eps, "float16") == 0:
            edit = Edit(facts.span_of(stated), FLOOR) if stated is not None else facts.add_keyword(call, "eps", FLOOR)
            word = call.function.rpartition(".")[2]
            yield self.finding(
                facts.span_of(call.node),
                f"the eps of `{word}`, {eps:g}, is 0 in float16, so a row of zeros becomes NaN",
                fix=unsafe(f"Set eps={FLOOR}", edit) if edit is not None else None,
                hazard=Hazard(call.function, facts.source_of(subject), "0"),
                dtypes=("float16",),
            )


def _is_needed(call: Call, limit: float, facts: Facts) -> bool:
    """Whether something here breaks at a ceiling of 1: `log(1 - p)`, `acos(p)`. A floor is needed where the value is half."""
    if not limit:
        return facts.dtype_of(call.subject) != ""
    # Of an angle the gradient alone is infinite.
    breaking = BREAKS_AT_ONE if facts.is_trained() else BREAKING_FORWARD
    operands = [user.subject for user in facts.calls_of(*breaking, *STEEP)]
    return any(facts.origin_of(each) is call or facts.origin_of(facts.rest_to_one(each)) is call for each in operands)


def _is_relied_on(call: Call, facts: Facts) -> bool:
    """Whether it is divided by, or a root or logarithm is taken of it, in code that may run in float16."""
    around = facts.user_of(call.node)
    operand = around.arguments.get(GUARDED.get(around.function, "")) if around is not None else None
    is_count = facts.range_of(call.subject).integer
    return operand is call.node and not is_count and facts.may_train() and not facts.is_widened()


def _fix(call: Call, node: Expression, limit: float, facts: Facts) -> Fix | None:
    torch, subject = facts.name_for("torch"), call.subject
    if torch is None or subject is None or facts.call_of(subject) is not None:
        return None
    dtype = f"{torch}.finfo({facts.source_of(subject)}.dtype)"
    text = f"{dtype}.tiny" if limit == 0 else f"1 - {dtype}.eps"
    return unsafe("Take the eps from the dtype", Edit(facts.span_of(node), text))
