"""Findings in notebooks and config files: the joined cells are run, places are those of cells, settings are no code."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from benchmarks.saved_proofs import exit_of
from nanlint.cli.main import main
from nanlint.confirm.sources import OF_A_CONFIG, NothingToRun, source_of
from nanlint.model import Finding, Severity, Span
from nanlint.model.verdict import Verdict, VerdictKind
from tests.confirm_projects import shared_harness, verdicts_on

IMPORTS = "%matplotlib inline\n!pip install torch\nimport torch"
FUNCTION = (
    "def entropy(logits: torch.Tensor):\n    probs = logits.softmax(-1)\n    return -(probs * torch.log(probs)).sum(-1)"
)
SHOWN = "x = torch.randn(2, 3)\ndisplay(entropy(x))\nget_ipython()\nx.shape?"
LOOP = "for batch in torch.randn(3, 4, 5):\n    p = torch.log(torch.softmax(batch, -1))"


def notebook(folder: Path, *cells: str, name: str = "note book.ipynb") -> Path:
    """A notebook with a heading and these code cells, which count from 2."""
    text = {"cell_type": "markdown", "metadata": {}, "source": "# Heading"}
    code: list[dict[str, Any]] = [
        {"cell_type": "code", "metadata": {}, "execution_count": None, "outputs": [], "source": cell} for cell in cells
    ]
    path = folder / name
    path.write_text(json.dumps({"nbformat": 4, "nbformat_minor": 5, "metadata": {}, "cells": [text, *code]}))
    return path


def finding_in(path: Path, cell: int | None, line: int = 1) -> Finding:
    return Finding("NAN110", "test", Span(line, 5, line, 9), "it breaks", Severity.ERROR, path=str(path), cell=cell)


def found(path: Path) -> list[Finding]:
    """What the rule finds in a notebook, as `check` tells it."""
    from nanlint.api import check_paths  # noqa: PLC0415 - for the tests that run code

    report = check_paths([str(path)], select=("NAN110",), severity="info")
    return list(report.findings)


@pytest.fixture
def torch_is_there() -> None:
    pytest.importorskip("torch", reason="torch is not installed, so no code can be run")


def test_a_finding_is_placed_in_the_joined_cells(tmp_path: Path) -> None:
    source = source_of(finding_in(notebook(tmp_path, IMPORTS, FUNCTION), 3, 3))
    assert source.text.splitlines()[source.finding.span.line - 1].strip().startswith("return -(probs")
    assert (source.target.owners, source.target.module) == ((("def", "entropy"),), "note_book_ipynb")


def test_what_is_said_of_lines_is_said_of_cells(tmp_path: Path) -> None:
    source = source_of(finding_in(notebook(tmp_path, IMPORTS, FUNCTION), 3, 3))
    line = source.finding.span.line
    verdict = Verdict(VerdictKind.CONFIRMED, reason=f"NaN, made at line {line} (log)", witness={"line": line})
    told = source.told(verdict)
    assert (told.reason, told.witness) == ("NaN, made at line 3 of cell 3 (log)", {"line": 3, "cell": 3})


def test_a_file_keeps_its_lines(tmp_path: Path) -> None:
    path = tmp_path / "model.py"
    path.write_text("x = 1\n")
    verdict = Verdict(VerdictKind.CONFIRMED, reason="NaN, made at line 1 (log)")
    assert source_of(finding_in(path, None)).told(verdict) is verdict


@pytest.mark.parametrize(
    ("name", "text", "cell", "reason"),
    [
        pytest.param("config.yaml", "lr: 3\n", None, OF_A_CONFIG, id="a config file"),
        pytest.param("model.py", "def f(:\n", None, "cannot be read as Python", id="a syntax error"),
        pytest.param("model.py", "x = '\udcff'\n", None, "cannot be read", id="no text"),
        pytest.param("a.ipynb", "{", 2, "not a notebook", id="a broken notebook"),
        pytest.param(
            "a.ipynb", '{"nbformat": 4, "cells": []}', 2, "cell 2 is no Python cell any more", id="a lost cell"
        ),
    ],
)
def test_what_holds_no_code_is_told(tmp_path: Path, name: str, text: str, cell: int | None, reason: str) -> None:
    path = tmp_path / name
    path.write_bytes(text.encode("utf-8", "surrogateescape"))
    with pytest.raises(NothingToRun, match=reason):
        source_of(finding_in(path, cell))


@pytest.mark.usefixtures("torch_is_there")
def test_a_function_of_a_cell_is_confirmed_and_its_fix_verified(tmp_path: Path) -> None:
    path = notebook(tmp_path, IMPORTS, FUNCTION, SHOWN)
    verdict = verdicts_on(found(path))[0]
    assert (verdict.kind, verdict.level, verdict.fix_verified) == (VerdictKind.CONFIRMED, "function", True)
    assert "made at line 3 of cell 3 (log)" in (verdict.reason or "")


@pytest.mark.usefixtures("torch_is_there")
def test_a_loop_of_a_cell_is_reachable_by_its_slice(tmp_path: Path) -> None:
    verdict = verdicts_on(found(notebook(tmp_path, IMPORTS, LOOP)))[0]
    assert (verdict.kind, verdict.level) == (VerdictKind.REACHABLE, "slice")
    assert "fails if `batch` can be" in (verdict.reason or "")
    assert "it is in no function, so a slice of the file was run" in (verdict.reason or "")


@pytest.mark.usefixtures("torch_is_there")
def test_a_notebook_may_import_a_module_of_its_own_name(tmp_path: Path) -> None:
    (tmp_path / "model.py").write_text("SCALE = 1.0\n")
    scaled = FUNCTION.replace("softmax(-1)", "softmax(-1) * SCALE")
    path = notebook(tmp_path, f"{IMPORTS}\nfrom model import SCALE", scaled, name="model.ipynb")
    verdict = verdicts_on([finding_in(path, 3, 3)])[0]
    assert (verdict.kind, "definitions" in (verdict.reason or "")) == (VerdictKind.CONFIRMED, False)


@pytest.mark.usefixtures("torch_is_there")
def test_the_proof_of_a_notebook_reads_the_notebook_anew(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("nanlint.confirm.replaying._harness", shared_harness)
    path = notebook(tmp_path, IMPORTS, FUNCTION)
    script = Path(verdicts_on(found(path), save_to=str(tmp_path / "proofs"))[0].repro or "")
    before = exit_of(script)
    notebook(tmp_path, IMPORTS, FUNCTION.replace("torch.log(probs)", "logits.log_softmax(-1)"))
    assert (before, exit_of(script)) == (1, 0)
    assert "note book.ipynb:cell 3:3 NAN110: log at line 3 of cell 3" in script.read_text()


@pytest.mark.usefixtures("torch_is_there")
def test_a_cell_can_be_asked_for(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr("nanlint.confirm.confirming.Harness", _Shared)
    notebook(tmp_path, IMPORTS, FUNCTION, LOOP)
    assert main(["confirm", "note book.ipynb:cell 3", "--device", "cpu", "-q", "--no-preview"]) == 1
    out = capsys.readouterr().out
    assert [line.partition(" NAN")[0] for line in out.splitlines()] == ["note book.ipynb:cell 3:3:22:"]


def test_settings_are_not_run_and_need_no_torch(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr("nanlint.confirm.harness.Harness.ask", _unexpected)
    Path("config.yaml").write_text("optimizer: adamw\nlearning_rate: 3.0\nadam_epsilon: 0\n")
    assert main(["confirm", "config.yaml:3", "-f", "json", "--select", "NAN603"]) == 0
    findings = json.loads(capsys.readouterr().out)["findings"]
    assert [(one["line"], one["verdict"]["kind"]) for one in findings] == [(3, "not-runnable")]


def _unexpected(*_: object) -> None:
    raise AssertionError("nothing was to be run")


class _Shared:
    def __enter__(self) -> object:
        return shared_harness()

    def __exit__(self, *_: object) -> None:
        return None
