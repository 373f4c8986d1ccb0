"""Which files are checked when paths are named."""

from __future__ import annotations

import os
import subprocess
import sys
from typing import TYPE_CHECKING

import pytest

from nanlint.model import FileError
from nanlint.settings import SettingsFinder
from nanlint.source.discover import Discovery, discover, kind_of

if TYPE_CHECKING:
    from pathlib import Path


@pytest.fixture
def project(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """An empty folder that is the working directory."""
    monkeypatch.chdir(tmp_path)
    return tmp_path


def touch(root: Path, *names: str) -> None:
    for name in names:
        path = root / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text("", encoding="utf-8")


def found(*paths: str, stdin_filename: str = "", **overrides: object) -> Discovery:
    return discover(paths, SettingsFinder(overrides), stdin_filename=stdin_filename)


def names(*paths: str, **overrides: object) -> list[str]:
    discovery = discover(paths, SettingsFinder(overrides))
    assert discovery.errors == []
    return [file.path for file in discovery.files]


# Folders


def test_a_folder_is_walked_in_the_order_of_paths(project: Path) -> None:
    touch(project, "b/z.py", "b/a/x.py", "a.py", "b.py", "b/a.py")
    assert names(".") == ["a.py", "b.py", "b/a.py", "b/a/x.py", "b/z.py"]


def test_no_path_means_the_working_directory(project: Path) -> None:
    touch(project, "a.py", "b/c.py")
    assert names() == ["a.py", "b/c.py"]


def test_default_suffixes_decide_about_kind_and_everything_else_is_left_alone(project: Path) -> None:
    touch(
        project, "a.py", "b.pyi", "c.ipynb", "d.yaml", "e.yml", "f.toml", "g.json", "README.md", "h.txt", "py", "i.pyc"
    )
    assert [(file.path, file.kind) for file in found(".").files] == [
        ("a.py", "python"),
        ("b.pyi", "stub"),
        ("c.ipynb", "notebook"),
        ("d.yaml", "config"),
        ("e.yml", "config"),
        ("f.toml", "config"),
        ("g.json", "config"),
    ]


def test_default_excludes_keep_us_out_of_environments_and_builds(project: Path) -> None:
    left_out = (".venv/a.py", "venv/a.py", "build/a.py", "dist/a.py", "node_modules/a.py", ".git/a.py", "p/.tox/a.py")
    touch(project, *left_out, "p/__pycache__/a.py", ".nanlint_cache/a.json", "lib/site-packages/a.py", "p/a.py")
    assert names() == ["p/a.py"]


def test_hidden_folders_are_walked(project: Path) -> None:
    touch(project, ".github/tool.py")
    assert names() == [".github/tool.py"]


def test_include_exclude_and_extend_exclude_come_from_the_settings(project: Path) -> None:
    touch(project, "a.py", "b.yaml", "tools/run", "gen/a.py", "build/b.py")
    (project / "nanlint.toml").write_text('include = ["*.py", "tools/*"]\nexclude = ["gen"]\nextend-exclude = ["b.*"]')
    assert [(file.path, file.kind) for file in found().files] == [("a.py", "python"), ("tools/run", "python")]


def test_a_nested_config_file_changes_the_rules_below_it(project: Path) -> None:
    touch(project, "a.py", "skip.py", "pkg/a.py", "pkg/skip.py", "pkg/own.py", "pkg/deep/own.py", "pkg/deep/skip.py")
    (project / "nanlint.toml").write_text('exclude = ["skip.py"]\ninclude = ["*.py"]')
    (project / "pkg" / "nanlint.toml").write_text('exclude = ["own.py"]\ninclude = ["*.py"]')
    assert names() == ["a.py", "pkg/a.py", "pkg/deep/skip.py", "pkg/skip.py"]


def test_every_file_has_the_settings_of_its_nearest_config_file(project: Path) -> None:
    touch(project, "a.py", "pkg/a.py", "pkg/deep/a.py")
    (project / "nanlint.toml").write_text('select = ["OUTER"]\ninclude = ["*.py"]')
    (project / "pkg" / "pyproject.toml").write_text('[tool.nanlint]\nselect = ["INNER"]\ninclude = ["*.py"]')
    assert {file.path: file.settings.select for file in found().files} == {
        "a.py": ("OUTER",),
        "pkg/a.py": ("INNER",),
        "pkg/deep/a.py": ("INNER",),
    }


def test_time_and_size_come_with_the_file(project: Path) -> None:
    (project / "a.py").write_text("x = 1\n")
    status = (project / "a.py").stat()
    walked, named = found(".").files, found("a.py").files
    assert {(file.mtime_ns, file.size) for file in (*walked, *named)} == {(status.st_mtime_ns, 6)}


def test_paths_outside_the_working_directory_are_shown_in_full(project: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    touch(project, "here/a.py", "there/b.py", "hereafter/c.py")
    monkeypatch.chdir(project / "here")
    assert names("..") == [f"{project}/hereafter/c.py", f"{project}/there/b.py", "a.py"]


def test_no_file_comes_twice(project: Path) -> None:
    touch(project, "pkg/a.py", "pkg/b.py")
    assert names("pkg", "./pkg/a.py", str(project / "pkg"), "pkg/*.py", "pkg/../pkg/b.py") == ["pkg/a.py", "pkg/b.py"]


def test_a_name_that_is_no_utf8_survives(project: Path) -> None:
    path = os.fsencode(project) + b"/\xe4.py"
    with open(path, "wb"):  # noqa: PTH123 - pathlib takes no bytes
        pass
    (file,) = found().files
    assert os.fsencode(file.path) == b"\xe4.py"


# Symbolic links and things that are no files


def test_linked_files_are_checked_and_linked_folders_are_not_entered(project: Path) -> None:
    touch(project, "real/a.py", "pkg/b.py")
    (project / "pkg" / "link.py").symlink_to(project / "real" / "a.py")
    (project / "pkg" / "folder").symlink_to(project / "real")
    (project / "pkg" / "folder.py").symlink_to(project / "real")
    assert names("pkg") == ["pkg/b.py", "pkg/link.py"]


def test_a_loop_of_links_ends(project: Path) -> None:
    touch(project, "pkg/a.py")
    (project / "pkg" / "loop").symlink_to(project / "pkg")
    assert names() == ["pkg/a.py"]


def test_a_linked_folder_that_is_named_is_walked(project: Path) -> None:
    touch(project, "real/a.py")
    (project / "link").symlink_to(project / "real")
    assert names("link") == ["link/a.py"]


def test_a_link_that_leads_nowhere_is_one_error(project: Path) -> None:
    touch(project, "b.py")
    (project / "a.py").symlink_to(project / "gone.py")
    discovery = found()
    assert ([file.path for file in discovery.files], discovery.errors) == (
        ["b.py"],
        [FileError("a.py", None, "the symbolic link leads nowhere")],
    )


@pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="no pipes in the file system here")
def test_a_pipe_is_passed_by(project: Path) -> None:
    os.mkfifo(project / "pipe.py")
    assert names() == []


# Named files


def test_a_named_file_is_checked_although_excluded_or_ignored(project: Path) -> None:
    touch(project, "build/a.py", "gen/b.py", ".git/HEAD")
    (project / ".gitignore").write_text("gen/\n")
    assert names("build/a.py", "gen/b.py") == ["build/a.py", "gen/b.py"]


def test_a_named_folder_is_walked_although_excluded_or_ignored(project: Path) -> None:
    touch(project, "build/sub/a.py", "gen/sub/b.py", ".git/HEAD")
    (project / ".gitignore").write_text("gen/\n")
    assert names("build", "gen") == ["build/sub/a.py", "gen/sub/b.py"]


def test_force_exclude_holds_for_what_is_named(project: Path) -> None:
    touch(project, "build/a.py", "build/sub/b.py", "src/c.py", "gen/d.py", ".git/HEAD")
    (project / ".gitignore").write_text("gen/\n")
    named = ("build/a.py", "build/sub/b.py", "build/sub", "build", "src/c.py", "gen/d.py")
    assert names(*named, force_exclude=True) == ["gen/d.py", "src/c.py"]


def test_force_exclude_sees_the_config_files_on_the_way(project: Path) -> None:
    touch(project, "vendored/pkg/a.py", "vendored/pkg/nanlint.toml", "src/b.py")
    (project / "nanlint.toml").write_text('exclude = ["vendored"]')
    assert names("vendored/pkg/a.py", "src/b.py", force_exclude=True) == ["src/b.py"]


def test_force_exclude_looks_at_nothing_above_the_project(project: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    touch(project, "build/project/a.py")
    monkeypatch.chdir(project / "build" / "project")
    assert names("a.py", force_exclude=True) == ["a.py"]


def test_a_named_file_without_suffix_is_python_and_one_with_a_foreign_suffix_is_passed_over(project: Path) -> None:
    touch(project, "train", "model.txt", "c.yaml")
    discovery = found("train", "model.txt", "c.yaml")
    assert [(file.path, file.kind) for file in discovery.files] == [("c.yaml", "config"), ("train", "python")]
    assert [error.path for error in discovery.passed_over] == ["model.txt"]


@pytest.mark.parametrize(
    ("path", "kind"),
    [("a.PY", "python"), ("a.Ipynb", "notebook"), ("json", "python"), (".json", "config"), ("", "python")],
)
def test_the_kind_is_in_the_suffix(path: str, kind: str) -> None:
    assert kind_of(path) == kind


# Globs


@pytest.mark.parametrize(
    ("glob", "expected"),
    [
        pytest.param("src/*.py", ["src/a.py"], id="one folder"),
        pytest.param("src/**/*.py", ["src/a.py", "src/pkg/b.py", "src/pkg/deep/c.py"], id="any depth"),
        pytest.param("src/*", ["src/a.py", "src/pkg/b.py", "src/pkg/deep/c.py"], id="a folder means what is in it"),
        pytest.param("s?c/p[kx]g", ["src/pkg/b.py", "src/pkg/deep/c.py"], id="wild folders"),
        pytest.param("**/c.py", ["src/pkg/deep/c.py"], id="from here down"),
        pytest.param("src/{a,x}.p*", ["src/a.py"], id="alternatives"),
    ],
)
def test_a_glob_that_the_shell_left_to_us_is_expanded(project: Path, glob: str, expected: list[str]) -> None:
    touch(project, "src/a.py", "src/pkg/b.py", "src/pkg/deep/c.py", "src/.venv/d.py", "src/e.txt")
    assert names(glob) == expected


def test_an_absolute_glob_works_in_a_folder_with_brackets(project: Path) -> None:
    touch(project, "x[1]/a.py", "x[1]/b.txt")
    assert names("x[1]", str(project / "x[1]" / "a.py")) == ["x[1]/a.py"]


def test_a_file_whose_name_looks_like_a_glob_is_that_file(project: Path) -> None:
    touch(project, "a[b].py", "ab.py")
    assert names("a[b].py") == ["a[b].py"]


def test_a_glob_without_a_match_is_an_error(project: Path) -> None:
    touch(project, "src/a.py")
    assert found("src/*.pyi").errors == [FileError("src/*.pyi", None, "no file that is checked matches this glob")]


# What can't be read


@pytest.mark.parametrize(
    ("path", "message"),
    [
        pytest.param("src/trian.py", 'does not exist; did you mean "src/train.py"?', id="misspelt file"),
        pytest.param("scr/train.py", 'does not exist; did you mean "src/train.py"?', id="misspelt folder"),
        pytest.param("scr/other.py", 'does not exist; did you mean "src"?', id="misspelt folder, unknown file"),
        pytest.param("nowhere.py", "does not exist", id="near nothing"),
        pytest.param("src/train.py/x.py", 'does not exist; did you mean "src/train.py"?', id="below a file"),
        pytest.param("src/a[b.py", "does not exist", id="no glob"),
        pytest.param("nowhere/*.py", "does not exist", id="glob in a missing folder"),
    ],
)
def test_a_path_that_does_not_exist_is_one_error_and_the_rest_goes_on(project: Path, path: str, message: str) -> None:
    touch(project, "src/train.py")
    discovery = found(path, "src")
    assert ([file.path for file in discovery.files], discovery.errors) == (
        ["src/train.py"],
        [FileError(path, None, message)],
    )


def test_a_folder_that_may_not_be_read_is_one_error_and_the_rest_goes_on(
    project: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    touch(project, "a.py", "closed/b.py", "open/c.py")
    scandir = os.scandir

    def refuse(path: str) -> object:
        if path.endswith("closed"):
            raise PermissionError(13, "Permission denied", path)
        return scandir(path)

    monkeypatch.setattr("os.scandir", refuse)
    discovery = found()
    assert ([file.path for file in discovery.files], discovery.errors) == (
        ["a.py", "open/c.py"],
        [FileError("closed", None, "the folder can't be read: Permission denied")],
    )


# Stdin


def test_stdin_is_checked_under_the_name_it_is_given(project: Path) -> None:
    (project / "pkg").mkdir()
    (project / "pkg" / "nanlint.toml").write_text('select = ["PKG"]')
    (file,) = found("-", stdin_filename="pkg/new.pyi").files
    assert (file.path, file.kind, file.settings.select, file.is_stdin) == ("pkg/new.pyi", "stub", ("PKG",), True)


def test_stdin_without_a_name_is_python_with_the_settings_of_the_working_directory(project: Path) -> None:
    (project / "nanlint.toml").write_text('select = ["HERE"]')
    (file,) = found("-").files
    assert (file.path, file.kind, file.settings.select, file.is_stdin) == ("-", "python", ("HERE",), True)


@pytest.mark.parametrize(("force", "expected"), [(False, ["build/a.py"]), (True, [])])
def test_force_exclude_holds_for_stdin(project: Path, force: bool, expected: list[str]) -> None:  # noqa: FBT001 - the setting
    touch(project, "build/a.py")
    files = found("-", stdin_filename="build/a.py", force_exclude=force).files
    assert [file.path for file in files] == expected


# Cost


def test_a_walk_without_ignore_files_imports_nothing_heavy(project: Path) -> None:
    touch(project, "a.py", "pkg/b.py", "pkg/pyproject.toml")
    code = """
import sys
from nanlint.settings import SettingsFinder
from nanlint.source.discover import discover
print(len(discover([], SettingsFinder()).files))
print(*(name for name in ("pydantic", "tomllib", "tomli", "pathspec", "pathlib", "glob", "json") if name in sys.modules))
"""
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join(sys.path)}
    done = subprocess.run(
        [sys.executable, "-S", "-c", code], capture_output=True, text=True, check=True, cwd=project, env=environment
    )
    assert done.stdout.split() == ["3"]
