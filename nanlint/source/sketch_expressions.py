"""Expressions as libcst would see them, made from `ast`: no white space, no comments, parentheses where they are needed."""

from __future__ import annotations

import ast
import dataclasses
from abc import ABCMeta
from typing import TYPE_CHECKING, Any, cast

import libcst as cst

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping, Sequence

_OPEN, _CLOSED = (cst.LeftParen(),), (cst.RightParen(),)


class Unsketchable(Exception):  # noqa: N818 - no error: libcst is asked instead
    """Code that is written with something too rare to be here."""


# -- nodes ------------------------------------------------------------------------------------------------------


def maker(kind: type[cst.CSTNode], *names: str) -> Callable[..., Any]:
    """A function that makes nodes of a kind out of the values of some fields; the others hold what they hold by default.

    It is written out, as the `__init__` of a dataclass is: a loop over the fields takes twice as long. Nodes are frozen; until
    its fields are set, a node is of a class that is not, which takes half the time of setting them past the frost.
    """
    known: dict[str, object] = {"kind": kind, "thawed": _thawed(kind)}
    lines = [f"def make({', '.join(names)}):", "node = thawed()"]
    for field in dataclasses.fields(kind):
        known[f"usual_{field.name}"] = _default(field)
        lines.append(f"node.{field.name} = {field.name if field.name in names else f'usual_{field.name}'}")
    exec("\n    ".join([*lines, "node.__class__ = kind", "return node"]), known)  # noqa: S102 - of libcst's own names
    return cast("Callable[..., Any]", known["make"])


def _thawed(kind: type[cst.CSTNode]) -> ABCMeta:
    """A class of objects that have room for the same fields, and let them be set."""
    # Only if deleting a field is Python's own too, setting one is quick.
    own = {name: getattr(object, name) for name in ("__init__", "__setattr__", "__delattr__")}
    abstract = dict.fromkeys(cst.CSTNode.__abstractmethods__)
    return ABCMeta(kind.__name__, kind.__bases__, {"__slots__": kind.__slots__, **own, **abstract})


def _default(field: dataclasses.Field[Any]) -> object:
    return field.default_factory() if field.default_factory is not dataclasses.MISSING else field.default


name = maker(cst.Name, "value")
_attribute = maker(cst.Attribute, "value", "attr")
_call = maker(cst.Call, "func", "args")
_arg = maker(cst.Arg, "value", "keyword", "star")
_binary = maker(cst.BinaryOperation, "left", "operator", "right")
_boolean = maker(cst.BooleanOperation, "left", "operator", "right")
_unary = maker(cst.UnaryOperation, "operator", "expression")
_comparison = maker(cst.Comparison, "left", "comparisons")
_comparison_target = maker(cst.ComparisonTarget, "operator", "comparator")
_subscript = maker(cst.Subscript, "value", "slice")
_subscript_element = maker(cst.SubscriptElement, "slice")
_index = maker(cst.Index, "value", "star")
_slice = maker(cst.Slice, "lower", "upper", "step")
_element = maker(cst.Element, "value")
_starred_element = maker(cst.StarredElement, "value")
_integer, _float, _imaginary = (maker(kind, "value") for kind in (cst.Integer, cst.Float, cst.Imaginary))
_string = maker(cst.SimpleString, "value")
_tuple, _list, _set = (maker(kind, "elements") for kind in (cst.Tuple, cst.List, cst.Set))
_dictionary, _dictionary_element = maker(cst.Dict, "elements"), maker(cst.DictElement, "key", "value")
_starred_dictionary = maker(cst.StarredDictElement, "value")
_clause = maker(cst.CompFor, "target", "iter", "ifs", "inner_for_in", "asynchronous")
_clause_test = maker(cst.CompIf, "test")
_list_comp, _set_comp, _generator = (
    maker(kind, "elt", "for_in") for kind in (cst.ListComp, cst.SetComp, cst.GeneratorExp)
)
_dictionary_comp = maker(cst.DictComp, "key", "value", "for_in")
_conditional = maker(cst.IfExp, "test", "body", "orelse")
_lambda = maker(cst.Lambda, "params", "body")
_walrus = maker(cst.NamedExpr, "target", "value", "lpar", "rpar")
_await, _yield, _from = maker(cst.Await, "expression"), maker(cst.Yield, "value"), maker(cst.From, "item")
_formatted, _formatted_part = maker(cst.FormattedString, "parts"), maker(cst.FormattedStringExpression, "expression")
_param = maker(cst.Param, "name", "annotation", "default", "star")
_parameters = maker(cst.Parameters, "params", "star_arg", "kwonly_params", "star_kwarg", "posonly_params")
annotation = maker(cst.Annotation, "annotation")

_OPERATORS: Mapping[type[ast.AST], cst.CSTNode] = {
    theirs: getattr(cst, ours)()
    for theirs, ours in {
        ast.Add: "Add", ast.Sub: "Subtract", ast.Mult: "Multiply", ast.Div: "Divide", ast.FloorDiv: "FloorDivide",
        ast.Mod: "Modulo", ast.Pow: "Power", ast.MatMult: "MatrixMultiply", ast.LShift: "LeftShift",
        ast.RShift: "RightShift", ast.BitOr: "BitOr", ast.BitXor: "BitXor", ast.BitAnd: "BitAnd",
        ast.And: "And", ast.Or: "Or", ast.Not: "Not", ast.USub: "Minus", ast.UAdd: "Plus", ast.Invert: "BitInvert",
        ast.Eq: "Equal", ast.NotEq: "NotEqual", ast.Lt: "LessThan", ast.LtE: "LessThanEqual", ast.Gt: "GreaterThan",
        ast.GtE: "GreaterThanEqual", ast.Is: "Is", ast.IsNot: "IsNot", ast.In: "In", ast.NotIn: "NotIn",
    }.items()
}  # fmt: skip
AUGMENTED: Mapping[type[ast.AST], cst.CSTNode] = {
    theirs: getattr(cst, f"{type(ours).__name__}Assign")()
    for theirs, ours in _OPERATORS.items()
    if issubclass(theirs, ast.operator)
}

# -- expressions ------------------------------------------------------------------------------------------------

_ATOM, _POWER, _SIGN, _COMPARED, _NEGATED = 16, 14, 13, 6, 5
_BINDS: Mapping[type[ast.AST], int] = {
    ast.NamedExpr: 0, ast.Yield: 0, ast.YieldFrom: 0, ast.Lambda: 1, ast.IfExp: 2, ast.Or: 3, ast.And: 4,
    ast.Not: _NEGATED, ast.Compare: _COMPARED, ast.BitOr: 7, ast.BitXor: 8, ast.BitAnd: 9, ast.LShift: 10,
    ast.RShift: 10, ast.Add: 11, ast.Sub: 11, ast.Mult: 12, ast.Div: 12, ast.FloorDiv: 12, ast.Mod: 12,
    ast.MatMult: 12, ast.USub: _SIGN, ast.UAdd: _SIGN, ast.Invert: _SIGN, ast.Pow: _POWER, ast.Await: 15,
}  # fmt: skip
"""How tightly each operator binds."""
_LOOSE = frozenset({ast.BinOp, ast.BoolOp, ast.UnaryOp, *_BINDS})
"""What can need parentheses around it."""


def sketched(node: ast.expr) -> Any:
    """The expression for libcst's eyes; raises Unsketchable."""
    return _EXPRESSIONS[node.__class__](node)


def sketched_if_any(node: ast.expr | None) -> Any:
    """The expression, or None for none."""
    return None if node is None else sketched(node)


def _within(node: ast.expr, tightness: int) -> Any:
    """The expression, in parentheses where it stands beside an operator that binds more tightly than its own."""
    kind = node.__class__
    made = _EXPRESSIONS[kind](node)
    if kind in _LOOSE and _BINDS[getattr(node, "op", node).__class__] < tightness:
        type(made).lpar.__set__(made, _OPEN)
        type(made).rpar.__set__(made, _CLOSED)
    return made


def _binary_of(node: ast.BinOp) -> Any:
    tightness = _BINDS[node.op.__class__]
    is_power = tightness == _POWER
    left = _within(node.left, tightness + is_power)
    return _binary(left, _OPERATORS[node.op.__class__], _within(node.right, _SIGN if is_power else tightness + 1))


def _boolean_of(node: ast.BoolOp) -> Any:
    operator, tightness = _OPERATORS[node.op.__class__], _BINDS[node.op.__class__]
    made = _within(node.values[0], tightness + 1)
    for value in node.values[1:]:
        made = _boolean(made, operator, _within(value, tightness + 1))
    return made


def _unary_of(node: ast.UnaryOp) -> Any:
    return _unary(_OPERATORS[node.op.__class__], _within(node.operand, _BINDS[node.op.__class__]))


def _comparison_of(node: ast.Compare) -> Any:
    pairs = zip(node.ops, node.comparators, strict=True)
    targets = [_comparison_target(_OPERATORS[op.__class__], _within(right, _COMPARED + 1)) for op, right in pairs]
    return _comparison(_within(node.left, _COMPARED + 1), targets)


def _call_of(node: ast.Call) -> Any:
    args = [
        _arg(sketched(arg.value), None, "*")
        if arg.__class__ is ast.Starred
        else _arg(_EXPRESSIONS[arg.__class__](arg), None, "")
        for arg in node.args
    ]
    for keyword in node.keywords:
        word = name(keyword.arg) if keyword.arg is not None else None
        args.append(_arg(sketched(keyword.value), word, "**" if word is None else ""))
    return _call(_within(node.func, _ATOM), args)


def _constant_of(node: ast.Constant) -> Any:
    value = node.value
    kind = value.__class__
    if kind is str or kind is bytes:
        return _string(repr(value))
    if kind is int:
        return _integer(repr(value))
    if kind is float:
        return _float("1e999" if value == float("inf") else repr(value))
    if kind is complex:
        return _imaginary(repr(value).strip("()").rpartition("+")[2])
    return cst.Ellipsis() if value is ... else name(repr(value))


def _subscript_of(node: ast.Subscript) -> Any:
    parts = node.slice.elts if node.slice.__class__ is ast.Tuple else [node.slice]
    return _subscript(_within(node.value, _ATOM), [_subscript_element(_index_of(part)) for part in parts])


def _index_of(node: ast.expr) -> Any:
    if isinstance(node, ast.Slice):
        return _slice(sketched_if_any(node.lower), sketched_if_any(node.upper), sketched_if_any(node.step))
    return _index(sketched(node.value), "*") if isinstance(node, ast.Starred) else _index(sketched(node), None)


def _elements(nodes: Iterable[ast.expr]) -> list[Any]:
    return [
        _starred_element(_within(node.value, _BINDS[ast.BitOr]))
        if isinstance(node, ast.Starred)
        else _element(sketched(node))
        for node in nodes
    ]


def _dictionary_of(node: ast.Dict) -> Any:
    values = (_within(value, _BINDS[ast.BitOr]) for value in node.values)
    pairs = zip(map(sketched_if_any, node.keys), values, strict=True)
    return _dictionary(
        [_starred_dictionary(value) if key is None else _dictionary_element(key, value) for key, value in pairs]
    )


def _clauses(clauses: Sequence[ast.comprehension]) -> Any:
    first, *rest = clauses
    return _clause(
        sketched(first.target),
        _within(first.iter, _BINDS[ast.Or]),
        [_clause_test(_within(test, _BINDS[ast.Or])) for test in first.ifs],
        _clauses(rest) if rest else None,
        cst.Asynchronous() if first.is_async else None,
    )


def _formatted_of(node: ast.JoinedStr) -> Any:
    held = [part for part in node.values if isinstance(part, ast.FormattedValue)]
    return _formatted([_formatted_part(sketched(part.value)) for part in held])


def sketched_parameters(node: ast.arguments) -> Any:
    """The parameters of a function or lambda."""
    positional = [*node.posonlyargs, *node.args]
    defaults = [None] * (len(positional) - len(node.defaults)) + [sketched(default) for default in node.defaults]
    params = [_parameter(arg, default) for arg, default in zip(positional, defaults, strict=True)]
    only_by_name = [
        _parameter(arg, sketched_if_any(default))
        for arg, default in zip(node.kwonlyargs, node.kw_defaults, strict=True)
    ]
    split = len(node.posonlyargs)
    star: Any = _parameter(node.vararg, None, "*") if node.vararg else cst.MaybeSentinel.DEFAULT
    return _parameters(
        params[split:],
        cst.ParamStar() if only_by_name and node.vararg is None else star,
        only_by_name,
        _parameter(node.kwarg, None, "**") if node.kwarg else None,
        params[:split],
    )


def _parameter(arg: ast.arg, default: object, star: str = "") -> Any:
    return _param(name(arg.arg), annotation(sketched(arg.annotation)) if arg.annotation else None, default, star)


class _Makers(dict[type[ast.AST], "Callable[[Any], Any]"]):
    """How each kind of expression is made."""

    def __missing__(self, _: type[ast.AST]) -> Callable[[Any], Any]:
        raise Unsketchable


_EXPRESSIONS = _Makers(
    {
        ast.Name: lambda node: name(node.id),
        ast.Attribute: lambda node: _attribute(_within(node.value, _ATOM), name(node.attr)),
        ast.Call: _call_of,
        ast.Constant: _constant_of,
        ast.BinOp: _binary_of,
        ast.UnaryOp: _unary_of,
        ast.BoolOp: _boolean_of,
        ast.Compare: _comparison_of,
        ast.Subscript: _subscript_of,
        ast.Tuple: lambda node: _tuple(_elements(node.elts)),
        ast.List: lambda node: _list(_elements(node.elts)),
        ast.Set: lambda node: _set(_elements(node.elts)),
        ast.Dict: _dictionary_of,
        ast.IfExp: lambda node: _conditional(
            _within(node.test, _BINDS[ast.Or]),
            _within(node.body, _BINDS[ast.Or]),
            _within(node.orelse, _BINDS[ast.IfExp]),
        ),
        ast.Lambda: lambda node: _lambda(sketched_parameters(node.args), _within(node.body, 1)),
        ast.NamedExpr: lambda node: _walrus(sketched(node.target), _within(node.value, 1), _OPEN, _CLOSED),
        ast.Await: lambda node: _await(_within(node.value, _ATOM)),
        ast.Yield: lambda node: _yield(sketched_if_any(node.value)),
        ast.YieldFrom: lambda node: _yield(_from(sketched(node.value))),
        ast.ListComp: lambda node: _list_comp(sketched(node.elt), _clauses(node.generators)),
        ast.SetComp: lambda node: _set_comp(sketched(node.elt), _clauses(node.generators)),
        ast.GeneratorExp: lambda node: _generator(sketched(node.elt), _clauses(node.generators)),
        ast.DictComp: lambda node: _dictionary_comp(
            sketched(node.key), sketched(node.value), _clauses(node.generators)
        ),
        ast.JoinedStr: _formatted_of,
    }
)
