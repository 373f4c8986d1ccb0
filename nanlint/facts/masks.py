"""How scores are masked: the operation that fills them, with what, and whether the mask leaves something of every row."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, NamedTuple

import libcst as cst

from nanlint.facts.calculate import VIEWS
from nanlint.facts.naming import words_of
from nanlint.facts.values import UNKNOWN, Call, Form, Kind
from nanlint.facts.written import text_of
from nanlint.ops.formats import AUTOCAST, FORMATS, HALF

if TYPE_CHECKING:
    from nanlint.facts.evaluate import Evaluator
    from nanlint.ops.interval import Interval

FILL, WHERE = "torch.masked_fill", "torch.where"
# What still holds the filled values: sums, products and views of them.
_SUMS = frozenset({"torch.add", "torch.sub"})
_PRODUCTS = frozenset({"torch.mul", "torch.div"})
_DEEPEST = 8


_LEAST = re.compile(r"finfo\(.*\)\.min$")


class Filling(NamedTuple):
    """`scores.masked_fill(mask, value)`, or a `where` that says the same."""

    call: Call
    scores: cst.BaseExpression
    mask: cst.BaseExpression
    value: cst.BaseExpression
    is_added: bool = False
    """Whether it makes a mask that is then added to the scores, so that their gradient is not cut off."""


def filling(call: Call, evaluator: Evaluator) -> Filling | None:
    """The filling that `call` is; None if it fills with something that is no constant, or is no filling at all."""
    if call.function == FILL:
        scores, mask, value = (call.arguments.get(name) for name in ("input", "mask", "value"))
    elif call.function == WHERE:
        mask, scores, value = (call.arguments.get(name) for name in ("condition", "input", "other"))
        if value is None or scores is None:
            return None
        of_scores, of_value = _constant_range(scores, evaluator), _constant_range(value, evaluator)
        # Of two numbers, as in a mask that is added, the lower one masks.
        if of_scores is not None and (of_value is None or of_scores.least < of_value.least):
            scores, value = value, scores
    else:
        return None
    if scores is None or mask is None or value is None or _constant_range(value, evaluator) is None:
        return None
    return Filling(call, scores, mask, value)


def _constant_range(node: cst.BaseExpression, evaluator: Evaluator) -> Interval | None:
    """The one number that `node` is, as a range; infinities have no finite one."""
    value = evaluator.values.get(node, UNKNOWN)
    made_by = value.made_by
    if value.number is None and made_by is not None and made_by.function in {"torch.tensor", "torch.full_like"}:
        inner = made_by.arguments.get("fill_value") or made_by.subject
        value = evaluator.values.get(inner, UNKNOWN) if inner is not None else UNKNOWN
    return value.range if value.number is not None else None


def filled_with(found: Filling, evaluator: Evaluator) -> float | None:
    """The number that is filled in, a tensor made of one number among them; None if it is not known."""
    reach = _constant_range(found.value, evaluator)
    return reach.least if reach is not None and reach.least == reach.greatest else None


_PLANES = frozenset({FILL, WHERE, "torch.mul", "torch.full", "torch.full_like", "torch.Tensor.new_full"})
# What is filled stays so in these: a causal mask is the upper triangle of a full plane.
_PARTS = VIEWS | {FILL, "torch.triu", "torch.tril", "subscript"}


def holds_least(node: cst.BaseExpression | None, evaluator: Evaluator, depth: int = 0) -> bool:
    """Whether `node` is filled with the least number of its dtype where something is masked."""
    if node is not None and node not in evaluator.values:
        # What a helper gives back was made of what stands there.
        evaluator = next((flow for flow in evaluator.reach.flows.values() if node in flow.values), evaluator)
    value = evaluator.values.get(node, UNKNOWN) if node is not None else UNKNOWN
    for choice in value.possible if depth < _DEEPEST else ():
        made_by = choice.origin or choice.made_by
        if made_by is None:
            continue
        if made_by.function in _PLANES and any(_is_least(given, evaluator) for given in made_by.arguments.values()):
            return True
        if made_by.function in _PARTS and holds_least(made_by.subject, evaluator, depth + 1):
            return True
    # A part of what nothing is known of on some path.
    return isinstance(node, cst.Subscript) and depth < _DEEPEST and holds_least(node.value, evaluator, depth + 1)


def _is_least(node: cst.BaseExpression, evaluator: Evaluator) -> bool:
    """`torch.finfo(dtype).min`, of a dtype that is known or not; in a helper, by its text."""
    value = evaluator.values.get(node)
    if value is None:
        return _LEAST.search(text_of(node)) is not None
    made_by = value.made_by
    if made_by is not None and made_by.function == "torch.tensor" and made_by.subject is not None:
        return _is_least(made_by.subject, evaluator)
    numbers = {form.min for form in FORMATS.values()}
    return any(choice.name == "torch.finfo.min" or choice.number in numbers for choice in value.possible)


_SCORES = frozenset(
    {
        "attn", "attention", "att", "score", "scores", "logits", "dots", "sim", "sims", "similarity", "energy", "energies", "qk",
        "alignment", "weights", "wei", "affinity",
    }
)  # fmt: skip
_NO_HALF = frozenset({"float32", "float64", "bfloat16", "int", "bool"})


def can_be_half(node: cst.BaseExpression | None, evaluator: Evaluator, depth: int = 0) -> bool:
    """Whether `node` is float16, or what autocast and `.half()` make float16: a product of matrices, attention scores."""
    value = evaluator.values.get(node, UNKNOWN) if node is not None else UNKNOWN
    if node is None or depth == _DEEPEST or value.dtype in _NO_HALF or value.kind not in {Kind.TENSOR, Kind.UNKNOWN}:
        return False
    if value.dtype == "float16":
        return True
    made_by = value.origin or value.made_by
    if made_by is None:
        return not _SCORES.isdisjoint(words_of(node))
    if AUTOCAST.get(made_by.function) == HALF:
        return True
    if made_by.form is Form.MODULE or made_by.function in _SUMS | _PRODUCTS | {FILL, WHERE}:
        operands = [made_by.arguments.get(name) for name in ("input", "other")]
        known = [evaluator.values.get(operand, UNKNOWN).dtype for operand in operands if operand is not None]
        wide = any(dtype in {"float32", "float64", "bfloat16"} for dtype in known)
        return not wide and any(can_be_half(operand, evaluator, depth + 1) for operand in operands)
    return False
