"""What is found and not shown is counted, however the run came to its results; "All clear" means nothing at any level."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING
from xml.etree import ElementTree as ET

import pytest

from tests.project import CLEAN, EXP, LOG, Project
from tests.report_samples import ERRORS, IN_NOTEBOOK, ODD_PATH, rendered, report_of

if TYPE_CHECKING:
    from pathlib import Path

MORE = "1 more at info: nanlint check --severity info"
NOTEBOOK = json.dumps(
    {
        "cells": [{"cell_type": "code", "metadata": {}, "outputs": [], "source": EXP.splitlines(keepends=True)}],
        "metadata": {},
        "nbformat": 4,
        "nbformat_minor": 5,
    }
)


@pytest.fixture
def project(tmp_path: Path) -> Project:
    return Project.make(tmp_path)


@pytest.mark.parametrize(
    ("files", "closing"),
    [
        ({"a.py": CLEAN}, "All clear: 1 file checked."),
        ({"a.py": EXP}, f"No errors or warnings in 1 file. {MORE}"),
        ({"a.ipynb": NOTEBOOK}, f"No errors or warnings in 1 file. {MORE}"),
        ({"a.py": EXP[:-1] + "  # nanlint: ignore[LOC102]\n"}, "All clear: 1 file checked. Kept quiet: 1 suppressed."),
        (
            {"a.py": EXP, "b.py": LOG},
            f"Found 1 problem (1 warning) in 1 of 2 files; 1 fixable with --fix. {MORE}",
        ),
    ],
    ids=["nothing", "one", "in a notebook", "suppressed", "beside one that is shown"],
)
def test_the_closing_line_says_what_is_hidden(project: Project, files: dict[str, str], closing: str) -> None:
    for name, text in files.items():
        project.write(name, text)
    runs = [project.check(), project.check(), project.check("--no-cache", "-j", "2"), project.check("-f", "full")]
    assert [outcome.out.splitlines()[-1] for outcome in runs] == [closing] * 4


def test_what_is_hidden_does_not_fail_the_run(project: Project) -> None:
    project.write("a.py", EXP)
    assert [project.check().code, project.check("--severity", "info").code] == [0, 1]


def test_json_counts_what_is_hidden_by_severity(project: Project) -> None:
    project.write("a.py", EXP)
    project.write("b.py", LOG)
    found = [json.loads(project.check("-f", "json", "--severity", level).out) for level in ("error", "warning", "info")]
    assert [(len(each["findings"]), each["hidden"]) for each in found] == [
        (0, {"warning": 1, "info": 1}),
        (1, {"info": 1}),
        (2, {}),
    ]


def test_what_is_hidden_is_counted_after_fixing(project: Project) -> None:
    project.write("a.py", LOG + EXP)
    assert project.check("--fix").out == f"No errors or warnings in 1 file. Fixed 1 problem. {MORE}\n"


def test_several_hidden_levels_are_named_together(project: Project) -> None:
    project.write("a.py", EXP)
    project.write("b.py", LOG)
    closing = "No errors in 2 files. 1 more at warning and 1 more at info: nanlint check --severity info\n"
    assert project.check("--severity", "error").out == closing


def test_the_command_it_names_is_the_run_that_was_made(project: Project) -> None:
    project.write("a.py", EXP)
    project.write("my model.py", EXP)
    line = project.check("--select", "LOC1", "--ignore", "LOC101", "my model.py", "a.py").out
    assert line == (
        "No errors or warnings in 2 files. 2 more at info: "
        "nanlint check --select LOC1 --ignore LOC101 'my model.py' a.py --severity info\n"
    )


def test_a_long_list_of_paths_is_not_repeated(project: Project) -> None:
    names = [f"m{number}.py" for number in range(8)]
    for name in names:
        project.write(name, EXP)
    assert project.check(*names).out.endswith("8 more at info: nanlint check ... --severity info\n")


HIDING = report_of(errors=ERRORS[:1])._replace(hidden=(IN_NOTEBOOK, IN_NOTEBOOK, ODD_PATH))


def test_sarif_counts_what_is_hidden_in_the_properties_of_the_run() -> None:
    (run,) = json.loads(rendered(HIDING, "sarif"))["runs"]
    assert run["properties"] == {"hidden": {"warning": 1, "info": 2}}


def test_junit_counts_what_is_hidden_in_the_properties_of_the_suite() -> None:
    suite = ET.fromstring(rendered(HIDING, "junit"))[0]  # noqa: S314 - we wrote it
    entries = [(entry.get("name"), entry.get("value")) for entry in suite.findall("properties/property")]
    assert entries == [("hidden.warning", "1"), ("hidden.info", "2")]
