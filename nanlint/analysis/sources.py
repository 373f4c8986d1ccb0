"""Where numbers come from: layers, weights, draws, settings, tests; and what the name of something from outside suggests.

A name proves nothing: it may add a finding at the lowest level.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from nanlint.analysis.name_hints import ADVANTAGES, CAUSAL, MASKS, NUMBERED, NUMBERING, SCORES, SEEN
from nanlint.analysis.op_graph import ATTRIBUTE, CALL, ELEMENT, NUMBER, PARAMETER, made_from
from nanlint.analysis.relations import maker, root

if TYPE_CHECKING:
    from nanlint.analysis.op_graph import Value


NETWORK, LEARNED, NOISE, SETTING, CONSTANT, TESTED, LENGTHS, RECTIFIED, OTHER = (
    "network", "learned", "noise", "setting", "constant", "tested", "lengths", "rectified", "other"
)  # fmt: skip
"""The output of a layer; a weight itself; random numbers; a number that somebody sets; one that is written here; truth values; those
that come from lengths; what a relu leaves; all else."""
_ARANGES = frozenset({"torch.arange", "torch.range", "torch.linspace"})
_MAKING = {
    NETWORK: ("nn.functional.linear", "conv1d", "conv2d", "conv3d"),
    RECTIFIED: ("relu", "nn.functional.relu", "nn.functional.relu6"),
    NOISE: ("rand", "randn", "rand_like", "randn_like", "normal"),
    CONSTANT: (
        "zeros",
        "ones",
        "full",
        "arange",
        "linspace",
        "eye",
        "zeros_like",
        "ones_like",
        "full_like",
        "logspace",
    ),
}
_SOURCES = {f"torch.{word}": kind for kind, words in _MAKING.items() for word in words}
_TESTS = frozenset(f"torch.{word}" for word in ("eq", "ne", "lt", "le", "gt", "ge", "isnan", "isinf", "isfinite"))
_MOST_LOOKED_AT = 200


def sources_of(value: Value) -> frozenset[str]:
    """Where the numbers behind a value come from; of what a layer, a test or a draw has made, not what that was given."""
    found: set[str] = set()
    seen, waiting = {id(value)}, [value]
    while waiting:
        current = waiting.pop()
        kind = _source(current)
        if kind is not None:
            found.add(kind)
        elif current.op is not None:
            for each in current.op.operands.values():
                if id(each) not in seen:
                    seen.add(id(each))
                    waiting.append(each)
        if len(seen) > _MOST_LOOKED_AT:
            return frozenset({OTHER})
    return frozenset(found)


def _source(value: Value) -> str | None:  # noqa: PLR0911 - one for each source
    """The source of a value itself; None if it was computed of others."""
    op = value.op
    if value.learned:
        return LEARNED
    if value.range.constant is not None:
        return CONSTANT
    if op is None:
        return OTHER
    if op.where == "network" or op.function in _SOURCES:
        return _SOURCES.get(op.function, NETWORK)
    if op.function in _TESTS:
        return LENGTHS if any(maker(each, _ARANGES) is not None for each in op.operands.values()) else TESTED
    if op.function == ATTRIBUTE and "stored" in op.operands:
        return None
    if op.function in {PARAMETER, ATTRIBUTE, ELEMENT, CALL} or not op.operands:
        return SETTING if value.kind is NUMBER else OTHER
    return None


def suggests_count(value: Value) -> bool:
    """`num_boxes`, `n_pos`: how many there are of something that a batch may lack, counted elsewhere."""
    op = made_from(root(value))
    if op is None or op.function not in {PARAMETER, ATTRIBUTE}:
        return False
    words = set(re.findall(r"[a-z]+", op.where.rpartition(".")[2].lower()))
    return not words.isdisjoint(NUMBERING) and not words.isdisjoint(NUMBERED | SEEN) and "classes" not in words


def suggests_mask(value: Value) -> bool:
    """`valid_mask`: truth values from elsewhere, which may all be false."""
    op = made_from(root(value))
    if op is None or value.kind is NUMBER or value.dtype or op.function not in {PARAMETER, ATTRIBUTE, ELEMENT}:
        return False
    return not MASKS.isdisjoint(re.findall(r"[a-z]+", op.where.rpartition(".")[2].lower()))


def suggests_one_for_each_sample(value: Value, depth: int = 4) -> bool:
    """`advantages`, `rewards`: a number for each sample, so that of a minibatch of one there is one."""
    op = made_from(root(value))
    if op is None or not depth:
        return False
    words = set(re.findall(r"[a-z]+", op.where.lower())) if op.function in {PARAMETER, ATTRIBUTE, ELEMENT} else set()
    return not words.isdisjoint(SCORES | ADVANTAGES) or (
        op.subject is not None and suggests_one_for_each_sample(op.subject, depth - 1)
    )


def suggests_causal(value: Value) -> bool:
    """`causal_mask`, `generate_square_subsequent_mask(n)`: it hides what comes later, and never a position from itself."""
    return not _words(value).isdisjoint(CAUSAL)


def _words(value: Value) -> set[str]:
    """The words of the name of something from outside: a parameter, an attribute, an unknown function that was called."""
    op = made_from(root(value))
    if op is None or op.function not in {PARAMETER, ATTRIBUTE, ELEMENT, CALL}:
        return set()
    return set(re.findall(r"[a-z]+", op.where.lower()))
