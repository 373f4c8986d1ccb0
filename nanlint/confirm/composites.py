"""Specs that are made of specs: lists, dictionaries, distributions, and stand-ins for objects whose class nobody knows.

A stand-in has the attributes, the keys and the result of a call that the code asks for. Its tensors are inputs like all
others, so a search may vary them; but nobody vouches for their values, so what fails on them is never confirmed.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from nanlint.confirm.tensor_words import MAPPING, MODULE_NAMES

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from nanlint.confirm.worker.evidence import Uses

Spec = dict[str, Any]
Propose = "Callable[[str, Uses], Spec]"
_MOST_ITEMS = 8


def children(spec: Spec) -> Iterator[tuple[str, Spec]]:
    """The specs inside a spec, each with a label that is its own."""
    kind = spec["kind"]
    if kind == "list":
        yield from ((str(place), item) for place, item in enumerate(spec["items"]))
    elif kind in {"dict", "distribution"}:
        yield from spec["items"].items()
    elif kind == "object":
        yield from spec["items"].items()
        yield from ((f"[{key}]", item) for key, item in spec["keys"].items())
        if spec["result"] is not None:
            yield "()", spec["result"]


def within(spec: Spec, path: tuple[str, ...] = ()) -> Iterator[tuple[tuple[str, ...], Spec]]:
    """Every spec inside a spec, itself first, with the labels that lead to it."""
    yield path, spec
    for label, child in children(spec):
        yield from within(child, (*path, label))


def replaced(spec: Spec, path: tuple[str, ...], new: Spec) -> Spec:
    """The spec with another one at the end of a path; the old one is left as it was."""
    if not path:
        return new
    label, rest = path[0], path[1:]
    if spec["kind"] == "list":
        items = list(spec["items"])
        items[int(label)] = replaced(items[int(label)], rest, new)
        return {**spec, "items": items}
    if label == "()":
        return {**spec, "result": replaced(spec["result"], rest, new)}
    shelf, key = ("keys", label[1:-1]) if label.startswith("[") else ("items", label)
    return {**spec, shelf: {**spec[shelf], key: replaced(spec[shelf][key], rest, new)}}


def stands_in(spec: Spec) -> bool:
    """Whether an input is what a call of a stand-in gives: what its class would give nobody knows, as one knows an attribute."""
    result = spec["result"] if spec["kind"] == "object" else None
    if result is not None and any(inner["kind"] == "tensor" for _, inner in within(result)):
        return True
    return any(stands_in(child) for _, child in children(spec))


def distribution(name: str, shape: list[int]) -> Spec:
    """A normal distribution, which has all that is asked of one."""
    loc = {"kind": "tensor", "name": f"{name}.loc", "shape": shape, "domain": "real", "grad": True}
    scale = {"kind": "tensor", "name": f"{name}.scale", "shape": shape, "domain": "positive", "grad": True}
    return {"kind": "distribution", "items": {"loc": loc, "scale": scale}}


def by_parts(uses: Uses, shape: list[int], propose: Callable[[str, Uses], Spec], name: str) -> list[Spec]:
    """What the use of parts decides: a distribution, a dictionary, a pair, a stand-in; nothing if there are none."""
    if uses.is_distribution:
        return [distribution(name, shape)]
    keyed = {key: inner for key, inner in uses.items.items() if isinstance(key, str) and not inner.is_optional}
    if uses.is_mapping and keyed:
        held = {key: propose(key, inner) for key, inner in sorted(keyed.items())}
        return [{"kind": "dict", "items": held}, stand_in(uses, propose)]
    if uses.is_tensor:
        return []
    if uses.own_parts or (uses.called and _says_something(uses.result)):
        return [stand_in(uses, propose)]
    return _sequence(uses, propose, name)


def _sequence(uses: Uses, propose: Callable[[str, Uses], Spec], name: str) -> list[Spec]:
    """A list of what is done with its elements, or a tuple that is unpacked."""
    if uses.iterated and 0 in uses.items and _says_something(uses.items[0]):
        element = propose(name.removesuffix("s"), uses.items[0])
        return [{"kind": "list", "items": [element, element]}]
    placed = sorted(key for key in uses.items if isinstance(key, int) and key >= 0)
    if placed[1:] and not uses.called:
        items = [propose(f"{name}_{place}", uses.items[place]) for place in placed[:_MOST_ITEMS]]
        return [{"kind": "list", "items": items, "tuple": True}]
    return []


def stand_in(uses: Uses, propose: Callable[[str, Uses], Spec]) -> Spec:
    """An object with what is asked of it."""
    keys = {str(key): inner for key, inner in uses.items.items() if not inner.is_optional}
    own = MODULE_NAMES | MAPPING if keys else MODULE_NAMES
    result = _result(uses, propose) if uses.called and _says_something(uses.result) else None
    return {
        "kind": "object",
        "items": {name: propose(name, inner) for name, inner in sorted(uses.parts.items()) if name not in own},
        "keys": {key: propose(key, inner) for key, inner in sorted(keys.items())},
        "result": result,
    }


def _result(uses: Uses, propose: Callable[[str, Uses], Spec]) -> Spec | None:
    return propose("result", uses.result) if uses.result is not None else None


def _says_something(uses: Uses | None) -> bool:
    """Whether there is evidence on the parts of a result: one that is used as it is may be the argument's twin."""
    return uses is not None and bool(
        uses.own_parts or uses.items or uses.is_distribution or uses.called or uses.iterated
    )
