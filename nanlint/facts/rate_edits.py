"""The learning rate of the config, put in again behind the states that a resume has loaded: what to write, and where.

The place in the schedule stays: torch's schedulers are told the new rate, and the rate in effect is scaled by as much. Nothing
is written where it cannot be told that one rate is meant for all parameters, or how a schedule depends on it.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, NamedTuple

import libcst as cst

from nanlint.facts.changes import assigned_in
from nanlint.facts.context import statement_of
from nanlint.facts.loop_edits import line_after, unit_of
from nanlint.facts.names import dotted_text
from nanlint.facts.resuming import is_configured, loads_of, values_of
from nanlint.facts.rewrite import bare, on_one_line
from nanlint.facts.values import UNKNOWN
from nanlint.facts.written import text_of
from nanlint.source.walk import walk

if TYPE_CHECKING:
    from collections.abc import Iterator

    from nanlint.facts.flow import Flow
    from nanlint.facts.values import Call
    from nanlint.model import Edit

_TORCHS = "torch.optim.lr_scheduler."
# The rate is the base times a factor that does not know the base.
_FROM_THE_BASE = frozenset(
    {"StepLR", "MultiStepLR", "ExponentialLR", "CosineAnnealingLR", "CosineAnnealingWarmRestarts", "PolynomialLR",
     "MultiplicativeLR"}
)  # fmt: skip
_TIMES_THE_BASE = _FROM_THE_BASE | {"LambdaLR", "LinearLR", "ConstantLR"}
_OF_TRANSFORMERS = re.compile(r"(^|\.)get_\w+_schedule\w*$")
# An end of the schedule that does not move with the base.
_FLOORS = frozenset({"eta_min", "min_lr", "lr_end"})


def rate_put_in_again(load: Call, flow: Flow, *, is_scheduler: bool) -> Edit | None:
    """The lines that make the rate of the config count again, behind the last state that is loaded; None where there are none."""
    resume = _scheduler(load, flow) if is_scheduler else _optimizer(load, flow)
    if resume is None or not flow.parsed.chunk.words.isdisjoint(resume.new_names):
        return None
    last = _last_load(load, resume, flow)
    if last is None or _is_set_anew(resume, last.node, flow):
        return None
    return line_after(last.node, flow, *resume.lines(unit_of(last.node, flow)))


class _Resume(NamedTuple):
    """An optimizer, the scheduler of it if there is one, and the rate that its maker was given."""

    optimizer: str
    rate: cst.BaseExpression
    written: str
    """The rate, on one line."""
    maker: Call
    scheduler: str = ""
    is_one_cycle: bool = False

    @property
    def new_names(self) -> set[str]:
        """The names that the lines bind."""
        if not self.scheduler:
            return {"group"}
        return {"group", "ratio", "key"} if self.is_one_cycle else {"group", "last", "base"}

    def lines(self, unit: str) -> list[str]:
        """What to write."""
        rate, groups = self.written, f"{self.optimizer}.param_groups"
        factor = rate if isinstance(self.rate, (cst.Name, cst.Attribute, cst.Subscript)) else f"({rate})"
        bases = f"{self.scheduler}.base_lrs"
        if not self.scheduler:
            return [f"for group in {groups}:", f'{unit}group["lr"] = group["initial_lr"] = {rate}']
        if self.is_one_cycle:
            keys = '("lr", "initial_lr", "max_lr", "min_lr")'
            return [
                f"for group in {groups}:",
                f'{unit}ratio = {factor} / group["max_lr"]',
                f"{unit}group.update({{key: group[key] * ratio for key in {keys}}})",
                f'{bases} = [group["initial_lr"] for group in {groups}]',
            ]
        return [
            f"for group, last, base in zip({groups}, {self.scheduler}.get_last_lr(), {bases}):",
            f'{unit}group["lr"] = last * {factor} / base',
            f'{unit}group["initial_lr"] = {rate}',
            f"{bases} = [{rate}] * len({bases})",
        ]


def _scheduler(load: Call, flow: Flow) -> _Resume | None:
    makers = [_Made(maker) for maker in _makers(load.receiver, flow)]
    optimizers = {text_of(made.optimizer) for made in makers if made.optimizer is not None}
    optimizer = next((made.optimizer for made in makers), None)
    made = _maker(optimizer, flow)
    if (
        load.receiver is None
        or optimizer is None
        or len(optimizers) != 1
        or made is None
        or not _has_one_rate(made, flow)
    ):
        return None
    rate = _rate_of(made) if all(each.is_times_the_base for each in makers) else None
    is_one_cycle = len(makers) == 1 and makers[0].is_one_cycle
    if is_one_cycle:
        rate = makers[0].keywords.get("max_lr")
    if rate is None or not is_configured(rate):
        return None
    return _Resume(text_of(optimizer), rate, _written(rate, flow), made, text_of(load.receiver), is_one_cycle)


class _Made(NamedTuple):
    """The making of a scheduler."""

    maker: Call

    @property
    def keywords(self) -> dict[str, cst.BaseExpression]:
        """The arguments that have names."""
        args = self.maker.node.args if isinstance(self.maker.node, cst.Call) else ()
        return {arg.keyword.value: arg.value for arg in args if arg.keyword is not None}

    @property
    def optimizer(self) -> cst.BaseExpression | None:
        """The optimizer that it is for."""
        args = self.maker.node.args if isinstance(self.maker.node, cst.Call) else ()
        return args[0].value if args and not args[0].star else None

    @property
    def is_times_the_base(self) -> bool:
        """Whether its rates are factors times the base, and nothing else."""
        kind = self.maker.function.removeprefix(_TORCHS)
        is_known = kind in _TIMES_THE_BASE or _OF_TRANSFORMERS.search(self.maker.function) is not None
        return is_known and _FLOORS.isdisjoint(self.keywords)

    @property
    def is_one_cycle(self) -> bool:
        """Whether its rates are kept in the groups of the optimizer, under names of their own."""
        return self.maker.function == f"{_TORCHS}OneCycleLR"


def _optimizer(load: Call, flow: Flow) -> _Resume | None:
    made = _maker(load.receiver, flow)
    rate = _rate_of(made) if made is not None else None
    schedulers = {
        call.function.removeprefix(_TORCHS) for call in flow.calls.values() if call.function.startswith(_TORCHS)
    }
    # One that warms up begins with another rate than that of the config.
    if (
        load.receiver is None
        or made is None
        or rate is None
        or not is_configured(rate)
        or not _has_one_rate(made, flow)
    ):
        return None
    resume = _Resume(text_of(load.receiver), rate, _written(rate, flow), made)
    return resume if schedulers <= _FROM_THE_BASE else None


def _written(rate: cst.BaseExpression, flow: Flow) -> str:
    text = flow.parsed.source_of(bare(rate))
    return on_one_line(text) or text


def _makers(node: cst.BaseExpression | None, flow: Flow) -> list[Call]:
    """The calls in this chunk that may have made it; none if one of them is elsewhere."""
    value = flow.values.get(node, UNKNOWN) if isinstance(node, (cst.Name, cst.Attribute)) else UNKNOWN
    found = [choice.made_by for choice in value.possible]
    makers = [call for call in found if call is not None and call.node in flow.calls]
    return makers if len(makers) == len(found) else []


def _maker(node: cst.BaseExpression | None, flow: Flow) -> Call | None:
    """The one call in this chunk that made it."""
    makers = _makers(node, flow)
    return makers[0] if len(makers) == 1 else None


def _rate_of(maker: Call) -> cst.BaseExpression | None:
    args = maker.node.args if isinstance(maker.node, cst.Call) else ()
    return next((arg.value for arg in args if arg.keyword is not None and arg.keyword.value == "lr"), None)


def _has_one_rate(maker: Call, flow: Flow) -> bool:
    """Whether the optimizer was given parameters, or groups of them without rates of their own."""
    given = maker.node.args[0].value if isinstance(maker.node, cst.Call) and maker.node.args else None
    if isinstance(given, cst.Name):
        assigned = values_of(given.value, flow)
        given = assigned[0] if len(assigned) == 1 else None
    if isinstance(given, cst.List):
        return all(_has_no_rate(element.value) for element in given.elements)
    word = (dotted_text(given.func) or "").rpartition(".")[2] if isinstance(given, cst.Call) else ""
    return word in {"parameters", "filter"}


def _has_no_rate(group: cst.BaseExpression) -> bool:
    """`{"params": ..., "weight_decay": 0.1}`: all keys are written out, and none is a rate."""
    elements = group.elements if isinstance(group, cst.Dict) else ()
    keys = [
        each.key.value.strip("'\"")
        for each in elements
        if isinstance(each, cst.DictElement) and isinstance(each.key, cst.SimpleString)
    ]
    return bool(keys) and len(keys) == len(elements) and "lr" not in keys


def _last_load(load: Call, resume: _Resume, flow: Flow) -> Call | None:
    """The last load of the two states, if that is this one or stands in one block with it."""
    parents = flow.parsed.parents
    meant = {resume.optimizer, resume.scheduler}
    loads = [call for call in loads_of(flow) if call.receiver is not None and text_of(call.receiver) in meant]
    last = max(loads, key=lambda call: flow.parsed.span_of(call.node), default=None)
    if last is None or last is load:
        return last
    blocks = {parents.get(statement_of(call.node, parents)) for call in (load, last)}
    return last if len(blocks) == 1 else None


def _is_set_anew(resume: _Resume, last: cst.CSTNode, flow: Flow) -> bool:
    """Whether the rate may be another one by now than when the optimizer was made."""
    first, end = flow.parsed.span_of(resume.maker.node).line, flow.parsed.span_of(last).line
    names = set(_names_in(resume.rate))
    kinds = (cst.Assign, cst.AugAssign, cst.AnnAssign)
    setting = [node for node in walk(flow.parsed.module) if isinstance(node, kinds) and names & assigned_in(node)]
    return any(first < flow.parsed.span_of(node).line < end for node in setting)


def _names_in(node: cst.BaseExpression) -> Iterator[str]:
    for inner in walk(node):
        if isinstance(inner, (cst.Name, cst.Attribute)):
            yield dotted_text(inner) or ""
