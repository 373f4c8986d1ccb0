"""The learning rate that a config or a caller gives to an optimizer or scheduler where it is made, and where it is set again."""

from __future__ import annotations

import ast
from typing import TYPE_CHECKING, NamedTuple

from nanlint.analysis.name_hints import CONFIGS, RATES
from nanlint.analysis.op_graph import ATTRIBUTE, ELEMENT, PARAMETER, Op, Value
from nanlint.analysis.project.syntax_names import dotted, names_below
from nanlint.analysis.training_loop.runs.rate_setting import lineage_of, sets_rates
from nanlint.analysis.training_loop.runs.run_parts import OPTIMIZER, TORCHS_SCHEDULERS, is_known_scheduler, makers
from nanlint.source.syntax.below import walk
from nanlint.word_sets import word_set

if TYPE_CHECKING:
    from collections.abc import Iterator

    from nanlint.analysis.project.definitions import Function
    from nanlint.analysis.project.graph import Graph
    from nanlint.analysis.training_loop.runs.resuming import Part

# After one of these the rate of the config counts again, or somebody has looked at both.
AGAIN = word_set("param_groups base_lrs override_lr reset_lr set_lr adjust_learning_rate get_last_lr max_lrs")
# Ends and lengths of a schedule: of less weight than the rate itself.
_HORIZONS = word_set("T_max total_steps epochs")
_DEEPEST = 12


class Rate(NamedTuple):
    """A learning rate as it is written, where an optimizer or scheduler is made."""

    node: ast.expr
    maker: Op


def configured_rate(part: Part, graph: Graph) -> Rate | None:
    """The learning rate, or the horizon of a schedule, that somebody outside of the making says; None for none."""
    rates = [rate for maker in part.makers for rate in _rates_in(maker)]
    own = [rate for rate, is_horizon in rates if not is_horizon]
    return next(iter([*own, *_of_optimizers(part, graph), *(rate for rate, _ in rates)]), None)


def _of_optimizers(part: Part, graph: Graph) -> Iterator[Rate]:
    """The rate of the optimizer that a scheduler drives."""
    for made in _driven(part, graph):
        yield from (rate for rate, is_horizon in _rates_in(made) if not is_horizon)


def _driven(part: Part, graph: Graph) -> Iterator[Op]:
    """The calls that may have made the optimizer that a scheduler drives."""
    for maker in part.makers if part.role != OPTIMIZER else ():
        driven = maker.operands.get("optimizer") or maker.operands.get("0")
        owner = maker.scope.owner if maker.scope is not None else None
        yield from makers(driven, graph, owner) if driven is not None else ()


def _rates_in(maker: Op) -> Iterator[tuple[Rate, bool]]:
    """Each rate or horizon that a setting gives, and whether it is a horizon."""
    call = maker.node
    if not isinstance(call, ast.Call):
        return
    written = [(each.arg or "", each.arg or "", each.value) for each in call.keywords]
    is_of_torch = maker.where.startswith("torch.optim.") and not is_known_scheduler(maker)
    # `SGD(model.parameters(), args.lr)`
    written += [("lr", "1", call.args[1])] if is_of_torch and len(call.args) > 1 else []
    for name, key, node in written:
        value = maker.operands.get(key)
        # The schedules of transformers are functions, which no state holds.
        is_lost = name in _HORIZONS and not maker.where.startswith(TORCHS_SCHEDULERS)
        if name in RATES and not is_lost and value is not None and is_setting(node, value):
            yield Rate(node, maker), name in _HORIZONS


def is_setting(node: ast.expr, value: Value) -> bool:
    """Whether somebody outside says the value: a config (`args.lr`, `cfg["lr"]`), a caller, an object that was given."""
    for inner in walk(node):
        if isinstance(inner, ast.Attribute | ast.Subscript) and not CONFIGS.isdisjoint(dotted(inner.value).split(".")):
            return True
    waiting, seen = [value], set[Op]()
    while waiting and len(seen) < _DEEPEST:
        op = waiting.pop().op
        if op is None or op in seen:
            continue
        seen.add(op)
        if op.function == PARAMETER or (op.function in {ATTRIBUTE, ELEMENT} and not op.operands):
            return True
        waiting += op.operands.values()
    return False


def is_set_again(function: Function, part: Part, graph: Graph) -> bool:
    """Whether the rate of the config counts again: somebody looks at both where the state is loaded, or sets the rate there or in training."""
    if part.made_in is not None and not AGAIN.isdisjoint(names_below(part.made_in.node)):
        return True
    if _is_looked_at(function) or sets_rates(function):
        return True
    made = [*part.makers, *_driven(part, graph)]
    own = {maker.where for beside in graph.restoring.in_function(function) for maker in beside.makers}
    # What sets the rates may itself go on from a state that is restored here.
    return any(
        setter.sets_that_of(made, function)
        for setter in graph.restoring.setters
        if own.isdisjoint(each.name for each in lineage_of(setter.function))
    )


def _is_looked_at(function: Function) -> bool:
    """Whether a function reads rates or groups outside of the loop that trains, where they are logged."""
    waiting: list[ast.AST] = [function.node]
    while waiting:
        node = waiting.pop()
        # `model.param_groups(rate)` makes groups.
        made = [node.func] if isinstance(node, ast.Call) and dotted(node.func).endswith(".param_groups") else []
        if {getattr(node, "attr", ""), getattr(node, "id", "")} & AGAIN:
            return True
        is_training = isinstance(node, ast.For | ast.While) and "backward" in names_below(node)
        inner = [] if is_training else [each for each in ast.iter_child_nodes(node) if each not in made]
        if isinstance(function.node, ast.Module):
            inner = [each for each in inner if not isinstance(each, ast.FunctionDef | ast.ClassDef)]
        waiting += inner
    return False


def is_compared(function: Function, rate: Rate) -> bool:
    """Whether a function compares the setting with one of the same name, as the config that was saved: what differs is seen there."""
    asked = _last_names(rate.node)
    return any(
        isinstance(node, ast.Compare)
        and not asked.isdisjoint(_last_names(node.left) & _last_names(node.comparators[0]))
        and ast.dump(node.left) != ast.dump(node.comparators[0])
        for node in walk(function.node)
    )


def _last_names(node: ast.AST) -> set[object]:
    """The attributes and keys that an expression reads: {"lr"} of `args.lr` and of `saved["lr"]`."""
    keys = {
        each.slice.value
        for each in walk(node)
        if isinstance(each, ast.Subscript) and isinstance(each.slice, ast.Constant)
    }
    return keys | {each.attr for each in walk(node) if isinstance(each, ast.Attribute)}


def is_only_read_off(part: Part) -> bool:
    """Whether its schedule goes on from what it measures: `ReduceLROnPlateau` has no rate in its state."""
    return bool(part.makers) and all(each.where.endswith("ReduceLROnPlateau") for each in part.makers)


def has_own_schedule(function: Function) -> bool:
    """Whether a function speaks of a schedule and makes none of torch's."""
    words = names_below(function.node)
    speaks = any("sched" in word.lower() or "cosine" in word.lower() for word in words)
    return speaks and not any(is_known_scheduler(op) for op in function.ops)
