"""A process group of one for code that was written for many: made when a group is first asked for, and told in the verdict.

No socket is opened: every collective gives back what it was given. A model for many processes is the model itself.
"""

from __future__ import annotations

import contextlib
from typing import TYPE_CHECKING, Any

import torch
from torch import distributed

if TYPE_CHECKING:
    from collections.abc import Iterator

TOLD = "a process group of one process"


def stand_by() -> None:
    """From now on a group that is missing is made."""
    if not distributed.is_available():
        return
    core: Any = distributed.distributed_c10d
    begin, default = core.init_process_group, core._get_default_group  # noqa: SLF001 - every collective asks it

    def init_process_group(*_: Any, **__: Any) -> None:
        from torch.testing._internal.distributed.fake_pg import FakeStore  # noqa: PLC0415 - for code that asks

        if not distributed.is_initialized():
            begin("fake", store=FakeStore(), rank=0, world_size=1)

    def default_group() -> Any:
        init_process_group()
        return default()

    outer: Any = distributed
    outer.init_process_group = core.init_process_group = init_process_group
    core._get_default_group = default_group  # noqa: SLF001 - same
    parallel: Any = torch.nn.parallel
    parallel.DistributedDataParallel = parallel.distributed.DistributedDataParallel = Alone


def notes() -> list[str]:
    """What a verdict says of it."""
    return [TOLD] if distributed.is_available() and distributed.is_initialized() else []


class Alone(torch.nn.Module):
    """A model that has nobody to exchange gradients with."""

    def __init__(self, module: torch.nn.Module, *_: Any, **__: Any) -> None:
        super().__init__()
        self.module = module

    def forward(self, *args: Any, **kwargs: Any) -> Any:
        """What the model gives."""
        return self.module(*args, **kwargs)

    @contextlib.contextmanager
    def no_sync(self) -> Iterator[None]:
        """There is nothing to put off."""
        yield
