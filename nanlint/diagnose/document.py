"""The answer for programs: JSON, schema 1; keys are only ever added. `docs/diagnose.md` describes it."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

import nanlint

if TYPE_CHECKING:
    from nanlint.diagnose.answer import Answer

SCHEMA = 1


def document(answer: Answer) -> str:
    """The whole answer."""
    content = {
        "schema": SCHEMA,
        "version": nanlint.__version__,
        "project": answer.project,
        "interrupted": answer.is_interrupted,
        "causes": [cause.to_json() for cause in answer.causes],
        "resume": answer.resume.to_json() if answer.resume is not None else None,
        "steps": [step.to_json() for step in answer.steps],
        "inventory": answer.inventory,
    }
    return json.dumps(content, indent=1, allow_nan=False) + "\n"
