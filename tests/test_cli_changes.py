"""`nanlint check` where it writes: fixes, diffs, suppressions."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from tests.project import BROKEN, CLEAN, EXP, FIXED_LOG, LOG, LOG_FOUND, SQRT, Project

if TYPE_CHECKING:
    from pathlib import Path


@pytest.fixture
def project(tmp_path: Path) -> Project:
    return Project.make(tmp_path)


# -- changing files ----------------------------------------------------------------------------------------------------


def test_fix_applies_safe_fixes_and_reports_the_rest(project: Project) -> None:
    project.write("a.py", LOG)
    project.write("b.py", SQRT)
    outcome = project.check("--fix")
    assert (outcome.code, outcome.out.splitlines()[-1]) == (
        1,
        "Found 1 problem (1 error) in 1 of 2 files. Fixed 1 problem.",
    )
    assert [project.read("a.py"), project.read("b.py")] == [FIXED_LOG, SQRT]


def test_a_run_that_fixed_everything_ends_in_exit_code_0(project: Project) -> None:
    project.write("a.py", LOG)
    assert project.check("--fix") == (0, "All clear: 1 file checked. Fixed 1 problem.\n", "")


def test_fixing_twice_changes_nothing_more(project: Project) -> None:
    project.write("a.py", LOG)
    outcomes = [project.run("check", "--fix") for _ in range(2)]
    assert outcomes[1] == (0, "All clear: 1 file checked.\n", "")


def test_unsafe_fixes_are_applied_when_asked_for(project: Project) -> None:
    project.write("a.py", EXP)
    before = project.check("--fix", "--severity", "info").code
    after = project.check("--fix", "--unsafe-fixes", "--severity", "info").code
    assert [before, after, project.read("a.py")] == [1, 0, EXP.replace("torch.exp(", "torch.expm1(")]


def test_what_is_not_shown_is_not_fixed(project: Project) -> None:
    project.write("a.py", EXP)
    project.check("--fix", "--unsafe-fixes")
    assert project.read("a.py") == EXP


def test_no_fix_on_the_command_line_overrules_the_setting(project: Project) -> None:
    project.configure("fix = true\n")
    project.write("a.py", LOG)
    assert (project.check("--no-fix").code, project.read("a.py")) == (1, LOG)


def test_diff_shows_what_fix_would_change_and_writes_nothing(project: Project) -> None:
    project.write("a.py", LOG)
    outcome = project.check("--diff")
    expected = [
        "--- a.py",
        "+++ a.py",
        "@@ -2,4 +2,4 @@",
        " ",
        " ",
        " def entropy(x):",
        "-    return torch.log(x)",
        "+    return torch.log1p(x)",
    ]
    assert (outcome.code, outcome.out.splitlines(), outcome.err) == (1, expected, "Would fix 1 finding.\n")
    assert project.read("a.py") == LOG


def test_diff_ends_in_exit_code_0_when_nothing_would_change(project: Project) -> None:
    project.write("a.py", SQRT)
    assert project.check("--diff") == (0, "", "")


def test_diff_tells_what_could_not_be_checked(project: Project) -> None:
    project.write("a.py", BROKEN)
    outcome = project.check("--diff")
    assert (outcome.code, outcome.out) == (0, "")
    assert outcome.err.startswith("a.py:4: not valid Python")


def test_diff_and_add_ignores_show_the_suppressions(project: Project) -> None:
    project.write("a.py", LOG)
    outcome = project.check("--diff", "--add-ignores")
    assert outcome.out.splitlines()[-1] == "+    return torch.log(x)  # nanlint: ignore[LOC101]"
    assert (outcome.err, project.read("a.py")) == ("Would suppress 1 finding.\n", LOG)


def test_add_ignores_silences_everything_that_is_found(project: Project) -> None:
    project.write("a.py", LOG)
    project.write("b/c.py", SQRT)
    outcome = project.check("--add-ignores", "--reason", "since 2019", "a.py", "b")
    assert (outcome.code, outcome.err) == (0, "Suppressed 2 findings.\n")
    assert project.read("b/c.py") == SQRT[:-1] + "  # nanlint: ignore[LOC201] since 2019\n"
    assert project.check() == (0, "All clear: 2 files checked. Kept quiet: 2 suppressed.\n", "")


def test_add_ignores_suppresses_only_what_is_shown(project: Project) -> None:
    project.write("a.py", EXP)
    project.check("--add-ignores")
    assert project.read("a.py") == EXP


def test_fix_and_add_ignores_are_one_too_many(project: Project) -> None:
    outcome = project.check("--fix", "--add-ignores")
    assert (outcome.code, outcome.err) == (
        2,
        "nanlint: --fix and --add-ignores: choose one; fix first, then suppress what is left\n",
    )


def test_a_reason_needs_add_ignores(project: Project) -> None:
    assert project.check("--reason", "since 2019").code == 2


def test_a_file_that_cannot_be_written_keeps_its_findings(project: Project) -> None:
    path = project.write("a.py", LOG)
    path.chmod(0o444)
    outcome = project.check("--fix")
    assert outcome.code == 1
    assert outcome.out.startswith(
        LOG_FOUND + "a.py: error: not changed: the file is read-only; make it writable (chmod u+w) or exclude it\n"
    )


def test_an_unused_suppression_is_reported_and_fix_removes_it(project: Project) -> None:
    project.configure(select='["LOC", "NAN001"]')
    project.write("a.py", CLEAN[:-1] + "  # nanlint: ignore[LOC101]\n")
    message = "a.py:5:29: NAN001 [*] `# nanlint: ignore[LOC101]` suppresses nothing here [unused-suppression]\n"
    assert project.check("-q") == (1, message, "")
    assert (project.check("--fix").code, project.read("a.py")) == (0, CLEAN)


def test_add_ignores_leaves_a_clean_run_behind_even_where_a_suppression_is_unused(project: Project) -> None:
    project.configure(select='["LOC", "NAN001"]')
    project.write("a.py", CLEAN[:-1] + "  # nanlint: ignore[LOC101]\n" + LOG)
    assert [project.check("--add-ignores").code, project.check().code] == [0, 0]
