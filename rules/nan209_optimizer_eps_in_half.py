"""NAN209 optimizer-eps-in-half."""

from __future__ import annotations

from nanlint.rule import Direction, Finding, Iterator, OpHazard, Rule, every, items, module_casts, unsafe

# The eps that each takes unless it is told another; SGD has none to lose.
DEFAULTS = {
    **dict.fromkeys(("Adam", "AdamW", "Adamax", "NAdam", "RAdam", "RMSprop"), 1e-8),
    "Adagrad": 1e-10,
    "Adadelta": 1e-6,
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
    nothing in the function or the class makes the parameters float16: float32 weights under autocast keep their own precision; when
    the eps survives in float16; when the parameters are bfloat16, whose range is that of float32.

    ## Fix
    Unsafe: `eps=1e-4` survives in float16 and makes steps smaller where gradients are small.
    """

    code, name = "NAN209", "optimizer-eps-in-half"
    evidence = (items.LOST_AT_ONCE,)
    hazards = tuple(every(f"torch.optim.{word}", params) for word in DEFAULTS for params in ("0", "params"))

    def check(self, hazard: OpHazard) -> Iterator[Finding]:
        """Judge the making of one optimizer."""
        stated, is_whole = hazard.op.operands.get("eps"), not {"*", "**"} & hazard.op.operands.keys()
        eps = stated.number if stated is not None else DEFAULTS[hazard.word] if is_whole else None
        if eps is None or eps > LEAST:
            return
        if module_casts.dtype_of_parameters(hazard.operand.value, hazard.op, hazard.function) != "float16":
            return
        edit = hazard.with_keyword("eps", FLOOR)
        yield self.told(
            hazard,
            f"eps {eps:g} is 0 in float16, so a step with a gradient of 0 makes the weights NaN",
            fix=unsafe(f"Set eps={FLOOR}", edit),
            direction=Direction.LOOP,
            dtypes=("float16",),
        )
