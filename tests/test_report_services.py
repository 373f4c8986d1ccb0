"""The formats of GitHub, GitLab, JUnit readers and reviewdog."""

from __future__ import annotations

import dataclasses
import json
from typing import Any
from xml.etree import ElementTree as ET

import pytest
from hypothesis import given
from hypothesis import strategies as st

from nanlint.model import Applicability, Edit, FileError, Fix, Report, Span
from tests.report_samples import (
    ERRORS,
    IN_NOTEBOOK,
    MULTI_LINE,
    ODD_MESSAGE,
    ODD_PATH,
    SAMPLES,
    WITH_FIX,
    rendered,
    report_of,
)

Json = dict[str, Any]


def issues(report: Report) -> list[Json]:
    loaded: list[Json] = json.loads(rendered(report, "gitlab"))
    return loaded


def diagnostics(report: Report) -> list[Json]:
    loaded: list[Json] = json.loads(rendered(report, "rdjson"))["diagnostics"]
    return loaded


def parsed(report: Report) -> ET.Element:
    return ET.fromstring(rendered(report, "junit").encode("utf-8"))  # noqa: S314 - our own text


def test_github_annotates_each_finding_and_each_error() -> None:
    report = report_of(WITH_FIX, MULTI_LINE, IN_NOTEBOOK, ODD_PATH, errors=ERRORS)
    assert rendered(report, "github") == (
        "::error file=src/train.py,line=6,endLine=6,col=23,endColumn=34,title=NAN110 log-of-softmax"
        "::`probs` can be 0 (range [0, 1]), so its logarithm can be -inf\n"
        "::warning file=src/train.py,line=10,endLine=13,title=NAN201 exp-overflow"
        "::`new - old.detach()` is unbounded, so its exponential can be inf\n"
        "::notice file=notebook.ipynb,title=NAN404 nan-check-misses-inf"
        "::cell 3, line 2: `torch.isnan(loss)` lets inf pass\n"
        "::warning file=a b/100%25%2Cx%3Ay/modèle.py,line=1,endLine=1,col=24,endColumn=26,"
        "title=NAN101 unguarded-division::`名前` can be 0 (range [0, inf))\n"
        "::error file=broken.py,line=3,title=nanlint could not check this file::invalid syntax\n"
        "::error file=gone.py,title=nanlint could not check this file::the file is gone\n"
    )


def test_github_keeps_a_message_in_its_command() -> None:
    assert rendered(report_of(ODD_MESSAGE), "github") == (
        "::warning file=src/train.py,line=5,endLine=5,col=5,endColumn=10,title=NAN101 unguarded-division"
        "::50%25 of%0D%0A\"a\" and 'b'\u2028<&> ]]> \x1b[31m[red]\n"
    )


@given(text=st.text())
def test_github_writes_one_line_whatever_the_text(text: str) -> None:
    finding = dataclasses.replace(WITH_FIX, path=text, message=text, name=text)
    written = rendered(report_of(finding), "github")
    assert (written.count("\n"), written.count("\r"), written.endswith("\n")) == (1, 0, True)


def test_gitlab_has_an_empty_array_for_a_clean_run() -> None:
    assert rendered(report_of(), "gitlab") == "[]\n"


def test_gitlab_places_an_issue_by_lines_and_by_positions() -> None:
    (issue,) = issues(report_of(MULTI_LINE))
    assert len(issue.pop("fingerprint")) == 32
    assert issue == {
        "description": "`new - old.detach()` is unbounded, so its exponential can be inf",
        "check_name": "NAN201",
        "severity": "major",
        "location": {
            "path": "src/train.py",
            "lines": {"begin": 10, "end": 13},
            "positions": {"begin": {"line": 10, "column": 13}, "end": {"line": 13, "column": 6}},
        },
    }


def test_gitlab_grades_findings_and_blocks_on_unchecked_files() -> None:
    report = report_of(WITH_FIX, MULTI_LINE, IN_NOTEBOOK, errors=ERRORS)
    assert [issue["severity"] for issue in issues(report)] == ["critical", "major", "minor", "blocker", "blocker"]


def test_gitlab_never_gives_two_issues_one_fingerprint() -> None:
    report = report_of(WITH_FIX, WITH_FIX, MULTI_LINE, errors=(*ERRORS, FileError("broken.py", 4, "invalid syntax")))
    assert len({issue["fingerprint"] for issue in issues(report)}) == 6


def test_gitlab_says_in_words_where_a_notebook_is_wrong() -> None:
    (issue,) = issues(report_of(IN_NOTEBOOK))
    assert (issue["description"], issue["location"]["lines"]) == (
        "cell 3, line 2: `torch.isnan(loss)` lets inf pass",
        {"begin": 1, "end": 1},
    )


def test_gitlab_keeps_paths_as_they_are() -> None:
    (issue,) = issues(report_of(ODD_PATH))
    assert issue["location"]["path"] == "a b/100%,x:y/modèle.py"


def test_junit_has_one_passed_case_for_a_clean_run() -> None:
    assert (
        rendered(report_of(), "junit")
        == """\
<?xml version="1.0" encoding="utf-8"?>
<testsuites name="nanlint">
  <testsuite name="nanlint" tests="1" failures="0" errors="0">
    <testcase name="nanlint" classname="nanlint" />
  </testsuite>
</testsuites>
"""
    )


def test_junit_has_a_failed_case_per_finding_and_an_error_per_file() -> None:
    assert (
        rendered(report_of(ODD_PATH, IN_NOTEBOOK, errors=ERRORS), "junit")
        == """\
<?xml version="1.0" encoding="utf-8"?>
<testsuites name="nanlint">
  <testsuite name="nanlint" tests="4" failures="2" errors="2">
    <testcase name="NAN101 unguarded-division at 1:24" classname="a b/100%,x:y/modèle.py" \
file="a b/100%,x:y/modèle.py" line="1">
      <failure message="`名前` can be 0 (range [0, inf))" type="warning">\
a b/100%,x:y/modèle.py:1:24: NAN101 `名前` can be 0 (range [0, inf))</failure>
    </testcase>
    <testcase name="NAN404 nan-check-misses-inf at cell 3:2:4" classname="notebook.ipynb" file="notebook.ipynb">
      <failure message="`torch.isnan(loss)` lets inf pass" type="info">\
notebook.ipynb:cell 3:2:4: NAN404 `torch.isnan(loss)` lets inf pass</failure>
    </testcase>
    <testcase name="could not be checked" classname="broken.py" file="broken.py" line="3">
      <error message="invalid syntax" type="error">broken.py:3: invalid syntax</error>
    </testcase>
    <testcase name="could not be checked" classname="gone.py" file="gone.py">
      <error message="the file is gone" type="error">gone.py: the file is gone</error>
    </testcase>
  </testsuite>
</testsuites>
"""
    )


def test_junit_gives_an_odd_message_back_as_it_was() -> None:
    (failure,) = parsed(report_of(ODD_MESSAGE)).iter("failure")
    assert failure.get("message") == ODD_MESSAGE.message.replace("\x1b", "\\x1b")


@given(text=st.text(st.characters(exclude_categories=[])))
def test_junit_can_be_parsed_whatever_the_text(text: str) -> None:
    finding = dataclasses.replace(WITH_FIX, path=text, message=text, name=text)
    report = report_of(finding, errors=(FileError(text, 1, text),))
    suite = parsed(report).find("testsuite")
    assert suite is not None
    assert [case[0].tag for case in suite] == ["failure", "error"]


def test_rdjson_names_its_source() -> None:
    assert json.loads(rendered(report_of(), "rdjson")) == {"source": {"name": "nanlint"}, "diagnostics": []}


def test_rdjson_has_range_severity_code_and_suggestion() -> None:
    place = {"start": {"line": 6, "column": 23}, "end": {"line": 6, "column": 34}}
    assert diagnostics(report_of(WITH_FIX)) == [
        {
            "message": "`probs` can be 0 (range [0, 1]), so its logarithm can be -inf",
            "location": {"path": "src/train.py", "range": place},
            "severity": "ERROR",
            "code": {"value": "NAN110", "url": "https://nanlint.example/rules/NAN110"},
            "suggestions": [{"range": place, "text": "logits.log_softmax(dim=-1)"}],
        }
    ]


def test_rdjson_counts_columns_in_bytes() -> None:
    (diagnostic,) = diagnostics(report_of(ODD_PATH))
    assert diagnostic["location"]["range"] == {"start": {"line": 1, "column": 28}, "end": {"line": 1, "column": 34}}
    assert diagnostic["suggestions"] == [
        {
            "range": {"start": {"line": 1, "column": 34}, "end": {"line": 1, "column": 34}},
            "text": ".clamp_min(1e-12)",
        }
    ]


def test_rdjson_makes_one_suggestion_of_edits_that_belong_together() -> None:
    (diagnostic,) = diagnostics(report_of(MULTI_LINE))
    assert diagnostic["suggestions"] == [
        {
            "range": {"start": {"line": 11, "column": 1}, "end": {"line": 12, "column": 24}},
            "text": "        (new\n        - old.detach()).clamp(max=20.0),",
        }
    ]


FAR_APART = Fix("import it", Applicability.SAFE, (Edit(Span(1, 1, 1, 1), "import math\n"), Edit(Span(6, 5, 6, 6), "x")))


@pytest.mark.parametrize(
    "report",
    [
        pytest.param(report_of(dataclasses.replace(WITH_FIX, fix=FAR_APART)), id="edits far apart"),
        pytest.param(Report((MULTI_LINE,)), id="several edits without the source"),
        pytest.param(
            report_of(
                dataclasses.replace(WITH_FIX, fix=dataclasses.replace(FAR_APART, applicability=Applicability.SHOW))
            ),
            id="a sketch",
        ),
        pytest.param(report_of(IN_NOTEBOOK), id="a notebook"),
        pytest.param(report_of(ODD_MESSAGE), id="no fix"),
    ],
)
def test_rdjson_suggests_nothing_that_would_be_applied_by_halves(report: Report) -> None:
    (diagnostic,) = diagnostics(report)
    assert "suggestions" not in diagnostic


def test_rdjson_says_in_words_where_a_notebook_is_wrong() -> None:
    assert diagnostics(report_of(IN_NOTEBOOK)) == [
        {
            "message": "cell 3, line 2: `torch.isnan(loss)` lets inf pass",
            "location": {"path": "notebook.ipynb"},
            "severity": "INFO",
            "code": {"value": "NAN404"},
        }
    ]


def test_rdjson_reports_errors_as_diagnostics() -> None:
    assert diagnostics(report_of(errors=ERRORS)) == [
        {
            "message": "invalid syntax",
            "location": {"path": "broken.py", "range": {"start": {"line": 3}}},
            "severity": "ERROR",
        },
        {"message": "the file is gone", "location": {"path": "gone.py"}, "severity": "ERROR"},
    ]


@pytest.mark.parametrize("sample", ["an odd message", "an odd path", "errors only"])
def test_messages_survive_json(sample: str) -> None:
    report = SAMPLES[sample]
    messages = [finding.message for finding in report.findings] + [error.message for error in report.errors]
    assert [issue["description"] for issue in issues(report)] == messages
    assert [diagnostic["message"] for diagnostic in diagnostics(report)] == messages
