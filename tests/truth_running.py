"""Running fixtures: a function or module of a file on the battery of `truth_inputs`, forward and backward.

What a run came to is an `Outcome`. A folder whose rule is about something else than values has a `truth.py` with
`harms(function)`, which shows the harm in its own way.
"""

from __future__ import annotations

import ast
import importlib.util
import inspect
from contextlib import contextmanager, nullcontext
from typing import TYPE_CHECKING, Any
from unittest import mock

import pytest
import torch

from nanlint.model import Direction
from nanlint.testing import expectations
from tests.checkout import ROOT
from tests.seeding import seed_cpu
from tests.truth_inputs import WITHOUT_GRADIENT, battery

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator
    from pathlib import Path
    from types import ModuleType

    from nanlint.model import Finding

# Tensors of six elements are not worth a second thread.
torch.set_num_threads(1)

FOLDERS = sorted((ROOT / "fixtures").glob("NAN*"))
FILES = sorted(path for folder in FOLDERS for path in folder.glob("*.py"))
MARKED = [path for path in FILES if not path.name.endswith(".fixed.py") and path.name != "truth.py"]
MARKED = [path for path in MARKED if expectations(path.read_text("utf-8"))]
GOOD = [path for path in FILES if path.name.startswith("good")]
FIXED = [path for path in FILES if path.name.endswith(".fixed.py")]
FAKE_CUDA = "fake cuda"


def shown(path: Path) -> str:
    return f"{path.parent.name}/{path.name}"


def load(path: Path) -> ModuleType:
    """Run a fixture as a module."""
    spec = importlib.util.spec_from_file_location(f"fixture_{path.stem.replace('-', '_').replace('.', '_')}", path)
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    with fake_cuda() if runs_on_fake_cuda(path) else nullcontext():
        spec.loader.exec_module(module)
    return module


def runs_on_fake_cuda(path: Path) -> bool:
    return f'RUNS_ON = "{FAKE_CUDA}"' in path.read_text("utf-8")


@contextmanager
def fake_cuda() -> Iterator[None]:
    """Let autocast believe that there is a GPU."""
    with (
        mock.patch("torch.cuda.is_available", return_value=True),
        mock.patch("torch.cuda.is_bf16_supported", return_value=True),
        mock.patch("torch.cuda.amp.common.amp_definitely_not_available", return_value=False),
    ):
        yield


def truth_of(folder: Path) -> ModuleType | None:
    return load(folder / "truth.py") if (folder / "truth.py").is_file() else None


def runnable(truth: ModuleType | None) -> None:
    reason = getattr(truth, "NOTHING_TO_RUN", "")
    if reason:
        pytest.skip(reason)


@contextmanager
def surroundings(truth: ModuleType | None) -> Iterator[None]:
    around = getattr(truth, "around", nullcontext)
    with around():
        yield


def top_level(text: str) -> dict[str, tuple[int, int]]:
    """The functions and classes of a file and their lines."""
    found = [node for node in ast.parse(text).body if isinstance(node, (ast.FunctionDef, ast.ClassDef))]
    return {node.name: (node.lineno, node.end_lineno or node.lineno) for node in found}


def marked_in(text: str) -> list[str]:
    """The functions and classes that announce a finding."""
    lines = {expectation.line for expectation in expectations(text)}
    return [name for name, (first, last) in top_level(text).items() if lines & set(range(first, last + 1))]


class Outcome:
    """What one case came to: tensors out of the forward, gradients out of the backward, or an error."""

    def __init__(self, outputs: list[Any], gradients: list[Any], error: str = "") -> None:
        self.outputs, self.gradients, self.error = outputs, gradients, error

    @property
    def forward_is_broken(self) -> bool:
        return bool(self.error) or not _finite(self.outputs)

    @property
    def backward_is_broken(self) -> bool:
        return bool(self.error) or not _finite(self.gradients)


def _finite(tensors: list[Any]) -> bool:
    return all(bool(torch.isfinite(tensor).all()) for tensor in tensors)


def _tensors(value: object) -> list[Any]:
    if isinstance(value, torch.Tensor):
        return [value]
    if isinstance(value, dict):
        value = list(value.values())
    if isinstance(value, (list, tuple)):
        return [tensor for part in value for tensor in _tensors(part)]
    return []


def made(thing: Any) -> Any:
    """A function as it is; an nn.Module, made without arguments."""
    return thing() if inspect.isclass(thing) else thing


def forward_of(thing: Any) -> Any:
    """What is called in the end: its parameters name the inputs."""
    return getattr(thing, "forward", thing)


def run(thing: Any, case: dict[str, Any], dtype: Any, *, weight: float = 1.0) -> Outcome:
    """Forward and backward of a function, or of an nn.Module made without arguments; `weight` is the gradient to begin with."""
    seed_cpu(0)
    function: Any = made(thing)
    function = function.to(dtype) if inspect.isclass(thing) else function
    inputs = {
        name: value.detach().clone().to(dtype).requires_grad_(name not in WITHOUT_GRADIENT)
        if value.is_floating_point()
        else value.clone()
        for name, value in case.items()
    }
    learned = [*inputs.values(), *(function.parameters() if inspect.isclass(thing) else ())]
    outputs = [out for out in _tensors(function(**inputs)) if out.is_floating_point()]
    if any(out.requires_grad for out in outputs):
        (weight * sum(out.float().sum() for out in outputs if out.requires_grad)).backward()
    return Outcome(outputs, [tensor.grad for tensor in learned if tensor.grad is not None])


def outcomes(thing: Any, dtype: Any = torch.float32, *, weight: float = 1.0) -> Iterator[Outcome]:
    """What every case of the battery comes to."""
    for case in cases_for(thing):
        try:
            yield run(thing, case, dtype, weight=weight)
        except RuntimeError as error:  # noqa: PERF203 - one case that fails does not end the others
            # A constant that the dtype cannot hold is refused by some operations and becomes inf in others.
            if "without overflow" not in str(error):
                raise
            yield Outcome([], [], error=str(error))


def cases_for(thing: Any) -> Iterator[dict[str, Any]]:
    for case in battery(forward_of(thing)):
        yield {name: value for name, value in case.items() if name != "self"}


def run_on_fake_cuda(thing: Any) -> Outcome:
    """The forward on tensors that say they are on a GPU: real autocast, no values, no GPU needed."""
    from torch._subclasses.fake_tensor import FakeTensorMode  # noqa: PLC0415 - slow, and for one kind of fixture only

    with fake_cuda(), FakeTensorMode():
        function = made(thing)
        names = [name for name in inspect.signature(forward_of(function)).parameters if name != "self"]
        try:
            function(**{name: torch.rand(2, 3, device="cuda") for name in names})
        except RuntimeError as error:
            return Outcome([], [], error=str(error))
    return Outcome([], [])


def misbehaves(thing: Any, module: ModuleType, truth: ModuleType | None, finding: Finding) -> bool:
    """Whether the harm that `finding` tells of comes true, in every dtype that it names."""
    if truth is not None and hasattr(truth, "harms"):
        return bool(truth.harms(thing))
    if getattr(module, "RUNS_ON", "") == FAKE_CUDA:
        return run_on_fake_cuda(thing).forward_is_broken
    return all(breaks(outcomes(thing, getattr(torch, dtype)), finding.direction) for dtype in finding.dtypes)


def breaks(results: Iterable[Outcome], direction: Direction) -> bool:
    """Whether the results are broken as `direction` says; looks no further than it has to."""
    missing = {Direction.FORWARD, Direction.BACKWARD} if direction is Direction.BOTH else {direction}
    for result in results:
        if result.forward_is_broken:
            missing.discard(Direction.FORWARD)
        # What breaks in the backward alone must have a finite forward.
        if result.backward_is_broken and not (direction is Direction.BACKWARD and result.forward_is_broken):
            missing.discard(Direction.BACKWARD)
        if not missing:
            return True
    return False


def behaves(thing: Any, module: ModuleType, truth: ModuleType | None) -> bool:
    if truth is not None and hasattr(truth, "harms"):
        return not truth.harms(thing)
    if getattr(module, "RUNS_ON", "") == FAKE_CUDA:
        return not run_on_fake_cuda(thing).forward_is_broken
    return not any(result.forward_is_broken or result.backward_is_broken for result in outcomes(thing))


def is_run(name: str, module: ModuleType, truth: ModuleType | None) -> bool:
    """Whether a function of a good or fixed fixture can be run by itself; helpers of a loop fixture are not."""
    thing = getattr(module, name)
    if truth is None or not hasattr(truth, "harms"):
        return True
    if hasattr(truth, "is_run"):
        return bool(truth.is_run(thing))
    return not inspect.isclass(thing) and {"model", "optimizer"} <= set(inspect.signature(thing).parameters)
