"""Resuming and saving a run: whose state is loaded, which learning rate the config asks for, what a checkpoint is called."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, NamedTuple

import libcst as cst

from nanlint.analysis.name_hints import RATES
from nanlint.facts.loop_roles import is_optimizer, is_scaler, is_scheduler
from nanlint.facts.names import dotted_text
from nanlint.facts.naming import loop_source_of
from nanlint.facts.values import UNKNOWN
from nanlint.facts.written import text_of
from nanlint.source.walk import walk

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from nanlint.facts.flow import Flow
    from nanlint.facts.values import Call

LOADING = ".load_state_dict"
_MAKERS = re.compile(r"optim|adam|sgd|lion|sched|lr_|LR$|OneCycle|Cosine|Warmup", re.IGNORECASE)
_KNOWN_SCHEDULERS = re.compile(r"^torch\.optim\.lr_scheduler\.|(^|\.)get_\w*sched\w*$")
_CONFIGS = frozenset(
    {
        "args",
        "config",
        "cfg",
        "opt",
        "hparams",
        "hp",
        "params",
        "flags",
        "FLAGS",
        "conf",
        "settings",
        "h",
        "training_args",
    }
)


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


def is_plateau(node: cst.BaseExpression, flow: Flow) -> bool:
    """Whether the file makes `node` as `ReduceLROnPlateau`, and nothing else."""
    makers = _makers_of(node, flow)
    return bool(makers) and all(function.endswith("ReduceLROnPlateau") for function in makers)


def _makers_of(node: cst.BaseExpression, flow: Flow) -> list[str]:
    made = [choice.made_by.function for choice in flow.values.get(node, UNKNOWN).possible if choice.made_by is not None]
    # An attribute may be made in one method and loaded in another.
    if isinstance(node, cst.Attribute):
        made += [call.function for call in flow.calls.values() if _is_assigned_to(call, node, flow)]
    return made


def _is_assigned_to(call: Call, node: cst.Attribute, flow: Flow) -> bool:
    around = flow.parsed.parents.get(call.node)
    return isinstance(around, cst.Assign) and any(text_of(target.target) == text_of(node) for target in around.targets)


def loads_of(flow: Flow) -> list[Call]:
    """Every load of a state in a chunk."""
    return [call for call in flow.calls.values() if call.function == LOADING and call.receiver is not None]


class Rate(NamedTuple):
    """A learning rate as it is written, where an optimizer or scheduler is made."""

    node: cst.BaseExpression
    text: str


def configured_rate(node: cst.BaseExpression, flow: Flow, *, of_parameters: bool = False) -> Rate | None:
    """The learning rate, or the horizon of a schedule, that a chunk reads from a config for `node`, or for what it drives; None for none.

    With `of_parameters`, what the chunk was given counts as well: a constructor gets its rate from a config.
    """
    makers = [
        call
        for call in flow.calls.values()
        if isinstance(call.node, cst.Call) and _MAKERS.search(dotted_text(call.node.func) or "")
    ]
    own = [call for call in makers if isinstance(node, cst.Attribute) and _is_assigned_to(call, node, flow)]
    rates = (
        _rate_of(call, flow, of_parameters=of_parameters) for call in (*own, *(() if _states_rate(own) else makers))
    )
    return next(filter(None, rates), None)


def _states_rate(calls: list[Call]) -> bool:
    """Whether one of the calls that make an object is given a rate; a scheduler has that of its optimizer."""
    return any(_rates_in(call) for call in calls)


def _rates_in(call: Call) -> list[cst.BaseExpression]:
    args = call.node.args if isinstance(call.node, cst.Call) else ()
    return [arg.value for arg in args if arg.keyword is not None and arg.keyword.value in RATES]


def _rate_of(call: Call, flow: Flow, *, of_parameters: bool) -> Rate | None:
    for rate in _rates_in(call):
        if is_configured(rate) or (of_parameters and reads_parameter(rate, flow)):
            return Rate(rate, " ".join(flow.parsed.source_of(rate).split()))
    return None


def has_own_schedule(flow: Flow) -> bool:
    """Whether a chunk speaks of a schedule and makes none of torch's."""
    speaks = any("sched" in word.lower() or "cosine" in word.lower() for word in flow.parsed.chunk.words)
    made = any(call.function.startswith("torch.optim.lr_scheduler.") for call in flow.calls.values())
    return speaks and not made


def is_configured(node: cst.BaseExpression) -> bool:
    """Whether an expression reads a config: `args.lr`, `self.config.lr * scale`, `cfg["lr"]`."""
    for inner in walk(node):
        if isinstance(inner, cst.Attribute) and not _CONFIGS.isdisjoint((dotted_text(inner.value) or "").split(".")):
            return True
        if isinstance(inner, cst.Subscript) and not _CONFIGS.isdisjoint((dotted_text(inner.value) or "").split(".")):
            return True
    return False


def restores_scaler(flows: Iterable[Flow]) -> bool:
    """Whether a scaler's state is loaded somewhere, or the state of whatever a loop goes over."""
    return any(
        role_of(call.receiver, flow) == "scaler" or _is_of_a_loop(call.receiver, flow)
        for flow in flows
        for call in loads_of(flow)
    )


def _is_of_a_loop(node: cst.BaseExpression | None, flow: Flow) -> bool:
    """Whether a name is set by a loop around it: `for name, part in parts.items(): part.load_state_dict(...)`."""
    return isinstance(node, cst.Name) and loop_source_of(node, _around(node, flow)) is not None


def _around(node: cst.CSTNode, flow: Flow) -> Iterator[cst.CSTNode]:
    around = flow.parsed.parents.get(node)
    while around is not None:
        yield around
        around = flow.parsed.parents.get(around)


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


def values_of(name: str, flow: Flow) -> list[cst.BaseExpression]:
    """All that a name is assigned in the chunk."""
    return [
        inner.value
        for inner in walk(flow.parsed.module)
        if isinstance(inner, cst.Assign) and any(dotted_text(target.target) == name for target in inner.targets)
    ]
