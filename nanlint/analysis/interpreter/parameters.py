"""What a function knows of its parameters before anybody calls it: what they are annotated as, and their defaults."""

from __future__ import annotations

import ast
from typing import TYPE_CHECKING

from nanlint.analysis.op_graph import ARRAY, CLASS, INSTANCE, NONE, NUMBER, PARAMETER, TENSOR, UNKNOWN, Value
from nanlint.analysis.project.index import Class, dotted
from nanlint.analysis.project.syntax_names import defaults_of
from nanlint.word_sets import word_set

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from nanlint.analysis.operation_results import Maker
    from nanlint.analysis.project.index import Function

_NUMBERS = word_set("float int bool")
_TENSORS = word_set("Tensor FloatTensor LongTensor BoolTensor")


def parameters(
    function: Function, args: ast.arguments, maker: Maker, evaluate: Callable[[ast.expr], Value]
) -> Iterator[tuple[str, Value]]:
    """Each parameter with what is known of it; the object of a method first."""
    defaults = defaults_of(args)
    for place, each in enumerate([*args.posonlyargs, *args.args, *args.kwonlyargs]):
        if place == 0 and function.is_method:
            is_class = "classmethod" in function.decorators or function.name == "__new__"
            yield each.arg, Value(CLASS if is_class else INSTANCE, None, target=function.owner)
            continue
        default = evaluate(defaults[each.arg]) if each.arg in defaults else None
        value = function.parameters[each.arg] = _parameter(function, each, default, maker)
        if value.kind is UNKNOWN and isinstance(each.annotation, ast.Name | ast.Attribute):
            network = _network(evaluate(each.annotation), function)
            if network is not None:
                value.kind, value.target = INSTANCE, network
        yield each.arg, value
    for star in (args.vararg, args.kwarg):
        if star is not None:
            yield star.arg, maker.unknown(PARAMETER, star.arg, star, function)


def _parameter(function: Function, declared: ast.arg, default: Value | None, maker: Maker) -> Value:
    """A parameter is unknown, but keeps a default number as what it is when the caller says nothing."""
    value = maker.unknown(PARAMETER, declared.arg, declared, function)
    stated = annotated(declared.annotation)
    value.kind = stated
    if default is not None and default.number is not None:
        value.constant, value.range, value.assumed = default.constant, default.range, True
        value.kind = NUMBER if stated is UNKNOWN else stated
    elif stated is UNKNOWN and default is None and function.name == "forward" and function.owner is not None:
        value.kind = TENSOR
    return value


def _network(named: Value, function: Function) -> Class | None:
    """The network or dataclass of the project that an annotation names; what other classes hold is up to who makes the object."""
    target = named.target if named.kind is CLASS else None
    is_network = isinstance(target, Class) and (function.module.project.is_module_class(target) or target.is_dataclass)
    return target if is_network and isinstance(target, Class) else None


def annotated(annotation: ast.expr | None) -> str:
    """The kind that an annotation states."""
    if annotation is None:
        return UNKNOWN
    if isinstance(annotation, ast.BinOp):
        # `A | B | C …` leans to the left, as deep as it is long.
        sides: list[str] = []
        while isinstance(annotation, ast.BinOp):
            sides.append(annotated(annotation.right))
            annotation = annotation.left
        kinds = {*sides, annotated(annotation)} - {NONE}
        return kinds.pop() if len(kinds) == 1 else UNKNOWN
    if isinstance(annotation, ast.Subscript) and dotted(annotation.value).rpartition(".")[2] == "Optional":
        return annotated(annotation.slice)
    if isinstance(annotation, ast.Constant):
        return NONE if annotation.value is None else _kind_of_word(str(annotation.value).rpartition(".")[2])
    return _kind_of_word(dotted(annotation).rpartition(".")[2])


def _kind_of_word(word: str) -> str:
    if word in _NUMBERS:
        return NUMBER
    return TENSOR if word in _TENSORS else ARRAY if word == "ndarray" else UNKNOWN
