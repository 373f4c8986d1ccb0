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
from nanlint.trace.diagnosis import OPERATION, Diagnosis, Found
from nanlint.trace.session import Session
from tests.truth_inputs import WITHOUT_GRADIENT
from tests.truth_running import FAKE_CUDA, MARKED, Outcome, cases_for, load, made, run, top_level, truth_of

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


RULES = sorted({path.parent for path in MARKED if path.parent.name.startswith(FAMILIES)})


def drives() -> Iterator[Drive]:
    """Every finding about values whose function breaks on a batch of its battery."""
    for folder in RULES:
        yield from drives_of(folder)


def drives_of(folder: Path) -> Iterator[Drive]:
    """Those of one rule; none if its harm is shown in a way of its own."""
    truth = truth_of(folder)
    if hasattr(truth, "harms") or hasattr(truth, "NOTHING_TO_RUN"):
        return
    for path in MARKED:
        if path.parent == folder:
            yield from _drives_in(path, path.read_text("utf-8"))


def first_drive(folder: Path) -> Drive | None:
    """One of them."""
    return next(drives_of(folder), None)


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
                loss.backward()  # type: ignore[no-untyped-call] # torch's own gap
                optimizer.step()
            except BaseException as error:  # noqa: PERF203 - what a rewritten loop does
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
    # What has no gradient of its own is a term of a loss that has one.
    return torch.stack([part.float().sum() for part in floats]).sum() + knob.float() * 0


def verdict(drive: Drive, found: Diagnosis | None) -> str:
    """`line` if the origin or its way to the loss is in the marked statement, `name` if in one that a name ties to it.

    A rule may mark where a value is made, `scores = scores.masked_fill(...)`, and it breaks where the value is used.
    """
    if found is None or found.kind != OPERATION:
        return "missed"
    text = drive.path.read_text("utf-8")
    marked = _statement(text, drive.finding.span.line)
    places = [*found.places[:1], *(link.place for link in found.chain)]
    lines = [place.line for place in places if place and place.path == str(drive.path)]
    if marked is None or not lines:
        return "missed"
    if any(marked.lineno <= line <= (marked.end_lineno or marked.lineno) for line in lines):
        return "line"
    origin = _statement(text, lines[0])
    return "name" if origin is not None and _are_tied(marked, origin) else "missed"


def _statement(text: str, line: int) -> ast.stmt | None:
    """The smallest statement around a line."""
    simple = [node for node in ast.walk(ast.parse(text)) if isinstance(node, ast.stmt) and not hasattr(node, "body")]
    around = [node for node in simple if node.lineno <= line <= (node.end_lineno or node.lineno)]
    return min(around, key=lambda node: (node.end_lineno or node.lineno) - node.lineno, default=None)


def _are_tied(one: ast.stmt, other: ast.stmt) -> bool:
    """Whether one gives a name its value that the other uses."""
    return bool(_names(one, ast.Store) & _names(other, ast.Load) or _names(other, ast.Store) & _names(one, ast.Load))


def _names(statement: ast.stmt, context: type[ast.expr_context]) -> set[str]:
    names = {node.id for node in ast.walk(statement) if isinstance(node, ast.Name) and isinstance(node.ctx, context)}
    if context is ast.Store and isinstance(statement, ast.Expr) and isinstance(statement.value, ast.Call):
        # `scores.masked_fill_(...)` gives `scores` new values.
        names |= {node.id for node in ast.walk(statement.value.func) if isinstance(node, ast.Name)}
    return names | {
        node.attr for node in ast.walk(statement) if isinstance(node, ast.Attribute) and isinstance(node.ctx, context)
    }
