"""The cases a search tries, the cheapest and most plausible first: ordinary values, corners, parameter corners.

Pure proposals: nothing here knows what a failure is. Each case carries its grade.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from nanlint.confirm.worker import chance, forcing
from nanlint.confirm.worker.moves import leaves, reshaped
from nanlint.confirm.worker.number_corners import emptied, number_corners
from nanlint.confirm.worker.values import EDGE, EXTREME, GRADES, LARGE, ORDINARY, corners_of, grade_of, known_corner

if TYPE_CHECKING:
    from collections.abc import Iterator

    import torch

Json = dict[str, Any]


def cases(base: Json, *, module: torch.nn.Module | None, operand: str, random: bool) -> Iterator[Json]:
    """Every case in the order of the search, none twice; `base["few"]` allows dimensions of one that are no batch.

    With `base["mild"]` nothing large: in a half format everything overflows there.
    """
    seen: set[object] = set()
    for case in _proposed(base, module=module, operand=operand, random=random):
        made = _comes_to(case)
        if made not in seen:
            seen.add(made)
            yield case


def _comes_to(case: Json) -> object:
    """What a case is made of: a corner that a tensor does not have is its ordinary one, whatever it is called."""
    tensors = tuple(
        (
            name,
            tuple(spec["shape"]),
            known_corner(spec, case.get("corners", {}).get(name, case.get("corner", "normal"))),
        )
        for name, spec in leaves(case)
    )
    parts = [*case["call"].items(), *case["ctor"].items()]
    plain = tuple((name, repr(spec["value"])) for name, spec in parts if spec["kind"] == "value")
    return (
        tensors,
        plain,
        repr(case.get("settings")),
        tuple(case.get(key) for key in ("seed", "same", "force", "chance")),
    )


def _proposed(base: Json, *, module: torch.nn.Module | None, operand: str, random: bool) -> Iterator[Json]:
    yield from ordinary(base)
    yield from number_corners(base)
    yield from emptied(base)
    yield from _graded(base, EDGE)
    if module is not None:
        yield from parameter_corners(base, module, operand, EDGE)
    if random:
        for corner in chance.CORNERS:
            yield {**base, "chance": corner, "grade": EDGE}
    if base.get("mild"):
        return
    yield from _graded(base, LARGE)
    if module is not None:
        yield from parameter_corners(base, module, operand, LARGE)
    if base.get("extreme"):
        yield from _graded(base, EXTREME)


def ordinary(base: Json) -> Iterator[Json]:
    """Random values of the size that fresh networks see."""
    for seed in range(3):
        yield {**base, "seed": base["seed"] + seed, "grade": ORDINARY}
    yield {**base, "corner": "wide", "grade": ORDINARY}


def _graded(base: Json, grade: str) -> Iterator[Json]:
    """The corners of one grade, in every shape."""
    for shaped in shapes(base):
        yield from corners(shaped, grade)
    if grade == LARGE:
        # A sum of many large values leaves the format where that of a few does not.
        longer = reshaped(base, lambda _, shape: [*shape[:-1], 64] if shape else shape)
        yield from corners(longer, grade)


def shapes(base: Json) -> Iterator[Json]:
    """The shape that runs, a batch of one, a last dimension of one, a single element."""
    yield base
    firsts = {spec["shape"][0] for _, spec in leaves(base) if spec["shape"]}
    for size in sorted(firsts):
        yield reshaped(base, lambda _, shape, size=size: [1, *shape[1:]] if shape and shape[0] == size else shape)  # type: ignore[misc] # bound now
    if base.get("few"):
        yield reshaped(base, lambda _, shape: [*shape[:-1], 1] if shape else shape)
        yield reshaped(base, lambda _, shape: [1] * len(shape))


def corners(base: Json, grade: str) -> Iterator[Json]:
    """All tensors at one corner, each at its own, one at a time."""
    named = dict(leaves(base))
    if not named:
        return
    together = dict.fromkeys(corner for spec in named.values() for corner in corners_of(spec))
    if grade == EDGE:
        yield {**base, "same": True, "corner": "normal", "grade": EDGE}
        if any("shape" in spec for spec in named.values()):
            yield {**base, "grade": EDGE}
    for corner in together:
        yield from _if_graded({**base, "corner": corner, "corners": {}}, named, grade)
    for name, spec in named.items():
        for corner in corners_of(spec):
            yield from _if_graded({**base, "corner": "normal", "corners": {name: corner}}, named, grade)
    yield from _turning(base, named, grade)


def _turning(base: Json, named: dict[str, Json], grade: str) -> Iterator[Json]:
    """Every tensor goes round its corners at its own pace, so that each value of one meets several of the others."""
    if len(named) < 2:
        return
    rounds = {name: corners_of(spec) for name, spec in named.items()}
    for step in range(max(map(len, rounds.values()))):
        for turn in (1, 2, 5):
            chosen = {
                name: found[(step + turn * place) % len(found)] for place, (name, found) in enumerate(rounds.items())
            }
            yield from _if_graded({**base, "corners": chosen}, named, grade)


def _if_graded(case: Json, named: dict[str, Json], grade: str) -> Iterator[Json]:
    """The case if its worst corner has this grade."""
    found = [
        grade_of(spec, case.get("corners", {}).get(name, case.get("corner", "normal"))) for name, spec in named.items()
    ]
    if max(found, key=GRADES.index) == grade:
        yield {**case, "grade": grade}


def parameter_corners(base: Json, module: torch.nn.Module, operand: str, grade: str) -> Iterator[Json]:
    """The states of the parameters, each with a few inputs."""
    for state, plausible in forcing.states_of(module, operand):
        if plausible != grade:
            continue
        for corner in ("normal", "zeros", "ones", "swing"):
            yield {**base, "force": state, "corner": corner, "grade": grade, "how": f"forced parameters: {state}"}
