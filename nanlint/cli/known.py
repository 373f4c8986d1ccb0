"""The part of `nanlint check` that remembers: --baseline and --write-baseline."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, TextIO

from nanlint.engine.baseline import Baseline, write

if TYPE_CHECKING:
    import argparse

    from nanlint.engine.check_paths import Run
    from nanlint.model import Report
    from nanlint.source.discover import Discovery

DEFAULT = "nanlint-baseline.json"


def with_baseline(
    report: Report, session: Run, discovery: Discovery, options: argparse.Namespace, err: TextIO
) -> Report:
    """The report without what the baseline knows; with --write-baseline, everything found becomes known first."""
    path = options.write_baseline or session.settings.baseline or DEFAULT
    if options.write_baseline is not None:
        write(path, report.findings, report.source_lines)
        err.write(f"Wrote {len(report.findings)} findings to {path}; keep them quiet with --baseline {path}\n")
    checked = [file.path for file in discovery.files]
    new, known, stale = Baseline.load(path).filter(report.findings, report.source_lines, checked=checked)
    if stale and not options.quiet:
        err.write(f"{path}: {stale} known findings are gone; --write-baseline takes them out\n")
    return replace(report, findings=tuple(new), summary=replace(report.summary, known=known))
