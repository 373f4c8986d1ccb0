"""One operation on known values: what it makes of them. Range, dtype, kind, gradient, and the key by which it is known again."""

from __future__ import annotations

from functools import lru_cache
from types import NoneType
from typing import TYPE_CHECKING

from nanlint.analysis.dtypes import dtype_made, format_of
from nanlint.analysis.op_graph import (
    ARRAY,
    GUARDED,
    JOIN,
    LAYER,
    LITERAL,
    NONE,
    NOTHING,
    NUMBER,
    TENSOR,
    TEXT,
    TUPLE,
    UNKNOWN,
    Op,
    Value,
)
from nanlint.analysis.relations import related
from nanlint.ops.interval import COUNT, FINITE, INF, TRUTH, Interval, point
from nanlint.ops.names import METHODS, SIGNATURES
from nanlint.ops.ranges import transfer

if TYPE_CHECKING:
    import ast
    from collections.abc import Mapping, Sequence

    from nanlint.analysis.project.index import Function

SIZE = Interval(1.0, INF, integer=True)
"""The size of a dimension: of ordinary tensors none is 0."""
SUBSCRIPT = "subscript"
COMPARISONS = frozenset(f"torch.{word}" for word in ("eq", "ne", "lt", "le", "gt", "ge"))
VIEWS = frozenset(
    METHODS[word]
    for word in (
        "view reshape flatten squeeze unsqueeze permute transpose contiguous clone expand select narrow gather index_select float double"
        " half bfloat16 to detach cpu t expand_as view_as reshape_as type_as repeat broadcast_to cuda flip roll movedim unflatten"
    ).split()
)
"""Operations whose result holds the values of their input and nothing else, whatever its shape or dtype."""
WITHOUT_GRADIENT = frozenset(
    f"torch.{word}"
    for word in (
        "zeros ones full rand randn arange linspace eye empty zeros_like ones_like full_like rand_like randn_like randint randperm normal"
        " logspace hann_window hamming_window kaiser_window bincount tensor as_tensor from_numpy argmax argmin isnan isinf isfinite"
    ).split()
)
"""Fresh tensors, tests and indices."""
_DRAWN = frozenset(
    f"torch.{word}"
    for word in (
        "rand randn rand_like randn_like randint randperm normal bernoulli multinomial poisson empty empty_like nn.functional.dropout"
        " nn.functional.alpha_dropout nn.functional.dropout1d nn.functional.dropout2d nn.functional.dropout3d nn.functional.gumbel_softmax"
    ).split()
)
_COUNTING = frozenset({METHODS["numel"], METHODS["size"], METHODS["dim"], "len"})
_NUMBERS = frozenset({METHODS["item"], "float", "int"})
_ELSEWHERE = frozenset({METHODS["tolist"], METHODS["numpy"]})
_DIVISIONS = frozenset({"torch.div", "torch.floor_divide", "torch.remainder"})
_BITWISE = frozenset({"torch.bitwise_and", "torch.bitwise_or", "torch.bitwise_not", "torch.logical_and", "torch.logical_or"})
_PAIRS = frozenset(f"torch.{word}" for word in ("max", "min", "median", "mode", "cummax", "cummin", "sort"))
_OF_TWO = {"torch.max": "torch.maximum", "torch.min": "torch.minimum"}
_ALWAYS_PAIRS = frozenset(f"torch.{word}" for word in ("cummax", "cummin", "sort", "topk", "kthvalue", "mode"))
_SELECTING = frozenset({"torch.masked_select", "torch.nonzero", "torch.argwhere"})
_CONSTANTS = (bool, int, float, str, NoneType)
_BY_SIZE = "torch.Tensor"


class Maker:
    """Makes operations and their values, and gives equal computations equal keys."""

    def __init__(self) -> None:
        self._keys: dict[tuple[object, ...], tuple[int]] = {}

    def literal(self, constant: object, node: ast.AST | None = None, *, assumed: bool = False) -> Value:
        """The value of a constant."""
        kind = NONE if constant is None else TEXT if isinstance(constant, str | bytes) else NUMBER
        key = self._key(LITERAL, type(constant), repr(constant) if kind is not TEXT else constant)
        op = Op(LITERAL, {}, node, None)
        return Value(kind, op, constant=constant, range=range_of(constant), assumed=assumed, key=key, detached=True)

    def unknown(
        self, function: str, where: str, node: ast.AST | None, scope: Function | None, operands: Mapping[str, Value] | None = None
    ) -> Value:
        """Something of which nothing is known, under an operation of its own."""
        op = Op(function, operands or {}, node, scope)
        op.where = where
        return Value(UNKNOWN, op)

    def make(  # noqa: PLR0913 - all of these decide what comes out
        self,
        function: str,
        operands: Mapping[str, Value],
        node: ast.AST | None,
        scope: Function | None,
        *,
        recorded: bool = True,
        autocast: str = "",
        in_place: bool = False,
        operator: bool = False,
        module: Value | None = None,
    ) -> Value:
        """What `function` returns for `operands`."""
        if function in _OF_TWO and "dim" in operands and operands["dim"].kind is TENSOR:
            # `torch.max(a, b)` has the same name as `torch.max(a, dim)`.
            function, operands = _OF_TWO[function], {"input": operands["input"], "other": operands["dim"]}
        op = Op(function, operands, node, scope, recorded=recorded)
        op.module = module
        key = None if function in _DRAWN or function not in SIGNATURES else self._op_key(function, operands)
        if function == SUBSCRIPT:
            return self._part(op)
        if function in _COUNTING:
            return Value(NUMBER, op, range=_size(operands), detached=True, key=self._op_key(function, operands))
        if function in _NUMBERS:
            return self._python_number(op)
        if function not in SIGNATURES or function in _ELSEWHERE:
            subject = op.subject
            cut = (subject is not None and subject.detached) or function in _ELSEWHERE or not recorded
            kind = ARRAY if function == METHODS["numpy"] else UNKNOWN
            held = subject.range if subject is not None and function in _ELSEWHERE else FINITE
            return Value(kind, op, detached=cut, range=held, key=self._op_key(function, operands) if kind is ARRAY else None)
        value = self._tensor(op, autocast=autocast, in_place=in_place, operator=operator, key=key)
        if function in _ALWAYS_PAIRS or (function in _PAIRS and "dim" in operands):
            indices = Value(TENSOR, op, range=COUNT, dtype="int", detached=True)
            return Value(TUPLE, op, parts=(value, indices))
        return value

    def guarded(self, value: Value, left: Interval, node: ast.AST | None = None, *, some: bool = False) -> Value:
        """The value where a condition has told something of it; its key stays."""
        op = Op(GUARDED, {"input": value}, node, value.op.scope if value.op is not None else None)
        return value.but(op=op, range=left, some=value.some or some)

    def join(self, values: Sequence[Value], node: ast.AST | None = None, scope: Function | None = None) -> Value:
        """What is true whichever of them it is."""
        distinct = list({id(value): value for value in values}.values())
        if len(distinct) == 1:
            return distinct[0]
        first = distinct[0]
        same = all(value.key == first.key for value in distinct)
        reach = first.range
        for value in distinct[1:]:
            reach = reach.join(value.range)
        op = Op(JOIN, {str(place): value for place, value in enumerate(distinct)}, node, scope)
        kinds = {value.kind for value in distinct}
        if same:
            return first.but(range=reach, op=op, some=all(value.some for value in distinct))
        result = Value(kinds.pop() if len(kinds) == 1 else UNKNOWN, op, range=reach)
        result.dtype = _common([value.dtype for value in distinct], "")
        result.constant = _common([value.constant for value in distinct], NOTHING)
        result.detached = all(value.detached for value in distinct)
        result.learned = any(value.learned for value in distinct)
        result.assumed = any(value.assumed for value in distinct)
        result.name = _common([value.name for value in distinct], "")
        result.target = _common([value.target for value in distinct], None)
        result.some = all(value.some for value in distinct)
        if len({(value.kind, len(value.parts), value.keys) for value in distinct}) == 1 and first.kind is not UNKNOWN:
            result.keys = first.keys
            result.parts = tuple(self.join(parts, node, scope) for parts in zip(*(v.parts for v in distinct), strict=True))
        return result

    # -- what kinds of operations make ----------------------------------------------------------------------------

    def _tensor(self, op: Op, *, autocast: str, in_place: bool, operator: bool, key: object) -> Value:
        operands = op.operands
        dtype = dtype_made(op.function, operands, autocast=autocast, in_place=in_place)
        kinds = {value.kind for value in operands.values()}
        numbers = operator and kinds <= {NUMBER}
        reach = self._range(op, "float64" if numbers else dtype, numbers=numbers)
        kind = TENSOR
        if operator and TENSOR not in kinds:
            kind = NUMBER if numbers else ARRAY if ARRAY in kinds else UNKNOWN
        elif ARRAY in kinds and TENSOR not in kinds and not op.function.startswith("torch.nn."):
            kind = ARRAY
        if op.function in _BITWISE and all(value.dtype == "bool" or value.range == TRUTH for value in operands.values()):
            reach, dtype = TRUTH, "bool"
        detached = kind in {ARRAY, NUMBER} or dtype in {"int", "bool"} or _is_detached(op)
        if _is_learned_leaf(op):
            return Value(TENSOR, op, dtype=dtype, learned=True)
        subject = op.subject
        is_view = op.function in VIEWS and subject is not None
        return Value(
            kind,
            op,
            range=reach,
            dtype=dtype,
            learned=is_view and subject is not None and subject.learned,
            detached=detached,
            key=key,
            some=is_view and subject is not None and subject.some,
            constant=_folded(op, reach) if numbers else NOTHING,
            assumed=numbers and any(value.assumed for value in operands.values()),
        )

    def _part(self, op: Op) -> Value:
        """`x[...]` holds values of x; those that a mask selects may be none."""
        whole, index = op.operands["input"], op.operands.get("index")
        kind = whole.kind if whole.kind in {TENSOR, ARRAY} else UNKNOWN
        told = selected_range(whole, index)
        chosen = bool(index is not None and index.some)
        return Value(
            kind,
            op,
            range=told,
            dtype=whole.dtype,
            learned=whole.learned,
            detached=whole.detached,
            key=self._op_key(SUBSCRIPT, op.operands) if index is not None else None,
            some=chosen,
        )

    def _python_number(self, op: Op) -> Value:
        inner = op.subject
        if inner is None:
            return Value(NUMBER, op, detached=True)
        reach = inner.range
        if op.function == "int" and not reach.integer:
            reach = _transferred(METHODS["long"], "", (("input", reach),), ()) if inner.is_known else FINITE
        constant = NOTHING
        if isinstance(inner.constant, str | int | float) and op.function in {"float", "int"}:
            try:
                constant = (float if op.function == "float" else int)(inner.constant)
                reach = range_of(constant)
            except (ValueError, OverflowError):
                constant = NOTHING
        key = inner.key if op.function != "int" or reach.integer else None
        return Value(NUMBER, op, range=reach, constant=constant, detached=True, key=key, assumed=inner.assumed)

    def _range(self, op: Op, dtype: str, *, numbers: bool) -> Interval:
        stated = dict(op.operands)
        if op.module is not None and op.module.kind is LAYER:
            stated = {**{str(key): value for key, value in zip(op.module.keys, op.module.parts, strict=True)}, **stated}
        ranges: dict[str, Interval] = {}
        constants: list[tuple[str, type, object]] = []
        for name, value in stated.items():
            ranges[name] = _of_parts(value)
            if isinstance(value.constant, _CONSTANTS):
                constants.append((name, type(value.constant), value.constant))
        if numbers and op.function in _DIVISIONS and "other" in ranges:
            ranges["other"] = ranges["other"].without_zero()
        subject = op.subject
        empty = subject is not None and may_be_empty(subject) and op.function in {"torch.sum", "torch.nansum"}
        try:
            alone = _transferred(op.function, dtype, tuple(ranges.items()), tuple(constants), empty=empty)
        except (TypeError, ValueError, OverflowError):
            return FINITE
        if subject is not None and subject.some and op.function == "torch.sum" and subject.range.is_subset(TRUTH):
            alone = alone.meet(SIZE)
        told = related(op)
        both = alone.meet(told) if told is not None else alone
        return both if told is None or not both.is_empty else told

    # -- keys -----------------------------------------------------------------------------------------------------

    def _key(self, *parts: object) -> object:
        found = self._keys.get(parts)
        if found is None:
            found = self._keys[parts] = (len(self._keys),)
        return found

    def _op_key(self, function: str, operands: Mapping[str, Value]) -> object:
        return self._key(function, *((name, value.key) for name, value in operands.items()))


def may_be_empty(value: Value) -> bool:
    """Whether it holds what a mask or a search selects, and nothing tells that it selects something."""
    op = value.op
    while op is not None:
        if value.some:
            return False
        if op.function in _SELECTING:
            return True
        if op.function == SUBSCRIPT:
            index = op.operands.get("index")
            if index is not None and is_mask(index):
                return not index.some
            if index is not None and index.op is not None and may_be_empty(index):
                return True
        elif op.function not in VIEWS and op.function != GUARDED:
            return False
        if op.subject is None:
            return False
        value = op.subject
        op = value.op
    return False


def is_mask(value: Value) -> bool:
    """Whether it is made of truth values."""
    return value.dtype == "bool" or (value.range == TRUTH and value.kind is not NUMBER)


def selected_range(whole: Value, index: Value | None) -> Interval:
    """What `x[x > 0]` holds: values of x that pass the test."""
    from nanlint.analysis.interpreter.conditions import range_where  # noqa: PLC0415 - they know each other

    return range_where(whole, index, holds=True) if index is not None and is_mask(index) else whole.range


def _size(operands: Mapping[str, Value]) -> Interval:
    """How many there are: at least one, unless a mask chose them or nobody knows what they are."""
    subject = next(iter(operands.values()), None)
    if subject is None or subject.kind not in {TENSOR, ARRAY}:
        if subject is not None and subject.kind is TUPLE and subject.parts:
            return point(float(len(subject.parts)))
        return SIZE if subject is not None and subject.some else COUNT
    return COUNT if may_be_empty(subject) else SIZE


def _of_parts(value: Value) -> Interval:
    """Every number in an operand; of `[a, b]`, which torch.cat and torch.tensor are given, those of each part."""
    if value.kind is not TUPLE or not value.parts:
        return value.range
    result = _of_parts(value.parts[0])
    for part in value.parts[1:]:
        result = result.join(_of_parts(part))
    return result


def _is_learned_leaf(op: Op) -> bool:
    """`torch.zeros(3, requires_grad=True)`: it only starts from these values."""
    asked = op.operands.get("requires_grad")
    if op.function != METHODS["requires_grad_"]:
        return asked is not None and asked.constant is True and op.function in WITHOUT_GRADIENT
    made = op.subject.op if op.subject is not None else None
    return made is not None and made.function in WITHOUT_GRADIENT and (asked is None or asked.constant is not False)


def _is_detached(op: Op) -> bool:
    """Whether all its tensors are; numbers have no gradient anyway, an unknown may have one."""
    asked = op.operands.get("requires_grad")
    if asked is not None or op.function == METHODS["requires_grad_"]:
        return asked is not None and asked.constant is False
    if op.function == METHODS["detach"] or op.function in WITHOUT_GRADIENT or not op.recorded:
        return True
    subject = op.subject if op.function in VIEWS else None
    moving = False
    for value in op.operands.values() if subject is None else (subject,):
        for part in value.parts if value.kind is TUPLE else (value,):
            if part.kind in {TENSOR, UNKNOWN} and part.constant is NOTHING:
                if not part.detached:
                    return False
                moving = True
    return moving


def _folded(op: Op, reach: Interval) -> object:
    """The number that arithmetic on known numbers gives."""
    if any(value.number is None for value in op.operands.values()) or reach.constant is None:
        return NOTHING
    whole = all(isinstance(value.constant, int) for value in op.operands.values()) and op.function != "torch.div"
    return int(reach.constant) if whole and reach.integer else reach.constant


def _common(values: Sequence[object], otherwise: object) -> object:
    first = values[0]
    return first if all(value is first or (type(value) is type(first) and value == first) for value in values) else otherwise


@lru_cache(maxsize=16384)
def _transferred(
    function: str,
    dtype: str,
    operands: tuple[tuple[str, Interval], ...],
    constants: tuple[tuple[str, type, object], ...],
    *,
    empty: bool = False,
) -> Interval:
    stated = {name: value for name, _, value in constants}
    return transfer(function, dict(operands), stated, format_of(dtype), empty=empty)


@lru_cache(maxsize=4096)
def _point(kind: type, value: float) -> Interval:
    del kind
    return point(value)


def range_of(constant: object) -> Interval:
    """The one value that a literal is; FINITE for what is no number."""
    if not isinstance(constant, bool | int | float):
        return FINITE
    try:
        return _point(type(constant), float(constant))
    except OverflowError:
        return FINITE
