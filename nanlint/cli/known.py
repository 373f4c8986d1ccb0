"""The part of `nanlint check` that remembers: --baseline and --write-baseline."""

# pathlib is not imported on a clean run.
# ruff: noqa: PTH100, PTH110, PTH112, PTH118, PTH120, PTH122

from __future__ import annotations

import os
from typing import TYPE_CHECKING, TextIO

from nanlint.engine.baseline import Baseline, Change, Entry, existing_or_new, is_gone, relative_to, write
from nanlint.errors import UsageError
from nanlint.model import Severity
from nanlint.report.wording import counted
from nanlint.settings.paths import shown_path
from nanlint.settings.resolved import COMMAND_LINE

if TYPE_CHECKING:
    import argparse
    from collections.abc import Callable, Iterable, Iterator

    from nanlint.engine.check_paths import Run
    from nanlint.model import Finding, Report
    from nanlint.source.discover import Discovery

DEFAULT = "nanlint-baseline.json"


def require_baseline_file(file: str) -> None:
    """Refuse what cannot be meant as the FILE of --write-baseline: `--write-baseline src/` names what to check."""
    is_there = os.path.exists(file)
    if not is_there and file.endswith(".json"):
        return
    if os.path.isdir(file) or not is_there or os.path.splitext(file)[1] in _CHECKED:
        raise UsageError(
            f"--write-baseline {file}: a baseline is a .json file; "
            f"to check {file}, write: nanlint check {file} --write-baseline {DEFAULT}"
        )
    existing_or_new(file)


_CHECKED = (".py", ".pyi", ".ipynb", ".yaml", ".yml", ".toml")


def with_baseline(  # noqa: PLR0913 - what a run has, and how it ended
    report: Report, session: Run, discovery: Discovery, options: argparse.Namespace, err: TextIO, *, failed: bool
) -> Report:
    """The report without what the baseline knows; with --write-baseline, everything found becomes known first.

    A run that failed writes none: what it did not see would be missing from it.
    """
    path = shown_path(session.settings.baseline or DEFAULT)
    looked_for = _looked_for(report, session, discovery, os.path.dirname(os.path.abspath(path)))
    if options.write_baseline is not None and failed:
        err.write(f"nanlint: {path} was not written, because the run failed; mend what is reported, then run again\n")
        known_before = existing_or_new(path)
    elif options.write_baseline is not None:
        change = write(path, report.findings, report.source_lines, looked_for=looked_for)
        if not options.quiet:
            err.writelines(_told(change, path, session, report))
        known_before = Baseline.load(path)
    else:
        known_before = Baseline.load(path)
    new, known, stale = known_before.filter(report.findings, report.source_lines, looked_for=looked_for)
    # A run that changes files looked for nothing but what is shown.
    if stale and session.plan.reads_baseline and not options.quiet:
        gone = "1 known finding is gone" if stale == 1 else f"{stale} known findings are gone"
        err.write(f"{path}: {gone}; --write-baseline takes them out\n")
    shown = tuple(_shown(new, discovery))
    return report._replace(findings=shown, summary=report.summary._replace(known=known))


def _looked_for(report: Report, session: Run, discovery: Discovery, folder: str) -> Callable[[Entry], bool]:
    """Whether this run would have met an entry: it ran the rule on the file, or went where the file no longer is."""
    broken = {error.path for error in report.errors}
    checked = {relative_to(file.path, folder): file for file in discovery.files if file.path not in broken}
    walked = [os.path.join(os.path.abspath(path), "") for path in session.plan.paths or (".",)]

    def looked_for(entry: Entry) -> bool:
        file = checked.get(entry.path)
        if file is not None:
            return entry.code in session.checker.ruleset_for(file).codes
        path = os.path.abspath(os.path.join(folder, entry.path))
        is_covered = any(path.startswith(top) or os.path.join(path, "") == top for top in walked)
        return is_covered and is_gone(path) and entry.code in session.checker.ruleset(session.settings).codes

    return looked_for


def _told(change: Change, path: str, session: Run, report: Report) -> Iterator[str]:
    """What was written, what that changed, and what it does not know of."""
    is_setting = session.settings.sources.get("baseline", (COMMAND_LINE,))[0] != COMMAND_LINE
    hint = "" if is_setting else f"; keep them quiet with --baseline {path}"
    what = f"{counted(change.added + change.kept, 'finding')} to {path}"
    if change.kept or change.removed:
        unchecked = f", {change.unchecked} of them not looked for in this run" if change.unchecked else ""
        what += f" ({change.added} added, {change.removed} removed, {change.kept} kept{unchecked})"
    yield f"Wrote {what}{hint}\n"
    broken = sorted({error.path for error in report.errors})
    if broken:
        yield f"It lacks the findings of files that could not be checked: {', '.join(broken)}\n"


def _shown(findings: Iterable[Finding], discovery: Discovery) -> Iterator[Finding]:
    """The findings that are severe enough for the settings of their file."""
    mildest = {file.path: Severity(file.settings.severity).rank for file in discovery.files}
    return (finding for finding in findings if finding.severity.rank >= mildest[finding.path])
