"""Makes a diagnosis of what the tracer noted: follows the trail, names things, and says why."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import torch

from nanlint.trace.came_in import Batch, in_batch, variable_of, where_bad
from nanlint.trace.diagnosis import ELSEWHERE, INPUT, OPERATION, PARAMETER, Diagnosis, Link, ParameterState
from nanlint.trace.measure import Flaws, flaws_of, local_part, stats_of
from nanlint.trace.names import Names
from nanlint.trace.reasons import Broken, reason_for, slope_reason
from nanlint.trace.walk_back import Trail, earliest, walk_back

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from nanlint.trace.events import Event, Operand
    from nanlint.trace.tracer import Tracer

NEAREST = 6
"""Parameters that are shown."""


def what(flaws: Flaws) -> str:
    """`NaN`, `inf`, `-inf` or a list of them."""
    kinds = [word for word, there in (("NaN", flaws.nan), ("inf", flaws.above), ("-inf", flaws.below)) if there]
    return " and ".join(kinds)


def loss_symptom(losses: Sequence[torch.Tensor]) -> str:
    """What is wrong with the loss."""
    return f"the loss is {what(flaws_of(losses[0]))}"


def gradient_symptom(bad: Sequence[torch.Tensor], names: Names, total: int) -> str:
    """Whose gradients are wrong."""
    first = names.of_tensor(bad[0]) or f"a parameter of shape {tuple(bad[0].shape)}"
    found = [flaws_of(local_part(parameter.grad)) for parameter in bad if parameter.grad is not None]
    kinds = Flaws(*(any(getattr(each, kind) for each in found) for kind in ("nan", "above", "below")))
    return f"the gradient of {len(bad)} of {total} parameters is {what(kinds)}, first of `{first}`"


def diagnose(
    tracer: Tracer, targets: Iterable[torch.Tensor], blank: Diagnosis, batch: Batch
) -> tuple[Diagnosis, Event | None]:
    """`blank` completed by the origin of what is bad in `targets`, and the event of that origin.

    Without targets, as after an exception, it is the origin of the last that went wrong.
    """
    trail = _trail(tracer, list(targets))
    if trail is None:
        blank.kind = ELSEWHERE
        return blank, None
    names = Names.gather()
    blank.chain = tuple(_link(event) for event in trail.events)
    if trail.outside is not None:
        return _from_outside(blank, trail, trail.outside, names, batch), None
    return _from_operation(blank, trail.origin, names), trail.origin


def _trail(tracer: Tracer, targets: Sequence[torch.Tensor]) -> Trail | None:
    ends = [tracer.maker_of(local_part(target)) for target in targets]
    trails = [walk_back(end, tracer.events) for end in ends if end is not None]
    found = earliest([trail for trail in trails if not _is_exchange(trail)])
    if found is not None:
        return found
    # The gradient was moved where the tracer does not look, as into the buckets of DDP.
    events = [event for event in tracer.events if event.is_backward or not targets]
    last = (walk_back(event, tracer.events) for event in reversed(events))
    return next((trail for trail in last if not trail.origin.is_literal and not _is_exchange(trail)), None)


def _is_exchange(trail: Trail) -> bool:
    """Whether the values came out of an exchange between ranks, which only copies what another rank made."""
    distributed = torch.distributed
    is_spread = distributed.is_available() and distributed.is_initialized() and distributed.get_world_size() > 1
    return is_spread and trail.outside is not None and trail.origin.operation in {"copy_", "mul", "mul_", "div", "div_"}


def _link(event: Event) -> Link:
    places = event.source.places
    name = event.source.operation if event.is_backward else event.operation
    return Link(name, event.is_backward, places[0] if places else None, what(event.flaws))


def _from_operation(blank: Diagnosis, origin: Event, names: Names) -> Diagnosis:
    blank.kind = OPERATION
    blank.is_backward = origin.is_backward
    blank.operation = origin.source.operation if origin.is_backward else origin.operation
    blank.places = origin.source.places
    blank.module = names.of_module(origin.source.module)
    blank.inputs, blank.output = origin.inputs, origin.output
    forward = _forward_inputs(origin)
    if origin.is_backward:
        blank.reason, blank.cause = slope_reason(Broken.of(origin), origin.source.operation, forward)
        blank.inputs = forward or origin.inputs
    else:
        blank.reason, blank.cause = reason_for(Broken.of(origin))
    blank.parameters = nearest_parameters(origin.source.module, names)
    return blank


def _forward_inputs(origin: Event) -> tuple[Any, ...]:
    """What the forward operation was given, for a failure in its backward."""
    call = origin.source.call
    if not origin.is_backward or call is None:
        return ()
    schema = call.function._schema.arguments  # noqa: SLF001 - it has no public name
    pairs = zip(schema, call.arguments, strict=False)
    return tuple(stats_of(argument.name, value) for argument, value in pairs if isinstance(value, torch.Tensor))


def _from_outside(blank: Diagnosis, trail: Trail, operand: Operand, names: Names, batch: Batch) -> Diagnosis:
    first, tensor = trail.origin, operand.tensor
    assert tensor is not None  # noqa: S101 - the tracer keeps what came from outside
    blank.kind = INPUT
    blank.operation, blank.is_backward = first.operation, first.is_backward
    blank.places, blank.module = first.source.places, names.of_module(first.source.module)
    blank.parameters = nearest_parameters(first.source.module, names)
    name, held = names.of_tensor(tensor), what(operand.flaws)
    if name:
        owner = "the buffer" if names.is_buffer(tensor) else "the parameter"
        blank.inputs = (stats_of(name, tensor),)
        blank.reason = f"{owner} `{name}`{names.tie_of(tensor)} already held {held} when the step began"
        if owner == "the parameter" and blank.step == 1:
            blank.kind = PARAMETER
            blank.reason = from_the_start(name, operand.flaws)
        return blank
    given = in_batch(tensor, batch)
    name, whole = given or (variable_of(tensor), tensor)
    place = where_bad(whole)
    blank.inputs = (stats_of(name or operand.name, whole),)
    if given is not None:
        blank.reason = f"the batch held {held}: `{name}` {place}".rstrip()
    elif name:
        blank.reason = f"`{name}` held {held} when the step began {place}".rstrip()
    else:
        shape = tuple(tensor.shape)
        blank.reason = f"a tensor of shape {shape}, `{operand.name}` of {first.operation}, held {held} when it came in {place}".rstrip()
    return blank


def from_the_start(name: str, flaws: Flaws) -> str:
    """The reason for a parameter that no step of this run has touched."""
    return f"`{name}` held {what(flaws)} before the first step: from initialisation or from a checkpoint"


def nearest_parameters(module: Any, names: Names) -> tuple[ParameterState, ...]:
    """The parameters of the module, or of the smallest one around it that has any."""
    if module is None:
        return ()
    path = names.modules.get(id(module), "")
    known = {id(each): each for owner in names.owners.values() for each in owner.parameters(recurse=False)}
    named = [(names.tensors[key], parameter) for key, parameter in known.items() if key in names.tensors]
    near = [(name, parameter) for name, parameter in named if names.owners[id(parameter)] is module]
    while not near and path:
        near = [(name, parameter) for name, parameter in named if name.startswith(f"{path}.")]
        path = path.rpartition(".")[0]
    return tuple(parameter_state(name, parameter) for name, parameter in near[:NEAREST])


def parameter_state(name: str, parameter: torch.Tensor) -> ParameterState:
    """The numbers of a parameter and of its gradient."""
    gradient = parameter.grad
    return ParameterState(stats_of(name, parameter), None if gradient is None else stats_of("gradient", gradient))
