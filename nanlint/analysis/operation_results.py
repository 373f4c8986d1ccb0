"""One operation on known values: what it makes of them. Range, dtype, kind, gradient, and the key by which it is known again."""

from __future__ import annotations

from functools import lru_cache
from types import NoneType
from typing import TYPE_CHECKING

from nanlint.analysis.constants import computed, range_of
from nanlint.analysis.dtypes import dtype_made, format_of, rounded_to
from nanlint.analysis.gradients import is_detached, is_learned_leaf
from nanlint.analysis.join import joined
from nanlint.analysis.op_graph import (
    ARRAY,
    GUARDED,
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
from nanlint.analysis.presumed import is_presumed_positive
from nanlint.analysis.relations import holds_somewhere, related
from nanlint.analysis.selection import (
    SIZE,
    SUBSCRIPT,
    VIEWS,
    made_of_bits,
    may_be_empty,
    range_of_parts,
    selected_range,
    size_of,
)
from nanlint.analysis.spelling import in_one_spelling
from nanlint.ops.interval import COUNT, FINITE, TRUTH, Interval
from nanlint.ops.names import METHODS, SIGNATURES, tensor_methods
from nanlint.ops.ranges import transfer
from nanlint.word_sets import torch_names, word_set

if TYPE_CHECKING:
    import ast
    from collections.abc import Mapping, Sequence

    from nanlint.analysis.project.index import Function

INDICES = "indices"
"""The name of the second part of what `x.max(dim)` and `x.sort()` return."""
COMPARISONS = torch_names("eq ne lt le gt ge")
_DRAWN = (
    torch_names("""
        rand randn rand_like randn_like randint randperm normal bernoulli multinomial poisson empty empty_like
    """)
    | {f"torch.nn.functional.{word}dropout" for word in ("", "alpha_", "feature_alpha_")}
    | {"torch.nn.functional.gumbel_softmax"}
)
_COUNTING = tensor_methods("numel size dim") | word_set("len")
_DIMENSIONS = METHODS["dim"]
_NUMBERS = tensor_methods("item") | word_set("float int")
_ELSEWHERE = tensor_methods("tolist numpy")
_DIVISIONS = torch_names("div floor_divide remainder")
_BITWISE = torch_names("bitwise_and bitwise_or bitwise_not logical_and logical_or")
_PAIRS = torch_names("max min median mode cummax cummin sort")
_ALWAYS_PAIRS = torch_names("cummax cummin sort topk kthvalue mode")
_CONSTANTS = (bool, int, float, str, NoneType)


class Maker:
    """Makes operations and their values, and gives equal computations equal keys."""

    def __init__(self) -> None:
        self._keys: dict[tuple[object, ...], tuple[int]] = {}
        self.formatted: dict[tuple[Value, str, int, bool], Value] = {}
        """What `in_format` has made of values."""

    def literal(self, constant: object, node: ast.AST | None = None, *, assumed: bool = False) -> Value:
        """The value of a constant."""
        kind = NONE if constant is None else TEXT if isinstance(constant, str | bytes) else NUMBER
        key = self._key(LITERAL, type(constant), repr(constant) if kind is not TEXT else constant)
        op = Op(LITERAL, {}, node, None)
        return Value(kind, op, constant=constant, range=range_of(constant), assumed=assumed, key=key, detached=True)

    def unknown(
        self,
        function: str,
        where: str,
        node: ast.AST | None,
        scope: Function | None,
        operands: Mapping[str, Value] | None = None,
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
        rest: tuple[Value, ...] = (),
    ) -> Value:
        """What `function` returns for `operands`."""
        if function == "torch.add":
            function, operands = in_one_spelling(function, operands, self)
        op = Op(function, operands, node, scope, recorded=recorded)
        op.module, op.in_place, op.rest = module, in_place, rest
        key = None if function in _DRAWN or function not in SIGNATURES else self._op_key(function, operands, rest)
        if function == SUBSCRIPT:
            return self._part(op)
        if function in _COUNTING:
            reach = COUNT if function == _DIMENSIONS else size_of(operands)
            return Value(NUMBER, op, range=reach, detached=True, key=self._op_key(function, operands, rest))
        if function in _NUMBERS:
            return self._python_number(op)
        if function not in SIGNATURES or function in _ELSEWHERE:
            subject = op.subject
            cut = (subject is not None and subject.detached) or function in _ELSEWHERE or not recorded
            kind = ARRAY if function == METHODS["numpy"] else UNKNOWN
            held = subject.range if subject is not None and function in _ELSEWHERE else FINITE
            return Value(
                kind, op, detached=cut, range=held, key=self._op_key(function, operands) if kind is ARRAY else None
            )
        value = self._tensor(op, autocast=autocast, in_place=in_place, operator=operator, key=key)
        if function in _ALWAYS_PAIRS or (function in _PAIRS and "dim" in operands):
            indices = Value(TENSOR, op, range=COUNT, dtype="int", detached=True, name=INDICES)
            return Value(TUPLE, op, parts=(value, indices))
        return value

    def guarded(
        self, value: Value, left: Interval, node: ast.AST | None = None, *, some: int = 0, presumed: bool = False
    ) -> Value:
        """The value where a condition has told something of it; its key stays."""
        op = Op(GUARDED, {"input": value}, node, value.op.scope if value.op is not None else None)
        return value.but(op=op, range=left, some=max(value.some, some), presumed=value.presumed or presumed)

    def fitting(self, reach: Interval, holder: Value) -> Interval:
        """What is left of numbers that are written into a tensor: they are rounded to its format."""
        return rounded_to(reach, holder.dtype) if holder.kind is TENSOR else reach

    def join(self, values: Sequence[Value], node: ast.AST | None = None, scope: Function | None = None) -> Value:
        """What is true whichever of them it is."""
        return joined(values, node, scope)

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
        if op.function in _BITWISE:
            reach, dtype = made_of_bits(op, reach, dtype)
        detached = kind in {ARRAY, NUMBER} or dtype in {"int", "bool"} or is_detached(op)
        if in_place and not op.recorded and op.subject is not None and op.function != METHODS["requires_grad_"]:
            detached = op.subject.detached
        constant = computed(op.function, operands) if numbers else NOTHING
        if constant is not NOTHING:
            reach = range_of(constant)
        if is_learned_leaf(op):
            is_new = op.scope is not None and op.scope.name == "__init__"  # which ends before it is trained
            return Value(TENSOR, op, range=reach if is_new else FINITE, dtype=dtype, learned=True)
        subject = op.subject
        is_view = op.function in VIEWS and subject is not None
        value = Value(
            kind,
            op,
            range=reach,
            dtype=dtype,
            learned=is_view and subject is not None and subject.learned,
            detached=detached,
            key=key,
            some=(is_view and subject is not None and subject.some) or holds_somewhere(op),
            constant=constant,
            assumed=numbers and any(value.assumed for value in operands.values()),
        )
        value.presumed = is_presumed_positive(op)
        return value

    def _part(self, op: Op) -> Value:
        """`x[...]` holds values of x; those that a mask selects may be none."""
        whole, index = op.operands["input"], op.operands.get("index")
        kind = whole.kind if whole.kind in {TENSOR, ARRAY} else UNKNOWN
        told = selected_range(whole, index)
        counted = related(op)
        told = told.meet(counted) if counted is not None and told.meets(counted) else told
        chosen = index.some if index is not None else 0
        return Value(
            kind,
            op,
            range=told,
            dtype=whole.dtype,
            learned=whole.learned,
            detached=whole.detached,
            key=self._op_key(SUBSCRIPT, op.operands) if index is not None else None,
            some=chosen,
        ).but(presumed=whole.presumed)

    def _python_number(self, op: Op) -> Value:
        inner = op.subject
        if inner is None:
            return Value(NUMBER, op, detached=True)
        reach = inner.range
        if op.function == "int" and not reach.integer:
            reach = _transferred(METHODS["long"], "", (("input", reach),), ()) if inner.is_known else FINITE
        constant: object = NOTHING
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
            ranges[name] = range_of_parts(value)
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
        # That there is one says nothing of each row.
        is_of_all = op.function == "torch.sum" and "dim" not in op.operands
        if subject is not None and subject.some and is_of_all and subject.range.is_subset(TRUTH):
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

    def key_of_parts(self, parts: Sequence[Value]) -> object:
        """The key of a tuple of these."""
        return self._key(TUPLE, *(value.key for value in parts))

    def _op_key(self, function: str, operands: Mapping[str, Value], rest: tuple[Value, ...] = ()) -> object:
        return self._key(
            function, *((name, value.key) for name, value in operands.items()), *(value.key for value in rest)
        )


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
