"""Constants: what a literal is, and arithmetic on numbers that the source states."""

from __future__ import annotations

import ast
import math
import operator
from functools import lru_cache
from typing import TYPE_CHECKING, Any

import libcst as cst

from nanlint.facts.calculate import range_of_constant
from nanlint.facts.dtypes import dtype_named
from nanlint.facts.values import NOTHING, Kind, Value
from nanlint.ops.formats import FORMATS

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

WORDS: Mapping[str, object] = {"True": True, "False": False, "None": None}
_DOTTED: Mapping[str, float] = {
    f"{module}.{name}": value
    for module in ("math", "numpy", "torch")
    for name, value in {"inf": math.inf, "nan": math.nan, "pi": math.pi, "e": math.e}.items()
}
_BINARY: Mapping[type[cst.BaseBinaryOp], Callable[[Any, Any], Any]] = {
    cst.Add: operator.add,
    cst.Subtract: operator.sub,
    cst.Multiply: operator.mul,
    cst.Divide: operator.truediv,
    cst.FloorDivide: operator.floordiv,
    cst.Modulo: operator.mod,
}
_QUOTES, _LONG_QUOTES = frozenset("'\""), frozenset({"'''", '"""'})
# 10 ** 10 ** 10 in somebody's source must not keep us busy.
_LARGEST_EXPONENT = 400


def literal(constant: object, node: cst.BaseExpression, *, assumed: bool = False) -> Value:
    """The value of a constant that `node` states."""
    kind = Kind.NONE if constant is None else Kind.TEXT if isinstance(constant, str) else Kind.NUMBER
    return Value(kind, constant=constant, range=range_of_constant(constant), assumed=assumed, node=node)


def number(node: cst.Integer | cst.Float) -> Value:
    """A number as it is written."""
    try:
        return literal(_number(node.value), node)
    except ValueError:  # thousands of digits
        return Value(Kind.NUMBER)


@lru_cache(maxsize=4096)
def _number(text: str) -> int | float:
    number: int | float = ast.literal_eval(text)
    return number


def text(node: cst.SimpleString | cst.ConcatenatedString) -> Value:
    """A string, or several side by side (of which there can be thousands, so no recursion)."""
    pieces: list[str] = []
    rest: cst.BaseExpression = node
    while isinstance(rest, cst.ConcatenatedString):
        piece = _text(rest.left.value) if isinstance(rest.left, cst.SimpleString) else None
        if not isinstance(piece, str):
            return Value(Kind.TEXT)
        pieces.append(piece)
        rest = rest.right
    last = _text(rest.value) if isinstance(rest, cst.SimpleString) else None
    return literal("".join([*pieces, last]), node) if isinstance(last, str) else Value(Kind.TEXT)


@lru_cache(maxsize=4096)
def _text(written: str) -> str | bytes:
    """What a string is that is written so. Most are plain; Python's parser is asked for the others."""
    if written[0] in _QUOTES and "\\" not in written and written[:3] not in _LONG_QUOTES:
        return written[1:-1]
    text: str | bytes = ast.literal_eval(written)
    return text


def imported_constant(dotted: str, node: cst.BaseExpression) -> Value:
    """`math.inf` is a number, `torch.float16` a dtype, anything else something imported."""
    if dotted in _DOTTED:
        return literal(_DOTTED[dotted], node)
    dtype = dtype_named(dotted)
    return Value(Kind.DTYPE, constant=dtype, name=dotted) if dtype else Value(Kind.REFERENCE, name=dotted)


def limit(dtype: Value, name: str, node: cst.BaseExpression) -> Value:
    """`torch.finfo(torch.float16).min`: the limit of a known format; that of an unknown one is some number."""
    form = FORMATS.get(str(dtype.constant)) if dtype.kind is Kind.DTYPE else None
    known = {"min": form.min, "max": form.max, "eps": form.eps, "tiny": form.tiny} if form is not None else {}
    return literal(known[name], node) if name in known else Value(Kind.NUMBER, name=f"torch.finfo.{name}")


def folded(node: cst.BinaryOperation, left: Value, right: Value) -> Value | None:
    """The result of arithmetic on two known numbers; None when it is not known or not a number."""
    result = _arithmetic(node.operator, left, right)
    if not isinstance(result, (int, float)):
        return None
    return literal(result, node, assumed=left.assumed or right.assumed)


def _arithmetic(sign: cst.BaseBinaryOp, left: Value, right: Value) -> object:
    if left.number is None or right.number is None:
        return NOTHING
    try:
        if isinstance(sign, cst.Power):
            return NOTHING if abs(right.number) > _LARGEST_EXPONENT else left.number**right.number
        return _BINARY[type(sign)](left.constant, right.constant) if type(sign) in _BINARY else NOTHING
    except (ArithmeticError, ValueError):
        return NOTHING


def as_float(inner: Value, node: cst.BaseExpression) -> Value | None:
    """`float("inf")`, `float(1)`; None when the argument is not known."""
    if not isinstance(inner.constant, (str, int, float)):
        return None
    try:
        return literal(float(inner.constant), node, assumed=inner.assumed)
    except (ValueError, OverflowError):
        return Value(Kind.NUMBER)
