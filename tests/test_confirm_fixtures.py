"""Every rule that names a proof: its first marked fixture is confirmed, its first good one is not.

`python benchmarks/confirm.py` runs all of them; here one of each rule keeps the way from rule to verdict honest.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

pytest.importorskip("torch", reason="torch is not installed, so no fixture can be run")

from benchmarks.confirm import bad_findings, folders, good_functions, whole_job
from nanlint.model.verdict import VerdictKind
from tests.confirm_projects import shared_harness, verdicts_on

if TYPE_CHECKING:
    from pathlib import Path

FOLDERS = folders(())


@pytest.mark.slow
@pytest.mark.parametrize("folder", FOLDERS, ids=lambda folder: folder.name)
def test_the_first_marked_fixture_is_confirmed(folder: Path) -> None:
    finding = next(bad_findings((folder.name[:6],)))
    verdict = verdicts_on([finding])[0]
    assert (verdict.kind, verdict.fix_verified) in {(VerdictKind.CONFIRMED, True), (VerdictKind.CONFIRMED, None)}, (
        verdict.reason
    )


@pytest.mark.slow
@pytest.mark.parametrize("folder", FOLDERS, ids=lambda folder: folder.name)
def test_the_first_good_fixture_is_not(folder: Path) -> None:
    _, _, target = next(one for one in good_functions((folder.name[:6],)) if one[0].name.startswith("good"))
    assert shared_harness().ask(whole_job(target))["kind"] != "confirmed"
