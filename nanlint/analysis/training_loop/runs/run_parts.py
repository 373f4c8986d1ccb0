"""The parts of a run: how an optimizer, a scheduler or a GradScaler was made, in whatever function or file that was.

Known by how it was made where the project tells (`torch.optim.AdamW(...)`, `GradScaler()`), else by what people call it.
"""

from __future__ import annotations

import ast
import re
from typing import TYPE_CHECKING, Final

from nanlint.analysis.name_hints import OPTIMIZERS, SCALERS, SCHEDULERS
from nanlint.analysis.op_graph import (
    ATTRIBUTE,
    CALL,
    DICT,
    ELEMENT,
    GUARDED,
    INSTANCE,
    JOIN,
    PARAMETER,
    TUPLE,
    Op,
    Value,
)
from nanlint.analysis.project.definitions import Class
from nanlint.analysis.project.syntax_names import dotted
from nanlint.analysis.training_loop.naming import words_of
from nanlint.source.syntax.below import walk
from nanlint.word_sets import torch_names, word_set

if TYPE_CHECKING:
    from collections.abc import Iterable

    from nanlint.analysis.project.graph import Graph

OPTIMIZER: Final = "optimizer"
SCHEDULER: Final = "scheduler"
SCALER: Final = "scaler"
OTHER: Final = "other"

TORCHS_SCHEDULERS = "torch.optim.lr_scheduler."
# Their state holds the rates that they began with: timm's as `base_values`.
_KNOWN_SCHEDULERS = re.compile(r"^(torch\.optim\.lr_scheduler|timm\.scheduler)\.|(^|\.)get_\w*sched\w*$")
_SCHEDULERS = re.compile(r"sched|lr_|LR$|OneCycle|Cosine|Warmup", re.IGNORECASE)
_OPTIMIZERS = re.compile(r"optim|adam|sgd|lion|TrainingArguments$", re.IGNORECASE)
GRAD_SCALERS = torch_names("amp.GradScaler cuda.amp.GradScaler amp.grad_scaler.GradScaler cpu.amp.GradScaler")
_CALLED = {SCALER: SCALERS, SCHEDULER: SCHEDULERS, OPTIMIZER: OPTIMIZERS}
_BASE_RATES = word_set("base_lrs base_lr max_lr max_lrs")
# What they are given, they hand on.
_HANDING_ON = frozenset({"", "changed", ".to", ".cuda"})
_PREPARE = ".prepare"
_MOST = 60


def makers(value: Value, graph: Graph, owner: Class | None = None) -> list[Op]:
    """The calls by which an object may have been made, through names, attributes, helpers and what callers pass; `owner` is the class of `self`."""
    found: list[Op] = []
    waiting, seen = [value], set[Op]()
    while waiting and len(seen) < _MOST:
        op = waiting.pop(0).op
        if op is None or op in seen:
            continue
        seen.add(op)
        before = list(_before(op, graph, owner))
        waiting += before
        if op.function == CALL and not before and isinstance(op.node, ast.Call):
            found.append(op)
    return found


def _before(op: Op, graph: Graph, owner: Class | None) -> Iterable[Value]:
    """The values that an operation only hands on."""
    subject = op.subject
    if op.function == ATTRIBUTE and not op.operands and owner is not None and op.where.startswith("self."):
        # Its constructor was still being read when it was met.
        held = graph.attribute(
            owner, op.where.removeprefix("self."), Value(INSTANCE, None, target=owner), op.node or owner.node
        )
        return (held,) if held.op is not None and held.op.operands else ()
    if op.function == JOIN:
        return op.operands.values()
    if op.function == PARAMETER:
        passed = graph.passed(op.scope, op.where) if op.scope is not None else None
        return (passed,) if passed is not None else ()
    if op.function == ELEMENT and subject is not None:
        return prepared(subject.op, op.where) if subject.op is not None else ()
    if op.function == CALL and "result" in op.operands:
        return (op.operands["result"],)
    is_handing_on = op.function in {GUARDED, ATTRIBUTE} or (op.function == CALL and op.where in _HANDING_ON)
    return (subject,) if is_handing_on and subject is not None else ()


def prepared(op: Op, place: str = "") -> list[Value]:
    """What `accelerator.prepare(model, optimizer)` was given; with a place, what it was given there."""
    if op.function != CALL or op.where != _PREPARE:
        return []
    return [each for name, each in op.operands.items() if name.isdecimal() and place in {"", name}]


def elements(value: Value) -> list[Value]:
    """The parts of a tuple or dict, and of those in it; the value itself, if it is none."""
    if value.kind not in {TUPLE, DICT} or not value.parts:
        return [value]
    return [inner for part in value.parts for inner in elements(part)]


def role_of(found: list[Op], written: ast.AST | None) -> str:
    """What an object is to a run, by the calls that may have made it, else by its name."""
    for op in found:
        if op.where in GRAD_SCALERS:
            enabled = op.operands.get("enabled")
            return SCALER if enabled is None or enabled.constant is not False else OTHER
        if is_known_scheduler(op):
            return SCHEDULER
        if op.where.startswith("torch.optim."):
            return OPTIMIZER
    words = words_of(written) if written is not None else ()
    named = next((role for role, called in _CALLED.items() if not called.isdisjoint(words)), OTHER)
    return named if named != OTHER else next(filter(None, map(_role_of_maker, found)), OTHER)


def _role_of_maker(op: Op) -> str:
    """As far as the name of what is called tells: `build_optimizer(...)`."""
    word = op.where.rpartition(".")[2]
    return SCHEDULER if _SCHEDULERS.search(word) else OPTIMIZER if _OPTIMIZERS.search(word) else ""


def is_known_scheduler(maker: Op) -> bool:
    """Whether a call makes a scheduler of torch, timm or transformers, one of a class below, or of a class that writes its base rates into its state."""
    made = _made_class(maker)
    bases = made.module.project.bases_of(made) if made is not None else ()
    return any(map(_KNOWN_SCHEDULERS.search, (maker.where, *bases))) or (made is not None and _saves_rates(made))


def _made_class(maker: Op) -> Class | None:
    """The class of the project of which an object is made; None for any other call."""
    if maker.scope is None or not isinstance(maker.node, ast.Call):
        return None
    made = maker.scope.module.project.named(dotted(maker.node.func), maker.scope.module)
    return made if isinstance(made, Class) else None


def _saves_rates(made: Class) -> bool:
    state = made.module.project.method(made, "state_dict")
    return state is not None and any(
        isinstance(node, ast.Constant) and node.value in _BASE_RATES for node in walk(state.node)
    )
