"""`nanlint confirm` and `nanlint check --confirm`: what is asked, what is printed, and how it ends."""

from __future__ import annotations

import json
from argparse import Namespace
from io import StringIO
from pathlib import Path
from typing import Any

import pytest

from nanlint.cli.confirm import summary
from nanlint.cli.confirm_options import places_of
from nanlint.cli.main import main
from nanlint.cli.running_options import running_options
from nanlint.confirm.confirming import likelihood
from nanlint.confirm.options import Options
from nanlint.model import Finding, Report, Severity, Span
from nanlint.model.verdict import Plausibility, Verdict, VerdictKind
from nanlint.report import render
from tests.confirm_projects import shared_harness, written

SOFTMAX = """
import torch


def entropy(x: torch.Tensor) -> torch.Tensor:
    return torch.log(torch.softmax(x, -1))


def other(x: torch.Tensor) -> torch.Tensor:
    return torch.log(x.softmax(-1))
"""
INFO = """
import torch


def shares(values: torch.Tensor) -> torch.Tensor:
    return values / (values.abs().max() + values.exp())


@torch.no_grad()
def accuracy(correct: torch.Tensor, mask: torch.Tensor) -> float:
    value = (correct * mask).sum() / mask.sum()
    print("accuracy", value)
    return value.item()
"""
CONFIRMED = Verdict(
    VerdictKind.CONFIRMED, Plausibility.EDGE, "forward", "float32", "cpu", "function", "input only", {"line": 5}, 9, 0.1
)


@pytest.fixture
def project(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    pytest.importorskip("torch", reason="torch is not installed, so no code can be run")
    written(tmp_path, SOFTMAX)
    monkeypatch.chdir(tmp_path)
    # The command starts a child of its own; the tests share one.
    monkeypatch.setattr("nanlint.confirm.confirming.Harness", _Shared)
    return tmp_path


class _Shared:
    def __enter__(self) -> Any:
        return shared_harness()

    def __exit__(self, *_: object) -> None:
        return None


def ran(capsys: pytest.CaptureFixture[str], *words: str) -> tuple[int, str, str]:
    code = main([*words, "--select", "NAN110"])
    printed = capsys.readouterr()
    return code, printed.out, printed.err


@pytest.mark.usefixtures("project")
def test_what_is_confirmed_makes_the_exit_code_1(capsys: pytest.CaptureFixture[str]) -> None:
    code, out, _ = ran(capsys, "confirm", "model.py", "--device", "cpu")
    assert code == 1
    assert out.count("(confirmed, ") == 2
    assert "Run: 2 confirmed." in out


@pytest.mark.usefixtures("project")
def test_one_line_can_be_asked_for(capsys: pytest.CaptureFixture[str]) -> None:
    code, out, _ = ran(capsys, "confirm", "model.py:9", "--device", "cpu", "-q")
    assert (code, [line.split(":")[1] for line in out.splitlines()]) == (1, ["9"])


@pytest.mark.usefixtures("project")
def test_json_carries_the_verdict(capsys: pytest.CaptureFixture[str]) -> None:
    _, out, err = ran(capsys, "confirm", "model.py:5", "--device", "cpu", "-f", "json", "--verbose")
    verdict = json.loads(out)["findings"][0]["verdict"]
    assert (verdict["kind"], verdict["dtype"], verdict["fix_verified"]) == ("confirmed", "float32", True)
    assert verdict["walls"][-2:] == ["limits", "audit hook"]
    assert f"walls: {', '.join(verdict['walls'])}\n" in err


@pytest.mark.usefixtures("project")
def test_check_reports_what_was_confirmed_only(capsys: pytest.CaptureFixture[str]) -> None:
    code, out, _ = ran(capsys, "check", "model.py", "--no-cache", "--confirm", "--confirmed-only", "-f", "json")
    kinds = {finding["verdict"]["kind"] for finding in json.loads(out)["findings"]}
    assert (code, kinds) == (1, {"confirmed"})


@pytest.mark.usefixtures("project")
def test_a_budget_that_is_used_up_leaves_the_rest_and_says_how_many(capsys: pytest.CaptureFixture[str]) -> None:
    code, out, err = ran(capsys, "confirm", "model.py", "--device", "cpu", "--budget", "1e-9")
    assert (code, "2 findings were not run: the budget of 1e-09 minutes was used up (--budget)" in err) == (0, True)
    assert "confirmed" not in out


@pytest.mark.usefixtures("project")
def test_what_is_proven_is_shown_whatever_its_level_and_first(capsys: pytest.CaptureFixture[str]) -> None:
    quiet = ("--select", "NAN101", "--device", "cpu", "-f", "json")
    written(Path(), INFO, "quiet.py")
    main(["check", "quiet.py", "--no-cache", *quiet[:2], *quiet[4:]])
    shown = json.loads(capsys.readouterr().out)["findings"]
    main(["confirm", "quiet.py", *quiet])
    proven = json.loads(capsys.readouterr().out)["findings"]
    kinds = [finding["verdict"]["kind"] for finding in proven]
    assert len(shown) < len(proven)
    assert kinds == sorted(kinds, key=lambda kind: kind != "confirmed")


def test_the_likeliest_findings_are_run_first() -> None:
    span = Span(1, 1, 1, 2)
    findings = [
        Finding("NAN101", "a", span, "", severity, matters=matters, can_happen=0.9)
        for severity, matters in ((Severity.INFO, 0.2), (Severity.ERROR, 0.9), (Severity.WARNING, 0.6))
    ]
    assert [one.matters for one in sorted(findings, key=likelihood)] == [0.9, 0.6, 0.2]


@pytest.mark.usefixtures("project")
def test_nothing_found_is_nothing_run(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    written(tmp_path, "import torch\n\nx = torch.ones(3)\n", "clean.py")
    assert ran(capsys, "confirm", "clean.py")[:2] == (0, "All clear: 1 file checked.\n")


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (("--device", "gpu"), "--device gpu: give auto, cpu, cuda, cuda:N or mps"),
        (("--timeout", "0"), "--timeout 0.0: give a number above 0"),
        (("-",), "confirm runs files"),
        (("--stdin-filename", "a.py"), "unrecognized arguments: --stdin-filename"),
        (("a.ipynb:3",), "a notebook has cells; name a place as check prints it"),
        (("a.py:cell 3:1",), "only a notebook has cells; name a place as check prints it"),
        (("nothing-here.py",), "nothing-here.py"),
    ],
)
def test_what_cannot_be_meant_is_refused(
    project: Path, capsys: pytest.CaptureFixture[str], words: tuple[str, ...], message: str
) -> None:
    code, out, err = ran(capsys, "confirm", *words)
    assert (project.is_dir(), code) == (True, 2)
    assert message in out + err


@pytest.mark.usefixtures("project")
def test_a_device_that_is_not_there_is_named(capsys: pytest.CaptureFixture[str]) -> None:
    code, _, err = ran(capsys, "confirm", "model.py", "--device", "cuda:7")
    assert (code, "--device cuda:7: torch sees" in err) == (2, True)


@pytest.mark.usefixtures("project")
def test_a_line_without_a_finding_is_told_where_there_are_some(capsys: pytest.CaptureFixture[str]) -> None:
    code, out, err = ran(capsys, "confirm", "model.py:2")
    assert (code, out) == (0, "")
    assert err == "nanlint: model.py:2: check finds nothing there; it finds something at 5, 9\n"


@pytest.mark.usefixtures("project")
def test_check_takes_the_options_about_running(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    words = ("check", "model.py", "--no-cache", "--confirm", "--device", "cpu", "--save", "proofs", "-f", "json")
    code, out, _ = ran(capsys, *words)
    saved = {finding["verdict"]["repro"] for finding in json.loads(out)["findings"]}
    assert (code, saved) == (1, {f"proofs/{path.name}" for path in (tmp_path / "proofs").glob("repro_*.py")})


def test_options_about_running_want_confirm(capsys: pytest.CaptureFixture[str]) -> None:
    code, _, err = ran(capsys, "check", "--timeout", "3")
    assert (code, err) == (2, "nanlint: --timeout is about how --confirm runs the code; pass that, too\n")


def test_what_is_not_asked_for_is_left_to_the_defaults() -> None:
    assert running_options(Namespace()) == Options(device="auto")
    asked = Namespace(device="cuda:1", flush_denormals=True, max_plausibility="edge", save="proofs", seed=3)
    assert running_options(asked) == Options(device="cuda:1", flush=True, max_plausibility=Plausibility.EDGE, seed=3)


def test_confirmed_only_wants_confirm(capsys: pytest.CaptureFixture[str]) -> None:
    assert ran(capsys, "check", "--confirmed-only")[0] == 2


def test_lines_and_cells_are_told_from_paths() -> None:
    asked = ["a.py:3", "a.py:7:1", "src", "C.py", "n b.ipynb:cell 3:5", "n b.ipynb:cell 4", "c.yaml:2"]
    assert places_of(asked) == (
        ["a.py", "src", "C.py", "n b.ipynb", "c.yaml"],
        {"a.py": {(None, 3), (None, 7)}, "n b.ipynb": {(3, 5), (4, None)}, "c.yaml": {(None, 2)}},
    )


def finding(verdict: Verdict | None) -> Finding:
    return Finding("NAN101", "test", Span(5, 1, 5, 9), "it breaks", Severity.WARNING, path="a.py", verdict=verdict)


def test_the_full_report_tells_what_was_run() -> None:
    from dataclasses import replace  # noqa: PLC0415 - for this test only

    out = StringIO()
    told = replace(CONFIRMED, reason="`f(x=0)` gives NaN", repro="proofs/repro.py", fix_verified=False)
    render(Report(findings=(finding(told),)), "full", out)
    assert "confirmed, edge, the fix does not mend it: `f(x=0)` gives NaN" in out.getvalue()
    assert "ran: function level, float32, cpu, input only" in out.getvalue()
    assert "proof: proofs/repro.py" in out.getvalue()


def test_sarif_carries_the_verdict() -> None:
    out = StringIO()
    render(Report(findings=(finding(CONFIRMED),)), "sarif", out)
    assert json.loads(out.getvalue())["runs"][0]["results"][0]["properties"]["verdict"]["kind"] == "confirmed"


def test_the_table_counts_verdicts_by_rule() -> None:
    missed = Verdict(VerdictKind.NOT_REPRODUCED)
    lines = summary(Report(findings=(finding(CONFIRMED), finding(CONFIRMED), finding(missed), finding(None))))
    assert [line.split() for line in lines if line] == [["rule", "confirmed", "not-reproduced"], ["NAN101", "2", "1"]]


def test_that_there_was_no_gpu_is_said_once() -> None:
    report = Report(findings=(finding(CONFIRMED), finding(CONFIRMED)))
    assert [line for line in summary(report, "auto") if "GPU" in line] == [
        "Run on the CPU: torch sees no GPU here. A GPU adds up in other orders and formats."
    ]
    assert not any("GPU" in line for line in summary(report, "cpu"))
