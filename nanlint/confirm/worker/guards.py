"""Cases that turn the switches which the code reads: a function that runs past the flagged line must be led to it."""

from __future__ import annotations

import ast
from typing import TYPE_CHECKING, Any

from nanlint.confirm.composites import replaced, within
from nanlint.confirm.conditions import demands_of
from nanlint.confirm.inputs import Parameter, attribute, proposals, tensor, value
from nanlint.confirm.worker.evidence import Uses
from nanlint.confirm.worker.load import source_text
from nanlint.confirm.worker.moves import with_spec
from nanlint.confirm.worker.subject import Signature

if TYPE_CHECKING:
    from collections.abc import Iterator

    from nanlint.confirm.conditions import Demand
    from nanlint.confirm.inputs import Spec
    from nanlint.confirm.worker.subject import Subject

Json = dict[str, Any]


def demands_on(target: Json) -> list[Demand]:
    """What the tests around the flagged line demand."""
    if target.get("anywhere"):
        return []
    tree = ast.parse(source_text(target["path"]))
    around = [
        node
        for node in ast.walk(tree)
        if isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef))
        and node.lineno <= target["first"] <= (node.end_lineno or 0)
    ]
    return (
        demands_of(min(around, key=lambda node: (node.end_lineno or 0) - node.lineno), target["first"])
        if around
        else []
    )


def satisfying(case: Json, demands: list[Demand], subject: Subject) -> Json:
    """The case with every demand met that is about an argument, an attribute or a setting inside one."""
    for demand in demands:
        case = _met(case, demand, subject)
    return case


def _met(case: Json, demand: Demand, subject: Subject) -> Json:
    for part, name, path in _places(demand.path, subject):
        signature = subject.calling if part == "call" else subject.building
        parameter = next((one for one in signature.parameters if one.name == name), None)
        if parameter is None or (path and name not in case[part]):
            continue
        now = case[part].get(name)
        inner = dict(within(now)).get(path) if now is not None else None
        uses = uses_at(signature.uses.get(name, Uses()), path)
        wanted = _wanted(demand, Parameter(path[-1]) if path else parameter, uses, inner)
        if wanted is not None and not (path and inner is None):
            return with_spec(case, part, name, replaced(now, path, wanted) if path and now is not None else wanted)
    return case


def _places(path: str, subject: Subject) -> Iterator[tuple[str, str, tuple[str, ...]]]:
    """Where an expression may come from: an argument, an attribute of a shell, a constructor argument kept under its name."""
    names = path.split(".")
    if not all(name.isidentifier() for name in names):
        return
    if names[0] == "self" and len(names) > 1:
        yield "call", f"self.{names[1]}", tuple(names[2:])
        if subject.owner is not None:
            yield "ctor", names[1].lstrip("_"), tuple(names[2:])
    else:
        yield "call", names[0], tuple(names[1:])


def _wanted(demand: Demand, parameter: Parameter, uses: Uses, now: Spec | None) -> Spec | None:  # noqa: PLR0911 - one for each demand
    if demand.what == "is":
        return value(demand.value)
    if demand.what == "none":
        return value(None)
    if demand.what in {"true", "false"}:
        is_plain = now is None or now["kind"] == "value"
        return value(demand.what == "true") if is_plain else None
    if demand.what == "given":
        is_none = (now is None and parameter.default is None) or (now is not None and now == value(None))
        return _something(parameter, uses) if is_none else None
    if now is None or now["kind"] != "dict":
        return None
    key = str(demand.value)
    if demand.what == "key" and key not in now["items"]:
        return {**now, "items": {**now["items"], key: attribute(key, uses.items.get(key, Uses()))[0]}}
    return {
        **now,
        "items": {name: inner for name, inner in now["items"].items() if name != key or demand.what == "key"},
    }


def _something(parameter: Parameter, uses: Uses) -> Spec:
    """The likeliest value that is not None."""
    ways = [spec for spec in proposals(parameter, uses, rank=2, building=False) if spec != value(None)]
    return ways[0] if ways else tensor(parameter.name, 2)


def switched(parameter: Parameter, signature: Signature, now: Spec | None) -> Iterator[Spec]:
    """Other values of an optional parameter: the other side of a switch, a tensor instead of None, another word."""
    uses = signature.uses.get(parameter.name, Uses())
    current = now["value"] if now is not None and now["kind"] == "value" else parameter.default
    if isinstance(current, bool):
        yield value(not current)
    elif current is None:
        yield from proposals(parameter, uses, rank=2, building=False)
        yield tensor(parameter.name, 2)
    elif isinstance(current, str):
        yield from (value(word) for word in uses.words if word != current)
    elif isinstance(current, int):
        yield from (value(number) for number in (0, 1, 2, current + 1))


def inner_switches(case: Json, subject: Subject) -> Iterator[Json]:
    """Other values of the settings inside arguments: the words that the code compares them with, the other switch."""
    for part, signature in (("call", subject.calling), ("ctor", subject.building)):
        for name, spec in case[part].items():
            for path, inner in within(spec):
                uses = uses_at(signature.uses.get(name, Uses()), path)
                if path and inner["kind"] == "value":
                    for other in switched(Parameter(path[-1]), Signature(uses={path[-1]: uses}), inner):
                        yield with_spec(case, part, name, replaced(spec, path, other))
                for key, wanted in uses.items.items():
                    if inner["kind"] == "dict" and isinstance(key, str) and key not in inner["items"]:
                        more = {**inner, "items": {**inner["items"], key: attribute(key, wanted)[0]}}
                        yield with_spec(case, part, name, replaced(spec, path, more))


def uses_at(uses: Uses, path: tuple[str, ...]) -> Uses:
    """The evidence on what the labels of a path lead to."""
    for label in path:
        if label == "()":
            uses = uses.result or Uses()
        else:
            key = label[1:-1] if label.startswith("[") else label
            uses = (
                uses.parts.get(key)
                or uses.items.get(key)
                or (uses.items.get(int(key)) if key.isdigit() else None)
                or Uses()
            )
    return uses
