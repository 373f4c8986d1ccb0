"""Where a NaN or Inf was made: every operation of one run, its line in the user's file, and a walk back from the damage.

A dispatch mode sees each operation of the forward and of the backward. A backward operation belongs to the line of the
forward operation whose node it runs for (their sequence numbers agree). An infinity that the code wrote itself
(`masked_fill(-inf)`) is literal and never to blame; the operation that turns it into NaN is.
"""

from __future__ import annotations

import math
import sys
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

import torch
from torch.utils._python_dispatch import TorchDispatchMode

if TYPE_CHECKING:
    from collections.abc import Iterable

_next_number = torch._C._autograd._get_sequence_nr  # noqa: SLF001 - the only way to the forward line of a backward operation
_current_node = torch._C._current_autograd_node  # noqa: SLF001 - same

_LITERAL = frozenset(
    {
        "full",
        "full_like",
        "new_full",
        "scalar_tensor",
        "fill",
        "fill_",
        "lift_fresh",
        "lift_fresh_copy",
        "empty",
        "empty_like",
        "empty_strided",
        "new_empty",
        "_to_copy",
        "resize_",
    }
)
_FOREIGN = frozenset(
    {
        "masked_fill",
        "masked_fill_",
        "where",
        "clamp",
        "clamp_",
        "constant_pad_nd",
        "index_put_",
        "mul",
        "add",
        "div",
        "sub",
    }
)
_ELEMENTWISE = frozenset({"mul", "add", "sub", "div"})
_MOST_COPIED = 100_000
"""Elements of an argument that is kept; witnesses are small."""
_SUMMABLE = frozenset({torch.float16, torch.bfloat16, torch.float32, torch.float64})
Place = tuple[tuple[int, int], ...]
"""Lines in the user's file with the first line of the function each is in, innermost first."""


@dataclass
class Event:
    """One operation and what it did to the finiteness of values."""

    index: int
    operation: str
    place: Place
    backward: bool
    forward: int | None
    """For a backward operation the event of the forward operation it belongs to."""
    parents: list[tuple[int, bool, bool]] = field(default_factory=list)
    """Events that made the inputs, whether these held NaN, and whether they held a computed infinity."""
    nan: bool = False
    inf: bool = False
    benign: bool = False
    kept: list[Any] = field(default_factory=list)
    given: list[Any] = field(default_factory=list)
    """The arguments of a forward operation, as they were before it ran."""


def state(tensor: torch.Tensor) -> tuple[bool, bool]:
    """Whether the tensor holds NaN, and whether it holds an infinity."""
    if not (tensor.is_floating_point() or tensor.is_complex()) or tensor.numel() == 0:
        return False, False
    # Neither NaN nor an infinity is lost in a sum; a sum that overflows is looked at more closely.
    if tensor.dtype in _SUMMABLE and math.isfinite(tensor.sum().item()):
        return False, False
    return bool(tensor.isnan().any()), bool(tensor.isinf().any())


def _flat(thing: Any) -> list[Any]:
    """What is in lists, tuples and dicts: all that arguments and results of operations are made of."""
    if isinstance(thing, (list, tuple)):
        return [item for part in thing for item in _flat(part)]
    if isinstance(thing, dict):
        return [item for part in thing.values() for item in _flat(part)]
    return [thing]


def _copied(thing: Any) -> Any:
    """An argument that later operations do not change."""
    if not isinstance(thing, torch.Tensor) or thing.numel() > _MOST_COPIED:
        return thing
    return thing.detach().clone()


def _key(tensor: torch.Tensor) -> int:
    try:
        return int(tensor.untyped_storage()._cdata)  # noqa: SLF001 - the identity of the memory, which views share
    except (RuntimeError, NotImplementedError):
        return id(tensor)


@dataclass
class _Unread:
    """An event whose values were not looked at yet."""

    event: Event
    before: list[tuple[int | None, Any]]
    made: list[Any]
    stated: bool


def _flags(tensor: torch.Tensor) -> Any:
    """Whether the tensor holds NaN, and Inf: as it is on the CPU, two numbers to be read later elsewhere."""
    if tensor.device.type == "cpu" or not (tensor.is_floating_point() or tensor.is_complex()):
        return state(tensor)
    return torch.stack([tensor.isnan().any(), tensor.isinf().any()])


class Tracer(TorchDispatchMode):  # type: ignore[no-untyped-call] # torch's own class is untyped
    """Records the events of what runs inside it."""

    def __init__(self, path: str, weights: Iterable[torch.Tensor] = ()) -> None:
        super().__init__()  # type: ignore[no-untyped-call] # same
        self.path = path
        self._events: list[Event] = []
        self._pending: list[_Unread] = []
        self.latest: dict[int, int] = {}
        self.sources: dict[int, int] = {}
        self.weights = frozenset(map(_key, weights))
        self.is_outranked = False
        """Whether an input was stretched to the dimensions of a weight: then it has too few itself."""

    @classmethod
    def _should_skip_dynamo(cls) -> bool:
        # The default wraps every call, and imports the compiler for it.
        return False

    @property
    def events(self) -> list[Event]:
        """What has happened so far; where values lie on another device, they are read now, all at once."""
        if self._pending:
            self._resolve()
        return self._events

    def __torch_dispatch__(self, function: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
        node, number = _current_node(), _next_number()
        given = _flat((args, kwargs or {}))
        tensors = [item for item in given if isinstance(item, torch.Tensor)]
        before = [(self.latest.get(_key(item)), _flags(item)) for item in tensors]
        kept: list[Any] = [_copied(item) for item in args] if node is None else []
        result = function(*args, **(kwargs or {}))
        event = self._event(function, node)
        event.given = kept
        if node is None and event.operation in _ELEMENTWISE:
            self.is_outranked = self.is_outranked or self._outranks(tensors)
        if node is None or torch.is_grad_enabled():
            self.sources.setdefault(number - 1, event.index)
        made = [item for item in _flat(result) if isinstance(item, torch.Tensor)]
        stated = any(isinstance(item, float) and not math.isfinite(item) for item in given)
        self._pending.append(_Unread(event, before, [_flags(item) for item in made], stated))
        for item in made:
            self.latest[_key(item)] = event.index
        # The memory must not be reused while events are told apart by it.
        event.kept = made
        self._events.append(event)
        return result

    def _resolve(self) -> None:
        """Read the flags of every event, and judge them in their order."""
        unread, self._pending = self._pending, []
        flags = [flag for one in unread for flag in [*(flag for _, flag in one.before), *one.made]]
        far = [flag for flag in flags if isinstance(flag, torch.Tensor)]
        read = iter(torch.stack(far).tolist() if far else [])
        known = {id(flag): tuple(next(read)) if isinstance(flag, torch.Tensor) else flag for flag in flags}
        for one in unread:
            before = [self._origin_of(index, *known[id(flag)]) for index, flag in one.before]
            one.event.parents = [(index, nan, inf) for index, nan, inf, _ in before if index is not None]
            _judge(one.event, before, [known[id(flag)] for flag in one.made], stated=one.stated)

    def _outranks(self, tensors: list[torch.Tensor]) -> bool:
        weights = [item.dim() for item in tensors if _key(item) in self.weights]
        others = [item.dim() for item in tensors if _key(item) not in self.weights]
        return bool(weights) and any(0 < dim < max(weights) for dim in others)

    def _origin_of(self, index: int | None, nan: bool, inf: bool) -> tuple[int | None, bool, bool, bool]:  # noqa: FBT001 - what a flag says
        """The event that made an input, whether that holds NaN, a computed infinity, or a literal one."""
        literal = index is None or self._events[index].benign
        return index, nan and index is not None, inf and not literal, (inf or nan) and literal

    def _event(self, function: Any, node: Any) -> Event:
        name = function.__name__.partition(".")[0]
        source = self.sources.get(node._sequence_nr()) if node is not None else None  # noqa: SLF001 - see the module's text
        place = self._events[source].place if source is not None else self._place()
        return Event(len(self._events), name, place, node is not None, source)

    def _place(self) -> Place:
        found = []
        frame = sys._getframe(1)  # noqa: SLF001 - the user's line is on the stack
        while frame is not None:
            if frame.f_code.co_filename == self.path:
                found.append((frame.f_lineno, frame.f_code.co_firstlineno))
            frame = frame.f_back  # type: ignore[assignment] # None ends the loop
        return tuple(found)


def _judge(event: Event, before: list[Any], made: list[tuple[bool, bool]], *, stated: bool) -> None:
    """Whether the operation made NaN or Inf, and whether the code wrote it itself."""
    event.nan, event.inf = any(nan for nan, _ in made), any(inf for _, inf in made)
    if not (event.nan or event.inf):
        return
    nan_in = any(nan for _, nan, _, _ in before)
    inf_in = any(inf for _, _, inf, _ in before)
    literal_in = any(literal for _, _, _, literal in before)
    if event.nan:
        event.benign = not nan_in and not inf_in and event.operation in _LITERAL
    else:
        written = (stated and event.operation in _LITERAL | _FOREIGN) or event.operation in _LITERAL
        event.benign = not inf_in and (literal_in or written)


def damage(tracer: Tracer, damaged: torch.Tensor) -> Event | None:
    """The event that last wrote a damaged tensor; None if the damage was written by the code itself."""
    index = tracer.latest.get(_key(damaged))
    if index is None:
        bad = [event for event in tracer.events if (event.nan or event.inf) and not event.benign]
        return bad[-1] if bad else None
    event = tracer.events[index]
    return None if event.benign or not (event.nan or event.inf) else event


def origins(tracer: Tracer, damaged: Event, *, births: bool = False) -> list[Event]:
    """Where the NaN or Inf of an event was made: back over every damaged input to operations whose inputs are sound.

    With `births` also where an infinity became NaN.
    """
    found: list[Event] = []
    seen, queue = {damaged.index}, [damaged]
    while queue:
        event = queue.pop()
        nans = [parent for parent, nan, _ in event.parents if nan]
        infs = [parent for parent, _, inf in event.parents if inf]
        following = nans if event.nan and nans else infs
        if (not following and not event.benign) or (births and event.nan and not nans):
            found.append(event)
        for parent in following:
            if parent not in seen:
                seen.add(parent)
                queue.append(tracer.events[parent])
    return found


def ancestors(tracer: Tracer, start: int, limit: int = 400) -> set[int]:
    """The events whose results went into `start`."""
    found: set[int] = set()
    queue = [start]
    while queue and len(found) < limit:
        for parent, _, _ in tracer.events[queue.pop()].parents:
            if parent not in found:
                found.add(parent)
                queue.append(parent)
    return found
