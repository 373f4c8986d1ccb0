"""The learning rate of the config, put in again behind the states that a resume has loaded: what to write, and where.

The place in the schedule stays: torch's schedulers are told the new rate, and the rate in effect is scaled by as much. Nothing
is written where it cannot be told that one rate is meant for all parameters, or how a schedule depends on it.
"""

from __future__ import annotations

import ast
import re
from typing import TYPE_CHECKING, NamedTuple

from nanlint.analysis.project.syntax_names import dotted, last_word, names_below
from nanlint.analysis.training_loop.runs.configured_rate import is_setting
from nanlint.analysis.training_loop.runs.run_parts import OPTIMIZER, TORCHS_SCHEDULERS, makers
from nanlint.analysis.training_loop.written import Written
from nanlint.source.syntax.below import walk
from nanlint.word_sets import word_set

if TYPE_CHECKING:
    from collections.abc import Iterator

    from nanlint.analysis.op_graph import Op
    from nanlint.analysis.training_loop.runs.resuming import Part
    from nanlint.hazards.hazard import Hazard
    from nanlint.model import Edit

# The rate is the base times a factor that does not know the base.
_FROM_THE_BASE = word_set("""
    StepLR MultiStepLR ExponentialLR CosineAnnealingLR CosineAnnealingWarmRestarts PolynomialLR MultiplicativeLR
""")
_TIMES_THE_BASE = _FROM_THE_BASE | {"LambdaLR", "LinearLR", "ConstantLR"}
_OF_TRANSFORMERS = re.compile(r"(^|\.)get_\w+_schedule\w*$")
# An end of the schedule that does not move with the base.
_FLOORS = word_set("eta_min min_lr lr_end")
_LOAD = ".load_state_dict"


class _Resume(NamedTuple):
    """An optimizer, the scheduler of it if there is one, and the rate that its maker was given."""

    optimizer: str
    rate: ast.expr
    written: str
    """The rate, on one line."""
    maker: Op
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
        factor = rate if isinstance(self.rate, ast.Name | ast.Attribute | ast.Subscript) else f"({rate})"
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


def rate_put_in_again(part: Part, hazard: Hazard) -> Edit | None:
    """The lines that make the rate of the config count again, behind the last state that is loaded; None where there are none."""
    if hazard.op.where != _LOAD or not all(_is_here(maker, hazard) for maker in part.makers):
        return None
    resume = _optimizer(part, hazard) if part.role == OPTIMIZER else _scheduler(part, hazard)
    if resume is None or not names_below(hazard.function.node).isdisjoint(resume.new_names):
        return None
    last = _last_load(resume, hazard)
    if last is None or last.node is None or _is_set_anew(resume, last, hazard):
        return None
    written = Written(last.node, hazard.code)
    return written.line_after(*resume.lines(written.unit))


def _is_here(maker: Op, hazard: Hazard) -> bool:
    return hazard.is_here(maker)


def _scheduler(part: Part, hazard: Hazard) -> _Resume | None:
    texts = {_text(_first(maker), hazard) for maker in part.makers}
    optimizer = _first(part.makers[0]) if part.makers else None
    driven = part.makers[0].operands.get("0") if part.makers else None
    made = makers(driven, hazard.graph) if driven is not None else []
    if optimizer is None or len(texts) != 1 or len(made) != 1 or not _has_one_rate(made[0], hazard):
        return None
    is_one_cycle = len(part.makers) == 1 and part.makers[0].where == f"{TORCHS_SCHEDULERS}OneCycleLR"
    rate = _keyword(made[0], "lr") if all(map(_is_times_the_base, part.makers)) else None
    maker, name = (part.makers[0], "max_lr") if is_one_cycle else (made[0], "lr")
    rate = _keyword(maker, name) if is_one_cycle else rate
    if rate is None or not _is_setting(maker, name, rate):
        return None
    scheduler = _text(part.node, hazard)
    return _Resume(_text(optimizer, hazard), rate, _text(rate, hazard), made[0], scheduler, is_one_cycle)


def _optimizer(part: Part, hazard: Hazard) -> _Resume | None:
    made = part.makers[0] if len(part.makers) == 1 else None
    rate = _keyword(made, "lr") if made is not None else None
    found = {op.where for op in hazard.function.ops if op.where.startswith(TORCHS_SCHEDULERS)}
    # One that warms up begins with another rate than that of the config.
    is_plain = {each.removeprefix(TORCHS_SCHEDULERS) for each in found} <= _FROM_THE_BASE
    if made is None or rate is None or not is_plain or not _is_setting(made, "lr", rate):
        return None
    return _Resume(_text(part.node, hazard), rate, _text(rate, hazard), made) if _has_one_rate(made, hazard) else None


def _is_setting(maker: Op, name: str, rate: ast.expr) -> bool:
    value = maker.operands.get(name)
    return value is not None and is_setting(rate, value)


def _is_times_the_base(maker: Op) -> bool:
    """Whether its rates are factors times the base, and nothing else."""
    kind = maker.where.removeprefix(TORCHS_SCHEDULERS)
    is_known = kind in _TIMES_THE_BASE or _OF_TRANSFORMERS.search(maker.where) is not None
    return is_known and _FLOORS.isdisjoint(maker.operands)


def _first(maker: Op) -> ast.expr | None:
    given = maker.node.args if isinstance(maker.node, ast.Call) else []
    return given[0] if given and not isinstance(given[0], ast.Starred) else None


def _keyword(maker: Op, name: str) -> ast.expr | None:
    given = maker.node.keywords if isinstance(maker.node, ast.Call) else []
    return next((each.value for each in given if each.arg == name), None)


def _text(node: ast.AST | None, hazard: Hazard) -> str:
    """An expression on one line."""
    text = hazard.source.text_of(node) if node is not None else ""
    return text if "\n" not in text or node is None else ast.unparse(node)


def _has_one_rate(maker: Op, hazard: Hazard) -> bool:
    """Whether the optimizer was given parameters, or groups of them without rates of their own."""
    given: ast.expr | None = _first(maker)
    if isinstance(given, ast.Name):
        nodes = (node for node in walk(hazard.function.node) if isinstance(node, ast.Assign))
        assigned = [node.value for node in nodes if given.id in map(dotted, node.targets)]
        given = assigned[0] if len(assigned) == 1 else None
    if isinstance(given, ast.List):
        return all(_has_no_rate(element) for element in given.elts)
    return isinstance(given, ast.Call) and last_word(given) in {"parameters", "filter"}


def _has_no_rate(group: ast.expr) -> bool:
    """`{"params": ..., "weight_decay": 0.1}`: all keys are written out, and none is a rate."""
    keys = [getattr(each, "value", None) for each in group.keys] if isinstance(group, ast.Dict) else []
    return bool(keys) and all(isinstance(key, str) and key != "lr" for key in keys)


def _last_load(resume: _Resume, hazard: Hazard) -> Op | None:
    """The last load of the two states, if that is this one or stands in one block with it."""
    meant, load = {resume.optimizer, resume.scheduler}, hazard.op
    loads = [op for op in hazard.function.ops if op.where == _LOAD and op.copy_of is None]
    last = max((op for op in loads if _receiver(op, hazard) in meant), key=lambda op: _place(op.node), default=None)
    if last is None or last is load:
        return last
    if last.node is None or load.node is None:
        return None
    is_beside = Written(load.node, hazard.code).statement in Written(last.node, hazard.code).block
    return last if is_beside else None


def _receiver(op: Op, hazard: Hazard) -> str:
    function = op.node.func if isinstance(op.node, ast.Call) else None
    return _text(function.value, hazard) if isinstance(function, ast.Attribute) else ""


def _place(node: ast.AST | None) -> tuple[int, int]:
    return getattr(node, "lineno", 0), getattr(node, "col_offset", 0)


def _is_set_anew(resume: _Resume, last: Op, hazard: Hazard) -> bool:
    """Whether the rate may be another one by now than when the optimizer was made."""
    names = set(_names_in(resume.rate))
    for node in walk(hazard.function.node):
        targets = node.targets if isinstance(node, ast.Assign) else [getattr(node, "target", None)]
        set_here = {name for target in targets if isinstance(target, ast.AST) for name in _names_in(target)}
        if (
            isinstance(node, ast.stmt)
            and names & set_here
            and _place(resume.maker.node) < _place(node) < _place(last.node)
        ):
            return True
    return False


def _names_in(node: ast.AST) -> Iterator[str]:
    for inner in walk(node):
        if isinstance(inner, ast.Name | ast.Attribute):
            yield dotted(inner)
