"""A rewritten fixture, run beside the one it was made from."""

from __future__ import annotations

import tempfile
from pathlib import Path
from typing import TYPE_CHECKING, Any

import torch

from tests.spellings.all_rewritings import respelled
from tests.truth_running import Outcome, load, outcomes, top_level

if TYPE_CHECKING:
    from collections.abc import Iterator
    from types import ModuleType


def differences(path: Path, style: str) -> Iterator[str]:
    """The functions and modules that do not compute the same in another spelling, forward and backward."""
    both = respelled(path, style)
    if both is None:
        return
    with tempfile.TemporaryDirectory() as folder:
        before, after = (
            _loaded(printed.text, Path(folder) / name)
            for name, printed in (("before", both.before), ("after", both.after))
        )
    for function in top_level(both.before.text):
        if not all(map(_same, _outcomes(before, function), _outcomes(after, function))):
            yield f"{path.parent.name} {style} {function}"


def _loaded(text: str, folder: Path) -> ModuleType:
    folder.mkdir()
    (path := folder / "program.py").write_text(text, encoding="utf-8")
    return load(path)


def _outcomes(module: Any, function: str) -> list[Outcome | str]:
    try:
        return list(outcomes(getattr(module, function)))
    except Exception as error:  # noqa: BLE001 - what cannot be run before cannot be run after
        return [type(error).__name__]


def _same(one: Outcome | str, other: Outcome | str) -> bool:
    if isinstance(one, str) or isinstance(other, str):
        return one == other
    pairs = zip([*one.outputs, *one.gradients], [*other.outputs, *other.gradients], strict=True)
    return all(torch.allclose(a.float(), b.float(), rtol=1e-2, atol=1e-4, equal_nan=True) for a, b in pairs)
