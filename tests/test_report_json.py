"""The published contract: the documents, and the schema that describes them."""

from __future__ import annotations

import json
from pathlib import Path
from typing import TYPE_CHECKING, Any

import jsonschema  # type: ignore[import-untyped]  # it ships no types
import pytest

import nanlint
from nanlint import report as report_package
from nanlint.model import Finding
from tests.report_samples import ERRORS, IN_NOTEBOOK, ODD_PATH, SAMPLES, WITH_FIX, WITH_PARTS, rendered, report_of

if TYPE_CHECKING:
    from collections.abc import Callable

SCHEMA = json.loads(Path(report_package.__file__).with_name("schema_v1.json").read_text(encoding="utf-8"))
VALIDATOR = jsonschema.Draft202012Validator(SCHEMA)

Json = dict[str, Any]

VERDICT = {
    "kind": "confirmed",
    "plausibility": "edge",
    "direction": "backward",
    "dtype": "float16",
    "device": "cpu",
    "level": "function",
    "class": "input only",
    "witness": {"x": [0.0]},
    "evaluations": 12,
    "seconds": 0.5,
    "repro": "repro_nan110.py",
    "reason": None,
}


def document(sample: str = "everything") -> Json:
    loaded: Json = json.loads(rendered(SAMPLES[sample], "json"))
    return loaded


def test_a_clean_run_is_a_whole_document() -> None:
    assert rendered(report_of(), "json") == (
        f'{{\n  "schema": 1,\n  "version": "{nanlint.__version__}",\n  "findings": [],\n  "hidden": {{}},\n  "errors": []\n}}\n'
    )


def test_a_finding_has_the_keys_of_the_contract() -> None:
    assert document("a fix")["findings"] == [
        {
            "code": "NAN110",
            "name": "log-of-softmax",
            "severity": "error",
            "can_happen": None,
            "matters": None,
            "evidence": [],
            "path": "src/train.py",
            "cell": None,
            "line": 6,
            "column": 23,
            "end_line": 6,
            "end_column": 34,
            "message": "`probs` can be 0 (range [0, 1]), so its logarithm can be -inf",
            "labels": [],
            "why": "",
            "help": "",
            "function": "cross_entropy",
            "dtypes": ["float32", "float16"],
            "direction": "both",
            "hazard": {"operation": "torch.log", "operand": "probs", "zone": "[0, 0]"},
            "fix": {
                "applicability": "safe",
                "title": "use log_softmax",
                "edits": [
                    {"line": 6, "column": 23, "end_line": 6, "end_column": 34, "text": "logits.log_softmax(dim=-1)"}
                ],
            },
            "verdict": None,
        }
    ]


def test_the_parts_of_a_finding_are_told_one_by_one() -> None:
    (entry,) = document("labels")["findings"]
    assert {key: entry[key] for key in ("labels", "why", "help")} == {
        "labels": [
            {"line": 1, "column": 8, "end_line": 1, "end_column": 13, "text": "no part of the frame"},
            {"line": 5, "column": 13, "end_line": 5, "end_column": 35, "text": "the softmax is made here"},
        ],
        "why": "a logit 104 below the largest has a probability of exactly 0",
        "help": "logits.log_softmax(dim=-1)",
    }
    assert Finding.from_json(entry) == WITH_PARTS


def test_errors_have_path_line_and_message() -> None:
    assert document("errors only")["errors"] == [
        {"path": "broken.py", "line": 3, "message": "invalid syntax"},
        {"path": "gone.py", "line": None, "message": "the file is gone"},
    ]


@pytest.mark.parametrize("sample", SAMPLES)
def test_the_findings_can_be_read_back(sample: str) -> None:
    read = tuple(Finding.from_json(entry) for entry in document(sample)["findings"])
    assert read == SAMPLES[sample].findings


def test_text_that_is_not_ascii_stays_readable() -> None:
    assert '"path": "a b/100%,x:y/modèle.py"' in rendered(report_of(ODD_PATH), "json")


def test_jsonl_has_a_line_per_finding_and_then_per_error() -> None:
    lines = rendered(report_of(WITH_FIX, IN_NOTEBOOK, errors=ERRORS), "jsonl").splitlines()
    assert [json.loads(line) for line in lines] == [
        WITH_FIX.to_json(),
        IN_NOTEBOOK.to_json(),
        {"error": {"path": "broken.py", "line": 3, "message": "invalid syntax"}},
        {"error": {"path": "gone.py", "line": None, "message": "the file is gone"}},
    ]


def test_the_schema_is_a_schema() -> None:
    meta_schema = jsonschema.Draft202012Validator(jsonschema.Draft202012Validator.META_SCHEMA)
    assert list(meta_schema.iter_errors(SCHEMA)) == []


@pytest.mark.parametrize("sample", SAMPLES)
def test_the_schema_accepts_what_is_rendered(sample: str) -> None:
    assert list(VALIDATOR.iter_errors(document(sample))) == []


@pytest.mark.parametrize("sample", SAMPLES)
def test_the_schema_accepts_every_line_of_jsonl(sample: str) -> None:
    lines = [json.loads(line) for line in rendered(SAMPLES[sample], "jsonl").splitlines()]
    findings = [line for line in lines if "error" not in line]
    errors = [line["error"] for line in lines if "error" in line]
    whole = {"schema": 1, "version": "0", "findings": findings, "errors": errors}
    assert list(VALIDATOR.iter_errors(whole)) == []


def test_the_schema_accepts_a_verdict() -> None:
    whole = document("a fix")
    whole["findings"][0]["verdict"] = VERDICT
    assert list(VALIDATOR.iter_errors(whole)) == []


def _set(*path: str | int, to: object) -> Callable[[Json], None]:
    def change(whole: Json) -> None:
        part: Any = whole
        for step in path[:-1]:
            part = part[step]
        part[path[-1]] = to

    return change


def _drop(*path: str | int) -> Callable[[Json], None]:
    def change(whole: Json) -> None:
        part: Any = whole
        for step in path[:-1]:
            part = part[step]
        del part[path[-1]]

    return change


BROKEN = {
    "another schema number": _set("schema", to=2),
    "no version": _drop("version"),
    "a key of its own": _set("summary", to={}),
    "a finding without a verdict": _drop("findings", 0, "verdict"),
    "a finding with a key of its own": _set("findings", 0, "url", to=""),
    "line 0": _set("findings", 0, "line", to=0),
    "an unknown severity": _set("findings", 0, "severity", to="fatal"),
    "an unknown direction": _set("findings", 0, "direction", to="sideways"),
    "cell 0": _set("findings", 0, "cell", to=0),
    "an unknown applicability": _set("findings", 0, "fix", "applicability", to="maybe"),
    "an edit without text": _drop("findings", 0, "fix", "edits", 0, "text"),
    "half a hazard": _set("findings", 0, "hazard", to={"operation": "log"}),
    "half a verdict": _set("findings", 0, "verdict", to={"kind": "confirmed"}),
    "the verdict safe": _set("findings", 0, "verdict", to={**VERDICT, "kind": "safe"}),
    "an error without a message": _set("errors", to=[{"path": "a.py", "line": 1}]),
}


@pytest.mark.parametrize("case", BROKEN)
def test_the_schema_refuses_what_breaks_the_contract(case: str) -> None:
    whole = document("a fix")
    BROKEN[case](whole)
    assert not VALIDATOR.is_valid(whole)
