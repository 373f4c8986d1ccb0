"""From a finding to what must be run."""

from __future__ import annotations

from typing import TYPE_CHECKING

from nanlint.confirm.target import import_place, target_of
from tests.confirm_projects import finding_at, written

if TYPE_CHECKING:
    from pathlib import Path

MODEL = """
import torch


class Net(torch.nn.Module):
    def forward(self, x):
        def inner(y):
            return (
                y
                / y.sum()  # here
            )

        return inner(x)
"""
PREPARED = """
import torch


class Net(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.norm = torch.nn.LayerNorm(3, eps=0)  # here

    def forward(self, x):
        return self.norm(x)
"""


def test_the_definitions_around_a_line_are_named_outermost_first(tmp_path: Path) -> None:
    path = written(tmp_path, MODEL)
    target = target_of(finding_at(path), path.read_text(), str(path))
    assert target.owners == (("class", "Net"), ("def", "forward"), ("def", "inner"))
    assert (target.first, target.last) == (7, 10)


def test_what_a_constructor_prepares_the_forward_runs(tmp_path: Path) -> None:
    path = written(tmp_path, PREPARED)
    target = target_of(finding_at(path), path.read_text(), str(path))
    assert (target.owners[-1], target.also) == (("def", "forward"), ((10, 10),))


def test_a_file_of_a_package_is_imported_from_above_it(tmp_path: Path) -> None:
    written(tmp_path, "", "src/pkg/__init__.py")
    written(tmp_path, "", "src/pkg/deep/__init__.py")
    path = written(tmp_path, MODEL, "src/pkg/deep/model.py")
    assert import_place(str(path)) == (str(tmp_path / "src"), "pkg.deep.model")


def test_the_name_is_the_one_of_the_settings(tmp_path: Path) -> None:
    path = written(tmp_path, PREPARED)
    assert target_of(finding_at(path), path.read_text(), str(path)).name == "model:Net.forward"
