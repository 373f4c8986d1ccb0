"""What an annotation says about a parameter."""

from __future__ import annotations

import re

import libcst as cst

from nanlint.facts.names import dotted_text
from nanlint.facts.values import Kind
from nanlint.source.walk import walk

_TENSORS = frozenset({"Tensor", "FloatTensor", "LongTensor", "BoolTensor"})
_NUMBERS = frozenset({"int", "float", "bool", "Optional", "None", "Union"})
_CONTAINERS = frozenset(
    {"list", "List", "tuple", "Tuple", "dict", "Dict", "Sequence", "Iterable", "Mapping", "Callable", "int", "float"}
)


def annotated_kind(annotation: cst.BaseExpression) -> Kind:
    """`torch.Tensor`, `Tensor | None`, `Optional[Tensor]`, `Float[Tensor, "b n"]`: a tensor. `int`, `float`: a number."""
    dotted = dotted_text(annotation)
    if dotted is not None:
        words = set(dotted.split("."))
    elif isinstance(annotation, cst.SimpleString):
        words = set(re.findall(r"\w+", annotation.raw_value))
    else:
        words = {inner.value for inner in walk(annotation) if type(inner) is cst.Name}
    if words & _TENSORS and not words & _CONTAINERS:
        return Kind.TENSOR
    return Kind.NUMBER if words and words <= _NUMBERS else Kind.UNKNOWN
