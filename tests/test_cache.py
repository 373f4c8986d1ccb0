"""The cache: what it recognises, what it must not, and that nothing done to it can make a run wrong or fail."""

from __future__ import annotations

import json
import os
import shutil
import signal
import subprocess
import sys
import time
from typing import TYPE_CHECKING

import pytest

from nanlint.digest import digest_of
from nanlint.engine.check_paths import Plan, Run
from nanlint.source import cache as cache_module
from nanlint.source.cache import Cache, engine_stamp, made_by_us
from tests.project import (
    CLEAN,
    COMMAND,
    LOG,
    LOG_FOUND,
    RULES,
    SQRT,
    Project,
    environment,
    needs_root,
    open_project,
    run_as_nobody,
)

if TYPE_CHECKING:
    from pathlib import Path

SQRT_FOUND = "a.py:5:12: LOC201 `torch.sqrt(x)` is a root [bare-sqrt]\n"
LONG_AGO = 1_600_000_000


@pytest.fixture
def project(tmp_path: Path) -> Project:
    """A project whose one file was last changed long ago."""
    project = Project.make(tmp_path)
    settled(project, LOG)
    return project


def settled(project: Project, text: str, *, when: int = LONG_AGO) -> None:
    """Write a.py as if that had been at `when`."""
    os.utime(project.write("a.py", text), (when, when))


def recalled(project: Project, *words: str) -> int:
    """How many files a run has from the cache."""
    account = project.run("check", "-v", "a.py", *words).err
    return int(account.rpartition("1 file, ")[2].split()[0])


def cache_files(project: Project) -> list[Path]:
    return sorted((project.folder / ".nanlint_cache").glob("*/*.json"))


# -- what is recognised -------------------------------------------------------------------------------------------


def test_a_second_run_has_its_findings_from_the_cache(project: Project) -> None:
    outcomes = [project.run("check", "-q", "a.py") for _ in range(2)]
    assert outcomes == [(1, LOG_FOUND, "")] * 2
    assert recalled(project) == 1


def test_a_file_is_known_by_time_and_size_without_being_read(project: Project, monkeypatch: pytest.MonkeyPatch) -> None:
    project.run("check", "a.py")
    monkeypatch.setattr(cache_module, "digest_at", lambda path: pytest.fail(f"{path} was read"))
    assert recalled(project) == 1


def test_a_file_with_a_new_time_is_known_by_its_content(project: Project) -> None:
    project.run("check", "a.py")
    settled(project, LOG, when=LONG_AGO + 60)
    assert recalled(project) == 1


def test_other_content_of_the_same_size_is_noticed(project: Project) -> None:
    project.run("check", "a.py")
    assert len(LOG) == len(SQRT)
    settled(project, SQRT, when=LONG_AGO + 1)
    assert project.run("check", "-q", "a.py").out == SQRT_FOUND


def test_a_file_that_was_just_written_is_not_trusted_by_its_time_and_size(project: Project) -> None:
    project.write("a.py", LOG)
    now = (project.folder / "a.py").stat().st_mtime_ns
    project.run("check", "a.py")
    os.utime(project.write("a.py", SQRT), ns=(now, now))
    assert project.run("check", "-q", "a.py").out == SQRT_FOUND


def test_a_finding_is_told_with_the_path_of_the_day(project: Project) -> None:
    project.run("check", "a.py")
    inner = Project(project.folder / "inner")
    inner.folder.mkdir()
    outcome = inner.run("check", "-q", "-v", "../a.py")
    assert (outcome.out, "1 of them from the cache" in outcome.err) == (f"{project.folder}/{LOG_FOUND}", True)


def test_suppressed_findings_are_counted_on_a_second_run_too(project: Project) -> None:
    settled(project, LOG[:-1] + "  # nanlint: ignore\n")
    outcomes = [project.run("check", "a.py") for _ in range(2)]
    assert outcomes == [(0, "All clear: 1 file checked. Kept quiet: 1 suppressed.\n", "")] * 2


def test_what_could_not_be_checked_is_tried_again(project: Project) -> None:
    settled(project, "import torch\ntorch.log((\n")
    assert [project.run("check", "-q", "a.py").out[:14] for _ in range(2)] == ["a.py:2: error:"] * 2
    assert recalled(project) == 0


# -- what makes it miss -------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "words",
    [
        pytest.param(["--select", "LOC101"], id="other rules"),
        pytest.param(["--severity", "info"], id="another severity"),
        pytest.param(["--preview"], id="preview"),
        pytest.param(["--no-gate"], id="no gate"),
    ],
)
def test_other_settings_have_a_cache_of_their_own(project: Project, words: list[str]) -> None:
    project.run("check", "a.py")
    assert [recalled(project, *words), recalled(project, *words), recalled(project)] == [0, 1, 1]


def test_settings_that_change_no_finding_share_a_cache(project: Project) -> None:
    project.run("check", "a.py")
    assert recalled(project, "--fail-on", "error", "-f", "json", "--extend-exclude", "b.py") == 1


def test_changed_options_of_a_rule_miss(project: Project) -> None:
    settled(project, SQRT)
    project.run("check", "a.py")
    project.configure('[rules.LOC201]\nnoun = "radix"\n')
    assert project.run("check", "-q", "a.py").out == SQRT_FOUND.replace("root", "radix")


@pytest.mark.slow
def test_a_changed_local_rule_misses(project: Project) -> None:
    shutil.copytree(RULES, project.folder / "rules", ignore=shutil.ignore_patterns("__pycache__"))
    project.write("nanlint.toml", 'local-rules = ["rules"]\nselect = ["LOC"]\n')
    before = project.spawn("check", "-q", "a.py")
    path = project.folder / "rules" / "loc101_bare_log.py"
    path.write_text(path.read_text().replace("is a logarithm", "is what it is"))
    after = project.spawn("check", "-q", "a.py")
    assert [before.out, after.out] == [LOG_FOUND, LOG_FOUND.replace("is a logarithm", "is what it is")]


def test_a_changed_helper_of_a_local_rule_misses(tmp_path: Path) -> None:
    (tmp_path / "_shared.py").write_text("x = 1\n")
    before = engine_stamp((str(tmp_path),))
    (tmp_path / "_shared.py").write_text("x = 22\n")
    assert engine_stamp((str(tmp_path),)) != before


@pytest.mark.slow
def test_each_folder_of_rules_is_stamped_though_settings_are_nested(project: Project) -> None:
    shutil.copytree(RULES, project.folder / "b/rules", ignore=shutil.ignore_patterns("__pycache__"))
    project.write("b/nanlint.toml", 'local-rules = ["rules"]\nselect = ["LOC"]\n')
    project.write("b/c.py", LOG)
    project.spawn("check", "-q")
    path = project.folder / "b/rules/loc101_bare_log.py"
    path.write_text(path.read_text().replace("is a logarithm", "is what it is"))
    assert "b/c.py:5:12: LOC101 [*] `torch.log(x)` is what it is" in project.spawn("check", "-q").out


def test_another_version_has_a_cache_of_its_own(project: Project, monkeypatch: pytest.MonkeyPatch) -> None:
    project.run("check", "a.py")
    monkeypatch.setattr("nanlint.__version__", "99.0")
    assert recalled(project) == 0
    assert max(path.parent.name for path in cache_files(project)) == "99.0"


def test_wrong_selectors_are_an_error_however_full_the_cache_is(project: Project) -> None:
    project.run("check", "a.py")
    assert project.run("check", "a.py", "--select", "LOC999").code == 2


def test_a_file_that_changes_while_it_is_checked_is_left_for_the_next_run(
    project: Project, monkeypatch: pytest.MonkeyPatch
) -> None:
    check = Run.check

    def change_after_discovery(self: Run, *args: object) -> object:
        settled(project, CLEAN, when=LONG_AGO + 60)
        return check(self, *args)  # type: ignore[arg-type] # handed on as they came

    with monkeypatch.context() as patched:
        patched.setattr(Run, "check", change_after_discovery)
        assert project.run("check", "-q", "a.py").out == ""
    settled(project, LOG)
    assert project.run("check", "-q", "a.py").out == LOG_FOUND


# -- switching it off, and its folder -----------------------------------------------------------------------------


def test_no_cache_neither_reads_nor_writes(project: Project) -> None:
    project.run("check", "--no-cache", "a.py")
    assert not (project.folder / ".nanlint_cache").exists()
    assert "no cache" in project.run("check", "--no-cache", "-v", "a.py").err


def test_the_folder_is_ignored_by_git_and_marked_as_a_cache(project: Project) -> None:
    project.run("check", "a.py")
    folder = project.folder / ".nanlint_cache"
    assert (folder / ".gitignore").read_text() == "*\n"
    assert (folder / "CACHEDIR.TAG").read_text().startswith("Signature: 8a477f597d28d172789f06886806bc55\n")
    assert made_by_us(str(folder))


@pytest.mark.parametrize("how", ["option", "environment", "setting"])
def test_the_folder_may_be_elsewhere(project: Project, how: str, monkeypatch: pytest.MonkeyPatch) -> None:
    words = ["--cache-dir", "elsewhere"] if how == "option" else []
    if how == "environment":
        monkeypatch.setenv("NANLINT_CACHE_DIR", str(project.folder / "elsewhere"))
    if how == "setting":
        project.configure('cache-dir = "elsewhere"\n')
    project.run("check", "a.py", *words)
    assert (project.folder / "elsewhere/CACHEDIR.TAG").exists()
    assert not (project.folder / ".nanlint_cache").exists()
    assert recalled(project, *words) == 1


def test_the_option_is_stronger_than_the_environment(project: Project, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("NANLINT_CACHE_DIR", str(project.folder / "one"))
    project.run("check", "a.py", "--cache-dir", "two")
    assert [(project.folder / name).exists() for name in ("one", "two")] == [False, True]


def test_the_cache_stands_beside_the_settings_file_wherever_the_run_starts(project: Project) -> None:
    inner = Project(project.folder / "inner")
    inner.write("b.py", LOG)
    inner.run("check")
    assert not (inner.folder / ".nanlint_cache").exists()
    assert (project.folder / ".nanlint_cache").is_dir()


def test_judged_settings_are_remembered_once_the_folder_is_there(project: Project) -> None:
    inner = Project(project.folder / "inner")
    inner.folder.mkdir()
    memos = []
    for run in (project.run, project.run, inner.run):
        run("check", str(project.folder / "a.py"))
        memos.append(len(list((project.folder / ".nanlint_cache").glob("settings-*.json"))))
    assert memos == [0, 1, 1]


@pytest.mark.slow
@needs_root
def test_a_folder_that_cannot_be_written_is_no_error() -> None:
    with open_project(a=LOG) as project:
        assert run_as_nobody(project, "check", "-q", "a.py") == (1, LOG_FOUND, "")
        assert not (project.folder / ".nanlint_cache").exists()


def test_a_file_in_the_place_of_the_folder_is_no_error(project: Project) -> None:
    project.write(".nanlint_cache", "mine")
    assert project.run("check", "-q", "a.py") == (1, LOG_FOUND, "")
    assert project.read(".nanlint_cache") == "mine"


# -- whatever is in it --------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "content",
    [
        pytest.param(b"", id="empty"),
        pytest.param(b"\xff\xfe\x00", id="no text"),
        pytest.param(b'{"files": {', id="cut off"),
        pytest.param(b"[]", id="a list"),
        pytest.param(b'{"files": []}', id="no table"),
        pytest.param(b'{"other": 1}', id="another tool's"),
        pytest.param(b"[" * 100_000, id="nested beyond measure"),
    ],
)
def test_a_broken_cache_is_no_cache(project: Project, content: bytes) -> None:
    project.run("check", "a.py")
    (path,) = cache_files(project)
    path.write_bytes(content)
    assert project.run("check", "-q", "a.py") == (1, LOG_FOUND, "")
    assert recalled(project) == 1


@pytest.mark.parametrize(
    "found",
    [
        pytest.param(7, id="a number"),
        pytest.param("found", id="a text"),
        pytest.param([], id="an empty list"),
        pytest.param([[{}], 0, False], id="a finding without its parts"),
        pytest.param([["x"], 0, False], id="a finding that is none"),
        pytest.param([[], "x", False], id="no count"),
        pytest.param({"a": 1, "b": 2, "c": 3}, id="a table"),
    ],
)
def test_a_broken_entry_is_no_entry(project: Project, found: object) -> None:
    project.run("check", "a.py")
    (path,) = cache_files(project)
    seal, _, text = path.read_text().partition("\n")
    content = json.loads(text)
    (entry,) = content["files"].values()
    for broken in ([*entry[:3], found], entry[:2], found):
        path.write_text(f"{seal}\n" + json.dumps({"files": dict.fromkeys(content["files"], broken)}))
        assert project.run("check", "-q", "a.py") == (1, LOG_FOUND, "")


def test_entries_of_files_that_are_gone_are_dropped(project: Project) -> None:
    project.write("b.py", LOG)
    project.run("check")
    (project.folder / "b.py").unlink()
    settled(project, CLEAN)
    project.run("check", "a.py")
    (path,) = cache_files(project)
    names = {os.path.basename(name) for name in json.loads(path.read_text().partition("\n")[2])["files"]}  # noqa: PTH119 - keys are strings
    assert names == {"a.py"}


def test_caches_that_nobody_wrote_for_a_month_are_cleared(project: Project) -> None:
    project.run("check", "a.py", "--select", "LOC1")
    (old,) = cache_files(project)
    leftover = old.with_name(f"{old.name}.4711")
    leftover.write_text("")
    for path in (old, leftover):
        os.utime(path, (LONG_AGO, LONG_AGO))
    project.run("check", "a.py")
    assert [old.exists(), leftover.exists(), len(cache_files(project))] == [False, False, 1]


def test_a_hash_tells_contents_apart() -> None:
    assert digest_of(b"a") == digest_of(b"a") != digest_of(b"b")


def test_an_unknown_file_is_not_found(tmp_path: Path) -> None:
    cache = Cache(str(tmp_path), "key")
    assert (cache.look_up("/none.py", 1, 1), len(cache)) == (None, 0)


# -- several runs at once, and a sudden end -----------------------------------------------------------------------


@pytest.mark.slow
def test_runs_side_by_side_find_the_same(project: Project) -> None:
    for number in range(12):
        os.utime(project.write(f"many/{number:02}.py", LOG if number % 2 else SQRT), (LONG_AGO, LONG_AGO))
    expected = project.run("check", "--no-cache", "-q", "many").out
    command = [*COMMAND, "check", "-q", "many"]
    for _ in range(3):
        running = [
            subprocess.Popen(command, cwd=project.folder, env=environment(), stdout=subprocess.PIPE, text=True)
            for _ in range(4)
        ]
        assert [process.communicate(timeout=120)[0] for process in running] == [expected] * 4
        settled(project, LOG)
    account = project.run("check", "-v", "many").err
    assert "12 of them from the cache" in account


SLOW_WRITER = """
import json, os, sys, time

import nanlint.source.cache as cache

replace = os.replace


def slow_replace(*paths):
    sys.stdout.write("writing\\n")
    sys.stdout.flush()
    time.sleep(60)


os.replace = slow_replace
from nanlint.cli.main import main

main(["check", "-q", "a.py"])
"""


@pytest.mark.skipif(os.name != "posix", reason="there is no kill -9 elsewhere")
def test_a_run_that_is_killed_while_it_writes_leaves_the_old_cache(project: Project) -> None:
    project.run("check", "-q", "a.py")
    (path,) = cache_files(project)
    before = path.read_bytes()
    settled(project, SQRT, when=LONG_AGO + 60)
    with subprocess.Popen(
        [sys.executable, "-c", SLOW_WRITER], cwd=project.folder, env=environment(), stdout=subprocess.PIPE, text=True
    ) as process:
        assert process.stdout is not None
        while process.stdout.readline() != "writing\n":
            assert process.poll() is None
        process.send_signal(signal.SIGKILL)
    assert path.read_bytes() == before
    assert project.run("check", "-q", "a.py").out == SQRT_FOUND
    assert recalled(project) == 1


@pytest.mark.slow
@pytest.mark.skipif(os.name != "posix", reason="there is no kill -9 elsewhere")
def test_runs_killed_at_any_moment_leave_a_cache_that_can_be_used(project: Project) -> None:
    for number in range(40):
        project.write(f"many/{number}.py", LOG)
    expected = project.run("check", "--no-cache", "-q").out
    for delay in (0.05, 0.1, 0.2, 0.3, 0.5):
        process = subprocess.Popen(
            [*COMMAND, "check", "-q"], cwd=project.folder, env=environment(), stdout=subprocess.DEVNULL
        )
        time.sleep(delay)
        process.kill()
        process.wait()
        assert project.run("check", "-q").out == expected
        # A worker of the killed run may still be writing there.
        shutil.rmtree(project.folder / ".nanlint_cache", ignore_errors=True)


def test_a_plan_without_a_cache_has_no_memory(project: Project, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(project.folder)
    assert Run(Plan(use_cache=False)).memory is None
