"""The random generators that a script has made for itself: `np.random.default_rng()`, `random.Random()`, `torch.Generator()`.

Asked of the garbage collector, once per optimizer; torch's are not known to it and are looked for in variables and attributes.
"""

from __future__ import annotations

import gc
import random
import sys
from typing import TYPE_CHECKING, Any, NamedTuple

import torch

from nanlint.trace.evidence import variables_of
from nanlint.trace.places import is_foreign

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

MOST = 32
"""A script that has more of them has one for each sample."""


class Generator(NamedTuple):
    """How to read a generator's state, and how to set it."""

    state: Callable[[], Any]
    set_state: Callable[[Any], None]


def living_generators() -> list[Generator]:
    """Every generator there is, but those that belong to torch, Python and numpy themselves."""
    things = gc.get_objects()
    found = [*_numpy_generators(things), *_python_generators(things), *_torch_generators(things)]
    return found if len(found) <= MOST else []


def _numpy_generators(things: list[Any]) -> Iterator[Generator]:
    numpy = sys.modules.get("numpy")
    if numpy is None or not hasattr(numpy, "random"):
        return
    for thing in things:
        if type(thing) is numpy.random.Generator:
            yield _numpy_generator(thing.bit_generator)
        elif type(thing) is numpy.random.RandomState and thing is not numpy.random.mtrand._rand:  # noqa: SLF001 - numpy's own
            yield _numpy_generator(thing._bit_generator)  # noqa: SLF001 - it has no public name here


def _numpy_generator(bits: Any) -> Generator:
    return Generator(lambda: bits.state, lambda state: setattr(bits, "state", state))


def _python_generators(things: list[Any]) -> Iterator[Generator]:
    own = random._inst  # noqa: SLF001 - Python's own
    return (
        Generator(thing.getstate, thing.setstate)
        for thing in things
        if type(thing) is random.Random and thing is not own
    )


def _torch_generators(things: list[Any]) -> Iterator[Generator]:
    places = [thing for thing in things if type(thing) is dict]
    frame = sys._getframe()  # noqa: SLF001 - local variables are in no dict
    while frame is not None:
        # Our own frames would hold on to themselves.
        if not is_foreign(frame.f_code.co_filename):
            places.append(variables_of(frame))
        frame = frame.f_back  # type: ignore[assignment] # None ends it
    found = {id(value): value for place in places for value in list(place.values()) if type(value) is torch.Generator}
    own = id(torch.default_generator)
    return (Generator(each.get_state, each.set_state) for key, each in found.items() if key != own)
