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

from nanlint.engine.edits import apply_edits
from nanlint.model import Applicability, Direction
from nanlint.testing import findings_in
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
RELATIVE, ABSOLUTE = 1e-3, 1e-4
# Ordinary values: neither next to 0 nor far from 1, and not all the same.
SMALLEST, LARGEST, SPREAD = 0.01, 10.0, 0.01
# Squares of larger values are past the end of float16 whoever computes them, those of smaller ones are 0.
LARGEST_IN_HALF = 60.0
# The bound of an UNSAFE fix where the documentation states another one than that of rounding.
BOUNDS = {
    # `correction=0` divides by n where n - 1 was meant: at most by the root of 2, of two values.
    "NAN106": 0.5,
}
# What a fix does not mend in float16, and why: the documentation of the rule says so, too.
NOT_IN_HALF = {
    "NAN106": "the eps beside the deviation is the author's own, and where float16 rounds it to 0 NAN203 tells of it",
    "NAN204": "an eps for float32 does not hold the slope of rsqrt in float16, which needs a cast",
    "NAN211": "the eps is the author's own, and where float16 rounds it to 0 NAN203 tells of it",
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
        problem = _not_mended(before, after, finding)
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


def _not_mended(before: Any, after: Any, finding: Finding) -> str:
    """Where the old code breaks and the new one does, too; or that the old one does not break."""
    for dtype in finding.dtypes:
        if dtype == "float16" and finding.code in NOT_IN_HALF:
            continue
        was_broken = False
        kind = getattr(torch, dtype)
        for case, old, new in zip(cases_for(before), outcomes(before, kind), outcomes(after, kind), strict=True):
            if dtype == "float16" and not _fits_half(case):
                continue
            was_broken |= _is_broken(old, finding.direction)
            if new.forward_is_broken or new.backward_is_broken:
                return f"{dtype}: not finite for {_said(case)}"
        if not was_broken and dtype != "float16":
            return f"{dtype}: the old code does not break"
    return ""


def _is_broken(outcome: Outcome, direction: Direction) -> bool:
    return outcome.backward_is_broken or (direction is not Direction.BACKWARD and outcome.forward_is_broken)


def _not_equal(before: Any, after: Any, finding: Finding, *, largest: float) -> str:
    """Where the new code gives other values or gradients than the old, which were finite."""
    assert finding.fix is not None
    is_safe = finding.fix.applicability is Applicability.SAFE
    cases = [*(case for case in cases_for(before) if is_safe or _is_ordinary(case)), *ordinary_cases(before)]
    for case in cases:
        if not _is_below(case, largest):
            continue
        old, new = run(before, case, torch.float32), run(after, case, torch.float32)
        if old.forward_is_broken or old.backward_is_broken:
            continue
        if not are_close(old, new, relative=BOUNDS.get(finding.code, RELATIVE)):
            return f"gives other results for {_said(case)}"
    return ""


def are_close(old: Outcome, new: Outcome, *, relative: float = RELATIVE) -> bool:
    """Whether values and gradients agree; a result in another dtype is compared by its values."""
    pairs = [*zip(old.outputs, new.outputs, strict=True), *zip(old.gradients, new.gradients, strict=True)]
    return all(torch.allclose(one.double(), two.double(), rtol=relative, atol=ABSOLUTE) for one, two in pairs)


def ordinary_cases(thing: Any) -> Iterator[dict[str, torch.Tensor]]:
    """Inputs of which everybody would expect a result: shares of 1, positive numbers, numbers of either sign."""
    first = next(cases_for(thing), {})
    for seed, (low, high) in enumerate([(0.1, 0.9), (0.5, 3.0), (-2.0, 2.0)]):
        torch.manual_seed(seed)
        yield {
            name: low + (high - low) * torch.rand(value.shape) if value.is_floating_point() else value
            for name, value in first.items()
        }


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
