"""Imports that lead to other files of the project: their constants, helpers and base classes are known."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from nanlint.analysis.project.whole import FileInProject, WholeProject
from nanlint.cli.main import main
from tests.analysed import shown_in

HELPERS = """
import torch
from torch import nn

EPS = 1e-6
LARGEST = EPS * 2

def shares(x):
    return torch.softmax(x, dim=-1)

def again(x):
    from app.model import loop
    return loop(x)

class Base(nn.Module):
    floor = 1e-3

    def __init__(self):
        super().__init__()
        self.scale = 0.5
"""


@pytest.fixture(name="root")
def make_project(tmp_path: Path) -> Path:
    for name, text in {
        "pyproject.toml": "",
        "app/__init__.py": "from app.parts import EPS as SHOWN\n",
        "app/parts/__init__.py": "from .helpers import EPS, shares\n",
        "app/parts/helpers.py": HELPERS,
        "app/broken.py": "def (",
        "flat.py": "TOP = 3.0\n",
    }.items():
        path = tmp_path / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, encoding="utf-8")
    return tmp_path


def looked_at(root: Path, text: str) -> FileInProject:
    """A file of the project as an editor holds it."""
    file = WholeProject(str(root)).file(str(root / "app/model.py"), text)
    assert file is not None
    return file


def revealed(root: Path, text: str) -> str:
    file = looked_at(root, text)
    (value,) = shown_in(file.graph, file.module)
    return str(value.range)


@pytest.mark.parametrize(
    ("imported", "expression", "shown"),
    [
        ("from .parts.helpers import EPS", "EPS", "[1e-06, 1e-06]"),
        ("from .parts.helpers import LARGEST as MOST", "MOST", "[2e-06, 2e-06]"),
        ("from app.parts.helpers import EPS", "EPS", "[1e-06, 1e-06]"),
        ("from flat import TOP", "TOP", "[3, 3]"),
        ("from .parts.helpers import shares", "shares(x)", "[0, 1]"),
        ("from .parts import shares as p", "p(x)", "[0, 1]"),
        ("import app.parts.helpers as helpers", "helpers.shares(x)", "[0, 1]"),
    ],
)
def test_a_constant_or_helper_of_the_project_is_known(root: Path, imported: str, expression: str, shown: str) -> None:
    assert revealed(root, f"{imported}\ndef f(x):\n    reveal({expression})\n") == shown


@pytest.mark.parametrize(
    ("imported", "expression"),
    [
        ("from .missing import EPS", "EPS"),
        ("from .parts.helpers import MISSING", "MISSING"),
        ("from .broken import EPS", "EPS"),
        ("from elsewhere import EPS", "EPS"),
        ("from .....above import EPS", "EPS"),
        ("from .parts.helpers import again", "again(x)"),
        ("from .parts.helpers import Base", "Base(x)"),
    ],
)
def test_what_cannot_be_found_or_read_is_unknown(root: Path, imported: str, expression: str) -> None:
    assert revealed(root, f"{imported}\ndef f(x):\n    reveal({expression})\n") == "(-inf, inf)"


def test_a_base_class_in_another_file_gives_its_attributes(root: Path) -> None:
    text = "from app.parts.helpers import Base\nclass A(Base):\n    def f(self):\n        reveal(self.{})\n"
    assert revealed(root, text.format("scale")) == "[0.5, 0.5]"
    assert revealed(root, text.format("floor")) == "[0.001, 0.001]"
    assert revealed(root, text.format("other")) == "(-inf, inf)"


def test_functions_that_call_each_other_across_files_are_unknown(root: Path) -> None:
    text = "from app.parts.helpers import again\ndef loop(x):\n    reveal(again(x))\n    return again(x)\n"
    (root / "app/model.py").write_text(text, encoding="utf-8")
    assert revealed(root, text) == "(-inf, inf)"


def test_every_file_that_was_read_is_noted(root: Path) -> None:
    file = looked_at(root, "from .parts.helpers import EPS\ndef f(x):\n    reveal(EPS)\n")
    noted = {os.path.relpath(path, root) for path, digest in file.graph.project.consulted.items() if digest}
    assert noted == {"app/parts/__init__.py", "app/parts/helpers.py"}


STEP = """
import torch
from limits import CLIP

def step(model, loss, optimizer):
    loss.backward()
    torch.nn.utils.clip_grad_norm_(model.parameters(), CLIP)
    optimizer.step()
"""


def test_a_remembered_result_is_stale_when_a_neighbour_changed_or_went(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    limits = tmp_path / "limits.py"
    (tmp_path / "train.py").write_text(STEP, encoding="utf-8")
    found = []
    for text in ("CLIP = 1.0\n", "CLIP = 1e6\n", "CLIP = 1e6\n", "CLIP = 1.0  # as before\n", None):
        if text is None:
            limits.unlink(missing_ok=True)
        else:
            limits.write_text(text, encoding="utf-8")
        main(["check", "train.py", "--select", "NAN401", "--output-format", "concise"])
        found.append("NAN401" in capsys.readouterr().out)
    assert found == [False, True, True, False, False]


def test_a_neighbour_that_was_checked_itself_is_known_by_time_and_size(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    for name, text in (("limits.py", "CLIP = 1e6\n"), ("train.py", STEP)):
        (tmp_path / name).write_text(text, encoding="utf-8")
        os.utime(tmp_path / name, (1_600_000_000, 1_600_000_000))
    command = ["check", ".", "--select", "NAN401", "--output-format", "concise"]
    first = main(command), capsys.readouterr().out
    assert "NAN401" in first[1]

    def missing(path: str) -> str:
        assert not Path(path).exists(), f"{path} was read"
        return ""

    monkeypatch.setattr("nanlint.source.cache.digest_at", missing)
    assert (main(command), capsys.readouterr().out) == first


ROOTS = """import torch
def roots(b, c, left=0.0):
    rest = (b - left) ** 2 - 4 * c
    assert (rest LIMIT).all()
    return rest
def both(b, c, tail):
    return roots(b, c, left=-tail)
"""


@pytest.mark.parametrize(("limit", "shown"), [(">= 0", "[0, inf)"), ("> left", "(-inf, inf)")])
def test_a_guard_holds_for_what_callers_pass_unless_its_limit_is_a_default(root: Path, limit: str, shown: str) -> None:
    file = looked_at(root, ROOTS.replace("LIMIT", limit))
    call = file.module.functions["both"].result
    assert call is not None
    assert str(file.graph.with_callers(call).range).replace(" or nan", "") == shown
