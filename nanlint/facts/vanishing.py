"""Denominators that are 0 on everyday input: counts of nothing, norms of zero rows, spreads of constant data.

A range that holds 0 is not enough: half of all ranges do. What is asked here is whether a value was counted, summed up
or measured out of data in a way that some ordinary batch makes 0. What a model or a setting is scaled by is not.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING

from nanlint.facts.naming import words_of
from nanlint.facts.values import UNKNOWN, Call, Kind, Value
from nanlint.facts.zeros import reaches_zero
from nanlint.ops.names import METHODS

if TYPE_CHECKING:
    import libcst as cst

    from nanlint.facts.evaluate import Evaluator

COUNT, NORM, SPREAD, TOTAL = "count", "norm", "spread", "total"

SUMS = frozenset({"torch.sum", "torch.nansum", "torch.count_nonzero", "torch.bincount"})
_NORMS = frozenset({"torch.norm", "torch.linalg.norm", "torch.linalg.vector_norm"})
_SPREADS = frozenset({"torch.std", "torch.var"})
_EXTREMES = frozenset({"torch.max", "torch.amax", "torch.mean", "torch.median"})
# They are 0 where their operand is.
_CARRYING = frozenset(
    METHODS[name]
    for name in (
        "view", "reshape", "flatten", "squeeze", "unsqueeze", "permute", "transpose", "contiguous", "clone", "expand", "select",
        "narrow", "float", "double", "half", "bfloat16", "to", "detach", "cpu", "t", "sqrt", "abs", "square", "item",
        "expand_as", "type_as", "view_as", "repeat", "long", "int", "div", "neg",
    )
) | {"subscript", "float", "int"}  # fmt: skip
# Shares of a whole: not all of a row are 0, and picking the largest of them leaves some.
_SHARES = frozenset(
    {"torch.softmax", "torch.nn.functional.gumbel_softmax", "torch.nn.functional.softmin", "torch.ones", "torch.ones_like"}
)
_PICKS = frozenset({"torch.topk", "torch.sort", "torch.gather", "torch.max", "torch.amax", "torch.sum", "torch.mul"})
_MASKS = frozenset({"mask", "masks", "valid", "positive", "positives", "pos", "fg", "foreground", "visible", "visibility"})
# A sequence has at least one token, so these masks have at least one True in every row.
_SEQUENCES = frozenset(
    {
        "attention", "attn", "padding", "pad", "key", "src", "source", "tgt", "encoder", "decoder", "text", "caption", "token",
        "tokens", "input", "prompt", "length", "lengths", "len", "lens", "seq", "sequence", "nonpad", "unmasked", "nonmasked",
    }
)  # fmt: skip
# What a model makes is not exactly 0 in a whole row.
_LEARNED = frozenset(
    {
        "embed", "embeds", "embedding", "embeddings", "emb", "embs", "feat", "feats", "feature", "features", "hidden", "query",
        "queries", "key", "keys", "descriptor", "descriptors", "q", "k", "z", "output", "outputs", "projected", "latent", "latents",
        "logits", "codebook", "centroids", "prototypes", "weight", "weights", "states", "noise", "random",
    }
)  # fmt: skip
# Deeper than people nest.
_DEEPEST = 12


def vanishing(node: cst.BaseExpression | None, evaluator: Evaluator, depth: int = 0) -> str:
    """What `node` is, if everyday input makes it 0: a count, norm, spread or total; empty for anything else."""
    value = evaluator.values.get(node, UNKNOWN) if node is not None else UNKNOWN
    if value.learnable or depth == _DEEPEST:
        return ""
    for choice in value.possible:
        found = _made(choice, evaluator, depth) if choice.made_by is not None else ""
        if found:
            return found
    return ""


def _made(value: Value, evaluator: Evaluator, depth: int) -> str:
    call = value.made_by
    assert call is not None  # noqa: S101 - asked for by the caller
    if call.function in _CARRYING:
        return vanishing(call.subject, evaluator, depth + 1)
    judge = _JUDGES.get(call.function)
    return judge(call, value, evaluator, depth) if judge is not None else ""


def _total(call: Call, value: Value, evaluator: Evaluator, depth: int) -> str:
    del depth
    words = set(words_of(call.subject)) if call.subject is not None else set()
    if not words.isdisjoint(_SEQUENCES) or _is_of_shares(call.subject, evaluator) or _is_of_lengths(call, evaluator):
        return ""
    reach = value.range
    if reach.integer and reach.low == 0 and value.is_known:
        return COUNT
    if not value.is_known:
        return COUNT if not words.isdisjoint(_MASKS) else ""
    is_zero = reach.low == 0 and reach.has_zero and reaches_zero(call.subject, evaluator)
    return TOTAL if is_zero and words.isdisjoint(_LEARNED) else ""


def _is_of_shares(node: cst.BaseExpression | None, evaluator: Evaluator) -> bool:
    """A softmax, or the largest values of one, or a part of it."""
    value = evaluator.values.get(node, UNKNOWN) if node is not None else UNKNOWN
    origin = value.origin
    for _ in range(_DEEPEST):
        if origin is None or origin.function not in _PICKS or origin.subject is None:
            break
        origin = evaluator.values.get(origin.subject, UNKNOWN).origin
    return origin is not None and origin.function in _SHARES


def _is_of_lengths(call: Call, evaluator: Evaluator) -> bool:
    """A mask that was made from the lengths of sequences, none of which is 0."""
    value = evaluator.values.get(call.subject, UNKNOWN) if call.subject is not None else UNKNOWN
    made_by = value.origin
    if made_by is None:
        return False
    words = set(words_of(made_by.node)) if made_by.function.startswith(("torch.", "comparison")) is False else set()
    for argument in made_by.arguments.values():
        words |= set(words_of(argument))
        inner = evaluator.values.get(argument, UNKNOWN).origin
        if inner is not None and inner.function == "torch.arange":
            return True
    return not words.isdisjoint({*_SEQUENCES, "eos", "ignore", "ilens", "olens", "xlens"})


def _norm(call: Call, value: Value, evaluator: Evaluator, depth: int) -> str:
    del value, evaluator, depth
    words = set(words_of(call.subject)) if call.subject is not None else set()
    return NORM if words.isdisjoint(_LEARNED) else ""


def _spread(call: Call, value: Value, evaluator: Evaluator, depth: int) -> str:
    del value, evaluator, depth
    words = set(words_of(call.subject)) if call.subject is not None else set()
    return SPREAD if words.isdisjoint(_LEARNED) else ""


def _difference(call: Call, value: Value, evaluator: Evaluator, depth: int) -> str:
    """`x.max() - x.min()`, which the relation of its operands keeps from below 0."""
    del depth
    whole = evaluator.values.get(call.subject, UNKNOWN).origin if call.subject is not None else None
    is_range = whole is not None and whole.function in {"torch.max", "torch.amax", "torch.quantile"}
    return SPREAD if is_range and value.is_known and value.range.low == 0 else ""


def _extreme(call: Call, value: Value, evaluator: Evaluator, depth: int) -> str:
    del depth
    if not value.is_known or value.range.low != 0 or not value.range.has_zero:
        return ""
    words = set(words_of(call.subject)) if call.subject is not None else set()
    is_plain = words.isdisjoint(_LEARNED | _SEQUENCES) and reaches_zero(call.subject, evaluator)
    return TOTAL if is_plain and not _is_of_shares(call.subject, evaluator) else ""


def _sum(call: Call, value: Value, evaluator: Evaluator, depth: int) -> str:
    """`a.abs() + b.abs()`: 0 where both are."""
    operands = [call.arguments.get(name) for name in ("input", "other")]
    if not value.is_known or value.range.low != 0 or not value.range.has_zero:
        return ""
    if any(evaluator.values.get(operand, UNKNOWN).kind is Kind.NUMBER for operand in operands if operand is not None):
        return ""
    kinds = [vanishing(operand, evaluator, depth + 1) or _size(operand, evaluator) for operand in operands]
    return kinds[0] if all(kinds) else ""


def _size(node: cst.BaseExpression | None, evaluator: Evaluator) -> str:
    """`x.abs()` and `x ** 2` of data."""
    made_by = evaluator.values.get(node, UNKNOWN).made_by if node is not None else None
    sizes = {"torch.abs", "torch.square", "torch.pow", "torch.mul"}
    return TOTAL if made_by is not None and made_by.function in sizes else ""


def _product(call: Call, value: Value, evaluator: Evaluator, depth: int) -> str:
    del value
    found = [vanishing(call.arguments.get(name), evaluator, depth + 1) for name in ("input", "other")]
    return found[0] or found[1]


def _power(call: Call, value: Value, evaluator: Evaluator, depth: int) -> str:
    del value
    exponent = evaluator.values.get(call.arguments.get("exponent"), UNKNOWN).number  # type: ignore[arg-type] # a node or nothing
    return vanishing(call.subject, evaluator, depth + 1) if exponent is not None and exponent > 0 else ""


_JUDGES: Mapping[str, Callable[[Call, Value, Evaluator, int], str]] = {
    **dict.fromkeys(SUMS, _total),
    **dict.fromkeys(_NORMS, _norm),
    **dict.fromkeys(_SPREADS, _spread),
    **dict.fromkeys(_EXTREMES, _extreme),
    "torch.sub": _difference,
    "torch.add": _sum,
    "torch.mul": _product,
    "torch.pow": _power,
}
