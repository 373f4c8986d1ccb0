"""Signs that a step is lost although no optimizer was asked: a bad loss among the variables of the loop, or an exception.

Scripts that check their loss leave the turn by `continue`, `raise` or `sys.exit`, before anybody else can look; torch itself
refuses NaN in places (`binary_cross_entropy`, `Categorical`, `multinomial`, `linalg`).
"""

from __future__ import annotations

import inspect
import math
import re
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Any

import torch

from nanlint.trace.measure import flaws_of, is_checkable

_FOLDER = str(Path(__file__).parent)

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping
    from types import FrameType


def variables_of(frame: FrameType) -> dict[str, Any]:
    """The variables of a frame, without keeping any of its tensors alive."""
    shown = frame.f_locals
    variables = dict(shown)
    if sys.version_info < (3, 13) and frame.f_code.co_flags & inspect.CO_OPTIMIZED:
        # Until 3.13 a function's frame holds on to what was shown.
        for name, value in variables.items():
            if isinstance(value, torch.Tensor):
                shown.pop(name, None)
    return variables


def bad_losses_in(frame: FrameType) -> list[torch.Tensor]:
    """The scalars of a frame that carry a gradient and are not finite."""
    return [tensor for tensor in _scalars(variables_of(frame)) if flaws_of(tensor)]


def bad_losses_behind(error: BaseException) -> list[torch.Tensor]:
    """The same for every frame that `error` came through."""
    found: list[torch.Tensor] = []
    traceback = error.__traceback__
    while traceback is not None:
        found += bad_losses_in(traceback.tb_frame)
        traceback = traceback.tb_next
    return found


def has_nan_behind(error: BaseException) -> bool:
    """Whether a plain number on the way was NaN; infinity is what a best loss begins with."""
    traceback = error.__traceback__
    while traceback is not None:
        values = traceback.tb_frame.f_locals.values()
        if any(isinstance(value, float) and math.isnan(value) for value in values):
            return True
        traceback = traceback.tb_next
    return False


TELLING = re.compile(
    r"\bnans?\b|\binf\b|infinit|non-?finite|invalid values|between 0 and 1|probability tensor|failed to converge"
    r"|ill-conditioned|positive-definite|device-side assert",
    re.IGNORECASE,
)
"""What torch says when it is given NaN."""
REFUSALS = (RuntimeError, ValueError, ArithmeticError, AssertionError)


def is_refusal(error: BaseException) -> bool:
    """Whether somebody refused values that are not finite: by what it says, or by a NaN in the hands of who raised it."""
    return isinstance(error, REFUSALS) and bool(TELLING.search(str(error)) or bad_tensors_behind(error))


def bad_tensors_behind(error: BaseException) -> list[torch.Tensor]:
    """The tensors of the frames that `error` came through with NaN, or an infinity that is learned from, the innermost last."""
    found: list[torch.Tensor] = []
    traceback = error.__traceback__
    while traceback is not None:
        values = list(variables_of(traceback.tb_frame).values())
        values += [item for value in values if type(value) in {list, tuple} for item in value[:16]]
        found += [value for value in values if is_checkable(value) and _is_telling(value)]
        traceback = traceback.tb_next
    return found


def _is_telling(tensor: torch.Tensor) -> bool:
    flaws = flaws_of(tensor)
    return flaws.nan or (flaws.above and tensor.requires_grad)


def first_line(error: BaseException) -> str:
    """The exception as the last line of a traceback has it, cut where it is long."""
    return f"{type(error).__name__.lstrip('_')}: {str(error).partition(chr(10))[0][:200]}"


def is_ours(error: BaseException) -> bool:
    """Whether it was raised by the tracer itself, in which case it says nothing about the script."""
    last = error.__traceback__
    while last is not None and last.tb_next is not None:
        last = last.tb_next
    return last is not None and last.tb_frame.f_code.co_filename.startswith(_FOLDER)


def _scalars(names: Mapping[str, Any]) -> Iterator[torch.Tensor]:
    for value in names.values():
        parts = list(value.values()) if type(value) is dict else [value]
        for part in parts:
            if type(part) is torch.Tensor and part.requires_grad and part.numel() == 1 and is_checkable(part):
                yield part
