"""How ordinary it is that data is all 0, or all equal: a silent clip, a black image, a constant column.

Of what was measured it is; of what a model makes, of what was drawn and of what was built it is not. Where a value comes
from decides, and its name where that is all there is.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import libcst as cst

from nanlint.analysis import name_hints as named
from nanlint.facts.counting import Chance, behind, is_of_shares
from nanlint.facts.given import CONVERSIONS, is_given
from nanlint.facts.naming import words_of
from nanlint.facts.values import UNKNOWN
from nanlint.ops.names import METHODS
from nanlint.source.walk import walk

if TYPE_CHECKING:
    from nanlint.facts.evaluate import Evaluator
    from nanlint.facts.values import Call

_DIFFERENCES = frozenset({"torch.sub", "torch.cross", "torch.linalg.cross"})
# They are 0 where their operand is.
CARRYING = frozenset(
    METHODS[name]
    for name in (
        "view", "reshape", "flatten", "squeeze", "unsqueeze", "permute", "transpose", "contiguous", "clone", "expand", "select",
        "narrow", "float", "double", "half", "bfloat16", "to", "detach", "cpu", "t", "sqrt", "abs", "square", "item",
        "expand_as", "type_as", "view_as", "repeat", "long", "int", "div", "neg",
    )
) | {"subscript", "float", "int"}  # fmt: skip
# Behind these, data is still the data that it was.
_SAME_DATA = (
    CARRYING
    | {METHODS[name] for name in ("pow", "sub", "add", "mul", "diff", "relu", "clamp", "norm", "mean", "unfold")}
    | {"torch.nn.functional.unfold", "torch.nn.functional.pad", *CONVERSIONS}
)
_OWN_LEVEL = frozenset({"torch.mean", "torch.median", "torch.min", "torch.amin"})
_BYTES = ("int8", "uint8", "int4", "float8_e4m3fn", "float8_e5m2")
_DEEPEST = 12


def silence(node: cst.BaseExpression | None, evaluator: Evaluator) -> Chance:
    """How ordinary it is that all of `node` is 0, or that all of it is equal."""
    if node is None or is_of_shares(node, evaluator) or is_drawn_or_built(node, evaluator):
        return Chance.NONE
    chain = measured_from(node, evaluator)
    leaf = chain[-1]
    words = {word for part in chain for word in _words_in(part)}
    is_gradient = any(not named.GRADIENTS.isdisjoint(words_of(part)) for part in chain)
    if evaluator.values.get(leaf, UNKNOWN).learnable or (not named.LEARNED.isdisjoint(words) and not is_gradient):
        return Chance.NONE
    # What a function gave back, or an object keeps, is known by its name alone; that two things are equal, to nobody.
    is_apart = any(_is_distance(part, evaluator) for part in chain)
    # A spectrum is one of sound, which pauses.
    is_measured = is_gradient or "stft" in words or is_given(leaf, evaluator)
    return Chance.ORDINARY if is_measured and not is_apart else Chance.DOUBTFUL


def flatness(extreme: Call, evaluator: Evaluator) -> Chance:
    """How ordinary it is that all of what `extreme` is the largest of is equal.

    Of everything at once it is where something says that this is a signal, a reward, one sample, or what is to be quantised;
    a whole table is not.
    """
    chunk, subject = evaluator.parsed.chunk, extreme.subject
    chance = silence(subject, evaluator)
    is_quantised = any("quant" in word.lower() for word in (chunk.owner, *chunk.words)) or chunk.mentions(_BYTES)
    is_one = chunk.name == "__call__" or is_quantised
    if subject is None or "dim" in extreme.arguments or is_one:
        return chance
    words = {word for part in measured_from(subject, evaluator) for word in _words_in(part)}
    is_told = not (words | set(chunk.name.split("_"))).isdisjoint(named.SIGNALS | named.SCORES)
    return chance if is_told else min(chance, Chance.DOUBTFUL)


def measured_from(node: cst.BaseExpression, evaluator: Evaluator) -> list[cst.BaseExpression]:
    """`node`, and what it was made of as long as that is the same data: squares, differences and views of it."""
    chain = [node]
    while len(chain) < _DEEPEST:
        made_by = evaluator.values.get(chain[-1], UNKNOWN).made_by
        if made_by is None or made_by.function not in _SAME_DATA or made_by.subject is None:
            break
        chain.append(made_by.subject)
    return chain


def is_of_blank_rows(call: Call, evaluator: Evaluator) -> bool:
    """`(x * mask[..., None]).norm(dim=-1)`: what a mask sets to 0 is 0 in the whole of its row."""
    made_by = evaluator.values.get(call.subject, UNKNOWN).origin if call.subject is not None else None
    if made_by is None or made_by.function != "torch.mul" or "dim" not in call.arguments:
        return False
    return any(_is_mask_of_rows(factor, evaluator) for factor in made_by.arguments.values())


def _is_mask_of_rows(node: cst.BaseExpression, evaluator: Evaluator) -> bool:
    """Whether `node` is 0 or 1 for each row: a dimension of size 1 was appended to it."""
    value = evaluator.values.get(node, UNKNOWN)
    reach, made_by = value.range, value.made_by
    if made_by is None or not (value.is_known and reach.integer and reach.low == 0 and reach.high == 1):
        return False
    if made_by.function == "torch.unsqueeze":
        dim = made_by.arguments.get("dim")
        return dim is not None and evaluator.values.get(dim, UNKNOWN).number == -1
    if not isinstance(made_by.node, cst.Subscript) or not isinstance(last := made_by.node.slice[-1].slice, cst.Index):
        return False
    return isinstance(last.value, cst.Name) and last.value.value == "None"


def _is_distance(node: cst.BaseExpression, evaluator: Evaluator) -> bool:
    """Whether `node` is one thing less another, and not something less its own mean or minimum."""
    call = evaluator.values.get(node, UNKNOWN).made_by
    if call is None or call.function not in _DIFFERENCES:
        return False
    other = call.arguments.get("other")
    taken = evaluator.values.get(other, UNKNOWN).origin if other is not None else None
    return taken is None or taken.function not in _OWN_LEVEL


def is_drawn_or_built(node: cst.BaseExpression, evaluator: Evaluator) -> bool:
    """Random numbers, ones, identities and grids are not all 0; whoever selected elements by a mask has asked for them."""
    value = evaluator.values.get(node, UNKNOWN)
    if value.made_by is not None and value.made_by.function == "subscript" and "mask" in _words_in(value.made_by.node):
        return True
    return value.range.nan or is_drawn(node, evaluator)


def is_drawn(node: cst.BaseExpression, evaluator: Evaluator) -> bool:
    """Random numbers, ones, identities and grids: never all equal, or always."""
    value = evaluator.values.get(node, UNKNOWN)
    if any(not named.RANDOM.isdisjoint(words_of(inner)) for inner in behind(node, evaluator)):
        return True
    # An exponential underflows to 0, which another rule judges.
    word = value.origin.function.rpartition(".")[2] if value.origin is not None else ""
    return word.startswith(
        (
            "exp",
            "rand",
            "normal",
            "ones",
            "eye",
            "arange",
            "linspace",
            "full",
            "one_hot",
            "hist",
            "hann",
            "hamming",
            "blackman",
            "bartlett",
            "kaiser",
        )
    )


def _words_in(node: cst.CSTNode) -> set[str]:
    return {word for inner in walk(node) if isinstance(inner, cst.Name) for word in words_of(inner)}
