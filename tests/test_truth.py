"""The fixtures, run: what is marked as bad misbehaves, what is good or fixed does not, and a safe fix changes no result.

A fixture that does not misbehave is a lie. Functions get the battery of `truth_inputs`; a folder whose rule is about
something else than values has a `truth.py` with `harms(function)`, which shows the harm in its own way.
"""

from __future__ import annotations

import ast
import importlib.util
import inspect
import math
import sys
import warnings
from contextlib import contextmanager, nullcontext
from typing import TYPE_CHECKING, Any
from unittest import mock

import pytest

from nanlint.model import Applicability, Direction
from nanlint.testing import expectations, findings_in
from tests.checkout import ROOT

torch = pytest.importorskip("torch", reason="torch is not installed, so no fixture can be run")

from tests.truth_inputs import WITHOUT_GRADIENT, battery  # noqa: E402 - it imports torch

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator
    from pathlib import Path
    from types import ModuleType

    from nanlint.model import Finding

# Tensors of six elements are not worth a second thread.
torch.set_num_threads(1)

FOLDERS = sorted((ROOT / "fixtures").glob("NAN*"))
FILES = sorted(path for folder in FOLDERS for path in folder.glob("*.py"))
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


# -- running ---------------------------------------------------------------------------------------------------


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


def run(thing: Any, case: dict[str, Any], dtype: Any) -> Outcome:
    """Forward and backward of a function, or of an nn.Module made without arguments."""
    torch.manual_seed(0)
    function: Any = made(thing)
    function = function.to(dtype) if inspect.isclass(thing) else function
    inputs = {
        name: value.to(dtype).requires_grad_(name not in WITHOUT_GRADIENT)
        if value.is_floating_point()
        else value.clone()
        for name, value in case.items()
    }
    learned = [*inputs.values(), *(function.parameters() if inspect.isclass(thing) else ())]
    outputs = [out for out in _tensors(function(**inputs)) if out.is_floating_point()]
    if any(out.requires_grad for out in outputs):
        sum(out.float().sum() for out in outputs if out.requires_grad).backward()
    return Outcome(outputs, [tensor.grad for tensor in learned if tensor.grad is not None])


def outcomes(thing: Any, dtype: Any = torch.float32) -> Iterator[Outcome]:
    for case in cases_for(thing):
        try:
            yield run(thing, case, dtype)
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


# -- the tests -------------------------------------------------------------------------------------------------

MARKED = [path for path in FILES if not path.name.endswith(".fixed.py") and path.name != "truth.py"]
MARKED = [path for path in MARKED if expectations(path.read_text("utf-8"))]
GOOD = [path for path in FILES if path.name.startswith("good")]
FIXED = [path for path in FILES if path.name.endswith(".fixed.py")]


@pytest.mark.parametrize("path", MARKED, ids=shown)
def test_every_marked_function_misbehaves(path: Path) -> None:
    truth, text = truth_of(path.parent), path.read_text("utf-8")
    runnable(truth)
    found = findings_in(text, path.parent.name.partition("_")[0])
    with surroundings(truth):
        module = load(path)
        lies = [
            f"{name}:{finding.span.line} {finding.message}"
            for name, (first, last) in top_level(text).items()
            for finding in found
            if first <= finding.span.line <= last and not misbehaves(getattr(module, name), module, truth, finding)
        ]
    assert lies == []


@pytest.mark.parametrize("path", GOOD, ids=shown)
def test_good_functions_stay_finite(path: Path) -> None:
    truth = truth_of(path.parent)
    runnable(truth)
    with surroundings(truth):
        module = load(path)
        names = [name for name in top_level(path.read_text("utf-8")) if is_run(name, module, truth)]
        assert names
        assert [name for name in names if not behaves(getattr(module, name), module, truth)] == []


@pytest.mark.parametrize("path", FIXED, ids=shown)
def test_fixed_functions_stay_finite(path: Path) -> None:
    truth, text = truth_of(path.parent), path.read_text("utf-8")
    runnable(truth)
    with surroundings(truth):
        module = load(path)
        assert [name for name in marked_in(text) if not behaves(getattr(module, name), module, truth)] == []


@pytest.mark.parametrize("path", FIXED, ids=shown)
def test_safe_fixes_keep_finite_results_and_their_gradients(path: Path) -> None:
    truth = truth_of(path.parent)
    runnable(truth)
    source = path.with_name(path.name.removesuffix(".fixed.py") + ".py")
    text = source.read_text("utf-8")
    found = findings_in(text, path.parent.name.partition("_")[0])
    if hasattr(truth, "harms") or not all(f.fix and f.fix.applicability is Applicability.SAFE for f in found):
        pytest.skip("what a loop does with finite values is shown by its own harms()")
    old, new = load(source), load(path)
    with warnings.catch_warnings():
        # On the CPU a CUDA autocast switches itself off and says so, which makes the two comparable.
        warnings.filterwarnings("ignore", message="CUDA is not available")
        for name in marked_in(text):
            # On a GPU there was an error and no result; without one, the old function cuts off what is far from ordinary.
            _assert_same(getattr(old, name), getattr(new, name), largest=10.0 if runs_on_fake_cuda(path) else math.inf)


def _assert_same(old: Any, new: Any, *, largest: float) -> None:
    compared = 0
    for case, before, after in zip(cases_for(old), outcomes(old), outcomes(new), strict=True):
        extreme = any(bool((value.abs() > largest).any()) for value in case.values())
        if extreme or before.forward_is_broken or before.backward_is_broken:
            continue
        compared += 1
        torch.testing.assert_close(after.outputs, before.outputs, rtol=1e-3, atol=1e-4)
        torch.testing.assert_close(after.gradients, before.gradients, rtol=1e-3, atol=1e-4)
    assert compared, "no case of the battery is ordinary enough to compare"


def test_a_function_that_behaves_is_not_called_bad() -> None:
    def fine(logits: Any) -> Any:
        return torch.log_softmax(logits, -1)

    assert not any(result.forward_is_broken or result.backward_is_broken for result in outcomes(fine))


def test_a_function_that_breaks_in_the_backward_only_is_told_from_one_that_breaks_in_both() -> None:
    def root(x: Any) -> Any:
        return x.pow(2).sum().sqrt()

    results = list(outcomes(root))
    assert breaks(results, Direction.BACKWARD)
    assert not breaks(results, Direction.FORWARD)


def test_the_fake_gpu_knows_what_autocast_refuses() -> None:
    def refused(score: Any, target: Any) -> Any:
        with torch.autocast("cuda"):
            return torch.nn.functional.binary_cross_entropy(score, target)

    assert "unsafe to autocast" in run_on_fake_cuda(refused).error


def test_stand_ins_leave_no_trace() -> None:
    from tests.toy_training import stand_ins  # noqa: PLC0415 - it imports torch

    with stand_ins(a_module_that_is_not_there={"x": 1}):
        assert sys.modules["a_module_that_is_not_there"].x == 1
    assert "a_module_that_is_not_there" not in sys.modules
