"""What a trace found, as text and numbers: the form that reports print, ranks exchange and files hold."""

from __future__ import annotations

from dataclasses import asdict, dataclass, field
from typing import Any

from nanlint.trace.measure import Json, Stats
from nanlint.trace.places import Place
from nanlint.trace.readings import Reading

OPERATION = "operation"
"""An operation made non-finite values of finite ones."""
INPUT = "input"
"""The values came in with a batch, a buffer or a constant."""
PARAMETER = "parameter"
"""A parameter was not finite before the first step that was watched."""
OPTIMIZER = "optimizer"
"""Gradients were finite, and after the optimizer's step a parameter was not."""
MODULE = "module"
"""The mode `hooks` knows the module and no line."""
ELSEWHERE = "elsewhere"
"""It was seen here, and came from another rank or could not be repeated."""


GROWN = frozenset({"", "overflow", "exp overflow", "inf minus inf", "inf times zero"})
"""Causes that values which grow without end lead to; `nanlint.trace.reasons` names them."""


@dataclass(frozen=True, slots=True)
class Link:
    """One operation on the way from the origin to the loss or gradient."""

    operation: str
    is_backward: bool
    place: Place | None
    what: str


@dataclass(frozen=True, slots=True)
class ParameterState:
    """A parameter near the origin, and its gradient."""

    values: Stats
    gradient: Stats | None = None


@dataclass(frozen=True, slots=True)
class Given:
    """A tensor of the batch, and which of its rows stand out."""

    stats: Stats
    rows: str = ""


@dataclass(slots=True)
class Diagnosis:
    """The origin of the first non-finite value that did harm."""

    kind: str
    step: int
    symptom: str
    operation: str = ""
    is_backward: bool = False
    module: str = ""
    places: tuple[Place, ...] = ()
    reason: str = ""
    cause: str = ""
    """What kind of breaking it is, as `nanlint.trace.reasons` names them; decides which rule is about it."""
    inputs: tuple[Stats, ...] = ()
    output: Stats | None = None
    chain: tuple[Link, ...] = ()
    parameters: tuple[ParameterState, ...] = ()
    history: tuple[Reading, ...] = ()
    optimizer: str = ""
    notes: list[str] = field(default_factory=list)
    rank: int = 0
    world: int = 1
    explosion: str = ""
    """How loss and gradients grew before, with numbers; empty if they did not."""
    code: str = ""
    """The rule of the static finding at that line."""
    message: str = ""
    advice: str = ""
    """What to write instead, from the rule, where the linter has no fix of its own for the line."""
    finding_line: int = 0
    diff: str = ""
    repro: str = ""
    batch: tuple[Given, ...] = ()
    """What the bad step was given."""
    saved_batch: str = ""
    environment: dict[str, str] = field(default_factory=dict)
    """Command, versions, device and date."""

    @property
    def place(self) -> Place | None:
        """The line of the operation."""
        return self.places[0] if self.places else None

    @property
    def is_explosion(self) -> bool:
        """Whether values grew until they passed the end of their format, and no single operation is to blame."""
        return bool(self.explosion) and (self.kind in {OPTIMIZER, PARAMETER} or self.cause in GROWN)

    def to_json(self) -> Json:
        """Plain values."""
        return {"schema": 1, **asdict(self)}

    @classmethod
    def from_json(cls, entry: Json) -> Diagnosis:
        """The inverse of `to_json`."""
        values: dict[str, Any] = {key: value for key, value in entry.items() if key != "schema"}
        values["places"] = tuple(Place(**place) for place in entry["places"])
        values["inputs"] = tuple(_stats(stats) for stats in entry["inputs"])
        values["output"] = _stats(entry["output"]) if entry["output"] else None
        values["history"] = tuple(Reading(**reading) for reading in entry["history"])
        values["batch"] = tuple(Given(_stats(given["stats"]), given["rows"]) for given in entry.get("batch", ()))
        values["chain"] = tuple(
            Link(**{**link, "place": Place(**link["place"]) if link["place"] else None}) for link in entry["chain"]
        )
        values["parameters"] = tuple(
            ParameterState(_stats(state["values"]), _stats(state["gradient"]) if state["gradient"] else None)
            for state in entry["parameters"]
        )
        return cls(**values)


def _stats(entry: Json) -> Stats:
    return Stats(**{**entry, "shape": tuple(entry["shape"]), "histogram": tuple(entry["histogram"])})


class Found(BaseException):
    """Ends the traced script: the origin is known."""

    def __init__(self, diagnosis: Diagnosis) -> None:
        super().__init__(diagnosis.symptom)
        self.diagnosis = diagnosis


class NonFiniteError(ArithmeticError):
    """Raised by `watch(on_nonfinite="raise")` instead of a step that would spoil the model."""

    def __init__(self, diagnosis: Diagnosis, text: str) -> None:
        super().__init__(text)
        self.diagnosis = diagnosis
