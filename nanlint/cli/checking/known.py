"""The part of `nanlint check` that remembers: --baseline and --write-baseline."""

from __future__ import annotations

from typing import TYPE_CHECKING, TextIO

from nanlint.engine.baseline import Baseline, Written, write
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
    path = shown_path(options.write_baseline or session.settings.baseline or DEFAULT)
    failed = {error.path for error in report.errors}
    checked = [file.path for file in discovery.files if file.path not in failed]
    everything = [*report.findings, *report.hidden]
    if options.write_baseline is not None:
        written = write(path, everything, report.source_lines, checked=checked)
        if not options.quiet:
            err.write(f"{_said(written, path)}{_hint(path, session)}\n")
    new, known, stale = Baseline.load(path).filter(everything, report.source_lines, checked=checked)
    if stale and not options.quiet:
        gone = "1 known finding is gone" if stale == 1 else f"{stale} known findings are gone"
        err.write(f"{path}: {gone}; --write-baseline takes them out\n")
    left = set(map(id, new))
    findings, hidden = (tuple(one for one in each if id(one) in left) for each in (report.findings, report.hidden))
    return report._replace(findings=findings, hidden=hidden, summary=report.summary._replace(known=known))


def _said(written: Written, path: str) -> str:
    changes = [
        f"{count} {what}"
        for count, what in (
            (written.new, "new"),
            (written.gone, "gone"),
            (written.unchecked, "of files not checked this time"),
        )
        if count
    ]
    return f"Wrote {counted(written.total, 'finding')} to {path}" + (f" ({', '.join(changes)})" if changes else "")


def _hint(path: str, session: Run) -> str:
    configured = session.settings.baseline and shown_path(session.settings.baseline) == path
    return "" if configured else f"; keep them quiet with --baseline {path}"
