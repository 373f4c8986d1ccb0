"""What differs only in spelling gives the same findings: the fixtures are written with other spellings of the same operations.

`python -m tests.spellings.all_rewritings` prints what a spelling changes.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from tests.spellings.all_rewritings import FIXTURES, STYLES, moved, respelled
from tests.spellings.rewriting import rewrites

if TYPE_CHECKING:
    from pathlib import Path

# Fixtures about values, of which each function can be run on its own, and without CUDA.
RUN = [
    path
    for path in FIXTURES
    if path.parent.name[3] in "123"
    and not (path.parent / "truth.py").exists()
    and "autocast" not in path.read_text("utf-8")
]


@pytest.mark.slow
@pytest.mark.parametrize("path", FIXTURES, ids=lambda path: f"{path.parent.name}/{path.name}")
def test_another_spelling_gives_the_same_findings(path: Path) -> None:
    assert [line for style in STYLES for line in moved(path, style)] == []


def test_every_rewriting_finds_something_to_rewrite() -> None:
    used = {kind for kinds in STYLES.values() for kind in kinds}
    texts = [path.read_text(encoding="utf-8") for path in FIXTURES[:20]]
    for text in texts:
        used -= {kind for kind in used if rewrites(kind, text)}
    assert used == set()


@pytest.mark.slow
@pytest.mark.parametrize("style", STYLES)
def test_another_spelling_computes_the_same(style: str) -> None:
    pytest.importorskip("torch", reason="torch is not installed, so no fixture can be run")
    from tests.spellings.running import differences  # noqa: PLC0415 - it imports torch

    sample = [path for path in RUN if respelled(path, style)]
    assert [difference for path in sample[::6] for difference in differences(path, style)] == []
