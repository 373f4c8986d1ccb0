"""The concise format: one line per finding."""

from __future__ import annotations

import pytest

from tests.report_samples import (
    ERRORS,
    IN_NOTEBOOK,
    MULTI_LINE,
    ODD_MESSAGE,
    ODD_PATH,
    WITH_FIX,
    rendered,
    report_of,
)


def test_a_clean_run_is_its_closing_line() -> None:
    assert rendered(report_of(), "concise") == "All clear: 41 files checked.\n"


LINES = {
    "a safe fix is marked": (
        WITH_FIX,
        "src/train.py:6:23: NAN110 [*] `probs` can be 0 (range [0, 1]), so its logarithm can be -inf [log-of-softmax]",
    ),
    "an unsafe fix is not": (
        MULTI_LINE,
        "src/train.py:10:13: NAN201 `new - old.detach()` is unbounded, so its exponential can be inf [exp-overflow]",
    ),
    "a notebook names its cell": (
        IN_NOTEBOOK,
        "notebook.ipynb:cell 3:2:4: NAN404 [*] `torch.isnan(loss)` lets inf pass [nan-check-misses-inf]",
    ),
    "a path stays as it is": (
        ODD_PATH,
        "a b/100%,x:y/modèle.py:1:24: NAN101 `名前` can be 0 (range [0, inf)) [unguarded-division]",
    ),
    "a message stays on its line": (
        ODD_MESSAGE,
        "src/train.py:5:5: NAN101 50% of \"a\" and 'b' <&> ]]> \\x1b[31m[red] [unguarded-division]",
    ),
}


@pytest.mark.parametrize("case", LINES)
def test_a_finding_is_one_line(case: str) -> None:
    finding, line = LINES[case]
    assert rendered(report_of(finding), "concise").split("\n")[0] == line


def test_errors_come_after_the_findings_and_before_the_closing_line() -> None:
    assert rendered(report_of(IN_NOTEBOOK, errors=ERRORS), "concise") == (
        "notebook.ipynb:cell 3:2:4: NAN404 [*] `torch.isnan(loss)` lets inf pass [nan-check-misses-inf]\n"
        "broken.py:3: error: invalid syntax\n"
        "gone.py: error: the file is gone\n"
        "Found 1 problem (1 info) in 1 of 41 files; 1 fixable with --fix. 2 files could not be fully checked.\n"
    )
