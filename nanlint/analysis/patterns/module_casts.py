"""The dtype of a module's weights: cast after it was made, by whatever name and in whatever method, or made in one."""

from __future__ import annotations

from typing import TYPE_CHECKING

from nanlint.analysis.dtypes import FIXED
from nanlint.analysis.op_graph import ATTRIBUTE, DTYPE, GUARDED, NOTHING, Op, Value
from nanlint.ops.formats import FORMATS
from nanlint.ops.names import METHODS, tensor_methods
from nanlint.word_sets import word_set

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from nanlint.analysis.project.index import Function

_GIVING = word_set(".parameters .named_parameters")
_STILL_IT = tensor_methods("to cuda cpu half float double bfloat16") | {GUARDED}
_STILL_IT_BY_NAME = word_set(".train .eval .requires_grad_ .xpu .to .cuda .cpu")
_MAKING_IN = ("dtype", "torch_dtype")
_DEEPEST = 8


def dtype_of_parameters(params: Value, before: Op, function: Function) -> str:
    """The dtype of the weights in `params`, as it is where `before` is run; empty where nothing says, or they differ."""
    found = {_dtype_of(owner, before, function) for owner in _owners(params)}
    return found.pop() if len(found) == 1 else ""


def _owners(params: Value) -> Iterator[Value]:
    """The modules whose parameters they are: of a list, a filter, groups."""
    waiting, seen = [(params, _DEEPEST)], set[int]()
    while waiting:
        value, depth = waiting.pop()
        if id(value) in seen or not depth:
            continue
        seen.add(id(value))
        waiting += [(part, depth - 1) for part in value.parts]
        op = value.op
        if op is not None and op.where in _GIVING and op.subject is not None:
            yield op.subject
        elif op is not None:
            waiting += [(each, depth - 1) for each in op.operands.values()]


def _dtype_of(module: Value, before: Op, function: Function) -> str:
    """The last cast in this function; else what all casts in other methods of the class say; else how it was made."""
    bare = _bare(module)
    dtype = _made_in(module)
    if _attribute(bare):
        others = {cast for each in _methods_beside(function) for cast in _casts(bare, each.ops)}
        dtype = others.pop() if len(others) == 1 else "" if others else dtype
    earlier = function.ops[: function.ops.index(before)] if before in function.ops else function.ops
    return next(iter(reversed(list(_casts(bare, earlier)))), dtype)


def _methods_beside(function: Function) -> list[Function]:
    owner = function.owner
    return [each for each in owner.methods.values() if each is not function] if owner is not None else []


def _casts(module: Value, ops: Sequence[Op]) -> Iterator[str]:
    """The dtypes that a module is cast to, in the order of the code."""
    for op in ops:
        dtype = _cast(op)
        if dtype and op.subject is not None and _is_same(_bare(op.subject), module):
            yield dtype


def _is_same(one: Value, other: Value) -> bool:
    stored = other.op.operands.get("stored") if other.op is not None else None
    if stored is not None and one.key == _bare(stored).key:
        return True
    return one.key == other.key or (bool(_attribute(one)) and _attribute(one) == _attribute(other))


def _attribute(value: Value) -> str:
    """The name of an attribute of the object at hand."""
    op = value.op
    return op.where.rpartition(".")[2] if op is not None and op.function == ATTRIBUTE and "." in op.where else ""


def _bare(module: Value) -> Value:
    """The module that was cast, moved or switched to training."""
    for _ in range(_DEEPEST * 2):
        op = module.op
        is_still_it = op is not None and (op.function in _STILL_IT or op.where in _STILL_IT_BY_NAME)
        if op is None or not is_still_it or op.subject is None:
            return module
        module = op.subject
    return module


def _cast(op: Op) -> str:
    """The float format that `m.half()` or `m.to(torch.float16)` casts to; empty for no cast."""
    stated = FIXED.get(op.function, "") if op.function in _STILL_IT else ""
    if not stated and op.function == METHODS["to"]:
        stated = next((_named(value) for value in op.operands.values() if _named(value)), "")
    return stated if stated in FORMATS else ""


def _made_in(module: Value) -> str:
    """The dtype of a module by the calls that made it: the last cast, or the dtype that its maker was given."""
    for _ in range(_DEEPEST * 2):
        op = module.op
        if op is None:
            return ""
        if op.function == ATTRIBUTE and "stored" in op.operands:
            module = op.operands["stored"]
            continue
        stated = _cast(op) or next((_named(op.operands[name]) for name in _MAKING_IN if name in op.operands), "")
        if stated or op.subject is None or not (op.function in _STILL_IT or op.where in _STILL_IT_BY_NAME):
            return stated
        module = op.subject
    return ""


def _named(value: Value) -> str:
    return str(value.constant) if value.kind is DTYPE and value.constant is not NOTHING else ""
