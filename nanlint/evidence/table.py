"""The scorecard: every reason that moves the level of a finding, one item a line.

Two questions are asked of a finding. Can it happen: does some input make the operation NaN or Inf as the message says? Does it
matter: would a real run meet that input, and does the result reach what is trained? An item adds a small whole number to
each. `benchmarks/calibrate.py` fits the numbers to the labels in `benchmarks/labels/`; nobody sets them by feeling.
"""

from __future__ import annotations

from typing import NamedTuple


class Item(NamedTuple):
    """One reason. The sentence is what `--explain-level` prints."""

    name: str
    sign: int
    """1 if it speaks for the finding, -1 if against: the fit keeps to it."""
    can_happen: int
    matters: int
    sentence: str


# fmt: off
# What the rule knows of the operand.
RANGE_REACHES = Item("range-reaches", +1, 0, 0, "the values computed for the operand reach the point where it breaks")
MADE_SO = Item("made-so", +1, 2, 0, "it is made in a way that ordinary data brings there: a count, a mask, a norm, a saturated output")
SATURATES = Item("saturates", +1, 4, 3, "a softmax or a sigmoid made it, which round to exactly 0 and 1 as a model grows sure")
NOTHING_KNOWN = Item("nothing-known", -1, -1, -1, "nothing in the project brings it there: nothing is known of the operand, or no call passes what would break it")
NAME_ALONE = Item("name-alone", -1, 0, -1, "its name alone says so")
RARE = Item("rare", -1, 0, -3, "it takes an input that is rare: a length of 0, a row, a layer or a total of nothing but zeros, less than what an eps was added to")
DECIDED_ELSEWHERE = Item("decided-elsewhere", -1, -2, -1, "a caller or a setting decides whether it happens")
GRADIENT_UNSEEN = Item("gradient-unseen", -1, -4, -2, "only the gradient breaks, and nothing shows that one passes here")
LEARNED = Item("learned", -1, 0, -1, "it is a weight itself, which training would have to carry there")
# What kind of defect it is.
LOST_AT_ONCE = Item("lost-at-once", +1, 0, 0, "one such value makes the loss or every gradient NaN")
MILD = Item("mild", -1, 0, -2, "it costs accuracy or a warning before it costs the run")
IN_THE_LOOP = Item("in-the-loop", +1, 7, 6, "it is about the training loop itself, its settings or its checkpoints")
GRADIENT_ONLY = Item("gradient-only", +1, 0, 1, "the forward stays finite; the gradient breaks")
HALF_ALONE = Item("half-alone", -1, -5, -3, "it breaks in float16 or bfloat16 alone")
HALF_UNUSED = Item("half-unused", -1, -3, -2, "it breaks in float16 or bfloat16 alone, and nothing says that one of them is used here")
# Where it stands and what becomes of it.
REACHES_BACKWARD = Item("reaches-backward", +1, 0, 1, "the result reaches a backward in this project")
IN_A_LOSS = Item("in-a-loss", +1, 0, 2, "the function or class is called a loss, or a loss uses it")
BACKWARD_IN_FILE = Item("backward-in-file", +1, 1, 0, "this file calls backward")
NOT_TRAINED_BY_NAME = Item("not-trained-by-name", -1, 0, -3, "the function or class is named like a metric, a sampler or data preparation")
NO_GRADIENT = Item("no-gradient", -1, 0, -1, "it stands under no_grad, or goes on as a plain number")
ONLY_LOGGED = Item("only-logged", -1, 0, -1, "the result is only printed or logged")
NOBODY_CALLS = Item("nobody-calls", -1, 0, -2, "nothing else in the project names the function or its class, or it stands in a script that only runs what others train")
BUILT_ONCE = Item("built-once", -1, -2, -1, "it runs once, when something is built, or settings alone decide it: a failure shows at once")
# fmt: on

ITEMS = {item.name: item for item in list(globals().values()) if isinstance(item, Item)}
"""All of them, by name."""
