"""Looks at the result of every operation, forward and backward, and notes those that are not finite.

Costs a sum per operation, so it is on for one step only: the replay of a step that went wrong. A backward operation is
told the line of its forward by the sequence number of its autograd node: the node is made just before the operation
gets here, so its number is one below the next. Whether a non-finite value does harm is not decided here.
"""

# The schema and the storage of a tensor have no public names, and the base class has no types.
# ruff: noqa: SLF001
# mypy: disable-error-code="no-untyped-call"

from __future__ import annotations

import math
import sys
import warnings
from typing import TYPE_CHECKING, Any

import torch
from torch.nn.modules.module import register_module_forward_hook, register_module_forward_pre_hook
from torch.utils._python_dispatch import TorchDispatchMode
from torch.utils._pytree import tree_flatten, tree_map_only

from nanlint.trace.events import Call, Event, Operand, Source
from nanlint.trace.measure import FINITE, Flaws, bytes_of, flaws_of, is_checkable, is_finite, stats_of
from nanlint.trace.names import storage_of
from nanlint.trace.places import calling_places

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

UNINITIALIZED = ("aten::empty", "aten::new_empty", "aten::resize_")
"""Whatever was in memory before; somebody will write over it."""
ASYNCHRONOUS = ("c10d::", "_c10d_functional::")
"""Results that may still be on their way."""
KEPT_BYTES = 1 << 29
"""Of the forward pass, kept for the repro of a backward failure."""
KEPT_CANDIDATES = 64
CLONED_ELEMENTS = 1 << 22

_next_sequence_number = torch._C._autograd._get_sequence_nr
_running_node = torch._C._current_autograd_node


class Tracer(TorchDispatchMode):
    """Active from `start` to `stop`; the events are in the order of execution."""

    def __init__(self) -> None:
        super().__init__()
        self.events: list[Event] = []
        self.is_paused = False
        self.operations = 0
        self._makers: dict[int, int] = {}
        self._sources: dict[int, Source] = {}
        self._modules: list[torch.nn.Module] = []
        self._kept_bytes = 0
        self._candidates = 0
        self._hooks: list[Any] = []

    def start(self) -> None:
        """From here on, every operation of this thread and of its backward passes is looked at."""
        # OptimizedModule warns about hooks such as these; that they fire twice does no harm here.
        warnings.filterwarnings("ignore", message="Using `torch.compile.module.` when there are global hooks")
        self._hooks = [
            register_module_forward_pre_hook(self._enter_module),
            register_module_forward_hook(self._leave_module, always_call=True),
        ]
        self._was_multithreaded = torch.autograd.set_multithreading_enabled(False)
        self.__enter__()

    def stop(self) -> None:
        """Look no longer; the events stay."""
        self.__exit__(None, None, None)
        self._was_multithreaded.__exit__(None, None, None)
        for hook in self._hooks:
            hook.remove()
        self._hooks = []

    def forget(self) -> None:
        """Begin a new step."""
        self.events = []
        self._makers.clear()
        self._sources.clear()
        self._modules.clear()
        self._kept_bytes = self._candidates = 0

    def maker_of(self, tensor: torch.Tensor) -> Event | None:
        """The event that made the non-finite values in the memory of `tensor`."""
        index = self._makers.get(storage_of(tensor)) if type(tensor) in _PLAIN else None
        return None if index is None else self.events[index]

    def __torch_dispatch__(
        self, func: Any, types: Any, args: tuple[Any, ...] = (), kwargs: dict[str, Any] | None = None
    ) -> Any:
        """Run the operation and look at what came out."""
        del types
        options = kwargs or {}
        if self.is_paused or func._schema.name.startswith(UNINITIALIZED + ASYNCHRONOUS):
            return func(*args, **options)
        call = Call(func, args, options)
        before = _Before(call) if func._schema.is_mutable else None
        node, number = _running_node(), _next_sequence_number()
        result = func(*args, **options)
        self.operations += 1
        source = self._source(call, node, number)
        self._look(result, before or _Before(call, is_late=True), (node, source))
        return result

    def _source(self, call: Call, node: Any, number: int) -> Source:
        if node is None or (torch.is_grad_enabled() and not _is_called_by_engine()):
            kept = call if self._may_keep(call) else None
            source = Source(_name(call.function), calling_places(), self._modules[-1] if self._modules else None, kept)
            # detach() and the like come after the operation under the same number.
            self._sources.setdefault(number - 1, source)
            return source
        forward = self._sources.get(node._sequence_nr())
        if forward is not None and torch.is_grad_enabled():
            # A gradient that will be differentiated in turn belongs to the same line.
            self._sources.setdefault(number - 1, forward)
        if forward is None or not node.name()[-1].isdigit():
            # A node without a number is a user's own autograd.Function, whose backward has lines of its own.
            live = calling_places()
            if forward is None or (live and live[0].function == "backward"):
                return Source(_name(call.function), live, forward.module if forward else None)
        return forward

    def _may_keep(self, call: Call) -> bool:
        self._kept_bytes += bytes_of((call.arguments, call.options))
        return self._kept_bytes < KEPT_BYTES

    def _look(self, result: Any, before: _Before, origin: tuple[Any, Source]) -> None:
        if before.is_view:
            return
        flaws, flawed = FINITE, []
        for tensor in _tensors(result):
            if not is_checkable(tensor) or tensor.numel() == 0:
                continue
            if is_finite(tensor):
                self._clean(tensor)
                continue
            found = flaws_of(tensor)
            flaws = Flaws(flaws.nan or found.nan, flaws.above or found.above, flaws.below or found.below)
            flawed.append(tensor)
        if flawed:
            self._note(flawed, flaws, before, origin)

    def _clean(self, tensor: torch.Tensor) -> None:
        """Its memory holds no bad values any more, if it is all of that memory."""
        if self._makers and tensor.nbytes == tensor.untyped_storage().nbytes():
            self._makers.pop(storage_of(tensor), None)

    def _note(self, flawed: Sequence[torch.Tensor], flaws: Flaws, before: _Before, origin: tuple[Any, Source]) -> None:
        node, source = origin
        is_backward = node is not None and (not torch.is_grad_enabled() or _is_called_by_engine())
        operands = tuple(self._operands(before))
        event = Event(
            len(self.events), _name(before.call.function), source, node.name() if is_backward else "", operands, flaws
        )
        event.is_literal = before.asks_for(flaws) or self._is_passed_on(event)
        event.storages = [tensor.untyped_storage() for tensor in flawed]
        if not event.is_literal and not any(operand.flaws.nan for operand in operands):
            self._measure(event, before, flawed[0])
        self.events.append(event)
        for tensor in flawed:
            self._makers[storage_of(tensor)] = event.index

    def _operands(self, before: _Before) -> Iterator[Operand]:
        for name, tensor in before.named_tensors():
            if not is_checkable(tensor):
                continue
            flaws = _flaws(before.original(tensor))
            maker = self._makers.get(storage_of(tensor)) if flaws else None
            yield Operand(name, flaws, maker, tensor if flaws and maker is None else None)

    def _is_passed_on(self, event: Event) -> bool:
        """Whether every infinity in it was asked for further up, and none became NaN."""
        flawed = [operand for operand in event.operands if operand.flaws]
        return bool(flawed) and not event.flaws.nan and all(map(self._is_tame, flawed))

    def _is_tame(self, operand: Operand) -> bool:
        if operand.maker is not None:
            return self.events[operand.maker].is_literal
        # A mask that was made before tracing began.
        return not operand.flaws.nan and not operand.flaws.above

    def _measure(self, event: Event, before: _Before, result: torch.Tensor) -> None:
        self._candidates += 1
        if self._candidates > KEPT_CANDIDATES:
            return
        paused, self.is_paused = self.is_paused, True
        event.inputs = tuple(stats_of(name, before.original(tensor)) for name, tensor in before.named_tensors())
        event.output = stats_of("result", result)
        event.call = before.copied()
        self.is_paused = paused

    def _enter_module(self, module: torch.nn.Module, _arguments: Any) -> None:
        self._modules.append(module)

    def _leave_module(self, module: torch.nn.Module, _arguments: Any, _result: Any) -> None:
        if any(other is module for other in self._modules):
            while self._modules.pop() is not module:
                pass


class _Before:
    """What an operation was given, as it was before the operation changed any of it."""

    def __init__(self, call: Call, *, is_late: bool = False) -> None:
        self.call = call
        self._originals: dict[int, torch.Tensor] = {}
        if not is_late:
            for tensor in _tensors((call.arguments, call.options)):
                if tensor.numel() <= CLONED_ELEMENTS and is_checkable(tensor):
                    self._originals[id(tensor)] = tensor.detach().clone()

    @property
    def is_view(self) -> bool:
        """Whether the result is another look at the same memory."""
        returns = self.call.function._schema.returns
        return bool(returns) and all(part.alias_info is not None and not part.alias_info.is_write for part in returns)

    def asks_for(self, flaws: Flaws) -> bool:
        """Whether a number in the call itself is not finite, or there is nothing it could have been computed from.

        NaN is not what a call with an infinity asks for.
        """
        leaves = tree_flatten((self.call.arguments, self.call.options))[0]
        asked = [leaf for leaf in leaves if isinstance(leaf, float) and not math.isfinite(leaf)]
        if asked:
            return not flaws.nan or any(map(math.isnan, asked))
        return not any(isinstance(leaf, torch.Tensor) for leaf in leaves)

    def named_tensors(self) -> Iterator[tuple[str, torch.Tensor]]:
        """Its tensors under the names that the operation gives them; written-only ones are left out."""
        schema = self.call.function._schema.arguments
        named = [(argument.name, value) for argument, value in zip(schema, self.call.arguments, strict=False)]
        for name, value in [*named, *self.call.options.items()]:
            found = list(_tensors(value))
            for index, tensor in enumerate(found):
                if name != "out":
                    yield (f"{name}[{index}]" if len(found) > 1 else name), tensor

    def original(self, tensor: torch.Tensor) -> torch.Tensor:
        """The tensor as it went in."""
        return self._originals.get(id(tensor), tensor)

    def copied(self) -> Call:
        """The call with tensors of its own, which nobody changes any more."""
        arguments, options = tree_map_only(
            torch.Tensor,
            lambda tensor: self.original(tensor).detach().clone(),
            (self.call.arguments, self.call.options),
        )
        return Call(self.call.function, arguments, options)


def _is_called_by_engine() -> bool:
    """Whether autograd itself runs the operation, and not a function that it runs again, as checkpointing does."""
    frame = sys._getframe(1)
    while frame.f_back is not None and frame.f_code.co_filename.endswith(_DISPATCHING):
        frame = frame.f_back
    return frame.f_code.co_name == "_engine_run_backward"


_DISPATCHING = (__file__, "_python_dispatch.py", "_compile.py", "eval_frame.py")
"""Files through which an operation comes to us, whoever called it."""
_PLAIN = (torch.Tensor, torch.nn.Parameter)


def _tensors(value: Any) -> Iterator[torch.Tensor]:
    """The plain tensors in a value; flat for the common cases, which are most of them."""
    if type(value) in _PLAIN:
        yield value
    elif isinstance(value, (tuple, list, dict)):
        yield from (leaf for leaf in tree_flatten(value)[0] if type(leaf) in _PLAIN)


def _flaws(tensor: torch.Tensor) -> Flaws:
    return FINITE if tensor.numel() == 0 or is_finite(tensor) else flaws_of(tensor)


def _name(function: Any) -> str:
    """`log` for aten::log.default, `relu_` for the operation in place."""
    return str(function._schema.name.partition("::")[2])
