"""A stranger's repository is checked: it runs nothing, and nothing outside it is read, written or deleted."""

from __future__ import annotations

import os
import subprocess
from typing import TYPE_CHECKING

import pytest

from nanlint import sealed
from tests.project import COMMAND, LOG, LOG_FOUND, RULES, Outcome, Project, environment

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

LONG_AGO = 1_600_000_000
DIVISION = "import torch\n\n\ndef loss(x, mask):\n    return torch.log(torch.softmax(x, -1))\n"
RULE_THAT_ACTS = "from pathlib import Path\n\nPath({mark!r}).touch()\n"


@pytest.fixture
def clone(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Project:
    """A git clone, two folders below something of the user's, for which no local rule is allowed."""
    monkeypatch.delenv("NANLINT_ALLOW_LOCAL_RULES")
    folder = tmp_path / "mine/downloads/clone"
    (folder / ".git").mkdir(parents=True)
    thesis = tmp_path / "mine/thesis.tex"
    thesis.write_text("years of work")
    os.utime(thesis, (LONG_AGO, LONG_AGO))
    project = Project(folder)
    project.write("model.py", DIVISION)
    return project


def outside(clone: Project) -> dict[str, str]:
    """Every file of the user's that is not in the clone, with its content."""
    mine = clone.folder.parent.parent
    files = [path for path in mine.rglob("*") if path.is_file() and clone.folder not in path.parents]
    return {str(path.relative_to(mine)): path.read_text() for path in files}


UNTOUCHED = {"thesis.tex": "years of work"}


# -- the cache ----------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "link",
    [
        pytest.param((".nanlint_cache", "../.."), id="the folder"),
        pytest.param((".nanlint_cache/0.1.0", "../../.."), id="the folder of the version"),
        pytest.param((".nanlint_cache/CACHEDIR.TAG", "../../../new"), id="the tag, leading nowhere"),
        pytest.param((".nanlint_cache/.gitignore", "../../../new"), id="the ignore file, leading nowhere"),
    ],
)
@pytest.mark.parametrize("command", ["check", "clean"])
def test_a_link_in_the_place_of_the_cache_is_not_followed(clone: Project, link: tuple[str, str], command: str) -> None:
    path = clone.folder / link[0]
    path.parent.mkdir(exist_ok=True)
    path.symlink_to(link[1])
    if path.parent != clone.folder and path.name != "CACHEDIR.TAG":
        (path.parent / "CACHEDIR.TAG").write_text(sealed_tag())
    clone.run(command)
    assert outside(clone) == UNTOUCHED


def sealed_tag() -> str:
    """The mark of a cache folder: everybody can write it, so it proves nothing."""
    return "Signature: 8a477f597d28d172789f06886806bc55\n# Written by nanlint; safe to delete.\n"


def test_only_old_files_with_names_of_ours_are_cleared(clone: Project) -> None:
    clone.run("check")
    folder = clone.folder / ".nanlint_cache"
    (ours,) = (folder / "0.1.0").glob("*.json")
    old = [folder / "0.1.0" / name for name in ("notes.json", f"{'0' * 32}-{'1' * 32}.json")]
    for path in old:
        path.write_text("")
        os.utime(path, (LONG_AGO, LONG_AGO))
    clone.write("other.py", DIVISION)
    clone.run("check")
    assert (ours.exists(), [path.exists() for path in old]) == (True, [True, False])


def test_cleaning_leaves_what_others_put_into_the_folder(clone: Project) -> None:
    clone.run("check")
    notes = clone.write(".nanlint_cache/notes.txt", "mine")
    clone.run("clean")
    assert [path.name for path in notes.parent.iterdir()] == ["notes.txt"]


@pytest.mark.parametrize("name", ["key", "cache"])
def test_a_pipe_in_the_place_of_a_file_is_not_waited_for(clone: Project, name: str, own_folders: Path) -> None:
    clone.run("check")
    path = own_folders / "cache/nanlint/key"
    if name == "cache":
        (path,) = (clone.folder / ".nanlint_cache/0.1.0").glob("*.json")
    before = path.read_bytes()
    path.unlink()
    os.mkfifo(path)
    try:
        done = subprocess.run([*COMMAND, "check", "-q"], cwd=clone.folder, env=environment(), timeout=60, check=False)
        assert done.returncode == 1
    finally:
        if path.exists():
            path.unlink()
        path.write_bytes(before)


def test_a_cache_that_the_repository_brings_along_is_not_believed(
    clone: Project, monkeypatch: pytest.MonkeyPatch
) -> None:
    clone.write("model.py", "import torch\n")
    with monkeypatch.context() as elsewhere:
        elsewhere.setattr(sealed, "_key", lambda: b"k" * 32)
        clone.run("check")
    (path,) = (clone.folder / ".nanlint_cache/0.1.0").glob("*.json")
    assert sealed.read_sealed(str(path)) is None


def test_a_sealed_file_under_another_name_is_not_believed(tmp_path: Path) -> None:
    sealed.write_sealed(str(tmp_path / "a"), b"text")
    (tmp_path / "a").rename(tmp_path / "b")
    sealed.write_sealed(str(tmp_path / "a"), b"text")
    assert [sealed.read_sealed(str(tmp_path / name)) for name in "ab"] == [b"text", None]


# -- settings -----------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("setting", "said"),
    [
        ('extend = "/dev/zero"', "nanlint.toml:1 extend: /dev/zero is outside the project"),
        ('extend = "../../other.toml"', "nanlint.toml:1 extend: "),
        ('baseline = "../../thesis.tex"', "nanlint.toml:1 baseline: "),
        ('cache-dir = "../.."', "nanlint.toml:1 cache-dir: "),
        ('cache-dir = "link"', "nanlint.toml:1 cache-dir: "),
    ],
)
def test_settings_that_reach_out_of_the_project_are_an_error(clone: Project, setting: str, said: str) -> None:
    clone.write("nanlint.toml", setting)
    (clone.folder / "link").symlink_to("../..")
    outcomes = [clone.run(*words) for words in (["check"], ["check", "--write-baseline"])]
    assert [(outcome.code, said in outcome.err) for outcome in outcomes] == [(2, True)] * 2
    assert outside(clone) == UNTOUCHED


@pytest.mark.parametrize("name", ["nanlint.toml", "pyproject.toml"])
def test_a_device_or_a_pipe_is_no_settings_file(clone: Project, name: str) -> None:
    (clone.folder / name).symlink_to("/dev/zero")
    clone.write("pkg/a.py", DIVISION)
    os.mkfifo(clone.folder / "pkg" / name)
    done = subprocess.run([*COMMAND, "check", "-q"], cwd=clone.folder, env=environment(), timeout=60, check=False)
    assert done.returncode == 1


@pytest.mark.parametrize(
    "stand_in", [os.mkfifo, lambda path: path.symlink_to("/dev/zero")], ids=["pipe", "endless device"]
)
@pytest.mark.parametrize("name", [".gitignore", ".git/info/exclude", "pkg/.ignore", "known.json", "named.py"])
def test_nothing_that_is_no_regular_file_is_read(clone: Project, name: str, stand_in: Callable[[Path], None]) -> None:
    clone.write("pkg/a.py", DIVISION)
    path = clone.folder / name
    path.parent.mkdir(parents=True, exist_ok=True)
    stand_in(path)
    words = {"known.json": ["--baseline", name], "named.py": ["pkg", name]}.get(name, ["pkg"])
    done = subprocess.run(
        [*COMMAND, "check", "-q", *words], cwd=clone.folder, env=environment(), timeout=60, check=False
    )
    assert done.returncode == (2 if name == "known.json" else 1)


def test_deeply_nested_settings_are_an_error_with_a_place(clone: Project) -> None:
    clone.write("nanlint.toml", "select = " + "[" * 200_000)
    outcome = clone.run("check")
    assert (outcome.code, outcome.err) == (
        2,
        "nanlint: nanlint.toml:1: not valid TOML: brackets are nested too deeply to be read\n",
    )


def test_a_repository_cannot_have_its_files_changed_by_a_plain_check(clone: Project) -> None:
    clone.write("nanlint.toml", "fix = true\nunsafe-fixes = true\n")
    outcome = clone.run("check")
    assert (clone.read("model.py"), "nothing was changed" in outcome.err) == (DIVISION, True)
    assert clone.run("check", "--fix").code == 0
    assert clone.read("model.py") != DIVISION


def test_a_linked_file_outside_the_project_is_neither_checked_nor_changed(clone: Project) -> None:
    other = clone.folder.parent / "other.py"
    other.write_text(DIVISION)
    (clone.folder / "linked.py").symlink_to(other)
    outcome = clone.run("check", "--fix", "--unsafe-fixes")
    assert other.read_text() == DIVISION
    assert "linked.py: error: a symbolic link out of the project is not followed" in outcome.out


# -- rules of the repository --------------------------------------------------------------------------------------


def with_acting_rule(clone: Project, settings: str) -> Path:
    """Rules of the clone that leave a mark when they run; where the mark would be."""
    mark = clone.folder.parent / "ran"
    clone.write("tools/rules/nan999_acts.py", RULE_THAT_ACTS.format(mark=str(mark)))
    clone.write(settings, f"local-rules = ['{clone.folder / 'tools/rules'}']\n")
    return mark


@pytest.mark.parametrize("settings", ["nanlint.toml", "third_party/lib/nanlint.toml"])
@pytest.mark.parametrize("words", [["check"], ["rules"], ["explain", "NAN110"]], ids=" ".join)
def test_no_rule_of_the_repository_runs_by_itself(clone: Project, settings: str, words: list[str]) -> None:
    mark = with_acting_rule(clone, settings)
    clone.write("third_party/lib/a.py", DIVISION)
    outcome = clone.run(*words)
    assert (mark.exists(), outcome.code) == (False, int(words == ["check"]))
    if words == ["check"] or settings == "nanlint.toml":
        assert f"left out the local rules that {settings} names" in outcome.err


@pytest.mark.parametrize("how", ["flag", "environment", "trusted folder"])
def test_local_rules_run_when_the_user_has_said_so(
    clone: Project, how: str, monkeypatch: pytest.MonkeyPatch, own_folders: Path
) -> None:
    clone.configure()
    clone.write("a.py", LOG)
    if how == "environment":
        monkeypatch.setenv("NANLINT_ALLOW_LOCAL_RULES", "1")
    if how == "trusted folder":
        user = own_folders / "with trust" / "nanlint"
        user.mkdir(parents=True, exist_ok=True)
        (user / "config.toml").write_text(f"trusted = ['{clone.folder.parent}']\n")
        monkeypatch.setenv("XDG_CONFIG_HOME", str(user.parent))
    words = ["--allow-local-rules"] if how == "flag" else []
    assert clone.run("check", "-q", "a.py", *words) == Outcome(1, LOG_FOUND, "")


def test_selectors_of_rules_that_were_left_out_are_no_error(clone: Project) -> None:
    clone.write(
        "nanlint.toml", f"local-rules = ['{RULES}']\nextend-select = ['LOC101']\n[rules.LOC201]\nseverity = 'info'\n"
    )
    outcome = clone.run("check", "-q")
    assert (outcome.code, outcome.err.count("\n")) == (1, 1)


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("trusted = 'all'", "trusted must be a list of full paths"),
        ("trusted = ['here']", "trusted must be a list of full paths"),
        ("cache-dir = 'here'", "cache-dir must be a full path"),
        ("ignore = ['ALL']", "ignore is not known here; there are trusted and cache-dir"),
        ("trusted = [", "config.toml:1: not valid TOML"),
    ],
)
def test_mistakes_in_the_users_own_settings_are_told(
    clone: Project, text: str, said: str, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    (tmp_path / "nanlint").mkdir()
    (tmp_path / "nanlint/config.toml").write_text(text)
    monkeypatch.setenv("XDG_CONFIG_HOME", str(tmp_path))
    outcome = clone.run("check")
    assert (outcome.code, said in outcome.err) == (2, True)


def test_the_users_own_settings_may_put_the_cache_elsewhere(
    clone: Project, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    (tmp_path / "nanlint").mkdir()
    (tmp_path / "nanlint/config.toml").write_text(f"cache-dir = '{tmp_path / 'all'}'\n")
    monkeypatch.setenv("XDG_CONFIG_HOME", str(tmp_path))
    clone.run("check")
    assert ((tmp_path / "all/CACHEDIR.TAG").exists(), (clone.folder / ".nanlint_cache").exists()) == (True, False)


def test_a_module_of_the_repository_is_not_imported_by_the_command(clone: Project, tmp_path: Path) -> None:
    mark = tmp_path / "ran"
    for name in ("libcst", "json", "yaml", "pydantic", "torch"):
        clone.write(f"{name}.py", RULE_THAT_ACTS.format(mark=str(mark)))
    done = subprocess.run([*COMMAND, "check", "-q"], cwd=clone.folder, env=environment(), timeout=60, check=False)
    assert (done.returncode, mark.exists()) == (1, False)
