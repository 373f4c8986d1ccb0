"""A file that is read with its imports alone: what is read for it, and what is left of it."""

from __future__ import annotations

import gc
import weakref
from typing import TYPE_CHECKING

import pytest

from nanlint.analysis.project.bound_names import bound_names
from nanlint.analysis.project.index import Project
from nanlint.analysis.project.whole import WholeProject
from nanlint.source.syntax.trees import tree_of

if TYPE_CHECKING:
    from pathlib import Path


def _read(folder: Path, name: str) -> set[str]:
    """The files that are parsed to find a name that `start.py` imports from a package of stars."""
    (folder / "pkg").mkdir()
    (folder / "pkg/__init__.py").write_text("__version__ = '1'\nfrom .one import *\nfrom .two import *\n")
    (folder / "pkg/one.py").write_text("def clip(x):\n    return x.clamp_min(1e-6)\n")
    (folder / "pkg/two.py").write_text("from torch import (\n    nn,  # (layers)\n    relu as act,\n)\n")
    (folder / "start.py").write_text("")
    paths = sorted(str(path) for path in folder.rglob("*.py"))
    project = Project(str(folder), paths)
    start = project.module(str(folder / "start.py"))
    assert start is not None
    project.resolve(f"pkg.{name}", start)
    assert {path for path in project.consulted if path.endswith(("one.py", "two.py"))} <= set(paths)
    return {module.path.rpartition("/")[2] for module in project.modules} - {"start.py", "__init__.py"}


@pytest.mark.parametrize(
    ("name", "read"),
    [
        pytest.param("clip", {"one.py"}, id="the file that defines it"),
        pytest.param("act", {"two.py"}, id="the file that imports it"),
        pytest.param("__version__", set(), id="no star brings a private name"),
        pytest.param("value", set(), id="no file binds it"),
    ],
)
def test_of_files_whose_names_are_all_imported_those_are_read_that_bind_the_name(
    tmp_path: Path, name: str, read: set[str]
) -> None:
    assert _read(tmp_path, name) == read


def test_a_file_that_was_left_out_for_its_names_was_consulted_all_the_same(tmp_path: Path) -> None:
    (tmp_path / "start.py").write_text("from lib import *\n")
    (tmp_path / "lib.py").write_text("def other(): ...\n")
    project = Project(str(tmp_path), [str(tmp_path / "lib.py"), str(tmp_path / "start.py")])
    start = project.module(str(tmp_path / "start.py"))
    assert start is not None
    project.named("norm", start)
    assert str(tmp_path / "lib.py") in project.consulted


@pytest.mark.parametrize(
    ("text", "names"),
    [
        ("def f(): ...\nclass A: ...\n", {"f", "A"}),
        ("if x:\n    async def g(): ...\n", {"g"}),
        (
            "try: import a.b as c, d\nexcept ImportError: c = None\n",
            {"a", "b", "as", "c", "d", "except", "ImportError"},
        ),
        ("from m import (\n  one,  # the (first)\n  two as three,\n)\n", {"one", "two", "as", "three"}),
        ("from m import one, \\\n    two\nx = 1\n", {"one", "two", "x"}),
        ("from m import *\n", {"*"}),
    ],
)
def test_the_names_that_a_text_binds(text: str, names: set[str]) -> None:
    assert bound_names(text.encode()) == names


def test_a_text_is_parsed_once_while_its_tree_is_held() -> None:
    assert tree_of("a = 1\n") is tree_of("a = " + "1\n")


def test_nothing_of_a_file_that_was_let_go_waits_for_the_collector(tmp_path: Path) -> None:
    text = "import torch\n\n\nclass Norm:\n    def forward(self, x):\n        return x / x.sum()\n"
    (tmp_path / "norm.py").write_text(text)
    gc.collect()
    gc.disable()
    try:
        file = WholeProject(str(tmp_path), is_project=False).file(str(tmp_path / "norm.py"), text)
        assert file is not None
        held: list[weakref.ref[object]] = [weakref.ref(file.graph), weakref.ref(file.module)]
        file.let_go()
        del file
        assert [each() for each in held] == [None, None]
    finally:
        gc.enable()
