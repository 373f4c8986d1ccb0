r"""The published output contract, schema 1: `json` (one document) and `jsonl` (a stream of lines).

`json` is described by `schema_v1.json` beside this file. `jsonl` has one line per finding, each an entry of the
document's `findings`, and then one line `{"error": {"path", "line", "message"}}` per error; a clean run writes nothing.
Text is UTF-8 and stays as it is; only what UTF-8 cannot hold is written as `\udcff`.
"""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

from nanlint import __version__

if TYPE_CHECKING:
    from collections.abc import Iterator

    from nanlint.model import Report

SCHEMA = 1


def document(report: Report) -> Iterator[str]:
    """The whole report as one indented document."""
    entry = {
        "schema": SCHEMA,
        "version": __version__,
        "findings": [finding.to_json() for finding in report.findings],
        "errors": [error.to_json() for error in report.errors],
    }
    yield json.dumps(entry, ensure_ascii=False, indent=2) + "\n"


def lines(report: Report) -> Iterator[str]:
    """Findings one per line, then errors one per line."""
    for finding in report.findings:
        yield json.dumps(finding.to_json(), ensure_ascii=False) + "\n"
    for error in report.errors:
        yield json.dumps({"error": error.to_json()}, ensure_ascii=False) + "\n"
