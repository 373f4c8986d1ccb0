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
from nanlint.facts.resuming import is_configured, loads_of
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
    maker = _maker(load.receiver, flow)
    if load.receiver is None or maker is None or not isinstance(maker.node, cst.Call) or not maker.node.args:
        return None
    kind = maker.function.removeprefix(_TORCHS)
    optimizer = maker.node.args[0].value
    made = _maker(optimizer, flow)
    keywords = {arg.keyword.value: arg.value for arg in maker.node.args if arg.keyword is not None}
    if made is None or not _has_one_group(made) or not _FLOORS.isdisjoint(keywords):
        return None
    is_one_cycle = maker.function == f"{_TORCHS}OneCycleLR"
    is_known = kind in _TIMES_THE_BASE or _OF_TRANSFORMERS.search(maker.function) is not None
    rate = keywords.get("max_lr") if is_one_cycle else _rate_of(made) if is_known else None
    if rate is None or not is_configured(rate):
        return None
    return _Resume(text_of(optimizer), rate, _written(rate, flow), made, text_of(load.receiver), is_one_cycle)


def _optimizer(load: Call, flow: Flow) -> _Resume | None:
    made = _maker(load.receiver, flow)
    rate = _rate_of(made) if made is not None else None
    schedulers = {
        call.function.removeprefix(_TORCHS) for call in flow.calls.values() if call.function.startswith(_TORCHS)
    }
    # One that warms up begins with another rate than that of the config.
    if load.receiver is None or made is None or rate is None or not is_configured(rate) or not _has_one_group(made):
        return None
    resume = _Resume(text_of(load.receiver), rate, _written(rate, flow), made)
    return resume if schedulers <= _FROM_THE_BASE else None


def _written(rate: cst.BaseExpression, flow: Flow) -> str:
    text = flow.parsed.source_of(bare(rate))
    return on_one_line(text) or text


def _maker(node: cst.BaseExpression | None, flow: Flow) -> Call | None:
    """The call in this chunk that made it, on whatever way; None if that is elsewhere."""
    value = flow.values.get(node, UNKNOWN) if isinstance(node, (cst.Name, cst.Attribute)) else UNKNOWN
    found = [choice.made_by for choice in value.possible if choice.made_by is not None]
    return found[0] if len(found) == 1 and found[0].node in flow.calls else None


def _rate_of(maker: Call) -> cst.BaseExpression | None:
    args = maker.node.args if isinstance(maker.node, cst.Call) else ()
    return next((arg.value for arg in args if arg.keyword is not None and arg.keyword.value == "lr"), None)


def _has_one_group(maker: Call) -> bool:
    """Whether the optimizer was given parameters, and not groups of them with rates of their own."""
    given = maker.node.args[0].value if isinstance(maker.node, cst.Call) and maker.node.args else None
    word = (dotted_text(given.func) or "").rpartition(".")[2] if isinstance(given, cst.Call) else ""
    return word in {"parameters", "filter"}


def _last_load(load: Call, resume: _Resume, flow: Flow) -> Call | None:
    """The last load of the two states; None if they do not stand in one block."""
    parents = flow.parsed.parents
    meant = {resume.optimizer, resume.scheduler}
    loads = [call for call in loads_of(flow) if call.receiver is not None and text_of(call.receiver) in meant]
    blocks = {parents.get(statement_of(call.node, parents)) for call in loads}
    if len(blocks) != 1 or load not in loads:
        return None
    return max(loads, key=lambda call: flow.parsed.span_of(call.node))


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
