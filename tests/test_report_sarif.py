"""SARIF 2.1.0: valid against the official schema, and saying what a viewer needs."""

from __future__ import annotations

import dataclasses
import json
from pathlib import Path
from typing import Any

import jsonschema  # type: ignore[import-untyped]  # it ships no types
import pytest

import nanlint
from nanlint.model import Applicability, Edit, Fix, Report, Span
from tests.report_samples import (
    ERRORS,
    IN_NOTEBOOK,
    MULTI_LINE,
    NAN110,
    ODD_PATH,
    SAMPLES,
    WITH_FIX,
    WITH_PARTS,
    rendered,
    report_of,
)

SCHEMA = json.loads((Path(__file__).parent / "data/report/sarif-2.1.0.schema.json").read_text(encoding="utf-8"))
VALIDATOR = jsonschema.Draft7Validator(SCHEMA)

Json = dict[str, Any]


def log_of(report: Report) -> Json:
    log: Json = json.loads(rendered(report, "sarif"))
    return log


def run_of(report: Report) -> Json:
    run: Json = log_of(report)["runs"][0]
    return run


@pytest.mark.parametrize("sample", SAMPLES)
def test_the_official_schema_accepts_the_log(sample: str) -> None:
    assert list(VALIDATOR.iter_errors(log_of(SAMPLES[sample]))) == []


def test_the_official_schema_would_refuse_a_broken_log() -> None:
    log = log_of(SAMPLES["a fix"])
    log["runs"][0]["results"][0]["level"] = "fatal"
    assert not VALIDATOR.is_valid(log)


def test_a_clean_run_has_no_results_and_has_succeeded() -> None:
    run = run_of(report_of())
    assert (run["results"], run["invocations"]) == (
        [],
        [{"executionSuccessful": True, "toolExecutionNotifications": []}],
    )


def test_the_driver_lists_every_rule_with_its_docs() -> None:
    assert run_of(report_of(ODD_PATH))["tool"]["driver"] == {
        "name": "nanlint",
        "version": nanlint.__version__,
        "rules": [
            {"id": "NAN101", "name": "unguarded-division"},
            {
                "id": "NAN110",
                "name": "log-of-softmax",
                "shortDescription": {"text": NAN110.summary},
                "fullDescription": {"text": NAN110.why},
                "help": {"text": NAN110.docs, "markdown": NAN110.docs},
                "defaultConfiguration": {"level": "error"},
                "helpUri": NAN110.url,
            },
        ],
    }


def test_a_rule_without_a_page_has_no_address() -> None:
    report = Report(rules={"NAN110": dataclasses.replace(NAN110, url="")})
    assert "helpUri" not in run_of(report)["tool"]["driver"]["rules"][0]


def test_a_result_has_place_message_and_fix() -> None:
    (result,) = run_of(report_of(WITH_FIX))["results"]
    fingerprints = result.pop("partialFingerprints")
    region = {"startLine": 6, "startColumn": 23, "endLine": 6, "endColumn": 34}
    artifact = {"uri": "src/train.py", "uriBaseId": "%SRCROOT%"}
    assert list(fingerprints) == ["nanlintContent/v1"]
    assert result == {
        "ruleId": "NAN110",
        "ruleIndex": 0,
        "level": "error",
        "message": {"text": "`probs` can be 0 (range [0, 1]), so its logarithm can be -inf"},
        "locations": [
            {
                "physicalLocation": {"artifactLocation": artifact, "region": region},
                "logicalLocations": [{"fullyQualifiedName": "cross_entropy", "kind": "function"}],
            }
        ],
        "fixes": [
            {
                "description": {"text": "use log_softmax (safe fix)"},
                "artifactChanges": [
                    {
                        "artifactLocation": artifact,
                        "replacements": [
                            {"deletedRegion": region, "insertedContent": {"text": "logits.log_softmax(dim=-1)"}}
                        ],
                    }
                ],
            }
        ],
    }


def test_a_label_is_a_related_location() -> None:
    (result,) = run_of(report_of(WITH_PARTS))["results"]
    assert result["relatedLocations"][1:] == [
        {
            "physicalLocation": {
                "artifactLocation": {"uri": "src/train.py", "uriBaseId": "%SRCROOT%"},
                "region": {"startLine": 5, "startColumn": 13, "endLine": 5, "endColumn": 35},
            },
            "message": {"text": "the softmax is made here"},
        }
    ]


def test_columns_count_characters_and_paths_the_folder_of_the_run() -> None:
    run = run_of(report_of())
    assert (run["columnKind"], run["originalUriBaseIds"]) == (
        "unicodeCodePoints",
        {"%SRCROOT%": {"description": {"text": "The folder nanlint ran in."}}},
    )


def test_every_result_points_at_its_rule() -> None:
    run = run_of(SAMPLES["everything"])
    ids = [rule["id"] for rule in run["tool"]["driver"]["rules"]]
    assert [ids[result["ruleIndex"]] for result in run["results"]] == [result["ruleId"] for result in run["results"]]


def test_severities_become_levels() -> None:
    results = run_of(report_of(WITH_FIX, MULTI_LINE, IN_NOTEBOOK))["results"]
    assert [result["level"] for result in results] == ["error", "warning", "note"]


def test_a_fix_of_two_edits_is_one_change_with_two_replacements() -> None:
    (result,) = run_of(report_of(MULTI_LINE))["results"]
    (change,) = result["fixes"][0]["artifactChanges"]
    assert change["replacements"] == [
        {
            "deletedRegion": {"startLine": 11, "startColumn": 9, "endLine": 11, "endColumn": 9},
            "insertedContent": {"text": "("},
        },
        {
            "deletedRegion": {"startLine": 12, "startColumn": 23, "endLine": 12, "endColumn": 23},
            "insertedContent": {"text": ").clamp(max=20.0)"},
        },
    ]


@pytest.mark.parametrize(
    "fix",
    [
        pytest.param(Fix("a sketch", Applicability.SHOW, (Edit(Span(6, 1, 6, 2), "x"),)), id="a sketch"),
        pytest.param(Fix("nothing", Applicability.SAFE, ()), id="no edits"),
        pytest.param(None, id="no fix"),
    ],
)
def test_what_cannot_be_applied_is_no_fix(fix: Fix | None) -> None:
    (result,) = run_of(report_of(dataclasses.replace(WITH_FIX, fix=fix)))["results"]
    assert "fixes" not in result


def test_a_notebook_names_the_cell_and_offers_no_fix() -> None:
    (result,) = run_of(report_of(IN_NOTEBOOK))["results"]
    assert "fixes" not in result
    assert result["message"] == {"text": "cell 3: `torch.isnan(loss)` lets inf pass"}
    assert result["locations"] == [
        {
            "physicalLocation": {
                "artifactLocation": {"uri": "notebook.ipynb", "uriBaseId": "%SRCROOT%"},
                "region": {"startLine": 2, "startColumn": 4, "endLine": 2, "endColumn": 21},
            }
        }
    ]


ADDRESSES = {
    "a b/100%,x:y/modèle.py": {"uri": "a%20b/100%25%2Cx%3Ay/mod%C3%A8le.py", "uriBaseId": "%SRCROOT%"},
    "bad\udcff.py": {"uri": "bad%FF.py", "uriBaseId": "%SRCROOT%"},
    "/data/a b.py": {"uri": "file:///data/a%20b.py"},
}


@pytest.mark.parametrize("path", ADDRESSES, ids=["odd characters", "no unicode", "absolute"])
def test_a_path_becomes_an_address(path: str) -> None:
    (result,) = run_of(report_of(dataclasses.replace(WITH_FIX, path=path)))["results"]
    assert result["locations"][0]["physicalLocation"]["artifactLocation"] == ADDRESSES[path]


def test_errors_are_notifications_of_a_run_that_did_not_succeed() -> None:
    assert run_of(report_of(errors=ERRORS))["invocations"] == [
        {
            "executionSuccessful": False,
            "toolExecutionNotifications": [
                {
                    "level": "error",
                    "message": {"text": "invalid syntax"},
                    "locations": [
                        {
                            "physicalLocation": {
                                "artifactLocation": {"uri": "broken.py", "uriBaseId": "%SRCROOT%"},
                                "region": {"startLine": 3},
                            }
                        }
                    ],
                },
                {
                    "level": "error",
                    "message": {"text": "the file is gone"},
                    "locations": [
                        {"physicalLocation": {"artifactLocation": {"uri": "gone.py", "uriBaseId": "%SRCROOT%"}}}
                    ],
                },
            ],
        }
    ]
