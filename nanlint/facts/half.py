"""What float16 does to code that does not say which dtype it runs in: which eps is relied on, and what passes its end.

Judgements on the shape of code. Whether a model is ever run in float16 is nobody's to know here, so all of it is for `info`.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from nanlint.facts.calculate import VIEWS
from nanlint.facts.dtypes import cast_to
from nanlint.facts.names import dotted_text
from nanlint.facts.naming import words_of
from nanlint.facts.relations import same
from nanlint.facts.values import UNKNOWN, Call, Kind
from nanlint.facts.written import text_of
from nanlint.source.walk import walk

if TYPE_CHECKING:
    import libcst as cst

    from nanlint.facts.evaluate import Evaluator

# What breaks at 0, with the operand that must not be 0. Numbers have functions of their own: these are given tensors.
_STEEP = {f"torch.{name}": "input" for name in ("log", "log2", "log10", "sqrt", "rsqrt", "reciprocal")}
_QUOTIENT, _POWER = "torch.div", "torch.pow"
# Rows of weights, and of what a network makes of a speaker, a sentence or a whole picture, are not 0 as a whole.
_NO_EMPTY_ROWS = frozenset(
    {
        "text", "sentence", "pooled", "cls",
        "weight", "weights", "kernel", "codebook", "prototypes", "emb", "embs", "embed", "embeds", "embedding", "embeddings", "spemb",
        "spembs", "spk",
    }
)  # fmt: skip
_CUT_OFF = frozenset({"torch.clamp", "torch.clamp_min", "torch.relu"})
_POWERS, _SUMS = frozenset({"torch.pow", "torch.square"}), frozenset({"torch.sum", "torch.nansum", "torch.cumsum"})
_WIDE = frozenset({"float32", "float64"})
_TOLD_APART = frozenset(
    {
        "mask", "masks", "label", "labels", "target", "targets", "gt", "idx", "index", "indices", "ids", "valid", "lengths", "length", "done",
        "dones", "timestep", "timesteps",
    }
)  # fmt: skip
_VARIANCES = frozenset({"torch.var", "torch.var_mean"})
# The square of anything above is past the end of float16.
_ROOT_OF_LARGEST = 256
# A wave is within 1, and so are weights.
_SMALL = frozenset({"wav", "wavs", "wave", "waveform", "audio", "speech", "signal", "mono", "weight", "weights"})
_VALUES = frozenset({"v", "value", "values"})
_MATRIX_PRODUCTS = frozenset({"torch.matmul", "torch.bmm", "torch.einsum"})
# What is scaled or normalised first stays small.
_SCALINGS = frozenset({"torch.mul", "torch.div", "torch.nn.functional.normalize", "torch.softmax"})
# Random numbers; and what is normalised already was told of there.
_NOISE = frozenset({"torch.randn", "torch.randn_like", "torch.rand", "torch.nn.functional.normalize"})
# What an environment gives is kept in float32 beside whatever model.
_GIVEN = re.compile(r"reward|advantage|(?<![a-z])(returns|adv)(?![a-z])")
# What is above it needs no eps.
_NEXT_TO_0 = 1e-3


def is_relied_on(floor: Call, value: cst.BaseExpression, evaluator: Evaluator) -> bool:
    """Whether something here divides by what `floor` keeps from 0, or takes a root or logarithm of it.

    `value` is what is kept from 0. Of a quotient it must be a tensor: a number is not rounded to float16.
    """
    held = evaluator.values.get(value, UNKNOWN)
    if held.kind not in {Kind.TENSOR, Kind.UNKNOWN} or held.range.integer or held.range.low > _NEXT_TO_0:
        return False
    if _GIVEN.search(text_of(value)) is not None:
        return False
    breaking = [operand for call in evaluator.calls.values() for operand in _operands(call, evaluator)]
    users = [call for call, operand in breaking if _is_made_by(operand, floor, evaluator)]
    return any(
        held.kind is Kind.TENSOR or call.function in _STEEP or _is_read_as_tensor(value, call, evaluator)
        for call in users
    )


def _is_read_as_tensor(value: cst.BaseExpression, quotient: Call, evaluator: Evaluator) -> bool:
    """Whether what nothing is known of is a tensor by what it divides: it is in the numerator as well."""
    above = quotient.subject
    if above is None or evaluator.values.get(above, UNKNOWN).kind is not Kind.TENSOR:
        return False
    name = dotted_text(value)
    return name is not None and any(dotted_text(inner) == name for inner in walk(above))


def _is_made_by(operand: cst.BaseExpression, floor: Call, evaluator: Evaluator) -> bool:
    """As it is written, or under a name."""
    return operand is floor.node or evaluator.values.get(operand, UNKNOWN).origin is floor


def _operands(call: Call, evaluator: Evaluator) -> list[tuple[Call, cst.BaseExpression]]:
    """The operand at which `call` breaks if it is 0, or none."""
    name = "other" if call.function == _QUOTIENT else _STEEP.get(call.function, "")
    if call.function == _POWER:
        exponent = call.arguments.get("exponent")
        number = evaluator.values.get(exponent, UNKNOWN).number if exponent is not None else None
        name = "input" if number is not None and number < 1 else ""
    operand = call.arguments.get(name)
    return [(call, operand)] if operand is not None else []


def needs_less_than_one(ceiling: Call, functions: tuple[str, ...], evaluator: Evaluator) -> bool:
    """Whether one of these operations is given what `ceiling` keeps below 1, or what is left to 1 of it: `log(1 - p)`, `log1p(-p)`."""
    calls = [call for call in evaluator.calls.values() if call.function in functions and call.subject is not None]
    less = [rest for call in calls if call.subject is not None and (rest := _rest(call.subject, evaluator)) is not None]
    # A logarithm breaks at what is left, not at 1 itself.
    given = [call.subject for call in calls if call.function not in {*_STEEP, "torch.log1p"}]
    return any(
        evaluator.values.get(operand, UNKNOWN).origin is ceiling for operand in (*given, *less) if operand is not None
    )


def _rest(node: cst.BaseExpression, evaluator: Evaluator) -> cst.BaseExpression | None:
    """`p` of `1 - p` and of `-p`."""
    made_by = evaluator.values.get(node, UNKNOWN).made_by
    if made_by is None or made_by.subject is None:
        return None
    if made_by.function == "torch.neg":
        return made_by.subject
    whole = evaluator.values.get(made_by.subject, UNKNOWN)
    is_one = whole.number == 1 or (whole.made_by is not None and whole.made_by.function == "torch.ones_like")
    return made_by.arguments.get("other") if made_by.function == "torch.sub" and is_one else None


def may_have_empty_rows(node: cst.BaseExpression, evaluator: Evaluator) -> bool:
    """Whether a row of `node` may be 0 as a whole, as padding and the background of a picture are."""
    held = evaluator.values.get(node, UNKNOWN)
    if held.origin is not None and held.origin.function in _NOISE:
        return False
    words = frozenset(words_of(node))
    return held.range.has_zero and _NO_EMPTY_ROWS.isdisjoint(words) and not words.issuperset({"image", "features"})


def is_area(call: Call, evaluator: Evaluator) -> bool:
    """Whether `call` multiplies two differences of coordinates, cut off at 0 or not, that may be float16.

    `(x2 - x1) * (y2 - y1)`, or `(high - low).prod(-1)`.
    """
    if evaluator.values.get(call.node, UNKNOWN).dtype not in {"", "float16"}:
        return False
    if call.function == "torch.prod":
        return call.subject is not None and "dim" in call.arguments and _is_edge(call.subject, evaluator)
    sides = [call.arguments.get(name) for name in ("input", "other")]
    texts = {text_of(side) for side in sides if side is not None}
    return (
        call.function == "torch.mul"
        and len(texts) > 1
        and all(side is not None and _is_edge(side, evaluator) for side in sides)
    )


def _is_edge(node: cst.BaseExpression, evaluator: Evaluator) -> bool:
    """`x2 - x1`: a difference of two things that are no numbers; cut off at 0 or not."""
    side = evaluator.values.get(node, UNKNOWN).origin
    if side is not None and side.function in _CUT_OFF and side.subject is not None:
        side = evaluator.values.get(side.subject, UNKNOWN).origin
    ends = (side.subject, side.arguments.get("other")) if side is not None and side.function == "torch.sub" else ()
    held = [evaluator.values.get(end, UNKNOWN) for end in ends if end is not None]
    return len(held) == 2 and all(end.kind is not Kind.NUMBER and end.number is None for end in held)


def is_linear_attention(call: Call, keys: frozenset[str], evaluator: Evaluator) -> bool:
    """`k.transpose(-2, -1) @ v`: keys meet values, summed up over all tokens, neither of them scaled or normalised before."""
    operands = [node for name, node in call.arguments.items() if name != "equation"][-2:]
    words = [frozenset(words_of(_viewed(node, evaluator))) for node in operands]
    if (
        call.function not in _MATRIX_PRODUCTS
        or len(words) != 2
        or keys.isdisjoint(words[0])
        or _VALUES.isdisjoint(words[1])
    ):
        return False
    origins = [evaluator.values.get(node, UNKNOWN).origin for node in operands]
    # The weights of a layer are summed up over its channels, not over tokens.
    is_layer = not {"weight", "proj"}.isdisjoint(words[1])
    return not is_layer and not any(origin is not None and origin.function in _SCALINGS for origin in origins)


def _viewed(node: cst.BaseExpression, evaluator: Evaluator) -> cst.BaseExpression:
    """`k` of `k.transpose(-2, -1)`."""
    call = evaluator.calls.get(node)
    while call is not None and call.function in VIEWS and call.subject is not None:
        node = call.subject
        call = evaluator.calls.get(node)
    return node


def is_sum_over_classes(call: Call, evaluator: Evaluator) -> bool:
    """The sum of log-probabilities over a dimension, as label smoothing takes it: some tens of thousands of them, each about -10."""
    made_by = _made_by(call.subject, evaluator) if call.function in _SUMS and call.subject is not None else None
    return made_by is not None and made_by.function == "torch.log_softmax" and "dim" in call.arguments


def is_sum_of_squares(call: Call, evaluator: Evaluator) -> bool:
    """The sum or mean of squares, or a variance, in a function that takes a root."""
    if call.subject is None or call.function not in {"torch.mean", "torch.sum", *_VARIANCES}:
        return False
    made_by = _made_by(call.subject, evaluator)
    base = call.subject if call.function in _VARIANCES else _squared(made_by, evaluator)
    return base is not None and _may_be_large(base, call.function, evaluator) and _takes_a_root(evaluator)


def _squared(call: Call | None, evaluator: Evaluator) -> cst.BaseExpression | None:
    """`x` of `x ** 2` and of `x * x`."""
    is_product = call is not None and call.function == "torch.mul"
    if call is None or not (call.function in _POWERS or is_product):
        return None
    return call.subject if not is_product or same(call.subject, call.arguments.get("other"), evaluator) else None


def _may_be_large(base: cst.BaseExpression, reduction: str, evaluator: Evaluator) -> bool:
    """Whether squares of `base` pass the end; a sum of squared differences is a distance, and that of atoms is none of pixels."""
    reach, origin = evaluator.range_of(base), _made_by(base, evaluator)
    is_distance = reduction == "torch.sum" and origin is not None and origin.function == "torch.sub"
    return (
        max(-reach.least, reach.greatest) >= _ROOT_OF_LARGEST and not is_distance and _SMALL.isdisjoint(words_of(base))
    )


def _made_by(node: cst.BaseExpression, evaluator: Evaluator) -> Call | None:
    """The operation that made it, but for its sign."""
    origin = evaluator.values.get(node, UNKNOWN).origin
    if origin is not None and origin.function == "torch.neg" and origin.subject is not None:
        origin = evaluator.values.get(origin.subject, UNKNOWN).origin
    return origin


def _takes_a_root(evaluator: Evaluator) -> bool:
    return any(call.function in {"torch.sqrt", "torch.rsqrt"} for call in evaluator.calls.values())


def widens(call: Call, evaluator: Evaluator) -> bool:
    """Whether it casts to float32 or float64, by whatever name, or switches autocast off, which people do to get there."""
    word = call.function.rpartition(".")[2].lower()
    if "upcast" in word:
        return True
    if cast_to(call, evaluator) in _WIDE:
        return not _is_told_apart(call.subject or call.receiver, evaluator)
    given = {name: evaluator.values.get(node, UNKNOWN) for name, node in call.arguments.items()}
    if "autocast" in word:
        return "enabled" in given and given["enabled"].constant is False
    return "cast" in word and any(value.kind is Kind.DTYPE and value.constant in _WIDE for value in given.values())


def _is_told_apart(node: cst.BaseExpression | None, evaluator: Evaluator) -> bool:
    """Whether it is what predictions are compared with or chosen by, a mask, labels, numbers of steps: no value of the model."""
    dtype = evaluator.values.get(node, UNKNOWN).dtype if node is not None else ""
    return node is not None and (
        dtype in {"bool", "int"} or not _TOLD_APART.isdisjoint(words_of(_viewed(node, evaluator)))
    )


def is_sum_over_pixels(call: Call, evaluator: Evaluator) -> bool:
    """`(p * target).sum(dim)`, or over all dimensions."""
    if call.function not in _SUMS or call.subject is None:
        return False
    made_by = _made_by(call.subject, evaluator)
    return "dim" in call.arguments or (made_by is not None and made_by.function == "torch.mul")
