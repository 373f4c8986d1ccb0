"""The part of `nanlint check` that changes files: --fix, --diff, --add-ignores."""

from __future__ import annotations

from typing import TYPE_CHECKING, TextIO

from nanlint.engine.fix_paths import Document, Rewritten, fix_document, fix_file, ignore_in_file, wanted_fixes
from nanlint.errors import ExitCode

if TYPE_CHECKING:
    import argparse

    from nanlint.engine.check_file import FileResult
    from nanlint.engine.check_paths import Run
    from nanlint.source.discover import Discovery, FoundFile


def rewrite(
    session: Run,
    discovery: Discovery,
    results: dict[str, FileResult],
    options: argparse.Namespace,
    streams: tuple[TextIO, TextIO],
) -> ExitCode | None:
    """Rewrite the files with findings and bring `results` up to date; an exit code if the command ends here."""
    out, err = streams
    diffs = []
    for file in discovery.files:
        if not _worth_rewriting(results[file.path], options, session):
            continue
        rewritten = _rewritten(file, session, options)
        results[file.path] = rewritten.result
        session.forget(file)
        diffs.append(rewritten.diff)
        session.fixed += len(rewritten.applied)
        for finding in rewritten.withdrawn:
            place = f"{finding.path}:{finding.span.line}"
            err.write(f"{place}: {finding.code} was not fixed: the fix would not parse, or would wake another finding\n")
    if not options.diff:
        return None
    out.writelines(diffs)
    return ExitCode.FINDINGS if any(diffs) else ExitCode.CLEAN


def _worth_rewriting(result: FileResult, options: argparse.Namespace, session: Run) -> bool:
    if options.add_ignores is not None:
        return bool(result.findings)
    wanted = wanted_fixes(unsafe=session.settings.unsafe_fixes)
    return any(finding.fix is not None and wanted(finding.fix) for finding in result.findings)


def _rewritten(file: FoundFile, session: Run, options: argparse.Namespace) -> Rewritten:
    ruleset = session.checker.ruleset_for(file)
    unsafe = session.settings.unsafe_fixes
    if file.is_stdin:
        document = Document(file.path, (session.plan.stdin or "").encode("utf-8", "surrogatepass"))
        return fix_document(document, ruleset, unsafe=unsafe)[1]
    if options.add_ignores is not None and not options.diff:
        return ignore_in_file(file.path, ruleset, reason=options.add_ignores)
    return fix_file(file.path, ruleset, unsafe=unsafe, write=not options.diff)
