"""What the tracer notes of an operation whose result is not finite."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from nanlint.trace.measure import FINITE, Flaws, Stats

if TYPE_CHECKING:
    import torch

    from nanlint.trace.places import Place


@dataclass(frozen=True, slots=True)
class Source:
    """An operation of the forward pass as the backward pass may want to know it."""

    operation: str
    places: tuple[Place, ...]
    module: Any = None
    """The innermost nn.Module that was running."""
    call: Call | None = None


@dataclass(frozen=True, slots=True)
class Call:
    """An operation with what it was given, to be done again."""

    function: Any
    arguments: tuple[Any, ...]
    options: dict[str, Any]


@dataclass(frozen=True, slots=True)
class Operand:
    """A tensor that went into an operation: its flaws, and the event that made it so."""

    name: str
    flaws: Flaws
    maker: int | None
    tensor: torch.Tensor | None = None
    """Kept when it is not finite and no event made it: it came from outside."""


@dataclass(slots=True)
class Event:
    """One operation with a non-finite result."""

    index: int
    operation: str
    source: Source
    node: str
    """The autograd node that called it, such as SqrtBackward0; empty in the forward pass."""
    operands: tuple[Operand, ...]
    flaws: Flaws = FINITE
    is_literal: bool = False
    """The infinity was asked for: `masked_fill(-inf)`, `full(-inf)`, or passed on from such a place."""
    inputs: tuple[Stats, ...] = ()
    output: Stats | None = None
    call: Call | None = None
    storages: list[Any] = field(default_factory=list)
    """Held so that no other tensor gets their address."""

    @property
    def is_backward(self) -> bool:
        """Whether autograd called it."""
        return bool(self.node)

    @property
    def makes_it(self) -> bool:
        """Whether finite values went in and non-finite ones came out, unasked."""
        return not self.is_literal and not any(operand.flaws for operand in self.operands)
