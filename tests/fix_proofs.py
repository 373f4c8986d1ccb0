"""Fixes, proven by running: equal to the old code on ordinary inputs, finite on those that broke it, in every dtype named.

A fix is ordinary code's business as much as that of the failing input. SAFE fixes must agree with the old code wherever
that was finite; UNSAFE ones where inputs are ordinary, within the bound that the rule's documentation states.
"""

from __future__ import annotations

import math
from contextlib import nullcontext
from dataclasses import dataclass
from types import ModuleType
from typing import TYPE_CHECKING, Any

import torch

from nanlint.engine.fixing.edits import apply_edits
from nanlint.model import Applicability
from nanlint.testing import findings_in
from tests.seeding import seed_cpu
from tests.truth_running import (
    behaves,
    cases_for,
    fake_cuda,
    load,
    misbehaves,
    outcomes,
    run,
    runs_on_fake_cuda,
    shown,
    surroundings,
    top_level,
    truth_of,
)

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from nanlint.model import Finding
    from tests.truth_running import Outcome

# What rounding may move, relative to the value and absolutely.
RELATIVE, ABSOLUTE = 1e-4, 1e-5
# A floor of 1e-7 under a root is 3.2e-4 behind it.
RELATIVE_IF_UNSAFE, ABSOLUTE_IF_UNSAFE = 1e-3, 1e-3
# Ordinary values: neither next to 0 nor far from 1, and not all the same.
SMALLEST, LARGEST, SPREAD = 0.01, 10.0, 0.01
# Squares of larger values are past the end of float16 whoever computes them, those of smaller ones are 0.
LARGEST_IN_HALF = 60.0
# The bound of an UNSAFE fix, relative and absolute, where the documentation states another one.
BOUNDS = {
    # `correction=0` divides by n where n - 1 was meant: of two values that is half the variance.
    "NAN106": (1.0, 1e-3),
    # float16 itself rounds at 1e-3.
    "NAN203": (1e-2, 1e-2),
}


@dataclass(frozen=True, slots=True)
class Proof:
    """What became of one fix: nothing wrong, or what is."""

    place: str
    code: str
    is_safe: bool
    problem: str = ""


def proofs_of(twin: Path) -> Iterator[Proof]:
    """One proof for each fix that makes `x.fixed.py` of `x.py`."""
    source = twin.with_name(twin.name.removesuffix(".fixed.py") + ".py")
    code, text = source.parent.name.partition("_")[0], source.read_text("utf-8")
    truth = truth_of(source.parent)
    with surroundings(truth):
        old, new = load(source), load(twin)
        for finding in findings_in(text, code):
            if finding.fix is None or finding.fix.applicability is Applicability.SHOW:
                continue
            spans = top_level(text)
            name = next(name for name, (first, last) in spans.items() if first <= finding.span.line <= last)
            fixture = _Fixture(source, text, old, new, truth)
            is_safe = finding.fix.applicability is Applicability.SAFE
            yield Proof(f"{shown(source)}:{finding.span.line} {name}", code, is_safe, _problem(fixture, name, finding))


@dataclass(frozen=True, slots=True)
class _Fixture:
    """A file, and its modules before and after all fixes."""

    path: Path
    text: str
    old: ModuleType
    new: ModuleType
    truth: ModuleType | None


def _problem(fixture: _Fixture, name: str, finding: Finding) -> str:
    before, after = getattr(fixture.old, name), getattr(fixture.new, name)
    if hasattr(fixture.truth, "harms") or runs_on_fake_cuda(fixture.path):
        was_bad = misbehaves(before, fixture.old, fixture.truth, finding)
        if not was_bad or not behaves(after, fixture.new, fixture.truth):
            return "is not mended" if was_bad else "was not broken"
    else:
        problem = _not_mended(after, finding)
        if problem:
            return problem
    if hasattr(fixture.truth, "harms"):
        return ""
    alone = getattr(_with_one_fix(fixture, finding), name)
    return _not_equal(before, alone, finding, largest=LARGEST if runs_on_fake_cuda(fixture.path) else math.inf)


def _with_one_fix(fixture: _Fixture, finding: Finding) -> ModuleType:
    """The module after this fix alone."""
    assert finding.fix is not None
    text, _, _ = apply_edits(fixture.text, [finding.fix])
    module = ModuleType(fixture.path.stem)
    with fake_cuda() if runs_on_fake_cuda(fixture.path) else nullcontext():
        exec(compile(text, str(fixture.path), "exec"), module.__dict__)  # noqa: S102 - a fixture of our own
    return module


def _not_mended(after: Any, finding: Finding) -> str:
    """An input for which the new code is not finite; that the old one breaks is shown with the marks of the fixture."""
    for dtype in finding.dtypes:
        is_half = dtype == "float16"
        # A loss is a mean: the gradient of a sum of a hundred values is past the end of float16 easily.
        results = outcomes(after, getattr(torch, dtype), weight=1 / 64 if is_half else 1.0)
        for case, result in zip(cases_for(after), results, strict=True):
            if (result.forward_is_broken or result.backward_is_broken) and not (is_half and not _fits_half(case)):
                return f"{dtype}: not finite for {_said(case)}"
    return ""


def _not_equal(before: Any, after: Any, finding: Finding, *, largest: float) -> str:
    """Where the new code gives other values or gradients than the old, which were finite."""
    assert finding.fix is not None
    is_safe = finding.fix.applicability is Applicability.SAFE
    cases = [*(case for case in cases_for(before) if is_safe or _is_ordinary(case)), *ordinary_cases(before)]
    for case in cases:
        as_trained = run(before, case, torch.float32)
        if as_trained.forward_is_broken or as_trained.backward_is_broken or not _is_below(case, largest):
            continue
        # In float64, so that what differs is the function and not the rounding.
        old, new = (run(thing, case, torch.float64) for thing in (before, after))
        if old.forward_is_broken or old.backward_is_broken:
            continue
        if not are_close(old, new, finding):
            return f"gives other results for {_said(case)}"
    return ""


def are_close(old: Outcome, new: Outcome, finding: Finding) -> bool:
    """Whether values and gradients agree within what the fix may move; a result in another dtype goes by its values."""
    is_safe = finding.fix is not None and finding.fix.applicability is Applicability.SAFE
    relative, absolute = (RELATIVE, ABSOLUTE) if is_safe else (RELATIVE_IF_UNSAFE, ABSOLUTE_IF_UNSAFE)
    relative, absolute = BOUNDS.get(finding.code, (relative, absolute))
    pairs = [*zip(old.outputs, new.outputs, strict=True), *zip(old.gradients, new.gradients, strict=True)]
    return all(torch.allclose(one.double(), two.double(), rtol=relative, atol=absolute) for one, two in pairs)


def ordinary_cases(thing: Any) -> Iterator[dict[str, torch.Tensor]]:
    """Inputs of which everybody would expect a result: shares of 1, positive numbers, numbers of either sign."""
    first = next(cases_for(thing), {})
    for seed, (low, high) in enumerate([(0.1, 0.9), (0.5, 3.0), (-2.0, 2.0)]):
        seed_cpu(seed)
        yield {
            name: low + (high - low) * torch.rand(value.shape) if _is_signed(value) else value
            for name, value in first.items()
        }


def _is_signed(value: torch.Tensor) -> bool:
    """Whether it is no share of 1 and no index: the first case of the battery is an ordinary one."""
    return value.is_floating_point() and bool((value < 0).any())


def _is_ordinary(case: dict[str, torch.Tensor]) -> bool:
    for value in case.values():
        if value.dtype == torch.bool and not bool(value.any()):
            return False
        if not value.is_floating_point():
            continue
        sizes, spread = value.abs(), value.amax(-1) - value.amin(-1)
        if sizes.min() < SMALLEST or sizes.max() > LARGEST or bool((spread < SPREAD).any()):
            return False
    return True


def _is_below(case: dict[str, torch.Tensor], largest: float) -> bool:
    return all(bool((value.float().abs() <= largest).all()) for value in case.values())


def _fits_half(case: dict[str, torch.Tensor]) -> bool:
    real = [value for value in case.values() if value.is_floating_point()]
    return _is_below(case, LARGEST_IN_HALF) and all(
        bool(((value == 0) | (value.abs() >= SMALLEST)).all()) for value in real
    )


def _said(case: dict[str, torch.Tensor]) -> str:
    return ", ".join(f"{name} = {value.flatten()[:3].tolist()}" for name, value in case.items())
