"""Loops that belong to a library: Lightning, the Trainer of Hugging Face, Accelerate. Skipped where one is missing."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

pytest.importorskip("torch", reason="torch is not installed, so no script can be traced")

from tests.tracing import SCRIPTS, origin_in, told_origin, trace

if TYPE_CHECKING:
    from pathlib import Path

pytestmark = [pytest.mark.filterwarnings("default"), pytest.mark.slow]


@pytest.mark.parametrize(
    ("package", "arguments", "step"),
    [
        ("lightning", (), 6),
        ("lightning", ("accumulate",), 2),
        ("lightning", ("manual",), 6),
        ("transformers", (), 6),
        ("transformers", ("accumulate",), 3),
        ("accelerate", (), 6),
        ("accelerate", ("accumulate",), 3),
    ],
    ids=lambda value: " ".join(value) if isinstance(value, tuple) else str(value),
)
def test_the_origin_is_named(package: str, arguments: tuple[str, ...], step: int, tmp_path: Path) -> None:
    pytest.importorskip(package, reason=f"{package} is not installed")
    if package == "transformers":
        pytest.importorskip("accelerate", reason="the Trainer needs accelerate")
    script = SCRIPTS / "frameworks" / f"with_{package}.py"
    traced = trace(tmp_path, str(script), *arguments)
    assert traced.found is not None, traced.err
    assert (traced.code, told_origin(traced.found), traced.found.step, traced.found.notes) == (
        1,
        origin_in(script),
        step,
        [],
    )
