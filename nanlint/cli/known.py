"""The part of `nanlint check` that remembers: --baseline and --write-baseline."""

from __future__ import annotations

from typing import TYPE_CHECKING, TextIO

from nanlint.engine.baseline import Baseline, write
from nanlint.report.wording import counted
from nanlint.settings.paths import shown_path

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
    path = shown_path(session.settings.baseline or DEFAULT)
    if options.write_baseline:
        write(path, report.findings, report.source_lines)
        hint = "" if session.settings.baseline else f"; keep them quiet with --baseline {path}"
        if not options.quiet:
            err.write(f"Wrote {counted(len(report.findings), 'finding')} to {path}{hint}\n")
    checked = [file.path for file in discovery.files]
    new, known, stale = Baseline.load(path).filter(report.findings, report.source_lines, checked=checked)
    if stale and not options.quiet:
        gone = "1 known finding is gone" if stale == 1 else f"{stale} known findings are gone"
        err.write(f"{path}: {gone}; --write-baseline takes them out\n")
    return report._replace(findings=tuple(new), summary=report.summary._replace(known=known))
