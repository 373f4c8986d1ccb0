"""Memory that nobody fills: the flagged line's `empty` holds NaN, and whoever uses it before it is written has NaN.

Else the same run is finite, so what is not can come from nowhere else.
"""

from __future__ import annotations

import contextlib
import linecache
import sys
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

import torch
from torch.overrides import TorchFunctionMode

from nanlint.confirm.worker.bench import Bench
from nanlint.confirm.worker.search import Hit

if TYPE_CHECKING:
    from collections.abc import Iterator

    from nanlint.confirm.worker.outcome import Outcome

Json = dict[str, Any]
CODE = "NAN601"
"""The rule about memory that nobody fills."""
_MAKERS = frozenset({"empty", "empty_like", "empty_strided", "new_empty", "empty_permuted"})


class Garbage(TorchFunctionMode):
    """NaN in what the flagged line takes from memory."""

    def __init__(self, target: Json) -> None:
        super().__init__()
        self.target = target

    def __torch_function__(self, function: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
        made = function(*args, **(kwargs or {}))
        name = getattr(function, "__name__", "")
        if name in _MAKERS and made.is_floating_point() and self._is_here():
            with torch.no_grad():
                made.fill_(float("nan"))
        return made

    def _is_here(self) -> bool:
        frame = sys._getframe(2)  # noqa: SLF001 - there is no other way to see who asks
        while frame is not None:
            if frame.f_code.co_filename == self.target["path"]:
                return bool(self.target["first"] <= frame.f_lineno <= self.target["last"])
            frame = frame.f_back  # type: ignore[assignment] # None ends the loop
        return False


@contextlib.contextmanager
def _everywhere() -> Iterator[None]:
    """NaN in all memory that is taken: `torch.Tensor(3)` is no function that one could listen to."""
    before = torch.utils.deterministic.fill_uninitialized_memory  # type: ignore[attr-defined] # it is there at run time
    torch.use_deterministic_algorithms(True, warn_only=True)  # noqa: FBT003 - torch's own signature
    torch.utils.deterministic.fill_uninitialized_memory = True  # type: ignore[attr-defined] # same
    try:
        yield
    finally:
        torch.use_deterministic_algorithms(False)  # noqa: FBT003 - same
        torch.utils.deterministic.fill_uninitialized_memory = before  # type: ignore[attr-defined] # same


@dataclass
class GarbageBench(Bench):
    """Runs cases with garbage, in the constructor as well."""

    target: Json = field(default_factory=dict)

    def _run(self, case: Json, outcome: Outcome, *, traced: bool) -> None:
        text = linecache.getline(self.path, self.target["first"])
        with _everywhere() if "Tensor(" in text else Garbage(self.target):
            super()._run(case, outcome, traced=traced)


def judge_garbage(bench: Bench, case: Json, target: Json) -> tuple[Hit | None, Outcome]:
    """Whether the garbage is in the result."""
    outcome = bench.run(case)
    where = "backward" if outcome.backward and not outcome.forward else "forward"
    return (Hit("empty", target["first"], "nan", where) if outcome.is_bad and not outcome.refused else None), outcome
