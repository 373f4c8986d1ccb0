"""NAN206 bound-outside-format."""

from __future__ import annotations

import math
import re

from nanlint.rule import Finding, Iterator, OpHazard, Rule, every, show, torch_names, word_set

BOUNDS = {"torch.clamp": ("min", "max"), "torch.clamp_min": ("min",), "torch.clamp_max": ("max",)}
# float16 rounds to an infinity from here on.
FLOAT16_OVERFLOW = 65520.0
BREAKING = torch_names("div log sqrt rsqrt pow acos asin atanh")
NAN = re.compile(r"\bnans?\b", re.IGNORECASE)
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
    a bound is not known or a default, or the dtype is not known to be float16; when one of two bounds is infinite and the other is
    not, which says that only one side is meant. Of a clamp against NaN a comment must say so, and the value be able to be NaN.

    ## Fix
    Sketch: which bound was meant is not written down.
    """

    code, name = "NAN206", "bound-outside-format"
    preview = True
    hazards = tuple(every(clamp, "input") for clamp in BOUNDS)
    yields_to = word_set("NAN101 NAN102 NAN103 NAN105")

    def check(self, hazard: OpHazard) -> Iterator[Finding]:
        """Judge one clamp."""
        given = {name: hazard.op.operands[name] for name in BOUNDS[hazard.op.function] if name in hazard.op.operands}
        # A default is what holds unless somebody gives a bound: inf for none, -1 for one that is asked for first.
        if any(bound.assumed for bound in given.values()):
            return
        stated = [bound for bound in given.values() if bound.constant is not None]
        known = [number for bound in stated if (number := bound.number) is not None]
        subject, low, high = hazard.operand.quoted(QUOTED), *(_number(hazard, name) for name in ("min", "max"))
        message = ""
        if known and len(known) == len(stated) and all(map(math.isinf, known)):
            message = f"`{subject}` is clamped to infinite bounds, which keep nothing out"
        elif low is not None and high is not None and low > high:
            message = f"`{subject}` is clamped to at least {low:g} and at most {high:g}, so all of it becomes {high:g}"
        elif hazard.operand.value.dtype == "float16" and any(
            FLOAT16_OVERFLOW <= abs(each) < math.inf for each in known
        ):
            message = f"`{subject}` is float16, which ends at 65504, and is clamped to {max(known, key=abs):g}"
        elif _was_broken(hazard) and NAN.search(hazard.comments):
            message = f"`{subject}` can be NaN (range {hazard.operand.value.range}), and a clamp passes NaN on"
        if message:
            fix = show("a bound that the dtype holds, as torch.finfo(x.dtype).max; nan_to_num for what is NaN")
            yield self.told(hazard, message, fix=fix)


def _number(hazard: OpHazard, name: str) -> float | None:
    """A bound that is a number written in the call: a name may hold another one elsewhere."""
    bound = hazard.op.operands.get(name)
    text = hazard.operand_of(hazard.op, name).text.lstrip("+-( ") if bound is not None else ""
    return bound.number if bound is not None and (text[:1].isdigit() or text[:1] == ".") else None


def _was_broken(hazard: OpHazard) -> bool:
    """Whether the value can be NaN, and comes right out of an operation that makes one."""
    made = hazard.operand.made_by
    return made is not None and made.function in BREAKING and hazard.operand.value.range.nan
