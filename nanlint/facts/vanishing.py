"""Denominators that are 0 on everyday input: counts of nothing, norms of zero rows, spreads of constant data.

A range that holds 0 is not enough: half of all ranges do. What is asked here is whether a value was counted, summed up
or measured out of data in a way that some ordinary batch makes 0. What a model or a setting is scaled by is not.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import libcst as cst

from nanlint.facts.names import dotted_text
from nanlint.facts.naming import thing_of, words_of
from nanlint.facts.relations import same
from nanlint.facts.values import UNKNOWN, Call, Kind, Value
from nanlint.facts.zeros import reaches_zero
from nanlint.ops.names import METHODS
from nanlint.source.walk import walk

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

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
    {
        "torch.nn.functional.one_hot",
        "torch.softmax",
        "torch.nn.functional.gumbel_softmax",
        "torch.nn.functional.softmin",
        "torch.ones",
        "torch.ones_like",
    }
)
_PICKS = frozenset({"torch.topk", "torch.sort", "torch.gather", "torch.max", "torch.amax", "torch.sum", "torch.mul"})
_MASKS = frozenset(
    {"mask", "masks", "valid", "positive", "positives", "pos", "fg", "foreground", "visible", "visibility"}
)
# A sequence has at least one token, so these masks have at least one True in every row.
_SEQUENCES = frozenset(
    {
        "attention", "attn", "padding", "pad", "key", "src", "source", "tgt", "encoder", "decoder", "text", "caption", "token",
        "tokens", "input", "prompt", "seq", "sequence", "nonpad", "unmasked", "nonmasked", "support", "x", "y", "z", "h", "patch",
    }
)  # fmt: skip
# What is counted into classes or bins adds up to the number of things, of which there are some.
_BINS = frozenset({"histogram", "histograms", "hist", "onehot", "gauss", "gaussian", "kernel", "window"})
_LENGTHS = frozenset(
    {
        "length",
        "lengths",
        "len",
        "lens",
        "ilens",
        "olens",
        "seqlen",
        "seqlens",
        "pad",
        "padding",
        "nonpad",
        "sequence",
        "eos",
        "causal",
    }
)
# What is scaled by its largest value and may be all 0: a silent clip, a black image, an empty map.
_SIGNALS = frozenset(
    {"pos", "image", "images", "img", "audio", "wav", "waveform", "signal", "depth", "heatmap", "cam", "map"}
)
# What may be a zero vector: two points that coincide, an edge of a degenerate mesh, a silent clip.
_VECTORS = _SIGNALS | {
    "point", "points", "vec", "vecs", "vector", "vectors", "dir", "dirs", "direction", "directions", "normal", "normals", "axis",
    "quat", "quats", "quaternion", "quaternions", "ray", "rays", "edge", "edges", "clean", "target", "ref", "grad", "gradient",
    "gradients", "diff", "delta", "rvec", "step", "cloud", "preds", "pred", "speech", "source", "sources", "mix", "y",
}  # fmt: skip
_DIFFERENCES = frozenset({"torch.sub", "torch.cross", "torch.linalg.cross"})
_LARGEST = frozenset({"torch.max", "torch.amax"})
_PRODUCTS = frozenset({"torch.mul", "torch.matmul", "torch.bmm", "torch.einsum"})
# What a model makes is not exactly 0 in a whole row.
_LEARNED = frozenset(
    {
        "embed", "embeds", "embedding", "embeddings", "emb", "embs", "feat", "feats", "feature", "features", "hidden", "query",
        "queries", "key", "keys", "descriptor", "descriptors", "q", "k", "z", "w", "u", "unnormed", "value", "values", "loss", "losses", "histogram", "histograms", "output", "outputs", "projected", "latent", "latents",
        "logits", "avg", "codebook", "centroids", "centers", "utterance", "utterances", "probs", "prob", "prototypes", "weight", "weights", "states", "noise", "random",
    }
)  # fmt: skip
_RANDOM = frozenset({"rand", "randn", "randperm", "uniform", "bernoulli", "eigh", "eig", "svd"})
# A mask that takes more than this to make is not looked into further.
_MOST_EXPRESSIONS = 60
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


def vanishing_beside(above: cst.BaseExpression, below: cst.BaseExpression, evaluator: Evaluator) -> str:
    """As `vanishing`, for a denominator of which only its relation to the numerator tells what it is.

    `(x * w).sum() / w.sum()` is a weighted mean, whose weights can all be 0; `audio / audio.max()` is scaled by its peak.
    """
    measured = evaluator.values.get(below, UNKNOWN).origin
    if measured is None or measured.subject is None or evaluator.values.get(measured.subject, UNKNOWN).learnable:
        return ""
    words = set(words_of(measured.subject))
    if not words.isdisjoint(_SEQUENCES | _LENGTHS) or _is_of_shares(measured.subject, evaluator):
        return ""
    # Weights by that name are meant to be above 0, unless a mask is in them.
    if not words.isdisjoint({"weight", "weights"}) and words.isdisjoint({"mask", "masked"}):
        return ""
    if measured.function in _LARGEST:
        return SPREAD if not words.isdisjoint(_SIGNALS) and same(above, measured.subject, evaluator) else ""
    made = evaluator.values.get(above, UNKNOWN).origin
    if made is not None and made.function in SUMS and made.subject is not None:
        made = evaluator.values.get(made.subject, UNKNOWN).origin
    if (
        measured.function not in SUMS
        or made is None
        or made.function not in _PRODUCTS
        or isinstance(made.node, cst.AugAssign)
    ):
        return ""
    is_weight = any(same(factor, measured.subject, evaluator) for factor in made.arguments.values())
    return TOTAL if is_weight and not _is_of_lengths(measured.subject, evaluator) else ""


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
    if not words.isdisjoint(_SEQUENCES | _BINS) or _is_of_shares(call.subject, evaluator):
        return ""
    reach = value.range
    # A mask that an object keeps is a setting of it.
    is_kept = call.subject is not None and (dotted_text(thing_of(call.subject)) or "").startswith("self.")
    is_mask = reach.integer and reach.low == 0 if value.is_known else not is_kept and not words.isdisjoint(_MASKS)
    if is_mask:
        return COUNT if not _is_of_lengths(call.subject, evaluator) else ""
    is_zero = value.is_known and reach.low == 0 and reach.has_zero and reaches_zero(call.subject, evaluator)
    return TOTAL if is_zero and _is_data(call.subject, evaluator) else ""


def _is_of_shares(node: cst.BaseExpression | None, evaluator: Evaluator) -> bool:
    """A softmax, or the largest values of one, or a part of it."""
    value = evaluator.values.get(node, UNKNOWN) if node is not None else UNKNOWN
    origin = value.origin
    for _ in range(_DEEPEST):
        if origin is None or origin.function not in _PICKS or origin.subject is None:
            break
        origin = evaluator.values.get(origin.subject, UNKNOWN).origin
    return origin is not None and origin.function in _SHARES


def _is_of_lengths(node: cst.BaseExpression | None, evaluator: Evaluator) -> bool:
    """A mask that was made from the lengths or the padding of sequences, none of which is empty."""
    return _speaks_of(node, _LENGTHS, evaluator)


def _speaks_of(node: cst.BaseExpression | None, wanted: frozenset[str], evaluator: Evaluator) -> bool:
    """Whether one of the words occurs in `node`, or in what it was made of in this chunk."""
    waiting = [node] if node is not None else []
    seen: set[cst.CSTNode] = set()
    while waiting and len(seen) < _MOST_EXPRESSIONS:
        current = waiting.pop()
        for inner in walk(current):
            if not isinstance(inner, (cst.Name, cst.Attribute, cst.Call)) or inner in seen:
                continue
            seen.add(inner)
            if not wanted.isdisjoint(words_of(inner)):
                return True
            made_by = evaluator.values.get(inner, UNKNOWN).made_by
            if made_by is not None and made_by.node not in seen and made_by.node in evaluator.values:
                seen.add(made_by.node)
                waiting.append(made_by.node)
    return False


def _is_data(node: cst.BaseExpression | None, evaluator: Evaluator) -> bool:
    """Whether `node` is nothing that a model learns or makes, by what it is and by what it is called."""
    if node is None or evaluator.values.get(node, UNKNOWN).learnable or not _LEARNED.isdisjoint(_words_in(node)):
        return False
    value = evaluator.values.get(node, UNKNOWN)
    # Whoever selected elements by a mask has asked for them.
    if value.made_by is not None and value.made_by.function == "subscript" and "mask" in _words_in(value.made_by.node):
        return False
    if _speaks_of(node, _RANDOM, evaluator):
        return False
    # An exponential underflows to 0, which another rule judges; random numbers, ones and identities are not all 0.
    word = value.origin.function.rpartition(".")[2] if value.origin is not None else ""
    return (
        not word.startswith(("exp", "rand", "normal", "ones", "eye", "arange", "full", "one_hot", "hist"))
        and not value.range.nan
    )


def _words_in(node: cst.CSTNode) -> set[str]:
    return {word for inner in walk(node) if isinstance(inner, cst.Name) for word in words_of(inner)}


def _norm(call: Call, value: Value, evaluator: Evaluator, depth: int) -> str:
    """The norm of a difference, or of what is called a point, a direction or a signal; of what a model makes, nothing is known."""
    del value, depth
    made_by = evaluator.values.get(call.subject, UNKNOWN).origin if call.subject is not None else None
    is_difference = made_by is not None and made_by.function in _DIFFERENCES
    is_named = call.subject is not None and not _VECTORS.isdisjoint(words_of(call.subject))
    return NORM if (is_difference or is_named) and _is_data(call.subject, evaluator) else ""


def _spread(call: Call, value: Value, evaluator: Evaluator, depth: int) -> str:
    del value, depth
    return SPREAD if _is_data(call.subject, evaluator) else ""


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
    is_plain = _is_data(call.subject, evaluator) and reaches_zero(call.subject, evaluator)
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
    value = evaluator.values.get(node, UNKNOWN) if node is not None else UNKNOWN
    made_by = value.made_by if value.kind is Kind.TENSOR else None
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
