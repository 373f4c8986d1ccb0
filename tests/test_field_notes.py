"""The field notes: every row of the table is caught as it says, and every project does the harm that its note tells of."""

from __future__ import annotations

import importlib
import re
import shutil
import sys
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

import pytest

import nanlint
from nanlint.engine.rules.rulebook import rulebook
from tests.checkout import ROOT

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from nanlint.model import Finding

PROJECTS = ROOT / "fixtures" / "field_notes"
PAGE = (ROOT / "docs" / "field-notes.md").read_text(encoding="utf-8")
COMMANDS = frozenset({"nanlint checkpoint", "nanlint trace", "nanlint confirm"})
SILENT = "silent"


class Row(NamedTuple):
    """One sentence of trouble."""

    project: str
    number: str
    file: str
    caught_by: str


def rows() -> Iterator[Row]:
    project = ""
    for line in PAGE.splitlines():
        heading = re.match(r"## \d\. .*`(\w+)`$", line)
        project = heading[1] if heading else project
        cells = [cell.strip() for cell in line.strip("|").split(" | ")]
        if re.fullmatch(r"\d\.\d+", cells[0]):
            yield Row(project, cells[0], cells[2], cells[3])


ROWS = list(rows())
BY_RULE = [row for row in ROWS if row.caught_by not in COMMANDS]


@pytest.fixture(scope="module")
def findings(tmp_path_factory: pytest.TempPathFactory) -> Mapping[str, Sequence[Finding]]:
    """Everything that is found in each project, where it is a project of its own and no part of ours."""
    found = {}
    for folder in filter(Path.is_dir, PROJECTS.iterdir()):
        copy = shutil.copytree(folder, tmp_path_factory.mktemp("notes") / folder.name)
        report = nanlint.check_paths([copy], select=["ALL"], preview=True, severity="info")
        assert report.errors == ()
        found[folder.name] = report.findings
    return found


def marked_line(row: Row) -> int:
    """The line that carries the number of the row."""
    lines = (PROJECTS / row.project / row.file).read_text(encoding="utf-8").splitlines()
    (line,) = (number for number, text in enumerate(lines, 1) if row.number in text.rpartition("# ")[2].split())
    return line


def test_every_note_has_a_project_and_every_project_rows() -> None:
    assert {row.project for row in ROWS} == {path.name for path in PROJECTS.iterdir() if path.is_dir()}
    assert len(ROWS) == len({row.number for row in ROWS})


def test_every_number_in_the_projects_has_its_row() -> None:
    written = {
        (path.relative_to(PROJECTS).parts[0], number)
        for path in PROJECTS.rglob("*.*")
        if path.suffix in {".py", ".yaml"}
        for line in path.read_text(encoding="utf-8").splitlines()
        for number in re.findall(r"\b\d\.\d+\b", line.rpartition("# ")[2] if re.search(r"# \d\.\d", line) else "")
    }
    assert written == {(row.project, row.number) for row in BY_RULE}


@pytest.mark.parametrize("row", BY_RULE, ids=lambda row: f"{row.number} {row.caught_by}")
def test_a_sentence_of_trouble_is_caught_by_what_its_row_says(
    row: Row, findings: Mapping[str, Sequence[Finding]]
) -> None:
    line = marked_line(row)
    codes = {
        finding.code
        for finding in findings[row.project]
        if finding.path.endswith(f"{row.project}/{row.file}") and finding.span.line <= line <= finding.span.end_line
    }
    if row.caught_by == SILENT:
        assert codes == set()
    else:
        assert row.caught_by in rulebook().rules
        assert row.caught_by in codes


# -- the harm --------------------------------------------------------------------------------------------------


@contextmanager
def project(name: str, *modules: str) -> Iterator[tuple[Any, ...]]:
    """The modules of a project, imported as its own scripts would import them."""
    names = {path.stem for path in (PROJECTS / name).glob("*.py")}
    hidden = {each: sys.modules.pop(each) for each in names if each in sys.modules}
    sys.path.insert(0, str(PROJECTS / name))
    try:
        yield tuple(importlib.import_module(module) for module in modules)
    finally:
        sys.path.remove(str(PROJECTS / name))
        for each in names:
            sys.modules.pop(each, None)
        sys.modules.update(hidden)


def test_a_resumed_run_has_the_rate_of_the_run_before(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    pytest.importorskip("torch")
    monkeypatch.chdir(tmp_path)
    with project("mhc_resume", "train", "config") as (train, config):
        monkeypatch.setattr(config, "LEARNING_RATE", 5e-4)
        train.main()
        monkeypatch.setattr(config, "LEARNING_RATE", 1e-4)
        resumed = train.main()
    assert resumed > 1e-4


def test_a_clipped_logarithm_has_no_finite_gradient() -> None:
    torch = pytest.importorskip("torch")
    with project("beta_mi", "loss", "train") as (loss, train):
        logits = torch.tensor([[0.0, 200.0]], requires_grad=True)
        value = loss.clipped_log(logits)
        value.backward()
        assert torch.isfinite(value)
        assert not torch.isfinite(logits.grad).all()
        assert torch.isfinite(train.main()).all()


def test_a_clip_of_scaled_gradients_leaves_next_to_nothing_of_a_step() -> None:
    pytest.importorskip("torch")
    with project("ctc_teacher", "train") as (train,):
        # Two steps at a rate of 1, each clipped to 5 before it was divided by 65536.
        assert 0 < train.main(train.train_before) < 2e-4
        assert 0 < train.main(train.train_after) < 2e-4


def test_a_norm_of_inf_walks_past_a_check_for_nan_into_the_weights() -> None:
    torch = pytest.importorskip("torch")
    with project("latent_dlm", "main") as (main,):
        assert not torch.isfinite(main.main()).all()


def test_a_nan_that_is_hidden_in_the_loss_ends_in_the_weights() -> None:
    torch = pytest.importorskip("torch")
    with project("radio_diff", "train") as (train,):
        assert not torch.isfinite(train.main()).all()
