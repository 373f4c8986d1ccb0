"""Corners of what is no tensor: numbers of the call, of the constructor and of configurations, lists that are empty.

A count that is 1, a factor that is 0: ordinary mistakes of a caller or of a config file. Numbers that are there to
protect (an eps, a bound) stay as they are: without them nobody promised anything.
"""

from __future__ import annotations

import dataclasses
import re
from typing import TYPE_CHECKING, Any

from nanlint.confirm.names import is_count
from nanlint.confirm.worker.values import EDGE

if TYPE_CHECKING:
    from collections.abc import Iterator

    from nanlint.confirm.worker.bench import Bench
    from nanlint.confirm.worker.subject import Signature, Subject

Json = dict[str, Any]
_MOST = 12
"""Numbers of one function, and settings of one configuration, that are tried."""
_PROTECTING = re.compile(r"(^|_)(eps|epsilon|tol|tiny|min|max|clip|bound|smooth|smoothing|beta|betas)\d*$")
_NO_CORNERS = re.compile(r"^(dim|axis|dims|seed|device|dtype|padding|stride|dilation|keepdim|p)$|_dim$|^(dim|d)_|head")


def with_corners(case: Json, bench: Bench, operand: str) -> Json:
    """The case with the numbers that have corners, those that the finding names first."""
    subject = bench.subject
    words = set(re.findall(r"\w+", operand))
    numbers: list[tuple[str | bool, ...]] = [
        *_numbers(case, "call", subject.calling),
        *_numbers(case, "ctor", subject.building),
        *_settings(case, bench),
    ]
    named = sorted(numbers, key=lambda one: one[-2] not in words)
    return {**case, "numbers": [list(one) for one in named[:_MOST]]}


def _numbers(case: Json, part: str, signature: Signature) -> Iterator[tuple[str, str, bool]]:
    """Part, name, and whether it is a whole number: of what is given, and of what has a number by default."""
    for parameter in signature.parameters:
        spec = case[part].get(parameter.name)
        given = spec.get("value") if spec is not None and spec["kind"] == "value" else None
        value = given if spec is not None else parameter.default
        is_whole = type(value) is int or (value is None and parameter.annotation == "int")
        if _has_corners(parameter.name) and (type(value) in {int, float} or parameter.annotation in {"int", "float"}):
            yield part, parameter.name, is_whole
    known = {parameter.name for parameter in signature.parameters}
    for name, spec in case[part].items():
        # Of a slice every number is free.
        if name not in known and spec["kind"] == "value" and type(spec["value"]) in {int, float}:
            yield part, name, type(spec["value"]) is int


def _has_corners(name: str) -> bool:
    return not _PROTECTING.search(name.lower()) and not _NO_CORNERS.search(name.lower())


def _settings(case: Json, bench: Bench) -> Iterator[tuple[str, str, str, bool]]:
    """Part, argument, name, and whether it is whole: numbers of configurations that the code reads."""
    text = bench.subject.calling.source + bench.subject.building.source
    for part in ("ctor", "call"):
        for name, spec in case[part].items():
            if spec["kind"] not in {"class", "config"}:
                continue
            for field, value in _held(bench, part, name):
                if type(value) in {int, float} and _has_corners(field) and re.search(rf"\b{field}\b", text):
                    yield part, name, field, type(value) is int


def _held(bench: Bench, part: str, name: str) -> list[tuple[str, Any]]:
    made = bench.made.get((part, name))
    if made is None:
        return []
    if dataclasses.is_dataclass(made) and not isinstance(made, type):
        return [(field.name, getattr(made, field.name, None)) for field in dataclasses.fields(made)]
    return list(getattr(made, "__dict__", {}).items())


def number_corners(base: Json) -> Iterator[Json]:
    """The case with one number at a time at 0, or at 1 if it counts something."""
    for *place, is_whole in base.get("numbers", ()):
        name = place[-1]
        for number in _corners(name, is_whole=is_whole, is_given=place[0] == "call"):
            yield {**_with_number(base, place, number), "grade": EDGE, "how": f"argument {name} = {number:g}"}


def _corners(name: str, *, is_whole: bool, is_given: bool) -> tuple[float, ...]:
    """A size of 0 is nobody's; a factor, a weight or a temperature may be 0."""
    if is_whole and is_count(name) and not ({"factor", "num", "n", "count"} & set(name.lower().split("_"))):
        return (1,)
    if is_whole:
        return (0, 1) if is_given else (1,)
    return (0.0, 0) if is_given else (0.0,)


def _with_number(case: Json, place: list[str], number: float) -> Json:
    if len(place) == 2:
        part, name = place
        return {**case, part: {**case[part], name: {"kind": "value", "value": number}}}
    part, argument, name = place
    return {**case, "settings": [[part, argument, name, number]]}


def emptied(base: Json) -> Iterator[Json]:
    """The case with one list at a time empty."""
    for name, spec in base["call"].items():
        if spec["kind"] == "list" and spec["items"]:
            yield {**base, "call": {**base["call"], name: {**spec, "items": []}}, "grade": EDGE}


def with_ignored(case: Json, subject: Subject) -> Json:
    """The case whose labels may all be what the loss ignores."""
    text = subject.calling.source + subject.building.source
    if not re.search(r"cross_entropy|CrossEntropy|nll_loss|NLLLoss|ignore_index", text):
        return case
    stated = re.search(r"ignore_index\s*[:=]\s*(?:int\s*=\s*)?(-?\d+)", text)
    ignored = int(stated[1]) if stated else -100
    call = {
        name: {**spec, "ignored": ignored} if spec["kind"] == "tensor" and spec["domain"] == "index" else spec
        for name, spec in case["call"].items()
    }
    return {**case, "call": call}
