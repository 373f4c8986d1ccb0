"""What is known of one argument: how it is used, of what it is made, and what a call of it gives.

Evidence is a tree: an argument has parts, holds things under keys, and may return something when it is called. `uses`
reads the source and fills it.
"""

from __future__ import annotations

import ast
from collections.abc import Callable
from dataclasses import dataclass, field

import torch

from nanlint.confirm.tensor_words import (
    DISTRIBUTION,
    MAPPING,
    OF_DISTRIBUTIONS,
    TENSOR_FIELDS,
    TENSOR_ONLY,
)

Function = ast.FunctionDef | ast.AsyncFunctionDef
Resolve = Callable[[str], "Resolved | None"]
"""From the text of what is called, as `helper` or `self.helper`, to its definition."""


@dataclass
class Resolved:
    """A function, and how the names in it are resolved."""

    function: Function
    resolve: Resolve


@dataclass
class Uses:
    """The evidence on one parameter."""

    ranks: list[int] = field(default_factory=list)
    """Numbers of dimensions that some statement needs exactly."""
    least_rank: int = 0
    letters: str = ""
    """The names of the dimensions, from an einops or jaxtyping pattern or from an unpacked shape."""
    called: bool = False
    attributes: set[str] = field(default_factory=set)
    keys: set[object] = field(default_factory=set)
    words: list[str] = field(default_factory=list)
    """Strings it is compared with."""
    counted: bool = False
    """Used where Python wants an integer."""
    iterated: bool = False
    masks: bool = False
    indexes: bool = False
    projected: bool = False
    """A factor of a matrix product, as queries and keys are."""
    ctc: int | None = None
    """The place it has among the arguments of a CTC loss."""
    tested: bool = False
    """In the condition of an `if`."""
    is_switch: bool = False
    """A condition by itself, as in `if x:`."""
    numbers: list[int] = field(default_factory=list)
    """Whole numbers it is compared with."""
    ordered: bool = False
    """Compared with a number, which is larger or smaller."""
    lifted: bool = False
    """A tiny positive number is added to it: whoever wrote that takes it to be 0 at least."""
    looked_for: bool = False
    """A key of which the code asks whether it is there."""
    parts: dict[str, Uses] = field(default_factory=dict)
    """The evidence on its attributes."""
    items: dict[str | int, Uses] = field(default_factory=dict)
    """The evidence on what it holds under a key, or at a place."""
    result: Uses | None = None
    """The evidence on what a call of it returns."""

    @property
    def is_tensor(self) -> bool:
        """Whether something is done with it that only a tensor can."""
        if self.is_distribution or self.is_mapping or self.own_parts:
            return False
        return bool(self.ranks or self.least_rank or self.letters or self.attributes & TENSOR_ONLY or self.masks)

    @property
    def is_distribution(self) -> bool:
        """Whether it is asked for what distributions have."""
        read = "mean" in self.parts and not self.parts["mean"].called
        return (read or bool(self.attributes & DISTRIBUTION)) and self.attributes <= OF_DISTRIBUTIONS

    @property
    def is_mapping(self) -> bool:
        """Whether it is asked by keys as a dictionary is."""
        asked = any(isinstance(key, str) for key in self.items) or bool(self.attributes & {"get", "items", "keys"})
        return asked and self.attributes <= MAPPING | {"to"}

    def take(self, other: Uses) -> None:
        """The evidence on another name for the same thing."""
        self.attributes |= other.attributes
        self.parts.update(other.parts)
        self.items.update(other.items)
        self.called, self.result = self.called or other.called, self.result or other.result

    @property
    def is_optional(self) -> bool:
        """Whether the code manages without it."""
        return self.looked_for

    @property
    def own_parts(self) -> dict[str, Uses]:
        """The attributes that a tensor does not have as well, or has as methods, which are not called here."""
        return {
            name: uses
            for name, uses in self.parts.items()
            if not hasattr(torch.Tensor, name) or uses.is_no_method(name)
        }

    def is_no_method(self, name: str) -> bool:
        """Whether something is read from it that no method of a tensor has."""
        return name not in TENSOR_FIELDS and not self.called and bool(self.attributes or self.items)
