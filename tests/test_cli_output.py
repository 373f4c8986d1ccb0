"""What `nanlint check` prints, and where: formats, files, statistics, colour, and a warning beside ruff."""

from __future__ import annotations

import json
import os
import xml.etree.ElementTree as ET
from typing import TYPE_CHECKING

import pytest

from nanlint.settings import OUTPUT_FORMATS
from tests.project import BROKEN, CLEAN, FOUND_ONE, LOG, LOG_FOUND, SQRT, Project

if TYPE_CHECKING:
    from pathlib import Path


@pytest.fixture
def project(tmp_path: Path) -> Project:
    return Project.make(tmp_path)


# -- what is printed ---------------------------------------------------------------------------------------------------


def test_quiet_leaves_findings_only(project: Project) -> None:
    project.write("a.py", LOG)
    project.write("b.py", CLEAN)
    assert [project.check("-q"), project.check("-q", "b.py")] == [(1, LOG_FOUND, ""), (0, "", "")]


def test_verbose_tells_settings_rules_files_and_cache_on_stderr(project: Project) -> None:
    project.write("a.py", LOG)
    outcome = project.run("check", "-v")
    assert (outcome.out, outcome.err.splitlines()) == (
        LOG_FOUND + FOUND_ONE,
        [
            "settings: nanlint.toml",
            "rules: LOC101, LOC102, LOC201",
            "files: 2 files, 0 of them from the cache in .nanlint_cache",
        ],
    )


def test_statistics_count_by_rule_instead_of_listing(project: Project) -> None:
    project.write("a.py", LOG + LOG)
    project.write("b.py", SQRT)
    assert project.check("--statistics").out.splitlines() == [
        "2  LOC101  bare-log   [*]",
        "1  LOC201  bare-sqrt",
        "[*] fixable with --fix",
        "Found 3 problems (1 error, 2 warnings) in 2 of 2 files; 2 fixable with --fix.",
    ]


def test_statistics_do_not_hide_what_could_not_be_checked(project: Project) -> None:
    project.write("a.py", BROKEN)
    assert project.check("--statistics").out.startswith("a.py:4: error: not valid Python")


def test_statistics_beside_a_report_for_programs_go_to_stderr(project: Project) -> None:
    project.write("a.py", LOG)
    outcome = project.check("--statistics", "-f", "json")
    assert len(json.loads(outcome.out)["findings"]) == 1
    assert outcome.err.startswith("1  LOC101  bare-log  [*]\n")


def test_the_output_format_may_be_a_setting(project: Project) -> None:
    project.configure('output-format = "json"\n')
    project.write("a.py", LOG)
    assert json.loads(project.check().out)["findings"][0]["code"] == "LOC101"


@pytest.mark.parametrize("format_name", OUTPUT_FORMATS)
def test_every_format_goes_to_a_file_as_it_goes_to_stdout(project: Project, format_name: str) -> None:
    project.write("a.py", LOG)
    printed = project.check("-f", format_name)
    written = project.check("-f", format_name, "-o", "report.txt")
    assert project.read("report.txt") == printed.out
    assert written == (1, FOUND_ONE, "")


def test_json_on_stdout_is_the_contract_and_nothing_else(project: Project) -> None:
    project.write("a.py", LOG)
    document = json.loads(project.check("-f", "json", "a.py", "b.py").out)
    place = {key: document["findings"][0][key] for key in ("code", "path", "line", "column", "function")}
    assert place == {"code": "LOC101", "path": "a.py", "line": 5, "column": 12, "function": "entropy"}
    assert document["errors"] == [{"path": "b.py", "line": None, "message": "does not exist"}]


def test_junit_on_stdout_is_xml(project: Project) -> None:
    project.write("a.py", LOG)
    assert ET.fromstring(project.check("-f", "junit").out).tag == "testsuites"  # noqa: S314 - our own output


def test_a_report_file_in_a_folder_that_is_not_there_is_an_error(project: Project) -> None:
    project.write("a.py", LOG)
    outcome = project.check("-o", "reports/out.txt")
    assert (outcome.code, outcome.err) == (
        2,
        "nanlint: --output-file reports/out.txt: cannot be written: No such file or directory\n",
    )


def test_a_report_goes_to_a_device(project: Project) -> None:
    project.write("a.py", LOG)
    assert project.check("-o", os.devnull) == (1, FOUND_ONE, "")


def test_colour_comes_when_asked_for_and_changes_no_character(project: Project) -> None:
    project.write("a.py", LOG)
    plain, painted = (project.check("-f", "full", "--color", choice).out for choice in ("never", "always"))
    assert "\x1b[" in painted
    assert "".join(part.partition("m")[2] for part in ("m" + painted).split("\x1b[")) == plain


@pytest.mark.slow
def test_what_a_terminal_cannot_print_is_escaped(project: Project) -> None:
    project.write("a.py", LOG.replace("x", "größe"))
    outcome = project.spawn("check", "--no-cache", "-q", environ={"PYTHONIOENCODING": "ascii"})
    assert outcome == (1, LOG_FOUND.replace("(x)", "(gr\\xf6\\xdfe)"), "")


@pytest.mark.slow
def test_what_programs_read_is_utf8_whatever_the_terminal_speaks(project: Project) -> None:
    project.write("a.py", LOG.replace("x", "größe"))
    environ = {"PYTHONIOENCODING": "latin-1"}
    outcome = project.spawn("check", "--no-cache", "-f", "json", environ=environ, encoding="utf-8")
    assert "größe" in json.loads(outcome.out)["findings"][0]["message"]


# -- noqa beside ruff --------------------------------------------------------------------------------------------------


NAN_RULE = '''
from nanlint.rule import Rule, Severity, every


class Marked(Rule):
    """A logarithm with a code of our own kind."""

    code = "NAN990"
    name = "marked-log"
    severity = Severity.WARNING
    hazards = (every("torch.log"),)

    def check(self, hazard):
        yield self.told(hazard, "a logarithm")
'''
WARNING = 'warning: {}: ruff takes `# noqa: NAN…` for a mistake of yours; add {} = ["NAN"]\n'


@pytest.fixture
def with_noqa(tmp_path: Path) -> Project:
    project = Project(tmp_path)
    project.write("rules/marked.py", NAN_RULE)
    project.write("nanlint.toml", 'local-rules = ["rules"]\nselect = ["NAN990"]\n')
    project.write("a.py", LOG[:-1] + "  # noqa: NAN990\n")
    return project


@pytest.mark.parametrize(
    ("name", "text", "key"),
    [
        pytest.param("ruff.toml", "line-length = 99\n", "lint.external", id="ruff.toml"),
        pytest.param(".ruff.toml", "", "lint.external", id="an empty .ruff.toml"),
        pytest.param("pyproject.toml", "[tool.ruff]\n", "tool.ruff.lint.external", id="pyproject.toml"),
        pytest.param("ruff.toml", 'lint.external = ["ABC"]\n', "lint.external", id="others only"),
    ],
)
def test_noqa_beside_ruff_is_warned_about_once(with_noqa: Project, name: str, text: str, key: str) -> None:
    with_noqa.write(name, text)
    with_noqa.write("b.py", with_noqa.read("a.py"))
    outcomes = [with_noqa.run("check") for _ in range(2)]
    closing = "All clear: 3 files checked. Kept quiet: 2 suppressed.\n"
    assert outcomes == [(0, closing, WARNING.format(name, key))] * 2


@pytest.mark.parametrize(
    ("name", "text"),
    [
        pytest.param("ruff.toml", 'lint.external = ["NAN"]\n', id="told by prefix"),
        pytest.param("ruff.toml", 'external = ["NAN990"]\n', id="told by code, in the old place"),
        pytest.param("pyproject.toml", '[tool.ruff.lint]\nexternal = ["NAN"]\n', id="told in pyproject.toml"),
        pytest.param("ruff.toml", 'extend = "rules/base.toml"\n', id="told in a file that it extends"),
        pytest.param("pyproject.toml", "[tool.black]\n", id="no ruff"),
        pytest.param("ruff.toml", "broken", id="a file that ruff cannot read either"),
    ],
)
def test_noqa_is_not_warned_about_where_ruff_knows_or_is_not_used(with_noqa: Project, name: str, text: str) -> None:
    with_noqa.write("rules/base.toml", 'lint.external = ["NAN"]\n')
    with_noqa.write(name, text)
    assert with_noqa.check().err == ""


def test_our_own_comment_is_not_warned_about(with_noqa: Project) -> None:
    with_noqa.write("ruff.toml", "")
    with_noqa.write("a.py", LOG[:-1] + "  # nanlint: ignore[NAN990]\n")
    assert with_noqa.check().err == ""


def test_quiet_does_not_warn(with_noqa: Project) -> None:
    with_noqa.write("ruff.toml", "")
    assert with_noqa.check("-q") == (0, "", "")
