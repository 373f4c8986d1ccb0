"""The nouns that travel through the house: plain values that can be sorted, cached, pickled and printed.

Standard library only, and no syntax nodes: a finding outlives the tree it was found in.
"""

from nanlint.model.finding import (
    Applicability,
    Direction,
    Edit,
    FileError,
    Finding,
    Fix,
    Hazard,
    Severity,
    Span,
)
from nanlint.model.report import Report, RuleInfo, Summary

__all__ = [
    "Applicability",
    "Direction",
    "Edit",
    "FileError",
    "Finding",
    "Fix",
    "Hazard",
    "Report",
    "RuleInfo",
    "Severity",
    "Span",
    "Summary",
]
