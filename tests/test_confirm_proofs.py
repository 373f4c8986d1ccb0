"""Saved proofs: each was seen to fail before anybody is told of it, whatever the code returns and wherever it was run."""

from __future__ import annotations

import json
import shutil
import subprocess
import sys
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

pytest.importorskip("torch", reason="torch is not installed, so no code can be run")

from benchmarks.confirm import ROOT, bad_findings
from benchmarks.saved_proofs import exit_of, on_saved, pytest_exits
from nanlint.confirm.replaying import is_finite_again
from nanlint.confirm.repro import is_plain, save
from nanlint.confirm.target import target_of
from nanlint.errors import NanlintError
from tests.confirm_projects import LEARNED, MEAN, finding_at, found_in, shared_harness, verdicts_on, written

if TYPE_CHECKING:
    from collections.abc import Iterator

pytestmark = pytest.mark.slow

PLAIN, REPLAYED = "import torch", "from nanlint.confirm.replaying import is_finite_again"


@pytest.fixture(autouse=True)
def _one_child_for_all(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    monkeypatch.setattr("nanlint.confirm.replaying._harness", shared_harness)
    monkeypatch.setattr("sys.dont_write_bytecode", True)
    # Scripts import `model` into this process; the next test has another one.
    monkeypatch.setattr("sys.path", [*sys.path])
    yield
    sys.modules.pop("model", None)


def proof_of(path: Path, folder: Path, **options: Any) -> Path:
    """The script that is saved for the marked line."""
    told = {key: options.pop(key) for key in ("operation", "operand") if key in options}
    verdict = verdicts_on([finding_at(path, **told)], save_to=str(folder), **options)[0]
    assert verdict.repro is not None, verdict.reason
    return Path(verdict.repro)


def test_a_proof_of_a_function_runs_alone_and_fails_until_the_code_is_mended(tmp_path: Path) -> None:
    path = written(tmp_path, MEAN)
    script = proof_of(path, tmp_path / "proofs")
    run = subprocess.run([sys.executable, str(script)], capture_output=True, text=True, check=False)
    assert (run.returncode, run.stdout) == (1, f"{path}:5 NAN101: div at line 5 gives nan (forward)\n")
    path.write_text(path.read_text().replace("mask.sum()", "mask.sum().clamp(min=1)"))
    assert exit_of(script) == 0


def test_a_proof_with_forced_parameters_replays_them_until_the_code_is_mended(tmp_path: Path) -> None:
    path = written(tmp_path, LEARNED)
    script = proof_of(path, tmp_path / "proofs", operand="self.temperature")
    before = exit_of(script)
    path.write_text(path.read_text().replace("/ self.temperature", "* 2"))
    assert (before, exit_of(script)) == (1, 0)


@pytest.mark.parametrize(
    ("body", "form"),
    [
        pytest.param("return {'loss': [x / x.sum()]}", PLAIN, id="tensors in containers"),
        pytest.param("yield x / x.sum()", REPLAYED, id="a generator"),
        pytest.param("x.mul_(2); return x / x.sum()", REPLAYED, id="an input that is changed in place"),
        pytest.param("return float((x / x.sum()).sum())", REPLAYED, id="a number"),
    ],
)
def test_a_proof_takes_the_form_in_which_it_fails(tmp_path: Path, body: str, form: str) -> None:
    path = written(tmp_path, f"import torch\n\n\ndef f(x: torch.Tensor):\n    {body}  # here\n")
    script = proof_of(path, tmp_path / "proofs")
    before = exit_of(script)
    path.write_text(path.read_text().replace("x.sum()", "x.abs().sum().clamp(min=1)"))
    assert (form in script.read_text(), before, exit_of(script)) == (True, 1, 0)


def test_the_proof_of_mixed_precision_runs_under_it(tmp_path: Path) -> None:
    path = written(tmp_path, "import torch\n\n\ndef f(x: torch.Tensor):\n    return (x @ x.T).sqrt()  # here\n")
    script = proof_of(path, tmp_path / "proofs", operation="torch.sqrt", amp="float16")
    assert (exit_of(script), REPLAYED in script.read_text()) == (1, True)


def test_files_of_the_same_name_keep_their_own_proofs(tmp_path: Path) -> None:
    first, second = written(tmp_path, MEAN, "a/model.py"), written(tmp_path, MEAN, "b/model.py")
    written(tmp_path, "", "pyproject.toml")
    findings = [finding_at(first), finding_at(second)]
    verdicts = verdicts_on(findings, save_to=str(tmp_path / "proofs"))
    scripts = [Path(verdict.repro or "") for verdict in verdicts]
    first.write_text(first.read_text().replace("mask.sum()", "mask.sum().clamp(min=1)"))
    assert list(pytest_exits(scripts).values()) == [0, 1]


def test_a_project_can_be_moved_with_its_proofs(tmp_path: Path) -> None:
    path = written(tmp_path / "old", MEAN)
    script = proof_of(path, tmp_path / "old" / "proofs")
    shutil.move(tmp_path / "old", tmp_path / "new")
    moved = tmp_path / "new" / "proofs" / script.name
    assert (exit_of(moved), str(tmp_path) in moved.read_text().replace(str(path), "")) == (1, False)


def test_words_that_end_a_docstring_or_escape_are_kept_harmless(tmp_path: Path) -> None:
    path = written(tmp_path, MEAN)
    finding = replace(finding_at(path), message='`x.split("\\N")` and """ end it')
    script = Path(verdicts_on([finding], save_to=str(tmp_path / "proofs"))[0].repro or "")
    assert exit_of(script) == 1


def test_an_error_is_no_finite_result(tmp_path: Path) -> None:
    path = written(tmp_path, "import torch\n\n\ndef f(x: torch.Tensor):\n    yield x / x.sum()  # here\n")
    script = proof_of(path, tmp_path / "proofs")
    path.write_text("import torch\n\n\ndef g(x: torch.Tensor):\n    return x\n")
    assert "the saved case does not run any more" in str(exit_of(script))


def test_a_replay_that_dies_says_why(tmp_path: Path) -> None:
    path = written(tmp_path, "import torch\n\n\ndef f(x: torch.Tensor):\n    yield x / x.sum()  # here\n")
    script = proof_of(path, tmp_path / "proofs")
    case = next(line for line in script.read_text().splitlines() if line.startswith("CASE = "))
    path.write_text("import os\nos._exit(3)\n")
    job = json.loads(case.removeprefix("CASE = ")[1:-1].replace("\\'", "'"))
    with pytest.raises(NanlintError, match="exit code 3"):
        is_finite_again(job, beside=str(script))


def test_a_witness_without_values_is_replayed(tmp_path: Path) -> None:
    path = written(tmp_path, MEAN)
    finding = finding_at(path)
    target = target_of(finding, path.read_text(), str(path))
    spec = {"kind": "tensor", "name": "x", "shape": [2], "domain": "real"}
    answer = {
        "case": {"ctor": {}, "call": {"x": spec}, "seed": 0, "dtype": "float32"},
        "hit": {"operation": "div", "line": 5, "result": "nan", "direction": "forward"},
        "dtype": "float32", "level": "function", "device": "cpu", "amp": "", "flush": False,
    }  # fmt: skip
    script = Path(save(str(tmp_path / "proofs"), finding, target, answer, "div"))
    assert (is_plain(answer, target), REPLAYED in script.read_text()) == (False, True)


def test_two_findings_of_a_line_have_two_proofs(tmp_path: Path) -> None:
    twice = "import torch\n\n\ndef f(a, b):\n    return torch.log(a.softmax(-1)), torch.log(b.softmax(-1))\n"
    verdicts = verdicts_on(found_in(written(tmp_path, twice), "NAN110"), save_to=str(tmp_path / "proofs"))
    assert len({verdict.repro for verdict in verdicts}) == len(verdicts) == 2


def test_the_benchmark_counts_what_fails_and_what_the_fix_mends(capsys: pytest.CaptureFixture[str]) -> None:
    some = [finding for finding in bad_findings(("NAN112",)) if finding.fix is not None]
    assert (bool(some), on_saved(shared_harness(), some, ROOT, 2)) == (True, 0)
    told = capsys.readouterr().out.splitlines()
    assert [line.partition(": ")[2] for line in told] == [
        f"{len(some)} of {len(some)} scripts, {len(some)} of {len(some)} pytests"
    ] * 2
