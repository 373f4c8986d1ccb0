"""Bad fixtures, trained on in a small loop: the tracer names the line that the fixture marks.

One of each rule here; `python benchmarks/trace_fixtures.py` drives all of them.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

pytest.importorskip("torch", reason="torch is not installed, so no fixture can be trained on")

from tests.trace_fixtures import RULES, diagnose, first_drive, verdict

if TYPE_CHECKING:
    from pathlib import Path

pytestmark = pytest.mark.slow


@pytest.mark.filterwarnings("default")
@pytest.mark.parametrize("folder", RULES, ids=lambda folder: folder.name)
def test_the_tracer_names_the_marked_line(folder: Path) -> None:
    drive = first_drive(folder)
    if drive is None:
        pytest.skip("its harm is shown in another way than by values")
    found = diagnose(drive)
    assert verdict(drive, found) in {"line", "name"}, (drive.name, found)
