"""The bad fixtures, each trained on inside a small loop until it breaks, under the tracer.

The loop is an ordinary one: a parameter that scales the inputs, an optimizer, two good batches and then the batch of
`truth_inputs` that breaks the function. What the tracer must name is the line that the fixture marks.
"""

from __future__ import annotations

import ast
import inspect
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import torch

from nanlint.model import Direction
from nanlint.testing import findings_in
from nanlint.trace.diagnosis import Diagnosis, Found
from nanlint.trace.session import Session
from tests.test_truth import FAKE_CUDA, MARKED, Outcome, cases_for, load, made, run, top_level, truth_of
from tests.truth_inputs import WITHOUT_GRADIENT

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from nanlint.model import Finding

FAMILIES = ("NAN1", "NAN2", "NAN3")


@dataclass(frozen=True)
class Drive:
    """One finding of one fixture, and the batch that makes it come true."""

    path: Path
    function: str
    finding: Finding
    dtype: torch.dtype
    case: dict[str, torch.Tensor]

    @property
    def name(self) -> str:
        """Which one it is, for people."""
        return f"{self.path.parent.name}/{self.path.name}:{self.finding.span.line} {self.function} {self.dtype}"


def drives() -> Iterator[Drive]:
    """Every finding about values whose function breaks on a batch of its battery."""
    for path in MARKED:
        truth, text = truth_of(path.parent), path.read_text("utf-8")
        is_about_values = not hasattr(truth, "harms") and not getattr(truth, "NOTHING_TO_RUN", "")
        if path.parent.name.startswith(FAMILIES) and is_about_values:
            yield from _drives_in(path, text)


def _drives_in(path: Path, text: str) -> Iterator[Drive]:
    module = load(path)
    if getattr(module, "RUNS_ON", "") == FAKE_CUDA:
        return
    for finding in findings_in(text, path.parent.name.partition("_")[0]):
        for name, (first, last) in top_level(text).items():
            if first <= finding.span.line <= last:
                dtype = getattr(torch, (finding.dtypes or ("float32",))[0])
                case = _breaking_case(getattr(module, name), finding, dtype)
                if case is not None:
                    yield Drive(path, name, finding, dtype, case)


def _breaking_case(thing: Any, finding: Finding, dtype: torch.dtype) -> dict[str, torch.Tensor] | None:
    for case in cases_for(thing):
        try:
            outcome = run(thing, case, dtype)
        except RuntimeError:
            continue  # a constant that the dtype cannot hold is refused: nothing is computed, so nothing is traced
        if _shows(outcome, finding):
            return case
    return None


def _shows(outcome: Outcome, finding: Finding) -> bool:
    if finding.direction is Direction.BACKWARD:
        return outcome.backward_is_broken and not outcome.forward_is_broken
    return outcome.forward_is_broken


def diagnose(drive: Drive) -> Diagnosis | None:
    """Train on the fixture and return what the tracer found."""

    def stop(diagnosis: Diagnosis, _origin: object) -> None:
        raise Found(diagnosis)

    session = Session(stop)
    session.install()
    try:
        _train(drive, session)
    except Found as found:
        return found.diagnosis
    finally:
        session.remove()
    return session.left_over()


def _train(drive: Drive, session: Session) -> None:
    torch.manual_seed(0)
    thing = getattr(load(drive.path), drive.function)
    function: Any = made(thing)
    learned = list(function.to(drive.dtype).parameters()) if inspect.isclass(thing) else []
    knob = torch.nn.Parameter(torch.ones((), dtype=drive.dtype))
    optimizer = torch.optim.SGD([knob, *learned], lr=0.0)
    for number in range(3):
        for _ in session.loops.attempts():
            try:
                inputs = drive.case if number == 2 else None
                optimizer.zero_grad()
                loss = _loss(function, inputs, knob)
                if loss.requires_grad:
                    loss.backward()
                optimizer.step()
            except BaseException as error:
                if not session.loops.swallow(error):
                    raise


def _loss(function: Any, case: dict[str, torch.Tensor] | None, knob: torch.Tensor) -> torch.Tensor:
    if case is None:
        return knob * 1.0
    inputs = {
        name: value.to(knob.dtype) * knob
        if value.is_floating_point() and name not in WITHOUT_GRADIENT
        else value.to(knob.dtype)
        if value.is_floating_point()
        else value
        for name, value in case.items()
    }
    outputs = function(**inputs)
    parts = outputs if isinstance(outputs, (tuple, list)) else [outputs]
    floats = [part for part in parts if isinstance(part, torch.Tensor) and part.is_floating_point()]
    return torch.stack([part.float().sum() for part in floats]).sum()


def names_the_line(drive: Drive, found: Diagnosis | None) -> bool:
    """Whether the origin, or a value on its way to the loss, is in the statement that the fixture marks."""
    if found is None:
        return False
    first, last = _statement(drive.path.read_text("utf-8"), drive.finding)
    places = [*found.places[:1], *(link.place for link in found.chain)]
    return any(place and place.path == str(drive.path) and first <= place.line <= last for place in places)


def _statement(text: str, finding: Finding) -> tuple[int, int]:
    """The lines of the smallest statement around a finding."""
    spans = [
        (node.lineno, node.end_lineno or node.lineno)
        for node in ast.walk(ast.parse(text))
        if isinstance(node, ast.stmt) and not hasattr(node, "body")
    ]
    around = [span for span in spans if span[0] <= finding.span.line <= span[1]]
    return min(around, key=lambda span: span[1] - span[0], default=(finding.span.line, finding.span.end_line))
