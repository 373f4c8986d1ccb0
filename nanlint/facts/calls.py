"""From syntax to `Call`: every spelling of an operation becomes one call with its arguments by name."""

from __future__ import annotations

from functools import cache, lru_cache
from typing import TYPE_CHECKING, cast

import libcst as cst

from nanlint.facts.values import NOTHING, Call, Form, Kind, Value
from nanlint.ops.names import CANONICAL, METHODS, OPERATORS, SIGNATURES
from nanlint.ops.signatures import MODULES, PARAMETERS, Binding, bind, bind_to

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

# No keyword is called so.
_RECEIVER = "."
_OPERATOR_SIGNS: Mapping[type[cst.CSTNode], str] = {
    cst.Add: "+",
    cst.Subtract: "-",
    cst.Multiply: "*",
    cst.Divide: "/",
    cst.FloorDivide: "//",
    cst.Modulo: "%",
    cst.Power: "**",
    cst.MatrixMultiply: "@",
    cst.BitAnd: "&",
    cst.BitOr: "|",
    cst.BitXor: "^",
}

_AUGMENTED_SIGNS: Mapping[type[cst.CSTNode], str] = {
    cst.AddAssign: "+",
    cst.SubtractAssign: "-",
    cst.MultiplyAssign: "*",
    cst.DivideAssign: "/",
    cst.PowerAssign: "**",
    cst.BitAndAssign: "&",
    cst.BitOrAssign: "|",
}


def bind_call(node: cst.Call, dotted: str | None, is_no_tensor: Callable[[cst.BaseExpression], bool]) -> Call | None:
    """The call that `node` is, given the full name of its function where an import tells it."""
    if dotted is not None:
        function = CANONICAL.get(dotted, dotted)
        arguments = _bound(function, node.args)
        return Call(function, node, Form.FUNCTION, arguments if arguments is not None else _loose(node.args))
    if type(node.func) is cst.Attribute:
        return _bind_method(node, node.func, is_no_tensor)
    if type(node.func) is cst.Name:
        return Call(node.func.value, node, Form.FUNCTION, _loose(node.args))
    return None


def _bind_method(node: cst.Call, func: cst.Attribute, is_no_tensor: Callable[[cst.BaseExpression], bool]) -> Call:
    name, receiver = func.attr.value, func.value
    function = METHODS.get(name)
    # `self.log(...)` is a method of the user's class, whatever tensors can do.
    on_self = type(receiver) is cst.Name and receiver.value in {"self", "cls"}
    if function is not None and not on_self and not is_no_tensor(receiver):
        arguments = _bound(function, node.args, receiver)
        if arguments is not None:
            return Call(function, node, Form.METHOD, arguments)
    return Call(f".{name}", node, Form.METHOD, _loose(node.args), receiver)


def bind_operator(node: cst.BinaryOperation) -> Call | None:
    """The operation behind `a / b`, as the op table names it."""
    operation = _operation(type(node.operator))
    if operation is None:
        return None
    function, first, second = operation
    return Call(function, node, Form.OPERATOR, {first: node.left, second: node.right})


def bind_augmented(node: cst.AugAssign) -> Call | None:
    """The operation behind `a /= b`. Its node is the whole statement."""
    operation = _operation(type(node.operator))
    if operation is None:
        return None
    function, first, second = operation
    statement = cast("cst.BaseExpression", node)
    return Call(function, statement, Form.OPERATOR, {first: node.target, second: node.value})


@cache
def _operation(sign: type[cst.CSTNode]) -> tuple[str, str, str] | None:
    """What the op table calls an operator, and its two operands."""
    function = OPERATORS.get(_OPERATOR_SIGNS.get(sign) or _AUGMENTED_SIGNS.get(sign, ""))
    if function is None:
        return None
    first, second = PARAMETERS[function][:2]
    return function, first.name, second.name


def module_call(node: cst.Call, module: Value) -> Call | None:
    """The operation that calling an nn.Module performs: that of its class, or of the last module of an nn.Sequential."""
    last = module
    while last.parts and (last.kind is Kind.TUPLE or _is_made_by(last, "torch.nn.Sequential")):
        last = last.parts[-1]
    form = MODULES.get(last.made_by.function) if last.made_by is not None else None
    if form is None:
        return None
    # What the modules before the last one make of the input has no expression of its own.
    arguments = _bound(form.operation, node.args) if last is module else {}
    return Call(form.operation, node, Form.MODULE, arguments or {}, module=last)


def _is_made_by(value: Value, function: str) -> bool:
    return value.made_by is not None and value.made_by.function == function


def set_by_constructor(module: Value) -> dict[str, Value]:
    """What a module's class and constructor set of its operation, by parameter; an unknown `Value` where nobody knows."""
    made_by = module.made_by
    if made_by is None or made_by.function not in MODULES or not isinstance(made_by.node, cst.Call):
        return {}
    form = MODULES[made_by.function]
    pairs = list(zip(made_by.node.args, module.parts, strict=False))
    binding = bind_to(
        form.constructor,
        [value for arg, value in pairs if arg.keyword is None],
        {arg.keyword.value: value for arg, value in pairs if arg.keyword is not None},
    )
    is_open = binding is None or any(arg.star for arg, _ in pairs)
    settings = {name: Value(constant=value) for name, value in form.fixed.items()}
    for parameter in form.constructor:
        if parameter.name in form.binds:
            given = Value() if is_open or binding is None else binding.arguments.get(parameter.name)
            settings[form.binds[parameter.name]] = given if given is not None else Value(constant=parameter.default)
    return settings


def operation_settings(module: Value) -> dict[str, object] | None:
    """What a module's class and constructor set of its operation, by parameter; None when something of it is unknown.

    A setting that was left out and has no usual value (`nn.Softmax()` has no dim) is unknown too.
    """
    if module.made_by is None or module.made_by.function not in MODULES:
        return None
    settings = {name: value.constant for name, value in set_by_constructor(module).items()}
    return None if any(value is NOTHING or value is None for value in settings.values()) else settings


def _bound(
    function: str, args: Sequence[cst.Arg], receiver: cst.BaseExpression | None = None
) -> dict[str, cst.BaseExpression] | None:
    """Arguments by parameter name; None when they do not fit the signature (then it is some other function)."""
    if function not in SIGNATURES:
        return None
    given: dict[int | str, cst.BaseExpression] = {} if receiver is None else {_RECEIVER: receiver}
    for position, arg in enumerate(args):
        if arg.star:
            return None
        given[position if arg.keyword is None else arg.keyword.value] = arg.value
    plan = _plan(function, tuple(given))
    return {name: given[place] for name, place in plan.items()} if plan is not None else None


# Most calls of an operation are written alike.
@lru_cache(maxsize=4096)
def _plan(function: str, given: tuple[int | str, ...]) -> dict[str, int | str] | None:
    """Which argument each parameter is: its position, its keyword, or the receiver; None when they do not fit."""
    positional = [place for place in given if isinstance(place, int)]
    keywords = {place: place for place in given if isinstance(place, str) and place != _RECEIVER}
    receiver = _RECEIVER if _RECEIVER in given else None
    binding: Binding[int | str] | None = bind(function, positional, keywords, receiver)
    return binding.arguments if binding is not None else None


def _loose(args: Sequence[cst.Arg]) -> dict[str, cst.BaseExpression]:
    """Arguments of an unknown signature: by keyword, or "0", "1", … in order; starred ones are left out."""
    bound: dict[str, cst.BaseExpression] = {}
    for position, arg in enumerate(args):
        if not arg.star:
            bound[arg.keyword.value if arg.keyword is not None else str(position)] = arg.value
    return bound
