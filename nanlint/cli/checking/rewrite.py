"""The part of `nanlint check` that changes files: --fix, --interactive, --diff, --add-ignores."""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING, TextIO

from nanlint.cli.checking.asking import choosing_with
from nanlint.engine.checker import on_one_file
from nanlint.engine.fixing.fix_paths import Document, Rewritten, fixed, wanted_fixes, with_ignores
from nanlint.model import FileError
from nanlint.report.wording import counted, place
from nanlint.source.read import UnreadableSource, UnwritableSource, read_bytes

if TYPE_CHECKING:
    import argparse
    from collections.abc import Iterator, Sequence

    from nanlint.engine.check_file import FileResult
    from nanlint.engine.check_paths import Run
    from nanlint.engine.fixing.choose_fixes import Choosing
    from nanlint.model import Finding
    from nanlint.source.discover import Discovery, FoundFile


def rewrite(
    session: Run, discovery: Discovery, results: dict[str, FileResult], options: argparse.Namespace, err: TextIO
) -> list[str]:
    """Rewrite the files with findings and bring `results` up to date; with --diff only tell the diffs."""
    diffs: list[str] = []
    handled = 0
    choosing = choosing_with(options, unsafe=session.settings.unsafe_fixes, err=err) if options.interactive else None
    for file in discovery.files:
        if not _is_worth_it(results[file.path], options, session) or (choosing is not None and choosing.is_over):
            continue
        outcome = on_one_file(file.path, lambda file=file: _rewritten(file, session, options, choosing))  # type: ignore[misc]
        if isinstance(outcome, FileError):
            # What was found stays found: nothing has been done about it.
            results[file.path].errors.append(outcome)
            continue
        for finding in outcome.withdrawn:
            why = "the fix would not parse, or would wake another finding"
            err.write(f"{place(finding)}: {finding.code} was not fixed: {why}\n")
        handled += outcome.handled
        if options.show_fixes and outcome.applied:
            err.writelines(fix_lines(file.path, outcome.applied))
        if options.diff:
            diffs += [outcome.diff()] if outcome.changed else []
        else:
            results[file.path] = outcome.result
    _tell(handled, session, options, err)
    return diffs


def _tell(handled: int, session: Run, options: argparse.Namespace, err: TextIO) -> None:
    """Fixes are told by the closing line; what has none is told here."""
    what = counted(handled, "finding")
    if not options.diff and not options.add_ignores:
        session.fixed += handled
    elif handled and not options.quiet:
        verb = ("Would suppress" if options.diff else "Suppressed") if options.add_ignores else "Would fix"
        err.write(f"{verb} {what}.\n")


def print_stdin(session: Run, out: TextIO) -> None:
    """Print what came through stdin as it is now, to the byte."""
    data = next(iter(session.contents.values()), session.plan.stdin or b"")
    binary = getattr(out, "buffer", None)
    if binary is None:
        out.write(data.decode("utf-8", "surrogateescape"))
    else:
        out.flush()
        binary.write(data)


def _is_worth_it(result: FileResult, options: argparse.Namespace, session: Run) -> bool:
    if options.add_ignores:
        return bool(result.findings)
    wanted = wanted_fixes(unsafe=session.settings.unsafe_fixes)
    return any(finding.fix is not None and wanted(finding.fix) for finding in result.findings)


def fix_lines(path: str, applied: Sequence[Finding]) -> Iterator[str]:
    """What was fixed in one file, equal fixes together."""
    titles = Counter((finding.code, finding.fix.title) for finding in applied if finding.fix is not None)
    yield f"Fixed in {path}:\n"
    for (code, title), count in sorted(titles.items()):
        yield f"    {count} x {code}: {title}\n"


def _rewritten(
    file: FoundFile, session: Run, options: argparse.Namespace, choosing: Choosing | None
) -> Rewritten | FileError:
    """The file with its fixes or suppressions, written unless only the diff is wanted."""
    try:
        stdin = session.contents.get(file.path)
        document = Document(file.path, read_bytes(file.path) if stdin is None else stdin)
        ruleset = session.checker.ruleset_for(file)
        if options.add_ignores:
            rewritten = with_ignores(document, ruleset, reason=options.reason)
        elif choosing is not None:
            rewritten = choosing.rewrite(document, ruleset)
        else:
            rewritten = fixed(document, ruleset, unsafe=session.settings.unsafe_fixes)
        if options.diff:
            return rewritten
        if stdin is None:
            rewritten.write()
        else:
            session.contents[file.path] = rewritten.data
    except UnreadableSource as error:
        return FileError(file.path, error.line, f"not changed: {error.message}")
    except UnwritableSource as error:
        return FileError(file.path, None, f"not changed: {error}")
    return rewritten
