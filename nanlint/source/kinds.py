"""Words for what no name says: kinds of number, of power and of subscript, and names that speak of a mask.

A rule about an eps need not look where there is no small number, one about roots not where there are squares.
"""

from __future__ import annotations

import ast
from functools import lru_cache

HUGE, TINY, MINUTE, NEAR_ONE, FRACTION = "<huge>", "<tiny>", "<minute>", "<near one>", "<fraction>"
PICKED = "[]"
"""A subscript that may pick elements by their values: neither a number nor a slice."""
OWN_ELEMENT = "<own element>"
"""A division by an element of what is divided: `x / x[0]`."""
MASK, EPS = "<mask>", "<eps>"
"""Names that speak of a mask, or of an eps."""
GRADIENT = "<gradient>"
"""A name that speaks of a gradient."""
LOG_RATIO = "<log ratio>"
"""A name that speaks of a log-probability, or of the logarithm of a ratio."""
LOW = "<low>"
"""A number far below 0 that is written so: `-1e9`."""
INHERITED = "<inherited>"
"""An attribute of the object that nothing in the file sets: a class above may, in another file."""
UNPACKED = ""
"""The name of arguments that `**` hands on."""
BY_NAME = frozenset({MASK, EPS, GRADIENT, LOG_RATIO, LOW, INHERITED, UNPACKED})
"""Words that only slices find, since only these look at names and signs."""
NUMBER_KINDS = frozenset({HUGE, TINY, MINUTE, NEAR_ONE, FRACTION, LOW, "inf"})
"""What a constant of another file may be."""
LEAST = "<least>"
"""The least number of a format: `torch.finfo(dtype).min`."""
ANYTHING = "<anything>"
"""Is behind every operand."""
ROOT, INVERSE = "<root>", "<inverse>"
"""A power whose exponent may be a fraction, and one whose exponent may be negative."""

BOUNDS = "<two bounds>"
"""A call with two numbers written in it, such as a clamp to at least 0 and at most 1."""
CLAMPS = frozenset({"clamp", "clamp_", "clip", "clip_"})
POWERS = frozenset({"pow", "pow_", "float_power", "float_power_"})
PLAIN_INDEX = (ast.Constant, ast.Slice, ast.UnaryOp)

RAISED = "<raised>"
"""A form: the operand has an eps in it, `x + 1e-6` or `x.clamp(min=1e-6)`, that float16 holds too."""
FLOORED, NUMBER_ADDED = "<floored>", "<number added>"
"""Forms: the same with an eps that float16 does not hold, and with any number that is added."""
COMPARED = "<compared>"
"""A form: a choice by a comparison, `where(x > 0, a, b)`; or no `where` at all."""
LEARNED = "<learned>"
"""A form: the operand measures, by its name, what a model makes (`weights.sum()`), in a function that compares nothing."""
UNCOUNTED = "<uncounted>"
"""A form: the operand is a sum of what nothing in the function has tested, or has one for a term."""
NO_DIAGONAL = "<no diagonal>"
"""A form: the equation of an einsum is written out, and no operand has a letter twice."""
ASKED_FOR = "<asked for>"
"""A form: the operand is a name that is set once, and compared with 0 somewhere behind."""
WIDE_SCORES = "<wide scores>"
"""A form: what is filled is written as `x.float()`, or all that is chosen from are numbers."""
NOT_LEARNED = "<not learned>"
"""A form: a call with `requires_grad=False`."""
FILLED = "<filled>"
"""A form: what is made is kept under a name that something in the file fills, or is meant for experts."""
NOT_A_NUMBER = "<nan>"
"""`float("nan")`; who writes it speaks of NaN, but mends none."""
OF_EMPTY = "<of empty>"
"""A form: an operand is bare memory as it is made: `torch.empty(n) - x`."""
HUGE_CONSTANT = "<huge constant>"
"""A form: an operand is a number that float16 does not hold, or the least of a format, here or under a name."""
EPS_GIVEN = "<eps given>"
"""A form: a call with an argument of that name."""
MARK_GIVEN = "<mark given>"
"""A form: a call with an `ignore_index`, or with so many arguments, or such, that one may be it."""
AMPLIFIED = "<amplified>"
"""A form: an operand is a quotient, as it is or a view of it, with a small number or an eps below."""
INFINITE_CONSTANT = "<infinite constant>"
"""A form: an operand is an infinite number, here or under a name."""
MAY_BE_LEARNED = "<may be learned>"
"""A form: an operand is neither a number nor given to the function, nor computed but for a subtraction, so that training may move it."""
OF_TESTED = "<of tested>"
"""A form: what an operand rests on is compared with something, by its names."""
OF_VARIANCE = "<of variance>"
"""A form: an operand is an average less a square, or the sum of that and something else."""
CAST_AND_HUGE = "<cast and huge>"
"""A form: an operand is cast where it is written, another is such a number."""
WIDE_LIMIT, LEAST_TWICE = "<wide limit>", "<least twice>"
"""Forms: an operand is the lower limit of a format wider than float16; two operands are filled with the least number of one."""
OWN_CALLED = "<own called>"
"""A form: what is called is an attribute of the object itself."""
BY_NAME_CALLED = "<called by name>"
"""A form: what is called is no method of a value: `max(a, b)`, and not `a.max()`."""
SELECTED = "<selected>"
"""A form: an operand is, under a name maybe, `x[index]` with an index that is no number and no slice."""
EPS_ADDED, LATE_EPS = "<eps added>", "<late eps>"
"""Forms: an operand is a sum with an eps; an eps is added to the result of a call."""

# float16 ends soon after.
SMALL = 60_000
LONGEST_NUMBER = 12
NUMBERS_BEGIN_WITH = frozenset("0123456789+-.iInN \t")
"""How a text begins that is a number."""
SMALLEST_IN_HALF = 1e-7
"""Below it, a number is 0 in float16, or nearly."""
_INFINITY = float("inf")


def number_words(value: object) -> tuple[str, ...]:
    """What kind of number a literal is, as words; `float("-inf")` and `float("1e9")` are numbers too."""
    if isinstance(value, str):
        if len(value) > LONGEST_NUMBER:
            return ()
        try:
            value = float(value)
        except ValueError:
            return ()
        if value != value or abs(value) == _INFINITY:  # noqa: PLR0124 - NaN is not itself
            return ("inf",) if value == value else ("inf", NOT_A_NUMBER)  # noqa: PLR0124
    if not isinstance(value, (int, float)):
        return ()
    size = abs(value)
    if 0 < size < SMALLEST_IN_HALF:
        return (TINY, MINUTE, FRACTION)
    kind = HUGE if size >= SMALL else TINY if 0 < size <= 0.01 else NEAR_ONE if 0.99 <= size < 1 else ""
    return (kind, FRACTION) if isinstance(size, float) and size % 1 else (kind,)


@lru_cache(maxsize=4096)
def name_words(name: str) -> tuple[str, ...]:
    """What a name speaks of."""
    lowered = name.lower()
    words = []
    if "mask" in lowered:
        words.append(MASK)
    if "eps" in lowered or "reg" in lowered.split("_"):
        words.append(EPS)
    if "grad" in lowered:
        words.append(GRADIENT)
    if "log" in lowered and ("logp" in lowered or "prob" in lowered or "ratio" in lowered or "neglog" in lowered):
        words.append(LOG_RATIO)
    return tuple(words)


_NUMBERS_ARE_CALLED = (
    "EPS", "TINY", "SMALL", "NEG", "INF", "MIN", "MAX", "LARGE", "BIG", "HUGE", "FLOOR", "CLAMP", "CLIP", "BOUND", "LIMIT", "VALUE", "FILL",
    "MASK", "CONST", "TEMP", "SCALE",
)  # fmt: skip


@lru_cache(maxsize=4096)
def is_number_elsewhere(dotted: str) -> bool:
    """Whether what is imported is a number, by its name: `constants.NEG_INF`; a table of functions is none."""
    word = dotted.rpartition(".")[2]
    return word.isupper() and any(part in word for part in _NUMBERS_ARE_CALLED)


def is_least(node: ast.Attribute) -> bool:
    """`torch.finfo(dtype).min`, or `info.min`."""
    if node.attr != "min":
        return False
    whose = node.value.func if isinstance(node.value, ast.Call) else node.value
    return "info" in str(getattr(whose, "attr", getattr(whose, "id", "")))


def power_words(node: ast.BinOp | ast.Call | ast.AugAssign) -> tuple[str, ...]:
    """What kind of power it is, as far as the exponent is written in it."""
    if isinstance(node, ast.Call):
        last = node.keywords[-1].value if node.keywords else None
        exponent = last or (node.args[-1] if node.args else None)
    else:
        exponent = node.right if isinstance(node, ast.BinOp) else node.value
    if isinstance(exponent, ast.Constant) and isinstance(exponent.value, (int, float)):
        return (ROOT,) if exponent.value % 1 else ()
    if isinstance(exponent, ast.UnaryOp) and isinstance(exponent.operand, ast.Constant):
        return (INVERSE,) if isinstance(exponent.operand.value, int) else (ROOT, INVERSE)
    return (ROOT, INVERSE)


def has_two_bounds(call: ast.Call) -> bool:
    """Whether two numbers, or more, are written among the arguments."""
    given = [*call.args, *(keyword.value for keyword in call.keywords)]
    bare = [node.operand if isinstance(node, ast.UnaryOp) else node for node in given]
    return sum(isinstance(node, ast.Constant) and isinstance(node.value, (int, float)) for node in bare) > 1


def is_own_element(division: ast.BinOp) -> bool:
    """Whether something is divided by an element of itself, as far as the names tell."""
    below = division.right
    return isinstance(below, ast.Subscript) and ast.dump(below.value) == ast.dump(division.left)
