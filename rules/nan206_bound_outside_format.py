"""NAN206 bound-outside-format."""

from __future__ import annotations

import math
import re

from nanlint.rule import Call, Expression, Facts, Finding, Hazard, Iterator, Rule, show

CLAMPS = frozenset({"torch.clamp", "torch.clamp_min", "torch.clamp_max"})
# float16 rounds to an infinity from here on.
FLOAT16_OVERFLOW = 65520.0
BREAKING = frozenset(f"torch.{name}" for name in ("div", "log", "sqrt", "rsqrt", "pow", "acos", "asin", "atanh"))
QUOTED = 30


class BoundOutsideFormat(Rule):
    """A clamp whose bounds keep nothing in bounds.

    ## Why it hurts
    An infinite bound, or one that the dtype cannot hold, lets every value pass: 1e6 is inf in float16. With the lower bound
    above the upper one every value becomes the upper bound. And a clamp passes NaN on, whatever its bounds.

    ## Flagged
        x = x.clamp(min=float("-inf"), max=float("inf"))
        y = y.half().clamp(-1e6, 1e6)

    ## Instead
        x = x.clamp(min=-1e4, max=1e4)
        y = y.half().clamp(-6e4, 6e4)

    ## Silent when
    a bound is not known or a default, or the dtype is not known to be float16; in tests; when one of two bounds is infinite and the other is
    not, which says that only one side is meant. Of a clamp against NaN a comment must say so, and the value be able to be NaN.

    ## Fix
    Sketch: which bound was meant is not written down.
    """

    code = "NAN206"
    name = "bound-outside-format"
    preview = True
    calls = CLAMPS
    yields_to = frozenset({"NAN101", "NAN102", "NAN103", "NAN105"})

    def check_call(self, call: Call, facts: Facts) -> Iterator[Finding]:
        """Judge one clamp."""
        if call.subject is None or facts.is_test():
            return
        given = [call.arguments.get(name) for name in ("min", "max")]
        low, high = (facts.constant_of(node) for node in given)
        subject = facts.quote(call.subject, QUOTED)
        known = [bound for bound in (low, high) if bound is not None]
        written = [node for node in given if node is not None and facts.value_of(node).constant is not None]
        message = ""
        # A default is what holds unless somebody gives a bound: inf for none, -1 for one that is asked for first.
        if any(node is not None and facts.value_of(node).assumed for node in given):
            return
        if len(known) == len(written) and known and all(map(math.isinf, known)):
            message = f"`{subject}` is clamped to infinite bounds, which keep nothing out"
        elif low is not None and high is not None and low > high and _are_written(given, facts):
            message = f"`{subject}` is clamped to at least {low:g} and at most {high:g}, so all of it becomes {high:g}"
        elif facts.dtype_of(call.subject) == "float16" and any(
            FLOAT16_OVERFLOW <= abs(bound) < math.inf for bound in known
        ):
            message = f"`{subject}` is float16, which ends at 65504, and is clamped to {max(known, key=abs):g}"
        elif _was_broken(call, facts) and re.search(r"\bnans?\b", facts.comments_at(call.node), re.IGNORECASE):
            message = f"`{subject}` can be NaN (range {facts.range_of(call.subject)}), and a clamp passes NaN on"
        if message:
            yield self.finding(
                facts.span_of(call.node),
                message,
                fix=show("a bound that the dtype holds, as torch.finfo(x.dtype).max; nan_to_num for what is NaN"),
                hazard=Hazard(call.function, facts.source_of(call.subject), "inf or nan"),
            )


def _are_written(bounds: list[Expression | None], facts: Facts) -> bool:
    """Whether both bounds are numbers that stand in the call: names may hold other ones elsewhere."""
    texts = [facts.source_of(node).lstrip("+-( ") for node in bounds if node is not None]
    return all(text[:1].isdigit() or text[:1] == "." for text in texts)


def _was_broken(call: Call, facts: Facts) -> bool:
    """Whether the value can be NaN, and comes right out of an operation that makes one."""
    origin = facts.origin_of(call.subject)
    return origin is not None and origin.function in BREAKING and facts.range_of(call.subject).nan
