"""Signs that a step is lost although no optimizer was asked: a bad loss among the variables of the loop.

Scripts that check their loss leave the turn by `continue`, `raise` or `sys.exit`, before anybody else can look.
"""

from __future__ import annotations

import math
from pathlib import Path
from typing import TYPE_CHECKING, Any

import torch

from nanlint.trace.measure import flaws_of, is_checkable

_FOLDER = str(Path(__file__).parent)

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping
    from types import FrameType


def bad_losses_in(frame: FrameType) -> list[torch.Tensor]:
    """The scalars of a frame that carry a gradient and are not finite."""
    return [tensor for tensor in _scalars(frame.f_locals) if flaws_of(tensor)]


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


def is_ours(error: BaseException) -> bool:
    """Whether it was raised by the tracer itself, in which case it says nothing about the script."""
    last = error.__traceback__
    while last is not None and last.tb_next is not None:
        last = last.tb_next
    return last is not None and last.tb_frame.f_code.co_filename.startswith(_FOLDER)


def _scalars(names: Mapping[str, Any]) -> Iterator[torch.Tensor]:
    for value in list(names.values()):
        parts = list(value.values()) if type(value) is dict else [value]
        for part in parts:
            if type(part) is torch.Tensor and part.requires_grad and part.numel() == 1 and is_checkable(part):
                yield part
