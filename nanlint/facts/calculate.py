"""The value that one operation makes of its operands: kind, range, dtype, origin."""

from __future__ import annotations

from functools import lru_cache
from types import NoneType
from typing import TYPE_CHECKING

import libcst as cst

from nanlint.facts.calls import set_by_constructor
from nanlint.facts.dtypes import dtype_made_by, format_of
from nanlint.facts.naming import words_of
from nanlint.facts.relations import related
from nanlint.facts.values import NOTHING, UNKNOWN, Call, Form, Kind, Value
from nanlint.ops.formats import FLOAT32
from nanlint.ops.interval import FINITE, INF, Interval, point
from nanlint.ops.names import METHODS, SIGNATURES
from nanlint.ops.ranges import transfer

if TYPE_CHECKING:
    from collections.abc import Mapping

    from nanlint.facts.evaluate import Evaluator
    from nanlint.ops.signatures import Constant

COUNT = Interval(0.0, INF, integer=True)
"""A length, a number of elements, the sum of a mask."""

# Operations whose result holds the values of their input and nothing else, whatever its shape or dtype.
VIEWS = frozenset(
    METHODS[name]
    for name in (
        "view", "reshape", "flatten", "squeeze", "unsqueeze", "permute", "transpose", "contiguous", "clone", "expand",
        "select", "narrow", "gather", "index_select", "float", "double", "half", "bfloat16", "to", "detach", "cpu", "t",
        "expand_as", "view_as", "reshape_as", "type_as", "repeat", "broadcast_to", "cuda", "flip", "roll", "movedim", "unflatten",
    )
)  # fmt: skip
_CONSTANTS = (bool, int, float, str, NoneType)
_DETACH, _REQUIRES_GRAD = METHODS["detach"], METHODS["requires_grad_"]
_COUNTS = frozenset({METHODS["numel"], METHODS["size"], METHODS["dim"], "len"})
_DIVISIONS = frozenset({"torch.div", "torch.floor_divide", "torch.remainder"})
_BY_SIZE = "torch.Tensor"
_SIZES = frozenset(
    {"size", "sizes", "shape", "shapes", "dim", "dims", "num", "n", "len", "length", "width", "channels", "features"}
)
_PYTHON_NUMBERS = frozenset({METHODS["item"], "float", "int"})
# Lists and arrays of what a tensor held.
_ELSEWHERE = frozenset({METHODS["tolist"], METHODS["numpy"]})
# Fresh tensors, tests and indices carry no gradient.
_WITHOUT_GRADIENT = frozenset(
    f"torch.{name}"
    for name in (
        "zeros", "ones", "full", "rand", "randn", "arange", "linspace", "eye", "empty", "zeros_like", "ones_like", "full_like",
        "rand_like", "randn_like", "randint", "randperm", "normal", "logspace", "hann_window", "hamming_window", "kaiser_window", "bincount", "tensor", "as_tensor", "from_numpy", "argmax", "argmin", "isnan",
        "isinf", "isfinite",
    )
)  # fmt: skip
# With a dimension these return values and indices.
_PAIRS = frozenset(
    {"torch.max", "torch.min", "torch.median", "torch.mode", "torch.cummax", "torch.cummin", "torch.sort"}
)
_ALWAYS_PAIRS = frozenset({"torch.cummax", "torch.cummin", "torch.sort", "torch.topk", "torch.kthvalue", "torch.mode"})


def value_made_by(call: Call, evaluator: Evaluator, given: tuple[Value, ...] = ()) -> Value:
    """What `call` returns; one that only moves or casts values keeps their origin."""
    if call.function in _COUNTS:
        return Value(Kind.NUMBER, call, call, range=COUNT, detached=True)
    if call.function in _PYTHON_NUMBERS:
        return _python_number(call, evaluator)
    if call.function.startswith("torch.nn.") and call.function.rpartition(".")[2][:1].isupper():
        return _constructed(call, given, evaluator)
    if call.function not in SIGNATURES or call.function in _ELSEWHERE:
        # What a method makes of something without a gradient has none, whatever method it is.
        receiver = evaluator.values.get(call.receiver, UNKNOWN) if call.receiver is not None else UNKNOWN
        is_cut = receiver.detached or call.function in _ELSEWHERE or not evaluator.env.is_recorded
        return Value(Kind.UNKNOWN, call, call, detached=is_cut)
    value = _tensor(call, evaluator)
    if call.function in _ALWAYS_PAIRS or (call.function in _PAIRS and "dim" in call.arguments):
        return Value(Kind.TUPLE, call, call, parts=(value, Value(Kind.TENSOR, range=COUNT, dtype="int")))
    return value


def _python_number(call: Call, evaluator: Evaluator) -> Value:
    inner = evaluator.values.get(call.subject, UNKNOWN) if call.subject is not None else UNKNOWN
    # `x.item()` is x as a number; what is unknown is the same as nothing.
    same_as = inner.identity if inner is not UNKNOWN else None
    choices = _choices(call, inner)
    if call.function == "int" and not inner.range.integer:
        whole = table_range(METHODS["long"], {"input": inner.range})
        return Value(Kind.NUMBER, call, inner.origin or call, range=whole if inner.is_known else FINITE, detached=True)
    return Value(
        Kind.NUMBER, call, inner.origin or call, range=inner.range, choices=choices, same_as=same_as, detached=True
    )


def _constructed(call: Call, given: tuple[Value, ...], evaluator: Evaluator) -> Value:
    """A module, or a parameter with the values it starts from: training moves those anywhere, unless it is told not to."""
    if call.function == "torch.nn.Parameter":
        stated = call.arguments.get("requires_grad") or call.arguments.get("1")
        is_fixed = stated is not None and evaluator.values.get(stated, UNKNOWN).constant is False
        # Of float32 are those that nobody has cast yet.
        dtype = given[0].dtype if given and given[0].dtype != FLOAT32.name else ""
        return Value(Kind.TENSOR, call, call, dtype=dtype, learnable=not is_fixed, detached=is_fixed)
    return Value(Kind.MODULE, call, call, parts=given)


def _tensor(call: Call, evaluator: Evaluator) -> Value:
    values = evaluator.values
    operands = {name: values.get(node, UNKNOWN) for name, node in call.arguments.items()}
    dtype = dtype_made_by(call, operands, evaluator)
    reach = _range_made_by(call, operands, dtype, evaluator)
    detached = dtype in {"int", "bool"} or _is_detached(call, operands, is_recorded=evaluator.env.is_recorded)
    if _is_learned_leaf(call, operands):
        return Value(Kind.TENSOR, call, call, dtype=dtype, learnable=True)
    if call.function not in VIEWS:
        return Value(Kind.TENSOR, call, call, range=reach, dtype=dtype, detached=detached)
    subject = operands.get("input") or operands.get("0") or UNKNOWN
    return Value(
        Kind.TENSOR,
        call,
        subject.origin,
        range=reach,
        dtype=dtype,
        learnable=subject.learnable,
        detached=detached,
        choices=_choices(call, subject),
        same_as=subject.identity,
    )


def _is_learned_leaf(call: Call, operands: Mapping[str, Value]) -> bool:
    """`torch.zeros(3, requires_grad=True)`, `torch.ones(3).requires_grad_()`: it only starts from these values."""
    asked = operands.get("requires_grad")
    if call.function != _REQUIRES_GRAD:
        return asked is not None and asked.constant is True and call.function in _WITHOUT_GRADIENT
    made_by = (operands.get("input") or UNKNOWN).made_by
    is_fresh = made_by is not None and made_by.function in _WITHOUT_GRADIENT
    return is_fresh and (asked is None or asked.constant is not False)


def _choices(call: Call, subject: Value) -> tuple[Value, ...]:
    """Where the subject can be one of several things, so can a view of it."""
    return tuple(
        Value(choice.kind, call, choice.origin, range=choice.range, dtype=choice.dtype) for choice in subject.choices
    )


def part_of_tensor(call: Call, whole: Value) -> Value:
    """`x[...]` holds values of x."""
    return Value(
        Kind.TENSOR,
        call,
        whole.origin,
        range=whole.range,
        dtype=whole.dtype,
        learnable=whole.learnable,
        detached=whole.detached,
        choices=_choices(call, whole),
    )


def _is_detached(call: Call, operands: Mapping[str, Value], *, is_recorded: bool) -> bool:
    """Whether all its tensors are; numbers have no gradient anyway, an unknown may have one."""
    asked = operands.get("requires_grad")
    if asked is not None or call.function == _REQUIRES_GRAD:
        return asked is not None and asked.constant is False
    if call.function == _DETACH or call.function in _WITHOUT_GRADIENT or not is_recorded:
        return True
    # A view's other arguments are sizes, a device, a dtype.
    subject = operands.get("input") or operands.get("0") if call.function in VIEWS else None
    moving = False
    for value in operands.values() if subject is None else (subject,):
        # Of several tensors in a list, each one counts.
        for part in value.parts if value.kind is Kind.TUPLE else (value,):
            if (part.kind is Kind.TENSOR or part.kind is Kind.UNKNOWN) and part.constant is NOTHING:
                if not part.detached:
                    return False
                moving = True
    return moving


def _range_made_by(call: Call, operands: Mapping[str, Value], dtype: str, evaluator: Evaluator) -> Interval:
    """Every number that the result of `call` can hold."""
    stated = {**set_by_constructor(call.module), **operands} if call.module is not None else operands
    ranges, constants = {}, {}
    for name, value in stated.items():
        ranges[name] = _operand_range(value) if value.parts else value.range
        if value.constant is not NOTHING and isinstance(value.constant, _CONSTANTS):
            constants[name] = value.constant
    are_numbers = call.form is Form.OPERATOR and all(value.kind is Kind.NUMBER for value in operands.values())
    if are_numbers:
        # Python computes in float64, and raises where a tensor divided by 0 goes on.
        dtype = "float64"
        if call.function in _DIVISIONS and "other" in ranges:
            ranges["other"] = ranges["other"].without_zero()
    data = _data(call, evaluator) if call.function == _BY_SIZE else None
    if data is not None:
        return _operand_range(evaluator.values.get(data, UNKNOWN))
    alone = table_range(call.function, ranges, constants, dtype)
    # Both are true: what the operands can be, each for itself, and how they are related.
    told = related(call, evaluator)
    both = alone.meet(told) if told is not None else alone
    return both if told is None or not both.is_empty else told


def _data(call: Call, evaluator: Evaluator) -> cst.BaseExpression | None:
    """`values` of `torch.FloatTensor(values)`; None for `torch.FloatTensor(4, 3)` and `torch.FloatTensor(x.shape)`, bare memory."""
    args = call.node.args if isinstance(call.node, cst.Call) else ()
    if len(args) != 1 or args[0].star or args[0].keyword is not None:
        return None
    node = args[0].value
    kind = evaluator.values.get(node, UNKNOWN).kind
    if kind is Kind.UNKNOWN:
        is_data = isinstance(node, (cst.Name, cst.Call)) and _SIZES.isdisjoint(words_of(node))
    else:
        is_data = kind is Kind.TENSOR or isinstance(node, cst.List)
    return node if is_data else None


def _operand_range(value: Value) -> Interval:
    """Every number in an operand; of `[a, b]`, which torch.cat and torch.tensor are given, those of each part."""
    if value.kind is not Kind.TUPLE or not value.parts:
        return value.range
    ranges = [_operand_range(part) for part in value.parts]
    result = ranges[0]
    for each in ranges[1:]:
        result = result.join(each)
    return result


def table_range(
    function: str, operands: Mapping[str, Interval], constants: Mapping[str, Constant] | None = None, dtype: str = ""
) -> Interval:
    """What the op table says the operation returns; FINITE when it says nothing."""
    # 1 and True compare equal and are not the same constant.
    stated = tuple((name, type(value), value) for name, value in constants.items()) if constants else ()
    return _transferred(function, dtype, tuple(operands.items()), stated)


# The same operations on the same ranges, mostly unknown ones, are there again and again.
@lru_cache(maxsize=8192)
def _transferred(
    function: str,
    dtype: str,
    operands: tuple[tuple[str, Interval], ...],
    constants: tuple[tuple[str, type[object], Constant], ...],
) -> Interval:
    return transfer(function, dict(operands), {name: value for name, _, value in constants}, format_of(dtype))


def range_of_constant(constant: object) -> Interval:
    """The one value that a literal is; FINITE for what is no number."""
    if not isinstance(constant, (bool, int, float)):
        return FINITE
    try:
        return _single(float(constant))
    except OverflowError:
        return FINITE


_single = lru_cache(maxsize=1024)(point)
