r"""The published output contract, schema 1: `json` (one document) and `jsonl` (a stream of lines).

`json` is described by `schema_v1.json` beside this file. `jsonl` has one line per finding, each an entry of the
document's `findings`, and then one line `{"error": {"path", "line", "message"}}` per error; a clean run writes nothing.
Text is UTF-8 and stays as it is; only what UTF-8 cannot hold is written as `\udcff`, and in `jsonl` what some readers
take for a line break as `\u2028`.
"""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

from nanlint import __version__

if TYPE_CHECKING:
    from collections.abc import Iterator

    from nanlint.model import Report

SCHEMA = 1

# JSON allows these inside a string, and `str.splitlines` of a reader would cut the string there.
_LINE_BREAKS = {code: f"\\u{code:04x}" for code in (0x85, 0x2028, 0x2029)}


def document(report: Report) -> Iterator[str]:
    """The whole report as one indented document."""
    entry = {
        "schema": SCHEMA,
        "version": __version__,
        "findings": [finding.to_json() for finding in report.findings],
        "hidden": report.hidden_counts,
        "errors": [error.to_json() for error in report.errors],
    }
    yield json.dumps(entry, ensure_ascii=False, indent=2) + "\n"


def lines(report: Report) -> Iterator[str]:
    """Findings one per line, then errors one per line."""
    entries = [finding.to_json() for finding in report.findings]
    entries += [{"error": error.to_json()} for error in report.errors]
    for entry in entries:
        yield json.dumps(entry, ensure_ascii=False).translate(_LINE_BREAKS) + "\n"
