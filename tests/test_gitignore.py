"""What git ignores we do not check; git itself is asked."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from nanlint.settings import SettingsFinder
from nanlint.source.discover import discover


@pytest.fixture(scope="module", autouse=True)
def no_git_settings_of_the_user(tmp_path_factory: pytest.TempPathFactory) -> object:
    """Neither git nor nanlint sees the excludes file of whoever runs the tests."""
    empty = tmp_path_factory.mktemp("home")
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("HOME", str(empty))
        patch.setenv("XDG_CONFIG_HOME", str(empty / "config"))
        patch.setenv("GIT_CONFIG_NOSYSTEM", "1")
        for name in ("GIT_CONFIG_GLOBAL", "GIT_DIR", "GIT_WORK_TREE", "GIT_INDEX_FILE"):
            patch.delenv(name, raising=False)
        yield


def write(root: Path, files: dict[str, str]) -> None:
    for name, text in files.items():
        path = root / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, encoding="utf-8")


def repository(root: Path, files: dict[str, str], *names: str) -> Path:
    root.mkdir(exist_ok=True)
    subprocess.run(["git", "init", "--quiet", root], check=True)
    write(root, {**dict.fromkeys(names, ""), **files})
    return root


def git_sees(root: Path) -> set[str]:
    """Every file that git does not ignore, tracked or not."""
    command = ["git", "-C", str(root), "ls-files", "-z", "--cached", "--others", "--exclude-standard"]
    output = subprocess.run(command, capture_output=True, check=True).stdout
    return set(os.fsdecode(output).split("\0")) - {""}


def we_see(root: Path, start: str = ".", **overrides: object) -> set[str]:
    """Every file below `start` that we check when nothing but ignore files leaves anything out."""
    with pytest.MonkeyPatch.context() as patch:
        patch.chdir(root)
        finder = SettingsFinder({"include": ["*"], "exclude": [".git"], **overrides}, isolated=True)
        return {file.path for file in discover([start], finder).files}


TRICKY = {
    ".gitignore": """\
# comment, and a blank line

*.log
!keep.log
/only_top.py
build/
docs/_build/
*.py[cod]
\\#hash.py
\\!bang.py
data/**
!data/keep.py
!data/sub/
models/*
!models/*.py
**/deep/x.py
a/**/z.py
trailing.py   \r
[broken.py
file_or_folder
folder_only/
spaced name.py
vendor
!vendor/mine.py
*
!*.py
!*.log
!*.txt
!*.json
!*/
data/**
!data/keep.py
""",
    "pkg/.gitignore": "*.py\n!good.py\n/sub/*.txt\n",
    "pkg/sub/.gitignore": "!*.py\n",
    ".git/info/exclude": "excluded.py\nkeep.log\n",
}
TRICKY_NAMES = (
    "a.log", "keep.log", "sub/keep.log", "only_top.py", "sub/only_top.py", "build/x.py", "sub/build/y.py",
    "docs/_build/x.py", "sub/docs/_build/x.py", "a.pyc", "#hash.py", "!bang.py", "data/keep.py", "data/lose.py",
    "data/sub/keep.py", "models/a.py", "models/b.txt", "models/deep/x.py", "deep/x.py", "deep/y.py", "q/deep/x.py",
    "a/z.py", "a/b/z.py", "a/b/c/z.py", "b/z.py", "trailing.py", "[broken.py", "file_or_folder", "x/file_or_folder/y.py",
    "folder_only", "y/folder_only/z.py", "spaced name.py", "vendor/mine.py", "pkg/bad.py", "pkg/good.py",
    "pkg/sub/back.py", "pkg/sub/no.txt", "pkg/other/bad.py", "pkg/other/good.py", "pkg/other/x.txt", "excluded.py",
    "sub/excluded.py", "none", "ä.py", "pkg/ü.txt",
)  # fmt: skip


def test_a_tricky_repository_is_seen_as_git_sees_it(tmp_path: Path) -> None:
    root = repository(tmp_path / "repository", TRICKY, *TRICKY_NAMES)
    assert we_see(root) == git_sees(root)


def test_a_part_of_it_is_seen_as_git_sees_it(tmp_path: Path) -> None:
    root = repository(tmp_path / "repository", TRICKY, *TRICKY_NAMES)
    assert we_see(root, "pkg/sub") == {path for path in git_sees(root) if path.startswith("pkg/sub/")}


FOLDERS = ("", "a", "b", "ab", "a/a", "a/b", "b/a", "ab/b", "a/b/ab", "b/a/b")
NAMES = ("c", "ab.py", "a.py", "b.py", "x.py")
COMPONENTS = st.sampled_from(
    ["a", "b", "ab", "*", "**", "*.py", "a*", "*b", "?", "?.py", "[ab]", "[!a]b", "[a-c].py", "a.py", "x.py", "c"]
)
PATTERNS = st.builds(
    lambda negated, anchored, parts, folder: negated + anchored + "/".join(parts) + folder,
    st.sampled_from(["", "", "!"]),
    st.sampled_from(["", "", "/"]),
    st.lists(COMPONENTS, min_size=1, max_size=3),
    st.sampled_from(["", "", "/"]),
)
IGNORE_FILES = st.dictionaries(
    st.sampled_from([".gitignore", "a/.gitignore", "b/.gitignore", "a/b/.gitignore", ".git/info/exclude"]),
    st.lists(PATTERNS, min_size=1, max_size=4),
    min_size=1,
)


@pytest.fixture(scope="module")
def playground(tmp_path_factory: pytest.TempPathFactory) -> Path:
    names = [f"{folder}/{name}".lstrip("/") for folder in FOLDERS for name in NAMES]
    return repository(tmp_path_factory.mktemp("playground") / "repository", {}, *names)


@pytest.mark.slow
@settings(max_examples=150, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(ignore_files=IGNORE_FILES)
def test_any_ignore_files_mean_what_they_mean_to_git(playground: Path, ignore_files: dict[str, list[str]]) -> None:
    for old in playground.rglob(".gitignore"):
        old.unlink()
    (playground / ".git" / "info" / "exclude").unlink(missing_ok=True)
    write(playground, {name: "\n".join(patterns) for name, patterns in ignore_files.items()})
    assert we_see(playground) == git_sees(playground)


def test_outside_a_repository_gitignore_means_nothing_and_ignore_counts(tmp_path: Path) -> None:
    write(tmp_path, {".gitignore": "a.py", ".ignore": "b.py", "a.py": "", "b.py": "", "c.py": ""})
    assert we_see(tmp_path) == {".gitignore", ".ignore", "a.py", "c.py"}


def test_ignore_comes_before_gitignore(tmp_path: Path) -> None:
    files = {".gitignore": "a.py\nb.py", "pkg/.gitignore": "b.py", ".ignore": "!b.py\nc.py"}
    root = repository(tmp_path / "repository", files, "pkg/a.py", "pkg/b.py", "pkg/c.py")
    assert we_see(root, "pkg") == {"pkg/.gitignore", "pkg/b.py"}


def test_a_repository_in_a_repository_starts_afresh(tmp_path: Path) -> None:
    root = repository(tmp_path / "outer", {".gitignore": "a.py"}, "a.py", "b.py")
    repository(root / "inner", {".gitignore": "b.py"}, "a.py", "b.py")
    assert we_see(root) == {".gitignore", "b.py", "inner/.gitignore", "inner/a.py"}


def test_gitignore_above_the_repository_means_nothing(tmp_path: Path) -> None:
    write(tmp_path, {".gitignore": "a.py"})
    root = repository(tmp_path / "repository", {}, "a.py")
    assert we_see(root) == {"a.py"}


def test_respect_gitignore_can_be_switched_off(tmp_path: Path) -> None:
    root = repository(tmp_path / "repository", {".gitignore": "a.py", ".ignore": "b.py"}, "a.py", "b.py")
    assert we_see(root, respect_gitignore=False) == {".gitignore", ".ignore", "a.py", "b.py"}


def test_a_worktree_has_the_excludes_of_its_repository(tmp_path: Path) -> None:
    root = repository(tmp_path / "repository", {".git/info/exclude": "a.py\n"}, "c.py")
    identity = ["-c", "user.name=n", "-c", "user.email=e"]
    subprocess.run(["git", "-C", root, "add", "c.py"], check=True)
    subprocess.run(["git", "-C", root, *identity, "commit", "--quiet", "-m", "c"], check=True)
    subprocess.run(
        ["git", "-C", root, "worktree", "add", "--quiet", tmp_path / "tree"], check=True, capture_output=True
    )
    write(tmp_path / "tree", {"a.py": "", "b.py": ""})
    assert we_see(tmp_path / "tree") == git_sees(tmp_path / "tree") == {"b.py", "c.py"}


@pytest.mark.parametrize("place", ["default", "stated"])
def test_the_excludes_file_of_the_user_counts(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, place: str) -> None:
    monkeypatch.setenv("HOME", str(tmp_path / "home"))
    monkeypatch.setenv("XDG_CONFIG_HOME", str(tmp_path / "home" / ".config"))
    own = ".config/git/ignore" if place == "default" else "my excludes"
    write(
        tmp_path / "home",
        {own: "a.py\n", ".gitconfig": "" if place == "default" else "[core]\n\texcludesFile = ~/my excludes\n"},
    )
    root = repository(tmp_path / "repository", {}, "a.py", "b.py")
    assert we_see(root) == git_sees(root) == {"b.py"}


def test_names_that_are_no_utf8_can_be_ignored(tmp_path: Path) -> None:
    root = repository(tmp_path / "repository", {}, "a.py")
    for name in (b"\xe4.py", b"\xe5.py"):
        with open(os.fsencode(root) + b"/" + name, "wb"):  # noqa: PTH123 - pathlib takes no bytes
            pass
    (root / ".gitignore").write_bytes(b"\xef\xbb\xbf\xe4.py\r\n")
    assert we_see(root) == git_sees(root) == {".gitignore", "a.py", os.fsdecode(b"\xe5.py")}


def test_an_ignored_folder_is_not_entered(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    root = repository(tmp_path / "repository", {".gitignore": "data/\n"}, "data/deep/a.py", "b.py")
    entered: list[str] = []
    scandir = os.scandir

    def noting(path: str) -> object:
        entered.append(Path(path).name)
        return scandir(path)

    monkeypatch.setattr("os.scandir", noting)
    assert (we_see(root), entered) == ({".gitignore", "b.py"}, ["repository"])


@pytest.mark.parametrize(
    ("patterns", "needed"),
    [
        pytest.param("", False, id="empty file"),
        pytest.param("__pycache__/\n*.py[cod]\n/site\ndata/**\n*.egg-info/\n.env.*\n", False, id="nothing fits"),
        pytest.param("gen*.py\n", True, id="one fits"),
    ],
)
def test_the_library_is_imported_when_a_pattern_fits_a_name(tmp_path: Path, patterns: str, needed: bool) -> None:  # noqa: FBT001 - the answer
    root = repository(tmp_path / "repository", {".gitignore": patterns}, "a.py", "gen_a.py")
    code = """
import sys
from nanlint.settings import SettingsFinder
from nanlint.source.discover import discover
discover([], SettingsFinder())
print("pathspec" in sys.modules)
"""
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join(sys.path)}
    command = [sys.executable, "-S", "-c", code]
    done = subprocess.run(command, capture_output=True, text=True, check=True, cwd=root, env=environment)
    assert done.stdout.strip() == str(needed)
