"""The options of `nanlint check`, and what they make of settings and plan."""

# pathlib is not imported on a clean run.
# ruff: noqa: PTH112

from __future__ import annotations

import argparse
import os
from typing import TextIO

from nanlint.cli.local_rules import add_permission
from nanlint.cli.running_options import add_running, given
from nanlint.cli.terminal import add_colour
from nanlint.engine.check_paths import Plan
from nanlint.errors import UsageError
from nanlint.settings import OUTPUT_FORMATS, SEVERITIES
from nanlint.source.discover import STDIN

EPILOG = """\
examples:
  nanlint check                                  the working directory
  nanlint check src/ train.py 'nb/**/*.ipynb'    files, folders, globs
  cat model.py | nanlint check - --stdin-filename model.py
  nanlint check --select NAN1,no-op-clip         codes, prefixes, names
  nanlint check --fix --unsafe-fixes src/        apply every fix
  nanlint check --diff src/                      show what --fix would change
  nanlint check --interactive src/               ask before each fix
  nanlint check -f sarif -o nanlint.sarif src/   for code scanning
  nanlint check --add-ignores src/               silence what is found today, in the source
  nanlint check --write-baseline known.json src/ silence what is found today, in a file

exit codes: 0 nothing found, 1 findings (with --diff: something to change), 2 the run itself failed.
A file that cannot be checked (syntax error, unreadable, a rule that crashes on it) is reported and the others are
checked; it makes the exit code 2 only with --strict. A path on the command line that does not exist, a wrong setting
or a broken rule file makes it 2 always.

With `-` and --fix or --add-ignores the changed source goes to stdout and the report to stderr.
NANLINT_RAISE=1 in the environment shows the traceback of a rule that crashes.
"""


def add_options(parser: argparse.ArgumentParser) -> None:
    """Paths, then options by theme."""
    parser.add_argument("paths", nargs="*", metavar="PATH", help="files, folders or globs; - for stdin (default: .)")
    _add_rules(parser.add_argument_group("which rules"))
    files = parser.add_argument_group("which files")
    _add_files(files)
    files.add_argument("--stdin-filename", default="", metavar="PATH", help="the name of what comes through stdin")
    _add_changes(parser.add_argument_group("changing files"))
    _add_output(parser.add_argument_group("what is printed"))
    _add_confirming(parser.add_argument_group("running what is found"))
    _add_running(parser.add_argument_group("how it runs"))


def _selectors(text: str) -> list[str]:
    return [word.strip() for word in text.split(",") if word.strip()]


def _add_rules(group: argparse._ArgumentGroup) -> None:
    for flag, what in (
        ("--select", "run these rules only"),
        ("--extend-select", "run these rules too"),
        ("--ignore", "leave these rules out"),
    ):
        group.add_argument(
            flag,
            action="extend",
            type=_selectors,
            metavar="RULE[,…]",
            help=f"{what}: codes, prefixes (NAN1), names, ALL",
        )
    group.add_argument("--preview", action=argparse.BooleanOptionalAction, default=None, help="run preview rules too")
    group.add_argument("--severity", choices=SEVERITIES, help="the mildest severity to show (default: warning)")
    add_permission(group)


def _add_files(group: argparse._ArgumentGroup) -> None:
    switch = argparse.BooleanOptionalAction
    group.add_argument(
        "--include", action="extend", type=_selectors, metavar="GLOB[,…]", help="files to look for in folders"
    )
    group.add_argument(
        "--exclude", action="extend", type=_selectors, metavar="GLOB[,…]", help="replace the excluded paths"
    )
    group.add_argument(
        "--extend-exclude", action="extend", type=_selectors, metavar="GLOB[,…]", help="exclude these too"
    )
    group.add_argument(
        "--force-exclude", action=switch, default=None, help="exclude even files named on the command line"
    )
    group.add_argument("--respect-gitignore", action=switch, default=None, help="leave out what git ignores (default)")
    group.add_argument("--show-files", action="store_true", help="print the files that would be checked, and stop")


def _add_changes(group: argparse._ArgumentGroup) -> None:
    switch = argparse.BooleanOptionalAction
    group.add_argument("--fix", action=switch, default=None, help="apply the fixes that change no finite result")
    group.add_argument("--unsafe-fixes", action=switch, default=None, help="with --fix: also those that change some")
    group.add_argument(
        "--diff", action="store_true", help="print what --fix would change, write nothing; exit 1 if anything"
    )
    group.add_argument(
        "--fix-only", action="store_true", help="fix, and report only what was fixed; exit 0 whatever is left"
    )
    group.add_argument("--show-fixes", action="store_true", help="with --fix: list every fix that was applied")
    group.add_argument("--interactive", action="store_true", help="show each fix as a diff and ask: yes, no, all, quit")
    group.add_argument("--add-ignores", action="store_true", help="write a suppression behind everything found")
    group.add_argument("--reason", default="", metavar="TEXT", help="with --add-ignores: the reason to write with it")
    group.add_argument("--baseline", metavar="FILE", help="keep the findings listed in FILE quiet")
    group.add_argument(
        "--write-baseline",
        nargs="?",
        const="",
        metavar="FILE",
        help="write everything found, at every level, to the baseline FILE (default: that of the settings, else nanlint-baseline.json)",
    )


def _add_confirming(group: argparse._ArgumentGroup) -> None:
    group.add_argument(
        "--confirm", action="store_true", help="run what is found, and report the verdicts (needs torch)"
    )
    group.add_argument(
        "--confirmed-only", action="store_true", help="with --confirm: report what was seen to fail only"
    )
    add_running(group)


def add_selection(parser: argparse.ArgumentParser) -> None:
    """Paths, rules and files, for a command that checks before it does something else."""
    parser.add_argument("paths", nargs="*", metavar="PATH", help="files, folders, globs, or FILE:LINE (default: .)")
    _add_rules(parser.add_argument_group("which rules"))
    _add_files(parser.add_argument_group("which files"))
    _add_output(parser.add_argument_group("what is printed"))


def _add_output(group: argparse._ArgumentGroup) -> None:
    group.add_argument(
        "-f",
        "--output-format",
        choices=OUTPUT_FORMATS,
        metavar="FORMAT",
        help=f"{', '.join(OUTPUT_FORMATS)} (default: full on a terminal, concise elsewhere)",
    )
    group.add_argument("-o", "--output-file", metavar="FILE", help="write the report to FILE")
    group.add_argument(
        "--explain-level", action="store_true", help="with full and concise: say what evidence gave a finding its level"
    )
    group.add_argument("--statistics", action="store_true", help="print how often each rule fired")
    group.add_argument("-q", "--quiet", action="store_true", help="findings only, no closing line, no progress")
    group.add_argument("-v", "--verbose", action="store_true", help="tell what was done, on stderr")
    add_colour(group)


def _add_running(group: argparse._ArgumentGroup) -> None:
    group.add_argument("--fail-on", choices=SEVERITIES, help="the mildest shown severity that makes the exit code 1")
    group.add_argument("--exit-zero", action="store_true", help="exit 0 even with findings")
    group.add_argument("--strict", action="store_true", help="exit 2 if any file could not be checked")
    group.add_argument("--config", metavar="FILE", help="settings from this pyproject.toml or nanlint.toml")
    group.add_argument("--isolated", action="store_true", help="read no settings files")
    group.add_argument("--show-settings", action="store_true", help="print the settings in force, and stop")
    group.add_argument(
        "-j", "--jobs", type=int, default=0, metavar="N", help="processes (default: by the work there is)"
    )
    group.add_argument("--no-cache", action="store_true", help="neither read nor write the cache")
    group.add_argument(
        "--cache-dir", metavar="DIR", help="the cache's place (default: .nanlint_cache; or NANLINT_CACHE_DIR)"
    )
    group.add_argument(
        "--no-gate", action="store_true", help="analyse every function; slow, for debugging nanlint itself"
    )


_SETTINGS = (
    "select", "extend_select", "ignore", "preview", "severity", "include", "exclude", "extend_exclude", "force_exclude",
    "respect_gitignore", "fix", "unsafe_fixes", "baseline", "output_format", "fail_on", "cache_dir",
)  # fmt: skip


def plan_of(options: argparse.Namespace, stdin: TextIO | None) -> Plan:
    """The run that these options ask for; settings that were not given are left to the settings files."""
    _require_sense(options)
    _take_path_from_baseline(options)
    given = {name: getattr(options, name) for name in _SETTINGS}
    if options.fix_only:
        given["fix"] = True
    return Plan(
        paths=options.paths,
        overrides={name: _plain(value) for name, value in given.items() if value is not None},
        config=options.config,
        isolated=options.isolated,
        jobs=options.jobs,
        use_cache=not options.no_cache,
        gated=not options.no_gate,
        allow_local_rules=options.allow_local_rules,
        stdin=_content(stdin) if STDIN in options.paths else None,
        stdin_filename=options.stdin_filename,
    )


def _take_path_from_baseline(options: argparse.Namespace) -> None:
    """In `--write-baseline src/` the folder is what to check: nobody writes a baseline over a folder or a source file."""
    named = getattr(options, "write_baseline", None)
    if named and (os.path.isdir(named) or named.endswith((".py", ".pyi", ".ipynb"))):
        options.paths = [named, *options.paths]
        options.write_baseline = ""


def _require_sense(options: argparse.Namespace) -> None:
    """Refuse what cannot be meant."""
    if options.jobs < 0:
        raise UsageError(f"--jobs {options.jobs}: give a number of processes, or 0 to let nanlint choose")
    if STDIN in options.paths and len(options.paths) > 1:
        raise UsageError("`-` (stdin) cannot be combined with other paths")
    if options.stdin_filename and STDIN not in options.paths:
        raise UsageError("--stdin-filename names what comes through stdin; pass `-` as the path, too")
    if options.fix and options.add_ignores:
        raise UsageError("--fix and --add-ignores: choose one; fix first, then suppress what is left")
    _require_sense_of_fixes(options)
    if options.confirmed_only and not options.confirm:
        raise UsageError("--confirmed-only is about the verdicts of --confirm; pass that, too")
    if given(options) and not options.confirm:
        raise UsageError(f"{given(options)[0]} is about how --confirm runs the code; pass that, too")
    if options.reason and not options.add_ignores:
        raise UsageError("--reason is written by --add-ignores; pass that, too")


def _require_sense_of_fixes(options: argparse.Namespace) -> None:
    """Refuse combinations of the options about fixes that cannot be meant."""
    given = [name for name in ("fix_only", "show_fixes", "interactive") if getattr(options, name)]
    for name in given:
        shown = f"--{name.replace('_', '-')}"
        if options.add_ignores or options.diff:
            raise UsageError(f"{shown} is about fixes that are made; --diff and --add-ignores make none")
        if options.fix is False:
            raise UsageError(f"{shown} and --no-fix contradict each other")
    if options.interactive and STDIN in options.paths:
        raise UsageError("--interactive needs stdin for your answers; name a file instead of `-`")


def _plain(value: object) -> object:
    return tuple(value) if isinstance(value, list) else value


def _content(stdin: TextIO | None) -> bytes:
    if stdin is None:
        raise UsageError("`-` means stdin, which is closed")
    binary = getattr(stdin, "buffer", None)
    data: bytes = stdin.read().encode("utf-8", "surrogateescape") if binary is None else binary.read()
    return data
