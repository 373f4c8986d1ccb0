"""Objects with attributes that nobody has set: made without their constructor, or made and asked for what comes later.

A trainer wants its data, an agent its environment; the method that restores a run wants an optimizer. What is missing has
what suits its name and its use, and is told: a verdict on such an object is reachable at most.
"""

from __future__ import annotations

import ast
import contextlib
from typing import TYPE_CHECKING, Any

import torch

from nanlint.confirm.worker.evidence import Uses
from nanlint.confirm.worker.guards import demands_on
from nanlint.confirm.worker.subject import source_of
from nanlint.confirm.worker.uses import uses_in

if TYPE_CHECKING:
    from nanlint.confirm.worker.training.things import Things

Json = dict[str, Any]


class NotBuilt(Exception):  # noqa: N818 - reads as a sentence where it is raised
    """The constructor of a class does not run."""


def built(owner: type, things: Things) -> Any:
    """The object as its constructor makes it; where the recipe says so, without."""
    if not things.recipe.get("unbuilt"):
        try:
            return owner(**things.for_function(owner))
        except Exception as error:
            raise NotBuilt(f"{type(error).__name__}: {error}") from error
    made: Any = object.__new__(owner)
    if isinstance(made, torch.nn.Module):
        torch.nn.Module.__init__(made)
    things.guessed.append("self")
    return made


def completed(made: Any, things: Things, target: Json) -> Any:
    """The object with what its methods ask for and it has not got, and with what the flagged line demands."""
    owner = type(made)
    uses = _uses(owner)

    def ask(name: str) -> Any:
        # What a constructor has set to None is there.
        things.guessed.append(name)
        return things.attribute(name, uses.get(name, Uses()))

    for demand in demands_on(target):
        first, _, name = demand.path.partition(".")
        if first == "self" and demand.what in {"given", "true"} and not getattr(made, name, None):
            with contextlib.suppress(AttributeError):
                setattr(made, name, ask(name))
    missing = None if things.recipe.get("unbuilt") else set(things.recipe.get("missing", ()))
    if missing is None or missing:
        _fill(made, missing, ask)
    return made


def _fill(made: Any, missing: set[str] | None, ask: Any) -> None:
    """Let the object answer for attributes that it has not got: those that are named, or all."""
    owner = type(made)
    plain = getattr(owner, "__getattr__", None)

    def answer(self: Any, name: str) -> Any:
        if plain is not None:
            with contextlib.suppress(AttributeError):
                return plain(self, name)
        if name.startswith("__") or (missing is not None and name not in missing):
            raise AttributeError(f"'{owner.__name__}' object has no attribute '{name}'")
        found = ask(name)
        self.__dict__[name] = found
        return found

    with contextlib.suppress(TypeError):
        made.__class__ = type(owner.__name__, (owner,), {"__getattr__": answer, "__module__": owner.__module__})


def _uses(owner: type) -> dict[str, Uses]:
    """What the methods of a class do with its attributes."""
    found: dict[str, Uses] = {}
    for method in vars(owner).values():
        with contextlib.suppress(SyntaxError, ValueError, RecursionError, TypeError):
            parts = uses_in(ast.parse(source_of(method)), {"self"})["self"].parts
            for name, uses in parts.items():
                found.setdefault(name, Uses()).take(uses)
    return found
