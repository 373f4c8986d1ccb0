"""The dtype of what an operation makes: by a cast, a dtype argument, promotion, an autocast region; empty where nothing says."""

from __future__ import annotations

import math
from dataclasses import replace
from typing import TYPE_CHECKING

from nanlint.analysis.op_graph import ARRAY, DTYPE, NOTHING, NUMBER, TENSOR, UNKNOWN, Value
from nanlint.ops.formats import DTYPES, FLOAT32, FORMATS, Format, runs_in
from nanlint.ops.names import METHODS, tensor_methods
from nanlint.word_sets import torch_names, word_set

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    from nanlint.ops.interval import Interval

_CASTS = {
    METHODS["half"]: "float16",
    METHODS["bfloat16"]: "bfloat16",
    METHODS["float"]: "float32",
    METHODS["double"]: "float64",
    METHODS["long"]: "int",
    METHODS["int"]: "int",
    METHODS["bool"]: "bool",
}
_BOOLEANS = tensor_methods("eq ne lt le gt ge isnan isinf isfinite logical_and logical_or logical_not")
_INTEGERS = tensor_methods("argmax argmin argsort bincount count_nonzero")
FIXED: Mapping[str, str] = {**_CASTS, **dict.fromkeys(_BOOLEANS, "bool"), **dict.fromkeys(_INTEGERS, "int")}
"""The dtype that an operation always returns."""
_LIKE_ANOTHER = tensor_methods("to type type_as")
_SHAPED_LIKE = tensor_methods("expand_as view_as reshape_as")
_DRAWING = torch_names("rand randn")
_FRACTIONS = torch_names("""
    div exp exp2 expm1 log log2 log10 log1p sqrt rsqrt reciprocal sigmoid tanh sin cos tan atan erf logit
""")
_TOTALS = torch_names("sum nansum cumsum prod cumprod")
_ARITHMETIC = torch_names("add sub mul pow remainder floor_divide where clamp clamp_min clamp_max")
_WIDTH = {"bool": 0, "int": 1, "float16": 2, "bfloat16": 2, "float32": 3, "float64": 4}
_WORDS = {
    **DTYPES,
    **dict.fromkeys(word_set("long int int8 int16 int32 int64 short uint8"), "int"),
    "bool": "bool",
}


def dtype_named(dotted: str) -> str:
    """`torch.float16` and `torch.half` -> float16; empty for what is no dtype."""
    module, _, word = dotted.rpartition(".")
    return _WORDS.get(word, "") if module in {"torch", "numpy"} else ""


def format_of(dtype: str) -> Format:
    """The format to compute ranges in: float32 unless something else is known."""
    return FORMATS.get(dtype, FLOAT32)


def rounded_to(reach: Interval, dtype: str) -> Interval:
    """A range as it is for a tensor of that dtype."""
    form = format_of(dtype)
    if dtype in {"int", "bool"} or not (math.isfinite(reach.low) or math.isfinite(reach.high)):
        return reach
    return replace(reach, low=form.round(reach.low), high=form.round(reach.high))


def dtype_made(function: str, operands: Mapping[str, Value], *, autocast: str = "", in_place: bool = False) -> str:
    """The dtype of what `function` makes of its operands."""
    stated = FIXED.get(function) or _stated(function, operands)
    if stated:
        return stated
    if function in _DRAWING:
        return FLOAT32.name if operands.keys().isdisjoint({"dtype", "out", "**"}) else ""
    values = list(operands.values())
    if values and (function in _SHAPED_LIKE or (in_place and values[0].kind is TENSOR) or _moves(function, operands)):
        return values[0].dtype
    given = _promoted(values)
    if given in {"int", "bool"}:
        return _of_integers(function, operands, given)
    if autocast and given in {"", "float16", "bfloat16", "float32"}:
        computed = runs_in(function, given or "unknown", autocast)
        return computed if computed != "unknown" else ""
    return given


def _moves(function: str, operands: Mapping[str, Value]) -> bool:
    """`x.to(device)`: elsewhere, in the dtype it had."""
    if function != METHODS["to"] or len(operands) != 2:
        return False
    place = list(operands.values())[1]
    return place.op is not None and place.op.where.rpartition(".")[2] == "device"


def _stated(function: str, operands: Mapping[str, Value]) -> str:
    stated = operands.get("dtype")
    if stated is None and function in _LIKE_ANOTHER:
        for value in list(operands.values())[1:]:
            if value.kind is DTYPE and value.constant is not NOTHING:
                return str(value.constant)
            if value.kind is TENSOR and value.dtype:
                return value.dtype
        return ""
    is_known = stated is not None and stated.kind is DTYPE and stated.constant is not NOTHING
    return str(stated.constant) if stated is not None and is_known else ""


def _promoted(operands: Iterable[Value]) -> str:
    """The dtype that torch gives to a mix; Python numbers do not take part, an unknown tensor makes it unknown."""
    dtypes = {
        value.dtype
        for value in operands
        if value.kind in {TENSOR, ARRAY} or (value.kind is UNKNOWN and value.number is None)
    }
    if not dtypes or "" in dtypes:
        return ""
    if "float16" in dtypes and "bfloat16" in dtypes:
        return "float32"
    return max(dtypes, key=_WIDTH.__getitem__)


def _of_integers(function: str, operands: Mapping[str, Value], given: str) -> str:
    """What comes of integers or truth values: a quotient is a float, a sum of a mask an integer."""
    if function in _FRACTIONS and "rounding_mode" not in operands:
        return FLOAT32.name
    if function in _TOTALS:
        return "int"
    beside = [value.constant for value in operands.values() if value.kind is NUMBER] if function in _ARITHMETIC else []
    if any(not isinstance(number, bool | int) for number in beside):
        return FLOAT32.name if all(isinstance(number, bool | int | float) for number in beside) else ""
    return "int" if any(not isinstance(number, bool) for number in beside) else given
