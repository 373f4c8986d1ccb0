"""A test written as the denial of its opposite: `not torch.isfinite(x).all()` for `torch.isnan(x).any()`.

Truth is what is kept, not form: where only truth counts the text says `not`, where a mask is made it says `~`.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

import libcst as cst

from nanlint.facts.names import dotted_text
from nanlint.facts.rewrite import bare

if TYPE_CHECKING:
    from nanlint.facts.context import Parents

_CONDITIONS = (cst.If, cst.While, cst.Assert, cst.IfExp)
# In these a `not` may stand without brackets.
_LOOSE = (cst.Assign, cst.AnnAssign, cst.Return, cst.Arg, cst.NamedExpr, cst.Lambda)


class Inversion(NamedTuple):
    """What to replace, and by what."""

    node: cst.BaseExpression
    new: cst.BaseExpression


def inverted(test: cst.Call, opposite: cst.Call, parents: Parents, *, is_bool: bool) -> Inversion | None:
    """`test` by way of `opposite`, which holds where it does not; `is_bool` for Python's own truth values."""
    node, new = _quantified(test, opposite, parents)
    node, new = _unwrapped(node, new, parents)
    around = parents.get(node)
    if isinstance(around, cst.UnaryOperation) and isinstance(around.operator, cst.Not):
        return Inversion(around, new)
    if is_condition(node, parents):
        return Inversion(node, _denied(new))
    if is_bool:
        loose = isinstance(around, _LOOSE)
        return Inversion(node, _denied(new) if loose else _bracketed(_denied(new)))
    return _masked(test, opposite, parents)


def _quantified(test: cst.Call, opposite: cst.Call, parents: Parents) -> tuple[cst.BaseExpression, cst.BaseExpression]:
    """`isnan(x).any()` and `any(isnan(x))` deny `isfinite(x).all()` and `all(isfinite(x))`."""
    around = parents.get(test)
    call = parents.get(around) if around is not None else None
    if not isinstance(call, cst.Call):
        return test, opposite
    if isinstance(around, cst.Attribute) and around.attr.value == "any" and call.func is around:
        return call, call.with_changes(func=around.with_changes(value=opposite, attr=cst.Name("all")))
    if isinstance(around, cst.Arg) and len(call.args) == 1 and _last_word(call) == "any":
        function = call.func
        renamed = (
            function.with_changes(attr=cst.Name("all")) if isinstance(function, cst.Attribute) else cst.Name("all")
        )
        return call, call.with_changes(func=renamed, args=[around.with_changes(value=opposite)])
    return test, opposite


def _unwrapped(
    node: cst.BaseExpression, new: cst.BaseExpression, parents: Parents
) -> tuple[cst.BaseExpression, cst.BaseExpression]:
    """Take `.item()` and `bool(...)` along: they keep the truth."""
    around = parents.get(node)
    call = parents.get(around) if around is not None else None
    if not isinstance(call, cst.Call):
        return node, new
    if isinstance(around, cst.Attribute) and around.attr.value == "item" and call.func is around:
        return call, call.with_changes(func=around.with_changes(value=new))
    if isinstance(around, cst.Arg) and dotted_text(call.func) == "bool":
        return call, call.with_changes(args=[around.with_changes(value=new)])
    return node, new


def is_condition(node: cst.BaseExpression, parents: Parents) -> bool:
    """Whether nothing but the truth of `node` counts where it stands."""
    around = parents.get(node)
    if isinstance(around, _CONDITIONS):
        return around.test is node
    if isinstance(around, cst.BooleanOperation):
        return is_condition(around, parents)
    if isinstance(around, cst.UnaryOperation):
        return isinstance(around.operator, cst.Not)
    if isinstance(around, (cst.GeneratorExp, cst.ListComp)) and around.elt is node:
        argument = parents.get(around)
        call = parents.get(argument) if argument is not None else None
        return isinstance(call, cst.Call) and dotted_text(call.func) in {"any", "all"}
    return isinstance(around, cst.CompIf)


def _masked(test: cst.Call, opposite: cst.Call, parents: Parents) -> Inversion:
    around = parents.get(test)
    if isinstance(around, cst.UnaryOperation) and isinstance(around.operator, cst.BitInvert):
        return Inversion(around, opposite)
    mask = cst.UnaryOperation(operator=cst.BitInvert(), expression=opposite)
    return Inversion(test, _bracketed(mask) if isinstance(around, cst.Attribute) else mask)


def _denied(node: cst.BaseExpression) -> cst.BaseExpression:
    inner = bare(node)
    assert isinstance(inner, cst.BaseExpression)  # noqa: S101 - an expression stays one
    return cst.UnaryOperation(operator=cst.Not(), expression=inner)


def _bracketed(node: cst.BaseExpression) -> cst.BaseExpression:
    return node.with_changes(lpar=[cst.LeftParen()], rpar=[cst.RightParen()])


def _last_word(call: cst.Call) -> str:
    return (dotted_text(call.func) or "").rpartition(".")[2]
