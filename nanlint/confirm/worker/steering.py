"""The last stage: follow the gradient of the flagged operand into its danger zone.

For needles that no corner meets: `1 / (x.sum() - 3)`. The operand is caught where the flagged line hands it to torch,
above autograd, so its gradient leads to the inputs. A Polyak step goes to where a linear operand would be in the zone;
every second one goes twice as far, which meets quadratics exactly.
"""

from __future__ import annotations

import copy
import sys
from typing import TYPE_CHECKING, Any

import torch
from torch.overrides import TorchFunctionMode

from nanlint.confirm.worker.moves import leaves
from nanlint.confirm.worker.reduce import made_explicit
from nanlint.confirm.worker.values import EDGE

if TYPE_CHECKING:
    from collections.abc import Iterator

    from nanlint.confirm.worker.bench import Bench

Json = dict[str, Any]
STEPS = 24
_LARGEST = 1e4
_CLOSE = 1e-4
# Operation -> the place of the operand among its arguments, and the values that break it or its gradient.
_ZONES: dict[str, tuple[int, tuple[float, ...]]] = {
    **dict.fromkeys(("div", "true_divide", "divide", "__truediv__", "div_", "fmod", "remainder"), (1, (0.0,))),
    **dict.fromkeys(("__rdiv__", "__rtruediv__", "reciprocal", "rsqrt"), (0, (0.0,))),
    **dict.fromkeys(("log", "log2", "log10", "sqrt", "pow", "__pow__", "norm"), (0, (0.0, -1e-3))),
    "log1p": (0, (-1.0,)),
    **dict.fromkeys(("acos", "asin", "atanh", "erfinv"), (0, (1.0, -1.0))),
    **dict.fromkeys(("exp", "expm1", "sinh", "cosh"), (0, (100.0,))),
    "logit": (0, (0.0, 1.0)),
}


class _Catcher(TorchFunctionMode):
    """Keeps the operands that the flagged line hands to operations with a danger zone."""

    def __init__(self, target: Json) -> None:
        super().__init__()
        self.target = target
        self.caught: list[tuple[torch.Tensor, tuple[float, ...]]] = []

    def __torch_function__(self, function: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
        place, values = _ZONES.get(getattr(function, "__name__", ""), (-1, ()))
        if 0 <= place < len(args) and isinstance(args[place], torch.Tensor) and self._is_here():
            self.caught.append((args[place], values))
        return function(*args, **(kwargs or {}))

    def _is_here(self) -> bool:
        frame = sys._getframe(2)  # noqa: SLF001 - the user's line is on the stack
        while frame is not None:
            if frame.f_code.co_filename == self.target["path"]:
                return bool(self.target["first"] <= frame.f_lineno <= self.target["last"])
            frame = frame.f_back  # type: ignore[assignment] # None ends the loop
        return False


def steered(bench: Bench, base: Json, target: Json) -> Iterator[Json]:
    """Cases that come nearer and nearer to a zone, for each value of it and a few beginnings."""
    if target.get("anywhere") or bench.captured is not None:
        return
    for seed in range(2):
        for choice in range(2):
            case = made_explicit({**base, "seed": base["seed"] + seed, "corner": "normal", "corners": {}})
            for step in range(STEPS):
                moved = _moved(bench, case, target, (choice, step))
                if moved is None:
                    break
                case = moved
                yield {**case, "grade": EDGE, "how": "input only, by gradient"}


def _moved(bench: Bench, case: Json, target: Json, turn: tuple[int, int]) -> Json | None:
    """The case after one step; None if nothing was caught, or nothing moves it."""
    choice, step = turn
    inputs = _leaf_tensors(bench, case, target)
    if inputs is None:
        return None
    operand, values, learned = inputs
    aim = values[min(choice, len(values) - 1)]
    distance = (operand - aim).abs()
    nearest = distance.flatten()[distance.detach().flatten().argmin()]
    if not nearest.requires_grad or not bool(torch.isfinite(nearest)) or float(nearest.detach()) == 0:
        return None
    slopes = torch.autograd.grad(nearest, list(learned.values()), allow_unused=True)
    found = {name: slope.double().flatten() for name, slope in zip(learned, slopes, strict=True) if slope is not None}
    if float(nearest.detach()) < _CLOSE:
        found = _alone(found, step)
    size = sum(float(slope.square().sum()) for slope in found.values())
    if not 0 < size < float("inf"):
        return None
    stretch = 1.0 + step % 2 if float(nearest.detach()) >= _CLOSE else 1.0 - 0.5 * (step % 2)
    factor = stretch * float(nearest.detach()) / size
    changed = copy.deepcopy(case)
    for name, spec in leaves(changed):
        if name in found and spec["domain"] == "real":
            now = torch.tensor(spec["values"], dtype=torch.float64)
            spec["values"] = (now - factor * found[name]).clamp(-_LARGEST, _LARGEST).tolist()
    return changed


def _alone(slopes: dict[str, torch.Tensor], step: int) -> dict[str, torch.Tensor]:
    """The slope of one element, another one in each step: near the zone, rounding would miss it for good."""
    name = max(slopes, key=lambda one: float(slopes[one].abs().max()), default="")
    if not name:
        return {}
    steep = (slopes[name].abs() > 0).nonzero().flatten()
    if not len(steep):
        return {}
    place = steep[step % len(steep)]
    alone = torch.zeros_like(slopes[name])
    alone[place] = slopes[name][place]
    return {name: alone}


def _leaf_tensors(
    bench: Bench, case: Json, target: Json
) -> tuple[torch.Tensor, tuple[float, ...], dict[str, torch.Tensor]] | None:
    """The operand that was caught first, the values of its zone, and the inputs that can be moved."""
    try:
        function, arguments, _ = bench.prepared(case)
        learned = {name: one for name, one in arguments.items() if isinstance(one, torch.Tensor) and one.requires_grad}
        catcher = _Catcher(target)
        with catcher:
            function(**arguments)
    except Exception:  # noqa: BLE001 - the border to the user's code
        return None
    caught = [
        (one, values) for one, values in catcher.caught if one.requires_grad and one.is_floating_point() and one.numel()
    ]
    return (*caught[0], learned) if caught and learned else None
