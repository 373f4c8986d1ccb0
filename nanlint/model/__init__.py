"""The nouns that travel through the house: plain values that can be sorted, cached, pickled and printed.

Standard library only, and no syntax nodes: a finding outlives the tree it was found in. Each noun is imported when it is
first asked for: a run that finds nothing needs no findings.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from nanlint.model.finding import Edit, FileError, Finding, Fix, Hazard, Label, Span
    from nanlint.model.report import Report, Summary
    from nanlint.model.rule_info import RuleInfo
    from nanlint.model.words import FORMATS, Applicability, Direction, Severity

__all__ = [
    "FORMATS",
    "Applicability",
    "Direction",
    "Edit",
    "FileError",
    "Finding",
    "Fix",
    "Hazard",
    "Label",
    "Report",
    "RuleInfo",
    "Severity",
    "Span",
    "Summary",
]

_HOMES = {
    **dict.fromkeys(("Edit", "FileError", "Finding", "Fix", "Hazard", "Label", "Span"), "finding"),
    **dict.fromkeys(("Report", "Summary"), "report"),
    "RuleInfo": "rule_info",
    **dict.fromkeys(("FORMATS", "Applicability", "Direction", "Severity"), "words"),
}


if not TYPE_CHECKING:  # or a type checker would take every misspelt name for an object

    def __getattr__(name: str) -> object:
        """Import a noun from its home the first time it is asked for."""
        if name not in _HOMES:
            raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
        from importlib import import_module  # noqa: PLC0415 - the point of this function

        noun = globals()[name] = getattr(import_module(f"{__name__}.{_HOMES[name]}"), name)
        return noun
