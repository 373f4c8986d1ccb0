"""First guesses at the arguments of a subject, and what else each of them could be."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any

from nanlint.confirm.composites import replaced, within
from nanlint.confirm.inputs import Parameter, Spec, attribute, proposals, tensor, value
from nanlint.confirm.worker.evidence import Uses
from nanlint.confirm.worker.guards import satisfying, uses_at
from nanlint.confirm.worker.moves import kinds, reshaped, with_spec
from nanlint.confirm.worker.objects import can_be_made

if TYPE_CHECKING:
    from collections.abc import Iterator
    from types import ModuleType

    from nanlint.confirm.conditions import Demand
    from nanlint.confirm.worker.subject import Signature, Subject

Json = dict[str, Any]
_COUNTS = (16, 8, 4, 3, 2, 1)


def starts(subject: Subject, base: Json, demands: list[Demand]) -> Iterator[Json]:
    """First guesses: every rank in common use, with what the user supplied on top and what the line demands."""
    for rank in (2, 3, 4, 1):
        call = specs(subject.calling, rank, subject.module, building=False)
        ctor = specs(subject.building, rank, subject.module, building=True) if subject.owner is not None else {}
        case = {**base, "ctor": ctor, "call": call}
        for one in (satisfying(case, demands, subject), case):
            begin = {
                **one,
                "ctor": {**one["ctor"], **base.get("ctor", {})},
                "call": {**one["call"], **base.get("call", {})},
            }
            yield reshaped(begin, _halved) if base.get("halved") else begin


def _halved(_: str, shape: list[int]) -> list[int]:
    return [max(1, size // 2) for size in shape]


def specs(signature: Signature, rank: int, module: ModuleType, *, building: bool) -> dict[str, Spec]:
    """The likeliest spec of each parameter without a default."""
    return {
        parameter.name: ways(parameter, signature, rank, module, building=building)[0]
        for parameter in signature.required
    }


def ways(parameter: Parameter, signature: Signature, rank: int, module: ModuleType, *, building: bool) -> list[Spec]:
    """Specs of one parameter, or of one attribute of a shell; none of a class that cannot be made."""
    uses = signature.uses.get(parameter.name, Uses())
    if "." in parameter.name:
        return [*signature.stated.get(parameter.name, []), *attribute(parameter.name, uses, rank)]
    found = proposals(parameter, uses, rank=rank, building=building)
    made = [spec for spec in found if spec["kind"] != "class" or can_be_made(spec, module)]
    return made or found


def alternatives(subject: Subject) -> dict[str, dict[str, list[Spec]]]:
    """Further specs of each parameter."""
    return {
        part: {
            parameter.name: [
                *ways(parameter, signature, 2, subject.module, building=part == "ctor"),
                *([value(number) for number in _COUNTS] if part == "ctor" else []),
                *kinds(parameter.name, 2),
            ]
            for parameter in signature.parameters
        }
        for part, signature in (("ctor", subject.building), ("call", subject.calling))
    }


def required(subject: Subject, choices: dict[str, dict[str, list[Spec]]]) -> dict[str, dict[str, list[Spec]]]:
    """The alternatives of parameters without a default alone."""
    signatures = {"ctor": subject.building, "call": subject.calling}
    return {
        part: {one.name: choices[part][one.name] for one in signature.required}
        for part, signature in signatures.items()
    }


def mentioned(case: Json, error: str, subject: Subject, choices: dict[str, dict[str, list[Spec]]]) -> Iterator[Json]:
    """Other specs for what the complaint and the line that failed speak of: arguments, attributes, what is inside them."""
    words = set(re.findall(r"\w+", error))
    for part, signature in (("call", subject.calling), ("ctor", subject.building)):
        for name in dict.fromkeys([*choices[part], *case[part]]):
            label = name.rpartition(".")[2]
            others = choices[part].get(name) or [*attribute(label, Uses()), *kinds(label, 2)]
            for other in others if label in words else []:
                if other != case[part].get(name):
                    yield with_spec(case, part, name, other)
        for name, spec in case[part].items():
            for path, inner in within(spec):
                evidence = uses_at(signature.uses.get(name, Uses()), path)
                for other in _inside(path, inner, evidence, words):
                    yield with_spec(case, part, name, replaced(spec, path, other))


def _inside(path: tuple[str, ...], spec: Spec, uses: Uses, words: set[str]) -> Iterator[Spec]:
    """Other specs for one thing inside an argument, if it or what it could hold is spoken of."""
    label = path[-1].strip("[]") if path else ""
    if label in words:
        yield from (other for other in [*attribute(label, uses), *kinds(label, 2)] if other != spec)
    if label == "()":
        yield from (tensor("result", rank) for rank in (2, 3))
    if spec["kind"] == "dict":
        for key, inner in uses.items.items():
            if isinstance(key, str) and key in words and key not in spec["items"]:
                yield {**spec, "items": {**spec["items"], key: attribute(key, inner)[0]}}
