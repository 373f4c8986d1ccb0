"""Fixes of generated code, proven by running it before and after."""

from __future__ import annotations

import warnings
from typing import TYPE_CHECKING, Any

import torch

from nanlint.model import Applicability
from tests.fix_shapes import POSITIVE, SHARE
from tests.fixing import fixed, parses
from tests.seeding import seed_cpu

if TYPE_CHECKING:
    from nanlint.engine.fixing.apply_fixes import Fixed
    from nanlint.model import Finding
    from tests.fix_shapes import Shape

torch.set_num_threads(1)

ROWS, COLUMNS = 2, 4
ROUNDING = 1e-4
# Products of it are 0 in float16, and its inverse is not past the end.
SMALL_IN_HALF = 1e-3
# UNSAFE fixes may move a result by what their floor is; 1e-7 under a root is 3.2e-4.
FLOORS = 1e-3
# `correction=0` divides by n where n - 1 was meant: of eight values that is an eighth of the variance.
BOUNDS = {"NAN106": 0.15}


def problem_with(shape: Shape, text: str, outcome: Fixed) -> str:
    """What is wrong with the fixes of `text`; empty if nothing is."""
    if not parses(outcome.text):
        return "does not parse"
    if outcome.withdrawn or outcome.remaining:
        return "is found again"
    if fixed(outcome.text, shape.code).text != outcome.text:
        return "is changed by a second run"
    if ("\r\n" in outcome.text) != ("\r\n" in text) or _comments(outcome.text) != _comments(text):
        return "lost a comment or its line ends"
    dtypes = _named(outcome.applied)
    if not _broken(shape, text, dtypes[0]):
        return f"does not break at {shape.breaks_at} in {dtypes[0]}"
    problems = (_not_mended(shape, text, outcome.text, dtype) for dtype in dtypes)
    return different_result(shape, text, outcome) or next(filter(None, problems), "")


def _named(findings: list[Finding]) -> list[str]:
    """The dtypes that all findings name, float32 first."""
    named = set.intersection(*(set(finding.dtypes) for finding in findings))
    return sorted(named, key=lambda dtype: (dtype != "float32", dtype))


def _comments(text: str) -> list[int]:
    return [text.count(comment) for comment in ("# why not", "# here", "# first", "# as it comes")]


def different_result(shape: Shape, text: str, outcome: Fixed) -> str:
    """Where value or gradient differ from those of the old code, which were finite; empty if nowhere."""
    tolerance = BOUNDS.get(shape.code, ROUNDING if _are_safe(outcome.applied) else FLOORS)
    for x in ordinary(shape):
        # In float64, so that what differs is the function and not the rounding.
        before, after = run(text, x.double(), _some()), run(outcome.text, x.double(), _some())
        if is_finite(before) and not all(
            torch.allclose(one.double(), two.double(), rtol=tolerance, atol=tolerance)
            for one, two in zip(before, after, strict=True)
        ):
            return f"gives other results for {x.flatten()[:3].tolist()}"
    return ""


def _broken(shape: Shape, text: str, dtype: str) -> list[torch.Tensor]:
    """The masks with which the code breaks at the edge."""
    everything = torch.ones(1, dtype=torch.bool)
    return [mask for mask in (everything, ~everything) if not is_finite(_at_edge(shape, text, mask, dtype))]


def _not_mended(shape: Shape, old: str, new: str, dtype: str) -> str:
    """Whether the new code breaks where the old one did."""
    broken = _broken(shape, old, dtype)
    is_mended = all(is_finite(_at_edge(shape, new, mask, dtype)) for mask in broken)
    return "" if is_mended else f"is not mended in {dtype}"


def _at_edge(shape: Shape, text: str, mask: torch.Tensor, dtype: str) -> tuple[torch.Tensor, ...]:
    # A loss is a mean: the gradient of a sum of many values is past the end of float16 easily.
    return run(text, _held_by(dtype, breaking(shape)), mask, 1 / 64 if dtype == "float16" else 1.0)


def _held_by(dtype: str, edge: torch.Tensor) -> torch.Tensor:
    """The edge in a dtype; what float16 rounds to 0 is another edge, so it is what is small there."""
    is_lost = (edge != 0) & (edge.abs() < SMALL_IN_HALF) & (dtype == "float16")
    return edge.masked_fill(is_lost, SMALL_IN_HALF).to(getattr(torch, dtype))


def _are_safe(applied: list[Finding]) -> bool:
    return all(each.fix is not None and each.fix.applicability is Applicability.SAFE for each in applied)


def _some() -> torch.Tensor:
    return torch.tensor([True, False, False, True])


def ordinary(shape: Shape) -> list[torch.Tensor]:
    """Inputs of which everybody would expect a result."""
    seed_cpu(0)
    if shape.operand == SHARE:
        return [torch.rand(ROWS, COLUMNS) * 0.8 + 0.1, torch.softmax(torch.randn(ROWS, COLUMNS), dim=-1)]
    if shape.operand == POSITIVE:
        return [torch.rand(ROWS, COLUMNS) + 0.1]
    steps = torch.linspace(-3, 3, ROWS * COLUMNS).view(ROWS, COLUMNS) + 0.01
    return [torch.randn(ROWS, COLUMNS), torch.rand(ROWS, COLUMNS) + 0.2, steps]


def breaking(shape: Shape) -> torch.Tensor:
    """The input that breaks it: all of it, or every other element, at the edge."""
    x = torch.full((1, 1) if shape.is_single else (ROWS, COLUMNS), shape.breaks_at)
    if shape.alternates:
        x[:, 1::2] = 0
    return x


def run(text: str, x: torch.Tensor, mask: torch.Tensor, weight: float = 1.0) -> tuple[torch.Tensor, ...]:
    """What `f` of the module returns, and the gradient of its weighted sum; NaN for what raises."""
    names: dict[str, Any] = {}
    exec(compile(text, "generated", "exec"), names)  # noqa: S102 - our own text
    given = x.clone().requires_grad_()
    try:
        with warnings.catch_warnings():
            warnings.filterwarnings("ignore", message=".*degrees of freedom")
            result = names["f"](given, mask.expand(x.shape))
    except RuntimeError:
        # A constant that the dtype cannot hold is refused by some operations.
        return (torch.tensor(float("nan")), torch.tensor(float("nan")))
    if not result.requires_grad:
        return (result,)
    (weight * result.sum()).backward()
    return result.detach(), given.grad if given.grad is not None else torch.zeros(())


def is_finite(result: tuple[torch.Tensor, ...]) -> bool:
    """Whether all of it is finite."""
    return all(bool(torch.isfinite(part).all()) for part in result)
