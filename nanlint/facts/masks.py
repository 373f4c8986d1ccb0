"""How scores are masked: the operation that fills them, with what, and whether the mask leaves something of every row."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, NamedTuple

import libcst as cst

from nanlint.facts.calculate import VIEWS
from nanlint.facts.evaluate import parameters
from nanlint.facts.relations import same
from nanlint.facts.values import UNKNOWN, Call
from nanlint.facts.written import text_of
from nanlint.source.walk import walk

if TYPE_CHECKING:
    from collections.abc import Iterator

    from nanlint.facts.evaluate import Evaluator
    from nanlint.ops.interval import Interval

FILL, WHERE = "torch.masked_fill", "torch.where"
# What still holds the filled values: sums, products and views of them.
_SUMS = frozenset({"torch.add", "torch.sub"})
_PRODUCTS = frozenset({"torch.mul", "torch.div"})
_DEEPEST = 8
_INVERTING = frozenset({"torch.logical_not", "torch.bitwise_not"})
_SEEN_OTHERWISE = VIEWS | _INVERTING | {"subscript"}
_MEETING = frozenset({"torch.mul", "torch.bitwise_and", "torch.logical_and"})

# A causal mask keeps the diagonal; a filter by rank or by the scores themselves keeps the best of them.
_PARTIAL = re.compile(
    r"triu|tril|causal|future|subsequent|diag|eye\(|topk|top_k|kth|sort|cumul|cumsum|thresh|quantile|strict|upper|lower|self_mask|self\.bias\["
    r"|kernel_mask|\btri\b",
    re.IGNORECASE,
)
# Nothing is shorter than 1; and who asks whether a row is masked as a whole does something about it.
_COUNTED = re.compile(
    r"sequence_mask|lengths?_to_|from_lengths|make_pad_mask|make_non_pad_mask|\.(all|any)\(", re.IGNORECASE
)
_LIKE_ANOTHER = frozenset({"expand_as", "view_as", "reshape_as", "type_as", "to"})
_FORMED = re.compile(r"(expand_as|view_as|reshape_as|type_as|\bto|_like)\(\w+")
_COMBINES = re.compile(r"[&|*]|logical_and|logical_or")
_WHOLE = re.compile(r"pad|length|valid|attention_mask|attn_mask|key_mask|src_mask|context_mask", re.IGNORECASE)


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


def filling_behind(node: cst.BaseExpression | None, evaluator: Evaluator, depth: int = 0) -> Filling | None:
    """The filling with -inf that `node` still shows; None if there is none."""
    value = evaluator.values.get(node, UNKNOWN) if node is not None else UNKNOWN
    if not value.range.minus_inf or depth == _DEEPEST:
        return None
    for choice in value.possible:
        made_by = choice.origin or choice.made_by
        if made_by is None or not choice.range.minus_inf:
            continue
        found = filling(made_by, evaluator)
        if found is not None and evaluator.range_of(found.value).minus_inf:
            return found
        names = ("input", "other") if made_by.function in _SUMS else ("input",)
        if made_by.function in _SUMS | _PRODUCTS | {FILL}:
            for name in names:
                found = filling_behind(made_by.arguments.get(name), evaluator, depth + 1)
                if found is not None:
                    return found._replace(is_added=found.is_added or made_by.function in _SUMS)
    return None


def leaves_something(found: Filling, evaluator: Evaluator) -> bool:
    """Whether the mask spares an element of each row by what it is: causal, by rank, by the scores themselves."""
    text = " ".join(_texts(found.mask, evaluator, 3))
    scores = text_of(found.scores)
    # A mask that is brought into the form of the scores is not made of them.
    compares_scores = scores.isidentifier() and re.search(
        rf"(?<![\w.]){scores}(?!\w|\.(shape|size|device|dtype))", _FORMED.sub("", text)
    )
    if compares_scores or _COUNTED.search(text):
        return True
    # One position compared with another, as a window is: nothing of it is beyond all of them.
    is_of_positions = text.count("arange(") > 1
    # That it is called a mask of everything says nothing beside what was given it.
    given = text
    for name in _made_here(found.mask, evaluator):
        given = re.sub(rf"(?<![\w.]){name}\b", "", given)
    return (is_of_positions or _PARTIAL.search(text) is not None) and _WHOLE.search(given) is None


def is_combined(found: Filling, filled: cst.BaseExpression | None, evaluator: Evaluator) -> bool:
    """Whether two masks meet in `filled`: of queries and of keys, causal and padding. Together they mask whole rows daily."""
    text = " ".join(_texts(found.mask, evaluator, 3))
    if _is_instead_of_another(found.mask, evaluator):
        return False
    outermost = filling_behind(filled, evaluator)
    is_outermost = outermost is not None and outermost.call is found.call
    return _COMBINES.search(text) is not None or not is_outermost or filling_behind(found.scores, evaluator) is not None


def is_optional(mask: cst.BaseExpression, evaluator: Evaluator) -> bool:
    """Whether `mask`, as it is, seen otherwise or inverted, is a parameter with the default None.

    What keeps the pairs of one mask (`~(mask[:, None] & mask[:, :, None])`) takes the rows of all padding, whoever gave it.
    """
    bare = _bare(mask, evaluator)
    if _is_inverted(mask, evaluator) and _is_of_pairs(bare, evaluator):
        return False
    only = evaluator.parsed.body[0]
    declared = parameters(only.params) if isinstance(only, cst.FunctionDef) else []
    return isinstance(bare, cst.Name) and any(
        each.name.value == bare.value and isinstance(each.default, cst.Name) and each.default.value == "None"
        for each in declared
    )


def _bare(mask: cst.BaseExpression, evaluator: Evaluator) -> cst.BaseExpression:
    """What `mask` is a view or the inverse of."""
    for _ in range(_DEEPEST):
        call = evaluator.calls.get(mask)
        if isinstance(mask, cst.UnaryOperation):
            mask = mask.expression
        elif call is not None and call.function in _SEEN_OTHERWISE and call.subject is not None:
            mask = call.subject
        else:
            break
    return mask


def _is_inverted(mask: cst.BaseExpression, evaluator: Evaluator) -> bool:
    call = evaluator.calls.get(mask)
    return isinstance(mask, cst.UnaryOperation) or (call is not None and call.function in _INVERTING)


def _is_of_pairs(mask: cst.BaseExpression, evaluator: Evaluator) -> bool:
    """`mask[:, None, :] * mask[:, :, None]`: one mask over the queries and over the keys."""
    met = evaluator.values.get(mask, UNKNOWN).origin
    if met is None or met.function not in _MEETING or met.node not in evaluator.values:
        return False
    one, other = met.arguments.get("input"), met.arguments.get("other")
    if one is None or other is None or text_of(one) == text_of(other):
        return False
    first, second = _bare(one, evaluator), _bare(other, evaluator)
    return first is not one and second is not other and same(first, second, evaluator)


def _is_instead_of_another(mask: cst.BaseExpression, evaluator: Evaluator) -> bool:
    """Whether the function asserts somewhere that there is no such mask, where it has one of its own: `assert mask is None`."""
    names = {inner.value for inner in walk(mask) if isinstance(inner, cst.Name)}
    for statement in (inner for part in evaluator.parsed.body for inner in walk(part)):
        test = statement.test if type(statement) is cst.Assert else None
        if type(test) is cst.Comparison and isinstance(test.comparisons[0].operator, cst.Is):
            is_none = isinstance(test.comparisons[0].comparator, cst.Name)
            if is_none and isinstance(test.left, cst.Name) and test.left.value in names:
                return True
    return False


def _texts(node: cst.BaseExpression, evaluator: Evaluator, depth: int) -> Iterator[str]:
    """The text of an expression and of what its name stands for."""
    yield text_of(node)
    if isinstance(node, cst.UnaryOperation):
        yield from _texts(node.expression, evaluator, depth)
    for choice in evaluator.values.get(node, UNKNOWN).possible:
        made_by = choice.made_by
        if made_by is None or depth == 0:
            continue
        if made_by.node is not node:
            yield text_of(made_by.node)
        operands = [*([made_by.receiver] if made_by.receiver is not None else []), *made_by.arguments.values()]
        for operand in operands[:1] if made_by.function.rpartition(".")[2] in _LIKE_ANOTHER else operands:
            yield from _texts(operand, evaluator, depth - 1)


def _made_here(mask: cst.BaseExpression, evaluator: Evaluator) -> list[str]:
    """The names in `mask` that hold the result of an operation, whichever way was taken."""
    named = {inner.value: evaluator.values.get(inner, UNKNOWN) for inner in walk(mask) if isinstance(inner, cst.Name)}
    return [name for name, value in named.items() if all(choice.made_by is not None for choice in value.possible)]
