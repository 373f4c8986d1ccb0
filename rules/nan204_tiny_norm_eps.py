"""NAN204 tiny-norm-eps."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from nanlint.rule import Call, Direction, Edit, Expression, Facts, Finding, Fix, Hazard, Rule, items, unsafe

if TYPE_CHECKING:
    from collections.abc import Iterator

FUNCTIONS = frozenset(f"torch.nn.functional.{name}_norm" for name in ("layer", "rms", "group", "batch", "instance"))
# The place of eps among the arguments of the constructor.
MODULES = {
    **dict.fromkeys(("torch.nn.LayerNorm", "torch.nn.RMSNorm"), "1"),
    "torch.nn.GroupNorm": "2",
    **{f"torch.nn.BatchNorm{dims}d": "1" for dims in (1, 2, 3)},
    **{f"torch.nn.InstanceNorm{dims}d": "1" for dims in (1, 2, 3)},
}
ROOT, INVERSE_ROOT, QUOTED = "torch.sqrt", "torch.rsqrt", 40
# Below it the gradient, 1 / sqrt(eps) for a row of zeros, comes near the end of float16 and passes it at 2.3e-10.
SMALLEST = 1e-8
# Below the first a row of zeros has its gradient multiplied by a million in every format; below the second rsqrt's slope there is inf.
SMALLEST_ANYWHERE, NAN_BELOW, FORMATS = 1e-12, 2e-26, ("float16", "bfloat16", "float32")
# The gradient of rsqrt is made of eps ** -1.5: past the end of float16 already here.
SMALLEST_IN_HALF = 65504.0 ** (-2 / 3)
# These refuse an eps of 0 by themselves.
CHECKED = ("BatchNorm", "batch_norm", "InstanceNorm", "instance_norm")


class TinyNormEps(Rule):
    """A normalisation whose eps is too small for a row of zeros.

    ## Why it hurts
    A padded row is all 0, and its norm is the root of eps alone: the gradient is multiplied by `1 / sqrt(eps)`, which
    float16 cannot hold below 2e-10. Written by hand in float16 an eps of 1e-8 is 0, and the row is 0 / 0.

    ## Flagged
        norm = nn.LayerNorm(512, eps=0)
        half = x.half()
        y = half * torch.rsqrt(half.pow(2).mean(-1, keepdim=True) + 1e-8)
        z = x * torch.rsqrt(x.pow(2).mean(-1, keepdim=True) + 1e-20)

    ## Instead
        norm = nn.LayerNorm(512, eps=1e-6)
        single = x.float()
        y = single * torch.rsqrt(single.pow(2).mean(-1, keepdim=True) + 1e-6)

    ## Silent when
    the eps is that of published models (1e-5, 1e-6) or any from 1e-8 on, computed in float32 or by torch's own layers (a `rsqrt` by hand in float16 needs 6e-4); when it
    is not known; in tests. At `info` from 1e-12 on where nothing says that the weights are float16, in which alone it fails. An
    eps of 0 or below 1e-12 is a `warning` in every dtype; batch norm refuses 0 by itself.

    ## Fix
    Unsafe: `eps=1e-6` (1e-5 for batch norm) changes rows that are next to 0. Under a `rsqrt` by hand it becomes a bound, `clamp_min(1e-6)`,
    since the slope of `rsqrt` at 1e-6 is past the end of float16. None for an eps that is given by a name.
    """

    code = "NAN204"
    name = "tiny-norm-eps"
    direction = Direction.BACKWARD
    calls = FUNCTIONS | frozenset(MODULES) | {ROOT, INVERSE_ROOT}

    def check_call(self, call: Call, facts: Facts) -> Iterator[Finding]:
        """Judge one normalisation."""
        if facts.is_test():
            return
        if call.function in {ROOT, INVERSE_ROOT}:
            yield from self._check_by_hand(call, facts)
            return
        stated = call.arguments.get("eps") or call.arguments.get(MODULES.get(call.function, "eps"))
        eps = facts.constant_of(stated)
        word = call.function.rpartition(".")[2]
        if stated is None or eps is None or eps < 0 or eps >= SMALLEST:
            return
        if eps == 0:
            if not word.startswith(CHECKED):
                message = f"`{word}` with an eps of 0 divides 0 by 0 in a row of equal values"
                yield self._finding(call, stated, message, facts, direction=Direction.BOTH)
            return
        if eps < SMALLEST_ANYWHERE:
            harm = _harm(eps, f"`{word}`", by_rsqrt="rms" in word.lower())
            yield self._finding(call, stated, harm, facts, dtypes=FORMATS)
            return
        where, likely = ("float16",), items.RANGE_REACHES if _is_half(call, facts) else items.DECIDED_ELSEWHERE
        message = f"the gradient of `{word}` is multiplied by {eps**-0.5:.0e} in a row of zeros: inf in float16"
        yield self._finding(call, stated, message, facts, dtypes=where, evidence=(likely,))

    def _check_by_hand(self, call: Call, facts: Facts) -> Iterator[Finding]:
        """`x * torch.rsqrt(x.pow(2).mean(-1) + eps)`."""
        stated = facts.added_eps(call.subject)
        eps, dtype = facts.constant_of(stated), facts.dtype_of(call.subject)
        if stated is None or eps is None or eps <= 0 or not facts.is_tensor(call.node):
            return
        text, is_lost = facts.quote(stated, QUOTED), facts.rounded(eps, "float16") == 0
        if eps < SMALLEST_ANYWHERE:
            harm = _harm(eps, f"a norm with the eps `{text}`", by_rsqrt=call.function == INVERSE_ROOT)
            yield self._finding(call, stated, harm, facts, dtypes=FORMATS)
        elif dtype not in {"", "float16"}:
            return
        elif is_lost:
            likely = items.RANGE_REACHES if dtype == "float16" else items.DECIDED_ELSEWHERE
            message = f"the eps `{text}` is 0 in float16: a row of zeros is 0 / 0"
            changes = {"direction": Direction.BOTH, "dtypes": ("float16",), "evidence": (likely,)}
            yield self._finding(call, stated, message, facts, **changes)
        elif dtype == "float16" and call.function == INVERSE_ROOT and eps < SMALLEST_IN_HALF:
            slope = 0.5 * eps**-1.5
            message = f"with the eps `{text}` the slope of rsqrt is {slope:.0e} in a row of zeros: inf in float16"
            yield self._finding(call, stated, message, facts, dtypes=("float16",))

    def _finding(self, call: Call, eps: Expression, message: str, facts: Facts, **changes: Any) -> Finding:
        hazard, fix = Hazard(call.function, facts.source_of(call.subject or call.node), "0"), _fix(call, eps, facts)
        return self.finding(facts.span_of(call.node), message, fix=fix, hazard=hazard, **changes)


def _harm(eps: float, norm: str, *, by_rsqrt: bool) -> str:
    """What an eps far below every variance does to a row of zeros, whatever the format."""
    is_nan, factor = by_rsqrt and eps <= NAN_BELOW, f"multiplied by {eps**-0.5:.0e} in a row of zeros"
    return f"the gradient of {norm} is " + (f"NaN in a row of zeros: {eps:g} ** -1.5 overflows" if is_nan else factor)


def _is_half(call: Call, facts: Facts) -> bool:
    """Whether a layer is made for float16, or is given float16 outside of autocast."""
    dtype = call.arguments.get("dtype")
    if dtype is not None and facts.value_of(dtype).constant == "float16":
        return True
    return call.function in FUNCTIONS and facts.dtype_of(call.subject) == "float16" and not facts.autocast_at(call.node)


def _fix(call: Call, eps: Expression, facts: Facts) -> Fix | None:
    """The eps of published models in place of a number that is written there."""
    if not facts.source_of(eps)[:1].isdigit():
        return None
    number = "1e-5" if "batch" in call.function.lower() else "1e-6"
    added = facts.value_of(call.subject).made_by if call.function == INVERSE_ROOT and call.subject is not None else None
    if added is None:
        return unsafe(f"Set eps to {number}", Edit(facts.span_of(eps), number))
    value = added.subject if added.subject is not eps else added.arguments.get("other")
    if value is None or "#" in facts.source_of(added.node):
        return None
    bounded = f"{facts.as_receiver(value)}.clamp_min({number})"
    return unsafe(f"Hold it above {number}", Edit(facts.span_of(added.node), bounded))
