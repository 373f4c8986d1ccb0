"""Saving a run: what an object is to it, whose states are written, what a checkpoint is called."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

import libcst as cst

from nanlint.facts.loop_roles import is_optimizer, is_scaler, is_scheduler
from nanlint.facts.names import dotted_text
from nanlint.facts.values import UNKNOWN
from nanlint.facts.written import text_of
from nanlint.source.walk import walk

if TYPE_CHECKING:
    from collections.abc import Iterator

    from nanlint.facts.flow import Flow

_KNOWN_SCHEDULERS = re.compile(r"^torch\.optim\.lr_scheduler\.|(^|\.)get_\w*sched\w*$")


def role_of(node: cst.BaseExpression | None, flow: Flow) -> str:
    """What an object is to a run: "scaler", "scheduler", "optimizer", or "other"."""
    if is_scaler(node, flow):
        return "scaler"
    if is_scheduler(node, flow):
        return "scheduler"
    return "optimizer" if is_optimizer(node, flow) else "other"


def is_known_scheduler(node: cst.BaseExpression, flow: Flow) -> bool:
    """Whether the file makes `node` as a scheduler of torch or transformers, on some path at least."""
    return any(_KNOWN_SCHEDULERS.search(function) for function in _makers_of(node, flow))


def _makers_of(node: cst.BaseExpression, flow: Flow) -> list[str]:
    return [choice.made_by.function for choice in flow.values.get(node, UNKNOWN).possible if choice.made_by is not None]


def model_of(optimizer: cst.BaseExpression | None, flow: Flow) -> str:
    """`model`, if the chunk makes the optimizer with `model.parameters()` and nothing else; "" if that cannot be told."""
    made_by = flow.values.get(optimizer, UNKNOWN).made_by if optimizer is not None else None
    node = made_by.node if made_by is not None and made_by.node in flow.calls else None
    given = node.args[0].value if isinstance(node, cst.Call) and node.args else None
    if not isinstance(given, cst.Call) or given.args or not isinstance(given.func, cst.Attribute):
        return ""
    return (dotted_text(given.func.value) or "") if given.func.attr.value == "parameters" else ""


def saved_models(node: cst.BaseExpression | None, flow: Flow) -> list[str]:
    """The models whose states are written out in what is saved: `model` of `{"model": model.state_dict(), "epoch": 3}`."""
    found: list[str] = []
    for inner in walk(node) if node is not None else ():
        function = inner.func if isinstance(inner, cst.Call) and not inner.args else None
        if not isinstance(function, cst.Attribute) or function.attr.value != "state_dict":
            continue
        text = dotted_text(function.value)
        if text and text not in found and role_of(function.value, flow) == "other":
            found.append(text)
    return found


def spelled_out(node: cst.BaseExpression | None, flow: Flow, names: int = 3) -> str:
    """The text of an expression with what its names are assigned in the chunk; "" if one of them comes from elsewhere."""
    if node is None or names == 0:
        return ""
    texts = [text_of(node)]
    for name in _plain_names(node):
        assigned = [spelled_out(value, flow, names - 1) for value in values_of(name, flow)]
        if not all(assigned) or not assigned:
            return ""
        texts += assigned
    return " ".join([*texts, *_folders(node, flow, names)])


def reads_parameter(node: cst.BaseExpression | None, flow: Flow, names: int = 3) -> bool:
    """Whether an expression is made of a parameter of its function, seen through names."""
    only = flow.parsed.body[0] if len(flow.parsed.body) == 1 else None
    if node is None or names == 0 or not isinstance(only, cst.FunctionDef):
        return False
    read = {inner.value for inner in walk(node) if isinstance(inner, cst.Name)} - {"self"}
    given = {parameter.name.value for parameter in (*only.params.params, *only.params.kwonly_params)}
    return not read.isdisjoint(given) or any(
        reads_parameter(value, flow, names - 1) for name in read for value in values_of(name, flow)
    )


def _folders(node: cst.BaseExpression, flow: Flow, names: int) -> Iterator[str]:
    """The folder of a path that is joined may come from elsewhere; what is written of it here is told."""
    if not isinstance(node, cst.Call) or not (dotted_text(node.func) or "").endswith(".join") or names == 0:
        return
    for arg in node.args[:-1]:
        for value in values_of(arg.value.value, flow) if isinstance(arg.value, cst.Name) else ():
            yield spelled_out(value, flow, names - 1) or text_of(value)


def _plain_names(node: cst.BaseExpression) -> Iterator[str]:
    """The names that an expression reads by themselves, not as the owner of an attribute or a method.

    Of a path that is joined, the last part is the file.
    """
    if isinstance(node, cst.Name):
        yield node.value
    elif isinstance(node, cst.Call):
        joins = (dotted_text(node.func) or "").endswith(".join")
        for arg in node.args[-1:] if joins else node.args:
            yield from _plain_names(arg.value)
    elif isinstance(node, cst.BinaryOperation):
        if not isinstance(node.operator, cst.Divide):
            yield from _plain_names(node.left)
        yield from _plain_names(node.right)


def values_of(name: str, flow: Flow) -> list[cst.BaseExpression]:
    """All that a name is assigned in the chunk."""
    return [
        inner.value
        for inner in walk(flow.parsed.module)
        if isinstance(inner, cst.Assign) and any(dotted_text(target.target) == name for target in inner.targets)
    ]
