"""From a spec to an argument: ordinary values and corners of each domain, in any shape and dtype.

Every value is finite and lies in the domain. A corner has a grade: what occurs in ordinary runs, at their edges, or
only in runs that diverge.
"""

from __future__ import annotations

import math
from typing import Any

import torch

Spec = dict[str, Any]
Shape = tuple[int, ...]
Maker = "Callable[[Shape, torch.Generator], torch.Tensor]"

ORDINARY, EDGE, LARGE, EXTREME = "ordinary", "edge", "large", "extreme"
GRADES = (ORDINARY, EDGE, LARGE, EXTREME)


def _full(number: float) -> Any:
    return lambda shape, _: torch.full(shape, number)


def _normal(scale: float) -> Any:
    return lambda shape, generator: torch.randn(shape, generator=generator) * scale


def alternating(shape: Shape) -> torch.Tensor:
    """1 and -1 in turn along every dimension."""
    if not shape:
        return torch.ones(())
    places = torch.stack(torch.meshgrid(*(torch.arange(length) for length in shape), indexing="ij")).sum(0)
    return 1.0 - 2.0 * (places % 2)


def _swing(scale: float) -> Any:
    return lambda shape, _: alternating(shape) * scale


def _equal_rows(shape: Shape, generator: torch.Generator) -> torch.Tensor:
    row = torch.randn((*shape[:-1], 1) if shape else (), generator=generator)
    return row.expand(shape).contiguous()


def _equal_batch(shape: Shape, generator: torch.Generator) -> torch.Tensor:
    row = torch.randn((1, *shape[1:]) if shape else (), generator=generator)
    return row.expand(shape).contiguous()


def _one_hot(shape: Shape, _: torch.Generator) -> torch.Tensor:
    made = torch.zeros(shape)
    if shape:
        made[..., 0] = 1.0
    else:
        made += 1.0
    return made


def _eye(shape: Shape, _: torch.Generator) -> torch.Tensor:
    if len(shape) < 2:
        return torch.ones(shape)
    return torch.eye(shape[-2], shape[-1]).expand(shape).contiguous()


def _positive_definite(shape: Shape, generator: torch.Generator) -> torch.Tensor:
    made = torch.randn(shape, generator=generator)
    return made @ made.transpose(-1, -2) + _eye(shape, generator) if len(shape) > 1 else made.abs() + 1


def _zero_row(shape: Shape, generator: torch.Generator) -> torch.Tensor:
    made = torch.randn(shape, generator=generator)
    if shape and shape[0]:
        made[0] = 0.0
    return made


def _far_apart(shape: Shape, generator: torch.Generator) -> torch.Tensor:
    return torch.randn(shape, generator=generator) * 1e-3 + 100.1


REAL: dict[str, tuple[str, Any]] = {
    "normal": (ORDINARY, _normal(1.0)),
    "wide": (ORDINARY, _normal(3.0)),
    "zeros": (EDGE, _full(0.0)),
    "ones": (EDGE, _full(1.0)),
    "minus ones": (EDGE, _full(-1.0)),
    "equal rows": (EDGE, _equal_rows),
    "equal batch": (EDGE, _equal_batch),
    "zero row": (EDGE, _zero_row),
    "one hot": (EDGE, _one_hot),
    "swing": (EDGE, _swing(1.0)),
    "identity": (EDGE, _eye),
    "small": (EDGE, _normal(1e-3)),
    "tens": (EDGE, _full(10.0)),
    "minus tens": (EDGE, _full(-10.0)),
    "swing of ten": (EDGE, _swing(10.0)),
    "swing of minus ten": (EDGE, _swing(-10.0)),
    "hundred": (LARGE, _full(100.0)),
    "minus hundred": (LARGE, _full(-100.0)),
    "far from zero": (LARGE, _far_apart),
    "swing of fifty": (LARGE, _swing(50.0)),
    "swing of hundreds": (LARGE, _swing(200.0)),
    "swing of minus hundreds": (LARGE, _swing(-200.0)),
    "swing of a thousand": (LARGE, _swing(1000.0)),
    "very wide": (LARGE, _normal(100.0)),
    "ten thousand": (LARGE, _full(1e4)),
    "minus ten thousand": (LARGE, _full(-1e4)),
    "swing of ten thousand": (LARGE, _swing(1e4)),
    "tiny": (EXTREME, _full(1e-20)),
    "huge": (EXTREME, _full(1e20)),
    "swing of huge": (EXTREME, _swing(1e20)),
    "largest": (EXTREME, _full(3e38)),
}
UNIT: dict[str, tuple[str, Any]] = {
    "normal": (ORDINARY, lambda shape, generator: torch.rand(shape, generator=generator)),
    "zeros": (EDGE, _full(0.0)),
    "ones": (EDGE, _full(1.0)),
    "one hot": (EDGE, _one_hot),
    "half": (EDGE, _full(0.5)),
    "swing": (EDGE, lambda shape, _: (alternating(shape) + 1) / 2),
    "equal rows": (EDGE, lambda shape, generator: _equal_rows(shape, generator).sigmoid()),
}
SIMPLEX: dict[str, tuple[str, Any]] = {
    "normal": (ORDINARY, lambda shape, generator: _over_last(torch.randn(shape, generator=generator))),
    "one hot": (EDGE, _one_hot),
    "equal rows": (EDGE, lambda shape, _: _over_last(torch.zeros(shape))),
}
POSITIVE: dict[str, tuple[str, Any]] = {
    "normal": (ORDINARY, lambda shape, generator: torch.rand(shape, generator=generator) + 0.5),
    "ones": (EDGE, _full(1.0)),
    "small": (EDGE, _full(1e-3)),
    "tens": (EDGE, _full(10.0)),
    "hundred": (LARGE, _full(100.0)),
}
NONNEG: dict[str, tuple[str, Any]] = {
    **POSITIVE,
    "zeros": (EDGE, _full(0.0)),
    "zero row": (EDGE, lambda s, g: _zero_row(s, g).abs()),
}
MASK: dict[str, tuple[str, Any]] = {
    "normal": (ORDINARY, lambda shape, generator: torch.rand(shape, generator=generator) > 0.3),
    "zeros": (EDGE, lambda shape, _: torch.zeros(shape, dtype=torch.bool)),
    "ones": (EDGE, lambda shape, _: torch.ones(shape, dtype=torch.bool)),
    "swing": (EDGE, lambda shape, _: alternating(shape) > 0),
    "zero row": (EDGE, lambda shape, _: _first_row(shape, value=False)),
    "one row": (EDGE, lambda shape, _: _first_row(shape, value=True)),
}
LOGPROB: dict[str, tuple[str, Any]] = {
    "normal": (ORDINARY, lambda shape, generator: -torch.rand(shape, generator=generator) * 3),
    "zeros": (EDGE, _full(0.0)),
    "minus tens": (EDGE, _full(-10.0)),
    "swing": (EDGE, lambda shape, _: -5.0 - 5.0 * alternating(shape)),
    "minus hundred": (LARGE, _full(-100.0)),
    "swing of hundreds": (LARGE, lambda shape, _: -100.0 - 100.0 * alternating(shape)),
    "minus ten thousand": (LARGE, _full(-1e4)),
}
SIGNED: dict[str, tuple[str, Any]] = {
    "normal": (ORDINARY, lambda shape, generator: torch.rand(shape, generator=generator) * 1.8 - 0.9),
    "zeros": (EDGE, _full(0.0)),
    "ones": (EDGE, _full(1.0)),
    "minus ones": (EDGE, _full(-1.0)),
    "swing": (EDGE, _swing(1.0)),
}
SPD: dict[str, tuple[str, Any]] = {
    "normal": (ORDINARY, _positive_definite),
    "identity": (EDGE, _eye),
    "small": (EDGE, lambda shape, generator: _eye(shape, generator) * 1e-3),
    "tens": (EDGE, lambda shape, generator: _eye(shape, generator) * 10),
}
DOMAINS = {
    "real": REAL,
    "unit": UNIT,
    "prob": UNIT,
    "simplex": SIMPLEX,
    "positive": POSITIVE,
    "nonneg": NONNEG,
    "mask": MASK,
    "logprob": LOGPROB,
    "spd": SPD,
    "signed": SIGNED,
}
INDEX_CORNERS = ("normal", "zeros", "last", "rising")


def _over_last(values: torch.Tensor) -> torch.Tensor:
    return values.softmax(-1) if values.dim() else values.sigmoid()


def _first_row(shape: Shape, *, value: bool) -> torch.Tensor:
    made = torch.full(shape, not value, dtype=torch.bool)
    if shape and shape[0]:
        made[0] = value
    return made


def _index_corners(spec: Spec) -> list[str]:
    """The corners of labels; with `ignored`, also those that a loss leaves out."""
    return [*INDEX_CORNERS, *(["ignored"] if "ignored" in spec else [])]


def corners_of(spec: Spec) -> list[str]:
    """The names of the corners that a spec has, the ordinary one first."""
    if spec["kind"] != "tensor":
        return ["normal"]
    return _index_corners(spec) if spec["domain"] == "index" else list(DOMAINS[spec["domain"]])


def grade_of(spec: Spec, corner: str) -> str:
    """How plausible a corner is."""
    if spec["kind"] != "tensor" or spec["domain"] == "index":
        return ORDINARY if corner == "normal" else EDGE
    return str(DOMAINS[spec["domain"]].get(corner, (EDGE, None))[0])


def known_corner(spec: Spec, corner: str) -> str:
    """The corner that a tensor is made at: the ordinary one for a corner that its domain does not have."""
    if "values" in spec:
        return "values"
    known = _index_corners(spec) if spec["domain"] == "index" else DOMAINS[spec["domain"]]
    return corner if corner in known else "normal"


def make_tensor(spec: Spec, corner: str, generator: torch.Generator) -> torch.Tensor:
    """The tensor of a spec at a corner, in float32, long or bool; an unknown corner is the ordinary one."""
    shape = tuple(spec["shape"])
    if "values" in spec:
        kind = {"mask": torch.bool, "index": torch.long}.get(spec["domain"], torch.float64)
        return torch.tensor(spec["values"], dtype=kind).reshape(shape)
    if spec["domain"] == "index":
        return _indices(spec, corner, shape, generator)
    makers = DOMAINS[spec["domain"]]
    made: torch.Tensor = makers.get(corner, makers["normal"])[1](shape, generator)
    return made


def _indices(spec: Spec, corner: str, shape: Shape, generator: torch.Generator) -> torch.Tensor:
    low, high = int(spec.get("low", 0)), max(int(spec.get("high", 3)), 1)
    if corner == "zeros":
        return torch.full(shape, low, dtype=torch.long)
    if corner == "ignored" and "ignored" in spec:
        return torch.full(shape, int(spec["ignored"]), dtype=torch.long)
    if corner == "last":
        return torch.full(shape, max(high - 1, low), dtype=torch.long)
    if corner == "rising":
        return (torch.arange(math.prod(shape)) % high).clamp(min=low).reshape(shape)
    return torch.randint(low, max(high, low + 1), shape, generator=generator)
