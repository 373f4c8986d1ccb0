"""Where the numbers behind a value come from: layers, weights, draws, settings, tests, lengths."""

from __future__ import annotations

from typing import TYPE_CHECKING

from nanlint.analysis.op_graph import ATTRIBUTE, CALL, ELEMENT, NUMBER, PARAMETER
from nanlint.analysis.relations import maker
from nanlint.word_sets import torch_names, word_set

if TYPE_CHECKING:
    from collections.abc import Iterable

    from nanlint.analysis.op_graph import Op, Value

NETWORK, LEARNED, NOISE, SETTING, CONSTANT, TESTED, LENGTHS, RECTIFIED, OTHER = (
    "network", "learned", "noise", "setting", "constant", "tested", "lengths", "rectified", "other"
)  # fmt: skip
"""The output of a layer; a weight itself; random numbers; a number that somebody sets; one that is written here; truth values; those
that come from lengths; what a relu leaves; all else."""
_ARANGES = torch_names("arange range linspace")
LAYERS = torch_names("nn.functional.linear conv1d conv2d conv3d")
_MAKING = {
    RECTIFIED: ("relu", "nn.functional.relu", "nn.functional.relu6"),
    NOISE: (
        "rand",
        "randn",
        "rand_like",
        "randn_like",
        "normal",
        "Tensor.uniform_",
        "Tensor.normal_",
        "Tensor.exponential_",
    ),
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
_SOURCES = {f"torch.{word}": kind for kind, words in _MAKING.items() for word in words} | dict.fromkeys(LAYERS, NETWORK)
_TESTS = torch_names("eq ne lt le gt ge isnan isinf isfinite")
_PARTS = word_set("subscript torch.gather torch.index_select torch.take_along_dim")
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
            for each in _held(current.op):
                if id(each) not in seen:
                    seen.add(id(each))
                    waiting.append(each)
        if len(seen) > _MOST_LOOKED_AT:
            return frozenset({OTHER})
    return frozenset(found)


def _held(op: Op) -> Iterable[Value]:
    """What the numbers of a result are numbers of: an index only says which."""
    return (op.subject,) if op.function in _PARTS and op.subject is not None else op.operands.values()


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
        return LENGTHS if is_of_lengths(op) else TESTED
    if op.function == ATTRIBUTE and "stored" in op.operands:
        return None
    if op.function in {PARAMETER, ATTRIBUTE, ELEMENT, CALL} or not op.operands:
        return SETTING if value.kind is NUMBER else OTHER
    return None


def is_of_lengths(test: Op) -> bool:
    """`torch.arange(n) < lengths`: none is counted only for a length of 0."""
    return any(maker(each, _ARANGES) is not None for each in test.operands.values())
