"""The report for programs: JSON, as `schema_v1.json` beside this module describes it."""

from __future__ import annotations

import json
import math
from typing import TYPE_CHECKING, Any

import nanlint

if TYPE_CHECKING:
    from nanlint.checkpoint.diagnosis import Diagnosis
    from nanlint.checkpoint.learning_rate import LearningRate
    from nanlint.checkpoint.series import Series

SCHEMA = 1


def document(series: Series) -> str:
    """The whole report; a number that is not finite is a text, because JSON has none."""
    content = {
        "schema": SCHEMA,
        "version": nanlint.__version__,
        "order": series.order,
        "checkpoints": [_checkpoint(each) for each in series.diagnoses],
        "first_bad": _path(series.first_bad),
        "last_clean": _path(series.last_clean),
        "errors": [
            {"path": path.as_posix(), "message": str(message)}
            for each in series.diagnoses
            for path, message in each.failures
        ],
    }
    return json.dumps(content, indent=2, allow_nan=False) + "\n"


def _path(diagnosis: Diagnosis | None) -> str | None:
    return None if diagnosis is None else diagnosis.checkpoint.path.as_posix()


def _checkpoint(each: Diagnosis) -> dict[str, Any]:
    return {
        "path": each.checkpoint.path.as_posix(),
        "files": [file.as_posix() for file in each.checkpoint.files],
        "layout": each.checkpoint.layout,
        "verdict": each.verdict,
        "step": each.step,
        "epoch": each.epoch,
        "tensors": each.tensors,
        "bytes": each.bytes,
        "formats": list(each.formats),
        "symptoms": [
            {
                "level": symptom.level,
                "kind": symptom.kind,
                "name": symptom.name,
                "file": symptom.file or None,
                "role": symptom.role or None,
                "message": symptom.message,
                "hint": symptom.hint or None,
            }
            for symptom in each.symptoms
        ],
        "learning_rate": None if each.learning_rate is None else _rate(each.learning_rate),
    }


def _rate(rate: LearningRate) -> dict[str, Any]:
    stated = rate.stated
    return {
        "resumes_with": [_number(value) for value in rate.resumes_with],
        "given": [_number(value) for value in rate.peak],
        "reason": rate.reason,
        "config": None if stated is None else {"value": stated.value, "where": stated.where},
    }


def _number(value: float) -> float | str:
    return value if math.isfinite(value) else str(value)
