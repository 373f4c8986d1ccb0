"""NAN209 optimizer-eps-in-half."""

from __future__ import annotations

from nanlint.rule import Call, Direction, Edit, Expression, Facts, Finding, Hazard, Iterator, Rule, items, unsafe

# The eps that each takes unless it is told another; SGD has none to lose.
DEFAULTS = {
    "torch.optim.Adam": 1e-8,
    "torch.optim.AdamW": 1e-8,
    "torch.optim.Adamax": 1e-8,
    "torch.optim.NAdam": 1e-8,
    "torch.optim.RAdam": 1e-8,
    "torch.optim.RMSprop": 1e-8,
    "torch.optim.Adagrad": 1e-10,
    "torch.optim.Adadelta": 1e-6,
}
# The least that float16 does not round to 0.
LEAST = 2.0**-25
FLOOR = "1e-4"


class OptimizerEpsInHalf(Rule):
    """An optimizer whose eps is 0 in float16, on parameters that are float16.

    ## Why it hurts
    The optimizer divides by `sqrt(v) + eps` in the dtype of the parameters. 1e-8 is 0 in float16, and so is the square
    of a gradient below 2e-4: the first step divides 0 by 0, and the weights are NaN.

    ## Flagged
        model = model.half()
        optimizer = torch.optim.Adam(model.parameters(), lr=1e-3)

    ## Instead
        optimizer = torch.optim.Adam(model.parameters(), lr=1e-3)
        with torch.autocast("cuda", dtype=torch.float16):
            loss = model(batch)

    ## Silent when
    nothing here makes the parameters float16: float32 weights under autocast keep their own precision; when the eps
    survives in float16; when the parameters are bfloat16, whose range is that of float32; in tests.

    ## Fix
    Unsafe: `eps=1e-4` survives in float16 and makes steps smaller where gradients are small.
    """

    code = "NAN209"
    name = "optimizer-eps-in-half"
    evidence = (items.LOST_AT_ONCE,)
    direction = Direction.LOOP
    dtypes = ("float16",)
    calls = frozenset(DEFAULTS)
    beside = frozenset({"half", "float16"})

    def check_call(self, call: Call, facts: Facts) -> Iterator[Finding]:
        """Judge the making of one optimizer."""
        given = call.arguments.get("params") or call.subject
        if given is None or facts.is_test() or facts.has_stars(call) or not _is_half(given, facts):
            return
        stated = call.arguments.get("eps")
        eps = facts.constant_of(stated) if stated is not None else DEFAULTS[call.function]
        if eps is None or eps > LEAST:
            return
        edit = Edit(facts.span_of(stated), FLOOR) if stated is not None else facts.add_keyword(call, "eps", FLOOR)
        yield self.finding(
            facts.span_of(call.node),
            f"eps {eps:g} is 0 in float16, so a step with a gradient of 0 makes the weights NaN",
            fix=unsafe(f"Set eps={FLOOR}", edit) if edit is not None else None,
            hazard=Hazard(call.function, facts.source_of(given), "a gradient of 0"),
        )


def _is_half(given: Expression, facts: Facts) -> bool:
    """Whether `given` are the parameters of something that was made float16 before, and not float32 again."""
    call = facts.call_of(given)
    owner = call.receiver if call is not None and call.function == ".parameters" else None
    return owner is not None and facts.module_dtype(owner, at=given) == "float16"
