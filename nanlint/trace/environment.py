"""What a run was: command, versions, device and date, as whoever reads the report a week later wants to know them."""

from __future__ import annotations

import platform
import shlex
from datetime import datetime
from typing import TYPE_CHECKING

import torch

from nanlint import __version__

if TYPE_CHECKING:
    from collections.abc import Sequence


def environment(words: Sequence[str]) -> dict[str, str]:
    """Of this process, which runs `words`."""
    return {
        "command": shlex.join(words),
        "date": datetime.now().astimezone().strftime("%Y-%m-%d %H:%M:%S %Z"),
        "device": ", ".join(_devices()),
        "torch": str(torch.__version__),
        "python": platform.python_version(),
        "nanlint": __version__,
        "system": platform.platform(),
    }


def _devices() -> list[str]:
    """The GPUs that torch sees, else the processor."""
    if torch.cuda.is_available():
        return [torch.cuda.get_device_name(index) for index in range(torch.cuda.device_count())]
    return [f"cpu ({platform.machine()}, {torch.get_num_threads()} threads)"]
