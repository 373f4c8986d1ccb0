"""What a statement or a call changes besides the value it gives: names assigned, tensors changed in place."""

from __future__ import annotations

from typing import TYPE_CHECKING

import libcst as cst

from nanlint.facts.names import dotted_text
from nanlint.source.walk import node_children

if TYPE_CHECKING:
    from collections.abc import Iterable

    from nanlint.facts.values import Call

_ASSIGNING: frozenset[type[cst.CSTNode]] = frozenset(
    {cst.AssignTarget, cst.AugAssign, cst.AnnAssign, cst.NamedExpr, cst.For, cst.CompFor, cst.Del}
)
_BINDING: frozenset[type[cst.CSTNode]] = frozenset(
    {
        *_ASSIGNING, cst.WithItem, cst.ExceptHandler, cst.ExceptStarHandler, cst.MatchAs, cst.MatchStar, cst.MatchMapping,
        cst.Call, cst.FunctionDef, cst.ClassDef,
    }
)  # fmt: skip
"""Most nodes are none of these, and libcst's classes are abstract ones, of which isinstance asks far more than `type` does."""
# Their names end like those of methods that change a tensor's values, and they change none.
_KEEP_VALUES = frozenset(
    {"requires_grad_", "share_memory_", "clip_grad_norm_", "clip_grad_value_", "unscale_", "apply_"}
)
# What a list holds is no longer what it was made with.
_GROWING = frozenset({".append", ".extend", ".insert", ".pop", ".remove", ".clear"})
# `torch.neg_(x)` changes x, `x.neg_()` does so too.
_LIBRARIES = frozenset({"torch", "F", "nn", "init", "functional"})


def binding_in(node: cst.CSTNode) -> list[cst.CSTNode]:
    """What may assign a name or change what it holds, inside `node`; in no order."""
    found: list[cst.CSTNode] = []
    waiting = [node]
    while waiting:
        inner = waiting.pop()
        if type(inner) in _BINDING:
            found.append(inner)
        waiting += node_children(inner)
    return found


def assigned_in(node: cst.CSTNode) -> set[str]:
    """Every name or attribute that something inside `node` assigns, grows or changes in place."""
    return assigned_by(binding_in(node))


def assigned_by(binding: Iterable[cst.CSTNode]) -> set[str]:
    """Every name or attribute that one of these assigns, grows or changes in place."""
    found: set[str] = set()
    for inner in binding:
        if type(inner) in _ASSIGNING:
            _note_target(inner.target, found)  # type: ignore[attr-defined] # each of these has one
        elif type(inner) is cst.Call:
            _note_changed(inner, found)
        elif isinstance(inner, (cst.WithItem, cst.ExceptHandler, cst.ExceptStarHandler)):
            name = inner.asname if isinstance(inner, cst.WithItem) else inner.name
            if name is not None:
                _note_target(name.name, found)
        elif isinstance(inner, (cst.MatchAs, cst.MatchStar)) and inner.name is not None:
            found.add(inner.name.value)
        elif isinstance(inner, cst.MatchMapping) and inner.rest is not None:
            found.add(inner.rest.value)
        elif isinstance(inner, (cst.FunctionDef, cst.ClassDef)):
            found.add(inner.name.value)
    return found


def changed_by_any(binding: Iterable[cst.CSTNode]) -> set[str]:
    """Every name or attribute that one of these changes in place, so that its other names change with it."""
    found: set[str] = set()
    for inner in binding:
        if type(inner) is cst.Call:
            _note_changed(inner, found)
        elif type(inner) is cst.AugAssign or (type(inner) is cst.AssignTarget and type(inner.target) is cst.Subscript):
            _note_target(inner.target, found)
    return found


def _note_changed(call: cst.Call, found: set[str]) -> None:
    """`x` of `x.mul_(2)`, `torch.neg_(x)`, `F.relu(x, inplace=True)` and `torch.add(x, y, out=x)`."""
    func = call.func
    if type(func) is not cst.Attribute:
        return
    in_place = _changes_its_receiver(func.attr.value)
    for argument in call.args:
        word = argument.keyword.value if argument.keyword is not None else ""
        if word == "out":
            _note_target(argument.value, found)
        in_place = in_place or (word == "inplace" and isinstance(argument.value, cst.Name))
    if not in_place:
        return
    is_function = (dotted_text(func.value) or "").partition(".")[0] in _LIBRARIES
    if not is_function:
        _note_target(func.value, found)
    elif call.args:
        _note_target(call.args[0].value, found)


def _note_target(target: cst.CSTNode, found: set[str]) -> None:
    if type(target) is cst.Tuple or type(target) is cst.List:
        for element in target.elements:
            _note_target(element.value, found)
    elif type(target) is cst.Subscript:
        _note_target(target.value, found)
    else:
        text = dotted_text(target)
        if text:
            found.add(text)


def _changes_its_receiver(method: str) -> bool:
    if method.endswith("_"):
        return not method.endswith("__") and method not in _KEEP_VALUES
    return f".{method}" in _GROWING


def changed_by(call: Call) -> list[cst.BaseExpression]:
    """What `call` changes in place: `x` in `x.clamp_(0)`, `x /= 2`, `nn.init.zeros_(x)` and `F.relu(x, inplace=True)`."""
    node: cst.CSTNode = call.node
    found: list[cst.BaseExpression] = []
    if type(node) is cst.AugAssign:
        found.append(node.target)
    if call.receiver is not None and call.function in _GROWING:
        found.append(call.receiver)
    if type(node) is not cst.Call:
        return found
    word = node.func.attr.value if type(node.func) is cst.Attribute else dotted_text(node.func) or ""
    inplace = call.arguments.get("inplace")
    subject = call.subject if call.receiver is None else call.receiver
    if subject is not None and (_changes_its_receiver(word) or (type(inplace) is cst.Name and inplace.value == "True")):
        found.append(subject)
    if "out" in call.arguments:
        found.append(call.arguments["out"])
    return found


def may_set_attributes(call: Call) -> str | None:
    """The name whose attributes `call` may set, being a method of an object nobody knows; None for other calls."""
    if not call.function.startswith(".") or call.receiver is None:
        return None
    text = dotted_text(call.receiver)
    return text.partition(".")[0] if text else None
