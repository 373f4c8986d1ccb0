"""The dtype in effect: what a cast, a dtype argument or an autocast region says; empty where nothing says."""

from __future__ import annotations

from typing import TYPE_CHECKING

import libcst as cst

from nanlint.facts.values import NOTHING, UNKNOWN, Call, Kind, Value
from nanlint.ops.formats import DTYPES, FLOAT32, FORMATS, Format, runs_in
from nanlint.ops.names import METHODS

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    from nanlint.facts.evaluate import Evaluator

AUTOCASTS = frozenset({"torch.autocast", "torch.amp.autocast", "torch.cuda.amp.autocast", "torch.cpu.amp.autocast"})

_CASTS: Mapping[str, str] = {
    METHODS["half"]: "float16",
    METHODS["bfloat16"]: "bfloat16",
    METHODS["float"]: "float32",
    METHODS["double"]: "float64",
    METHODS["long"]: "int",
    METHODS["int"]: "int",
    METHODS["bool"]: "bool",
}
# What modules have as well; they are changed in place.
_MODULE_CASTS = {"half": "float16", "bfloat16": "bfloat16", "float": "float32", "double": "float64"}
_BOOLEANS = frozenset(
    METHODS[name]
    for name in (
        "eq",
        "ne",
        "lt",
        "le",
        "gt",
        "ge",
        "isnan",
        "isinf",
        "isfinite",
        "logical_and",
        "logical_or",
        "logical_not",
    )
)
_LIKE_ANOTHER = frozenset(METHODS[name] for name in ("to", "type", "type_as"))
# They make a tensor of their own, in the default dtype unless another is stated.
_DRAWING = frozenset({"torch.rand", "torch.randn"})
# Their second operand gives them a shape and no dtype.
_SHAPED_LIKE = frozenset(METHODS[name] for name in ("expand_as", "view_as", "reshape_as"))
_INTEGERS = frozenset(METHODS[name] for name in ("argmax", "argmin", "argsort", "bincount", "count_nonzero"))
_WORDS = {
    **DTYPES,
    "long": "int",
    "int": "int",
    "int8": "int",
    "int16": "int",
    "int32": "int",
    "int64": "int",
    "short": "int",
    "uint8": "int",
    "bool": "bool",
}
_FIXED: Mapping[str, str] = {**_CASTS, **dict.fromkeys(_BOOLEANS, "bool"), **dict.fromkeys(_INTEGERS, "int")}
_FRACTIONS = frozenset(
    f"torch.{name}"
    for name in (
        "div", "exp", "exp2", "expm1", "log", "log2", "log10", "log1p", "sqrt", "rsqrt", "reciprocal", "sigmoid", "tanh",
        "sin", "cos", "tan", "atan", "erf", "logit",
    )
)  # fmt: skip
_TOTALS = frozenset(f"torch.{name}" for name in ("sum", "nansum", "cumsum", "prod", "cumprod"))
# Beside an integer tensor in one of these, a Python float makes a float.
_ARITHMETIC = frozenset(
    f"torch.{name}"
    for name in ("add", "sub", "mul", "pow", "remainder", "floor_divide", "where", "clamp", "clamp_min", "clamp_max")
)
_WIDTH = {"bool": 0, "int": 1, "float16": 2, "bfloat16": 2, "float32": 3, "float64": 4}


def dtype_named(dotted: str) -> str:
    """`torch.float16` and `torch.half` -> float16; empty for what is no dtype."""
    return _WORDS.get(dotted[len("torch.") :], "") if dotted.startswith("torch.") else ""


def dtype_made_by(call: Call, given_values: Mapping[str, Value], evaluator: Evaluator) -> str:
    """The dtype of what `call` makes of the values it is given; empty when it is not known."""
    stated = _FIXED.get(call.function) or _stated(call, given_values)
    if stated:
        return stated
    if call.function in _DRAWING:
        return FLOAT32.name if _is_plain(call) else ""
    operands = list(given_values.values())
    if call.function in _SHAPED_LIKE and call.subject is not None:
        operands = [evaluator.values.get(call.subject, UNKNOWN)]
    if operands and operands[0].kind is Kind.TENSOR and (is_in_place(call.node) or _moves(call)):
        return operands[0].dtype
    given = _promoted(operands)
    if given in {"int", "bool"}:
        return _of_integers(call, operands, given)
    region = autocast_dtype(evaluator.env.regions, evaluator.values) if evaluator.env.regions else ""
    if region and given in {"", "float16", "bfloat16", "float32"}:
        # A tensor of unknown dtype in an autocast region stays unknown, unless the operation fixes its own.
        computed = runs_in(call.function, given or "unknown", region)
        return computed if computed != "unknown" else ""
    return given


def _is_plain(call: Call) -> bool:
    """Whether no dtype is given to it, under `**` either."""
    stars = type(call.node) is cst.Call and any(argument.star == "**" for argument in call.node.args)
    return not stars and call.arguments.keys().isdisjoint({"dtype", "out"})


def _moves(call: Call) -> bool:
    """`x.to(device)`, `x.to(y.device)`: elsewhere, in the dtype it had."""
    if call.function != METHODS["to"] or len(call.arguments) != 2:
        return False
    place = list(call.arguments.values())[1]
    name = place.attr if type(place) is cst.Attribute else place
    return type(name) is cst.Name and name.value == "device"


def is_in_place(node: cst.CSTNode) -> bool:
    """Whether the operation stores its result in its operand, whose dtype stays: `h += x`, `h.mul_(x)`, `torch.neg_(h)`."""
    if type(node) is not cst.Call:
        return type(node) is cst.AugAssign
    name = node.func.attr if type(node.func) is cst.Attribute else node.func
    return type(name) is cst.Name and name.value.endswith("_") and not name.value.endswith("__")


def _of_integers(call: Call, operands: Iterable[Value], given: str) -> str:
    """The dtype of what `call` makes of integers or truth values: a quotient is a float, a sum of a mask an integer."""
    if call.function in _FRACTIONS and "rounding_mode" not in call.arguments:
        return FLOAT32.name
    if call.function in _TOTALS:
        return "int"
    beside = [value.constant for value in operands if value.kind is Kind.NUMBER] if call.function in _ARITHMETIC else []
    if any(not isinstance(number, (bool, int)) for number in beside):
        return FLOAT32.name if all(isinstance(number, (bool, int, float)) for number in beside) else ""
    return "int" if any(not isinstance(number, bool) for number in beside) else given


_STILL_THE_MODULE = frozenset({"cuda", "cpu", "to", "train", "eval", "requires_grad_", "xpu", "npu"})


def cast_to(call: Call | None, evaluator: Evaluator) -> str:
    """The dtype that `x.half()` or `model.to(torch.float16)` casts to, x being a tensor or a module; empty for no cast."""
    if call is None:
        return ""
    word = call.function.rpartition(".")[2]
    if word == "to":
        stated = (evaluator.values.get(node, UNKNOWN) for node in call.arguments.values())
        return next((str(value.constant) for value in stated if value.kind is Kind.DTYPE), "")
    is_cast = word in _MODULE_CASTS and (call.function in _CASTS or call.function.startswith("."))
    return _MODULE_CASTS[word] if is_cast else ""


def made_in(call: Call | None, evaluator: Evaluator) -> str:
    """The dtype that a module is made in: `Model().half().cuda()`, `nn.Linear(3, 3, dtype=torch.float16)`, `from_pretrained(name, torch_dtype=…)`."""
    while call is not None:
        stated = call.arguments.get("dtype") or call.arguments.get("torch_dtype")
        value = evaluator.values.get(stated, UNKNOWN) if stated is not None else UNKNOWN
        dtype = cast_to(call, evaluator) or (str(value.constant) if value.kind is Kind.DTYPE else "")
        if dtype:
            return dtype
        is_still_it = call.function.rpartition(".")[2] in _STILL_THE_MODULE
        whose = call.receiver or (call.subject if is_still_it else None)
        call = evaluator.values.get(whose, UNKNOWN).made_by if is_still_it and whose is not None else None
    return ""


def _stated(call: Call, operands: Mapping[str, Value]) -> str:
    stated = operands.get("dtype")
    if stated is None and call.function in _LIKE_ANOTHER:
        for value in list(operands.values())[1:]:
            if value.kind is Kind.DTYPE and value.constant is not NOTHING:
                return str(value.constant)
            if value.kind is Kind.TENSOR and value.dtype:
                return value.dtype
        return ""
    is_known = stated is not None and stated.kind is Kind.DTYPE and stated.constant is not NOTHING
    return str(stated.constant) if stated is not None and is_known else ""


def _promoted(operands: Iterable[Value]) -> str:
    """The dtype that torch gives to a mix; Python numbers do not take part, an unknown tensor makes it unknown."""
    # What has a number as its default is one, for all that is known.
    dtypes = {
        value.dtype
        for value in operands
        if value.kind is Kind.TENSOR or (value.kind is Kind.UNKNOWN and value.number is None)
    }
    if not dtypes or "" in dtypes:
        return ""
    if "float16" in dtypes and "bfloat16" in dtypes:
        return "float32"
    return max(dtypes, key=_WIDTH.__getitem__)


def autocast_dtype(regions: Iterable[Call], values: Mapping[cst.CSTNode, Value], device: str = "") -> str:
    """The half dtype of the innermost autocast region; empty outside, or where it is switched off.

    A region that is known to be for another device than `device` (if one is given) does not count.
    """
    active = ""
    for region in regions:
        if region.function not in AUTOCASTS or (device and _device_of(region, values) not in {device, ""}):
            continue
        enabled = region.arguments.get("enabled")
        if enabled is not None and values.get(enabled, UNKNOWN).constant is False:
            active = ""
            continue
        chosen = values.get(region.arguments["dtype"], UNKNOWN) if "dtype" in region.arguments else UNKNOWN
        active = str(chosen.constant) if chosen.kind is Kind.DTYPE and chosen.constant is not NOTHING else "float16"
    return active


def _device_of(region: Call, values: Mapping[cst.CSTNode, Value]) -> str:
    """The device that an autocast region is for; empty when it is not known."""
    if region.function in {"torch.cuda.amp.autocast", "torch.cpu.amp.autocast"}:
        return region.function.split(".")[1]
    stated = region.arguments.get("device_type") or region.subject
    device = values.get(stated, UNKNOWN).constant if stated is not None else NOTHING
    return device if isinstance(device, str) else ""


def format_of(dtype: str) -> Format:
    """The format to compute ranges in: float32 unless something else is known."""
    return FORMATS.get(dtype, FLOAT32)
