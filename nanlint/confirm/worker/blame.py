"""Whether a failure is the one that the finding tells of: its line, or its operation on a value of its line.

A verdict is about one finding. A NaN that another line of the function makes says nothing about it.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from nanlint.confirm.worker.origin import ancestors
from nanlint.confirm.worker.zone_met import has_overflowed, is_about_large_values, is_about_small_values, is_met
from nanlint.ops.zones import OPERATIONS

if TYPE_CHECKING:
    from nanlint.confirm.worker.origin import Event, Tracer

# What an operation of the op table is called where torch runs it; most have the last part of their own name.
_ALIASES: dict[str, frozenset[str]] = {
    "cross_entropy": frozenset(
        {"nll_loss_forward", "nll_loss2d_forward", "nll_loss_nd", "_log_softmax", "cross_entropy_loss"}
    ),
    "nll_loss": frozenset({"nll_loss_forward", "nll_loss2d_forward", "nll_loss_nd"}),
    "ctc_loss": frozenset({"_ctc_loss", "mean", "div", "_cudnn_ctc_loss"}),
    "mse_loss": frozenset({"mse_loss", "mean"}),
    "l1_loss": frozenset({"mean", "abs"}),
    "smooth_l1_loss": frozenset({"smooth_l1_loss", "mean"}),
    "binary_cross_entropy": frozenset({"binary_cross_entropy", "mean"}),
    "softmax": frozenset({"_softmax", "_safe_softmax"}),
    "log_softmax": frozenset({"_log_softmax"}),
    "normalize": frozenset({"div", "linalg_vector_norm"}),
    "norm": frozenset({"linalg_vector_norm", "norm"}),
    "mean": frozenset({"mean", "div"}),
    "div": frozenset({"div", "reciprocal", "mul"}),
    "matmul": frozenset({"mm", "bmm", "mv", "dot", "addmm", "baddbmm"}),
    "einsum": frozenset({"mm", "bmm", "sum", "mul"}),
    "square": frozenset({"pow"}),
}
_WITH_POLES = frozenset(
    f"torch.{name}" for name in ("log", "log2", "log10", "log1p", "div", "reciprocal", "rsqrt", "exp", "expm1")
)
_UNDERFLOWING = frozenset({"torch.exp", "torch.exp2"})
"""Operations that are finite far below 0, and 0 there."""


_AVERAGES = frozenset({"mean", "nanmean", "std", "var", "std_mean", "var_mean"})


def names_of(operation: str) -> frozenset[str]:
    """The operations that torch runs for one of the op table."""
    last = operation.rpartition(".")[2].rstrip("_").removesuffix("Loss").lower()
    return _ALIASES.get(last, frozenset()) | {last, f"{last}_", f"linalg_{last}", f"special_{last}", f"_linalg_{last}"}


def is_about(  # noqa: PLR0911 - guards, one by one
    tracer: Tracer, last: Event, target: dict[str, Any], hazard: dict[str, str] | None
) -> bool:
    """Whether the operation that made the damage is what the finding tells of."""
    source = tracer.events[last.forward] if last.forward is not None else last
    if target.get("anywhere"):
        return bool(source.place)
    if hazard is not None and _is_ruled_out(source, last, hazard):
        return False
    if is_about_large_values(hazard):
        return _is_named(source, hazard) and (is_flagged(source, target) or _same_function(source, target))
    if source.operation in _AVERAGES and hazard is not None and not _is_named(source, hazard):
        # The average of nothing: the finding is about values, and a slice that holds none is no value.
        return "element" in hazard["zone"]
    flagged = [event.index for event in tracer.events if not event.backward and is_flagged(event, target)]
    runs_it = any(_is_named(tracer.events[index], hazard) for index in flagged)
    if is_flagged(last, target) or is_flagged(source, target):
        # A line may divide and take a logarithm: what another operation of it breaks on is another finding's matter.
        return not (runs_it and _breaks_alone(hazard)) or _is_named(source, hazard)
    if hazard is not None and hazard["operation"].startswith("torch.optim.") and not source.place:
        # The step that broke is the optimizer's own.
        return True
    if not _same_function(source, target):
        return False
    if not flagged:
        return _is_named(source, hazard)
    # If the flagged line runs the operation itself, the same operation elsewhere is another matter.
    is_named = _is_named(source, hazard) and not runs_it
    upstream = set(flagged) & ancestors(tracer, source.index)
    if upstream:
        # An operation that breaks by itself is to blame where it does, and the first one of its kind is meant.
        is_meant = is_named and not _is_behind_another(tracer, upstream, source, hazard)
        return (_breaks_later(hazard) or is_meant) and _is_soon(tracer, upstream, source.index)
    downstream = any(source.index in ancestors(tracer, index) for index in flagged)
    return downstream and is_named


_GROWING = frozenset({"sum", "mul", "pow", "add", "mm", "bmm", "addmm", "cumsum", "mean"})


def _is_ruled_out(source: Event, last: Event, hazard: dict[str, str]) -> bool:
    """Whether it broke on other values than the finding tells of, or grew too large where that is about small ones."""
    if _is_named(source, hazard):
        return not is_met(source, last, hazard)
    is_growing = source.operation.rstrip("_") in _GROWING
    return is_growing and is_about_small_values(hazard["zone"]) and has_overflowed(source)


def _is_behind_another(tracer: Tracer, upstream: set[int], source: Event, hazard: dict[str, str] | None) -> bool:
    """Whether an operation of the same kind stands between the flagged line and this one."""
    between = (
        event
        for event in tracer.events
        if not event.backward
        and event.index < source.index
        and _is_named(event, hazard)
        and event.place != source.place
    )
    way = ancestors(tracer, source.index)
    return any(event.index in way and upstream & ancestors(tracer, event.index) for event in between)


def is_flagged(event: Event, target: dict[str, Any]) -> bool:
    """Whether the event happened in the flagged statement, or where the object that it makes is used."""
    stretches = [(target["first"], target["last"]), *target.get("also", ())]
    return any(first <= line <= last for line, _ in event.place for first, last in stretches)


def _same_function(event: Event, target: dict[str, Any]) -> bool:
    return any(first in target["function_lines"] for _, first in event.place)


def _breaks_later(hazard: dict[str, str] | None) -> bool:
    """Whether the flagged line makes or guards a value (a mask, a clamp, an eps, an exp that is 0) on which a later one breaks."""
    if hazard is None or hazard["operation"] not in OPERATIONS:
        return True
    if hazard["zone"] == "0" and hazard["operation"] not in _WITH_POLES:
        # The table has no zone for it: a norm that is 0 breaks the division by it.
        return True
    is_underflow = hazard["operation"] in _UNDERFLOWING and hazard["zone"].startswith("(-inf")
    return is_underflow or hazard["zone"] in {"inf", "-inf"}


def _breaks_alone(hazard: dict[str, str] | None) -> bool:
    """Whether the operation itself makes NaN or Inf of the values that the finding tells of; a sum or a root makes 0 of them."""
    return hazard is not None and hazard["operation"] in _WITH_POLES and not _breaks_later(hazard)


def _is_named(event: Event, hazard: dict[str, str] | None) -> bool:
    return hazard is not None and event.operation in names_of(hazard["operation"])


_SOON = 8
"""Operations between the flagged line and the one that breaks; further down, other lines are to blame."""


def _is_soon(tracer: Tracer, upstream: set[int], broken: int) -> bool:
    near = {broken}
    for _ in range(_SOON):
        near |= {parent for index in near for parent, _, _ in tracer.events[index].parents}
        if near & upstream:
            return True
    return False
