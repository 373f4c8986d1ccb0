"""The comparison of real functions before and after a fix tells equal from moved, and what it cannot run."""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING

import pytest

pytest.importorskip("torch", reason="torch is not installed, so nothing can be run")

from benchmarks import fixes
from benchmarks.fixed_functions import EQUAL, MOVED, RAISES, changed_functions, compare
from nanlint.engine.checker import Checker

if TYPE_CHECKING:
    from pathlib import Path

MODULE = """\
import torch
import a_package_that_is_not_there
from . import beside

SCALE = 2.0


def scaled(x, dim: int, eps: float):
    return SCALE * {log} + eps


class Loss:
    def __init__(self, size):
        self.temperature = size

    def half(self, x):
        return x / 2

    def forward(self, x, target):
        return self.half({log}) / self.temperature
"""
OLD = MODULE.format(log="torch.log(torch.softmax(x, -1))")
NEW = MODULE.format(log="torch.log_softmax(x, -1)")


def test_what_changed_is_named_with_its_class() -> None:
    assert sorted(changed_functions(OLD, NEW)) == [("", "scaled"), ("Loss", "forward")]


@pytest.mark.parametrize(("owner", "name"), [("", "scaled"), ("Loss", "forward")], ids=["function", "method"])
@pytest.mark.parametrize(
    ("log", "verdict"),
    [("torch.log_softmax(x, -1)", EQUAL), ("torch.log_softmax(x, -1) + 0.1", MOVED), ("torch.no_such(x)", RAISES)],
)
def test_results_are_compared(owner: str, name: str, log: str, verdict: str) -> None:
    assert compare(OLD, MODULE.format(log=log), owner, name) == verdict


def test_what_needs_a_missing_package_is_not_judged() -> None:
    old, new = (MODULE.format(log=f"beside.f(x) * {number}") for number in (1, 2))
    assert compare(old, new, "", "scaled") == ""


def test_a_gradient_that_differs_counts() -> None:
    assert compare(OLD, MODULE.format(log="torch.log_softmax(x.detach(), -1) + 0 * x"), "", "scaled") == MOVED


# -- the command around it ---------------------------------------------------------------------------------------------


def test_what_was_recorded_last_of_each_package_is_reported_together(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    record = tmp_path / "record.jsonl"
    for name, tally in [
        ("one", fixes.Tally(files=9, failures=["gone"])),
        ("one", fixes.Tally(files=2, changed=1, applied=3, codes=Counter(NAN110=3))),
        ("two", fixes.Tally(files=5)),
    ]:
        fixes.record(name, tally, record)
    assert fixes.main(["--report", str(record)]) == 0
    assert capsys.readouterr().out.splitlines()[2:] == [
        "| one | 2 | 1 | 3 | 0 | 0 | 0 | 0 | 0 |",
        "| two | 5 | 0 | 0 | 0 | 0 | 0 | 0 | 0 |",
        "| all | 7 | 1 | 3 | 0 | 0 | 0 | 0 | 0 |",
        "by rule: NAN110 3",
        "",
    ]


def test_a_file_on_which_nanlint_fails_is_a_failure_and_the_others_are_fixed(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def fix_file(path: Path, *_: object, **__: object) -> fixes.Tally:
        if path.stem == "b":
            raise ValueError("what is this?")
        return fixes.Tally(files=1)

    monkeypatch.setattr(fixes, "fix_file", fix_file)
    for name in "abc":
        (tmp_path / f"{name}.py").write_text("x = 1\n", encoding="utf-8")
    ruleset = Checker(gated=True).ruleset(fixes.SETTINGS)
    tally = fixes.fix_package(tmp_path, ruleset, unsafe=True)
    assert (tally.files, tally.failures) == (3, ["b.py: ValueError: what is this?"])
