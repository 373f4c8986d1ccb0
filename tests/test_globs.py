"""Globs of the settings mean what they mean in ruff; ruff itself is asked."""

from __future__ import annotations

import json
import subprocess
import sys
from typing import TYPE_CHECKING

import pytest

from nanlint.settings import Settings, SettingsFinder
from nanlint.settings.globs import GlobSet, anchored, compile_glob, escape_glob
from nanlint.source.discover import discover

if TYPE_CHECKING:
    from pathlib import Path

FILES = ("a.py", "b.py", "ab.py", "pkg/a.py", "pkg/sub/a.py", "pkg/sub/[x].py", "tests/a.py", "pkg/tests/deep/b.py")

GLOBS = [
    "a.py",
    "*.py",
    "?.py",
    "[ab].py",
    "[!a]b.py",
    "[a-b]b.py",
    "{a,b}.py",
    "p{k,x}g/*/a.py",
    "pkg",
    "pkg/",
    "./pkg",
    "./a.py",
    "pkg/*",
    "pkg/*.py",
    "pkg/**",
    "**/sub/*",
    "**/sub",
    "**/tests/**",
    "tests",
    "tests/**",
    "pkg/**/a.py",
    "pkg/**/**/a.py",
    "sub/a.py",
    "*/a.py",
    "**",
    "p*a.py",
    "pkg/sub/\\[x\\].py",
    "pkg/sub/[[]x].py",
]


@pytest.fixture(scope="module")
def tree(tmp_path_factory: pytest.TempPathFactory) -> Path:
    root = tmp_path_factory.mktemp("globs")
    for name in FILES:
        path = root / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text("import os\n")
    return root


def flagged_by_ruff(tree: Path, config: str) -> set[str]:
    """The files in which ruff finds the unused import, with `config` as its settings."""
    (tree / "ruff.toml").write_text(f'{config}\nlint.select = ["F401"]\n', encoding="utf-8")
    command = [sys.executable, "-m", "ruff", "check", "--no-cache", "--exit-zero", "--output-format=json", "."]
    done = subprocess.run(command, cwd=tree, capture_output=True, text=True, check=True)
    return {entry["filename"].removeprefix(f"{tree.resolve()}/") for entry in json.loads(done.stdout)}


@pytest.mark.parametrize("glob", [*GLOBS, "[!a]*.py", "!a.py", "!pkg/**"])
def test_per_file_ignores_cover_what_they_cover_in_ruff(tree: Path, glob: str) -> None:
    settings = Settings(root=str(tree), per_file_ignores={glob: ("X",)})
    unchecked = {name for name in FILES if settings.ignored_for(str(tree / name))}
    covered = set(FILES) - flagged_by_ruff(tree, f"lint.per-file-ignores = {{{json.dumps(glob)} = ['F401']}}")
    assert unchecked == covered


@pytest.mark.parametrize("glob", GLOBS)
def test_exclude_leaves_out_what_it_leaves_out_in_ruff(tree: Path, glob: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tree)
    finder = SettingsFinder({"exclude": [glob], "include": ["*.py"]}, isolated=True)
    found = {file.path for file in discover([], finder).files}
    assert found == flagged_by_ruff(tree, f"exclude = [{json.dumps(glob)}]")


def test_a_file_without_a_matching_glob_is_ignored_for_nothing() -> None:
    assert Settings().ignored_for("a.py") == ()


def test_all_matching_globs_add_up_in_the_order_of_the_file() -> None:
    settings = Settings(root="/r", per_file_ignores={"*.py": ("A", "B"), "x/*": ("C",), "y/*": ("D",)})
    assert settings.ignored_for("/r/x/a.py") == ("A", "B", "C")


def test_a_glob_below_the_root_never_matches_outside_it() -> None:
    globs = GlobSet(["pkg/a.py", "/other/b.py"], "/r")
    asked = [("a.py", "/r/pkg"), ("a.py", "/s/pkg"), ("b.py", "/other"), ("b.py", "/r/other")]
    assert [globs.match(name, folder) for name, folder in asked] == [True, False, True, False]


@pytest.mark.parametrize(
    ("glob", "path", "matches"),
    [
        ("*.py", "a/b.py", False),
        ("a/*.py", "a/b.py", True),
        ("a/*.py", "a/b/c.py", False),
        ("a/**/*.py", "a/b.py", True),
        ("a/**/*.py", "a/b/c/d.py", True),
        ("a/**", "a/b/c.py", True),
        ("a?b", "a/b", False),
    ],
)
def test_without_crossing_stars_stay_in_their_folder(glob: str, path: str, matches: bool) -> None:  # noqa: FBT001 - the answer
    assert bool(compile_glob(glob, crossing=False).fullmatch(path)) is matches


@pytest.mark.parametrize(
    ("glob", "expected"),
    [
        pytest.param("*.py", "*.py", id="a name means the same everywhere"),
        pytest.param("src/*.py", "/a \\[b\\]/src/*.py", id="a path gets its folder"),
        pytest.param("!src/*.py", "!/a \\[b\\]/src/*.py", id="negated"),
        pytest.param("../x/*.py", "/x/*.py", id="above its folder"),
        pytest.param("./x.py", "/a \\[b\\]/x.py", id="with a dot"),
        pytest.param("/abs/*.py", "/abs/*.py", id="absolute"),
    ],
)
def test_a_glob_from_another_folder_is_anchored_there(glob: str, expected: str) -> None:
    assert anchored(glob, "/a [b]", "/r") == expected


def test_an_escaped_text_matches_itself_alone() -> None:
    text = "a[b]{c}*?\\d"
    assert (bool(compile_glob(escape_glob(text)).fullmatch(text)), escape_glob("plain")) == (True, "plain")


@pytest.mark.parametrize("glob", ["[", "a[b", "[!]", "{a", "{a,{b}", "a\\", "[z-a]"])
def test_a_glob_that_is_none_says_so(glob: str) -> None:
    with pytest.raises(ValueError, match="the glob"):
        compile_glob(glob)
