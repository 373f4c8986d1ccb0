"""`nanlint`: the commands, their options, and what becomes of errors.

The parser is built for the one command that was asked for; a hook that runs on every commit waits for it.
"""

# pathlib is not imported on a clean run.
# ruff: noqa: PTH109, PTH110, PTH123

from __future__ import annotations

import argparse
import errno
import gc
import os
import sys
from contextlib import suppress
from typing import TYPE_CHECKING, NoReturn, Protocol, TextIO, cast

import nanlint
from nanlint.engine.collector import without_collector
from nanlint.errors import ExitCode, NanlintError, UsageError
from nanlint.nearest import did_you_mean
from nanlint.word_sets import word_set

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

_SUMMARIES = {
    "check": "find code that turns a training run into NaN or Inf",
    "trace": "run a training script and name the first operation that makes NaN or Inf",
    "plot": "draw the curves of a run from its log",
    "checkpoint": "look for NaN and Inf in saved states, and at what a run would resume with",
    "confirm": "run the code that check finds, to see it fail",
    "diagnose": "say why the loss of a project is NaN, from its configs, checkpoints, data and code",
    "explain": "print what a rule finds, why it hurts and what to write instead",
    "rules": "list every rule",
    "clean": "delete the cache",
    "completion": "print a completion script for your shell",
}

_EPILOG = """\
examples:
  nanlint check src/                     report what is found
  nanlint check --fix src/               apply the fixes that change no result
  nanlint confirm src/                   run what is found and show inputs that break it
  nanlint explain NAN110                 what a rule is about
  nanlint check --write-baseline src/    adopt nanlint on an existing repository
  nanlint checkpoint runs/               which checkpoint to resume from
  nanlint diagnose                       why is the loss NaN, and what to do first

exit codes: 0 nothing found, 1 findings, 2 the run itself failed
"""

# They run or load what others made. For all else the collector would only look at what was imported, again and again.
_WITH_COLLECTOR = word_set("trace checkpoint confirm diagnose")

# A full disk, a full quota, a device that fails, a descriptor that is closed.
_OUTPUT_REFUSED = frozenset({errno.ENOSPC, errno.EDQUOT, errno.EIO, errno.EFBIG, errno.EBADF})

INTERRUPTED = 130
"""What a shell expects of a program that Ctrl-C ended."""


class _Command(Protocol):
    """What a module of `nanlint.cli` has to offer."""

    EPILOG: str

    def add_options(self, parser: argparse.ArgumentParser) -> None: ...

    def run(self, options: argparse.Namespace, out: TextIO, err: TextIO) -> int: ...


def main(argv: Sequence[str] | None = None) -> int:
    """Run one command and return the exit code for the shell; without `argv`, as the program that the shell started."""
    out, err = _stream(sys.stdout), _stream(sys.stderr)
    is_last = argv is None and not _is_watched()
    code = _guarded(list(sys.argv[1:] if argv is None else argv), out, err, is_last=is_last)
    if is_last:
        _leave(code, out, err)
    return code


def _guarded(argv: list[str], out: TextIO, err: TextIO, *, is_last: bool) -> int:
    """The exit code, whatever happens."""
    code: int = ExitCode.FAILED
    try:
        code = _run(argv, out, err, is_last=is_last)
        out.flush()
        return code  # noqa: TRY300 - what else happens is below
    except NanlintError as error:
        told = f"nanlint: {error}\n"
    except BrokenPipeError:
        # `nanlint check | head` closed the pipe, `2>&1 | head` both; leave quietly.
        _write_no_more(out)
        _write_no_more(err)
        told = ""
    except KeyboardInterrupt:
        told, code = "nanlint: interrupted; files already fixed stay fixed, no file is half-written\n", INTERRUPTED
    except Exception as error:  # noqa: BLE001 - Python's own exit code for a crash is 1, which here means findings
        told = _told_of(error, out)
    with suppress(OSError):  # where stderr is full or closed, too, the exit code must do
        err.write(told)
        err.flush()
    return code if code == INTERRUPTED else ExitCode.FAILED


def _told_of(error: Exception, out: TextIO) -> str:
    """What the user is told of an exception that nobody foresaw, or of a disk that is full."""
    if isinstance(error, OSError) and error.errno in _OUTPUT_REFUSED:
        _write_no_more(out)
        return f"nanlint: the report could not be written: {error.strerror}\n"
    import traceback  # noqa: PLC0415 - for crashes only

    lines = "".join(traceback.format_exception(error))
    return f"{lines}nanlint: crashed; please report the lines above, with nanlint {nanlint.__version__}\n"


def _write_no_more(stream: TextIO) -> None:
    """Give the interpreter nothing to flush into a stream that takes no more."""
    with suppress(OSError, ValueError):
        os.dup2(os.open(os.devnull, os.O_WRONLY), stream.fileno())


def _is_watched() -> bool:
    """Whether somebody wants the interpreter after us: a debugger, a profiler, `python -i`."""
    return bool(sys.gettrace() or sys.getprofile() or sys.flags.interactive) or "_lsprof" in sys.modules


def _leave(code: int, out: TextIO, err: TextIO) -> NoReturn:
    """End the process without taking the interpreter apart, which would be a tenth of a clean run."""
    import atexit  # noqa: PLC0415 - built in; no other way out needs it

    atexit._run_exitfuncs()  # noqa: SLF001 - what Python itself would do next
    for stream in (out, err):
        with suppress(OSError, ValueError):  # what could not be written was told, or there is nobody to tell
            stream.flush()
    os._exit(code)


def _stream(stream: TextIO | None) -> TextIO:
    """The stream, made to print whatever a file may be called or hold; nowhere, if it is closed."""
    if stream is None:
        return open(os.devnull, "w", encoding="utf-8")
    reconfigure = getattr(stream, "reconfigure", None)
    if reconfigure is not None:
        reconfigure(errors="backslashreplace")
    return stream


def _run(argv: list[str], out: TextIO, err: TextIO, *, is_last: bool) -> int:
    if argv[:1] in (["--version"], ["-V"]):
        out.write(f"nanlint {nanlint.__version__}\n")
        return ExitCode.CLEAN
    command = argv[0] if argv and not argv[0].startswith("-") else ""
    if command and command not in _SUMMARIES:
        raise UsageError(f"there is no command `{command}`{_meant(command)} (see nanlint --help)")
    if command in _WITH_COLLECTOR:
        return _obey(command, argv, out, err)
    if is_last:
        # Switched on again, the collector would go through all that is left just before the process ends.
        gc.disable()
    with without_collector():
        return _obey(command, argv, out, err)


def _obey(command: str, argv: list[str], out: TextIO, err: TextIO) -> int:
    try:
        options = parser(command).parse_args(argv)
    except SystemExit as stop:  # argparse has printed the help
        return int(stop.code or 0)
    if not command:
        out.write(parser().format_help())
        return ExitCode.CLEAN
    try:
        os.getcwd()
    except OSError as error:
        raise NanlintError(f"the working directory is gone or closed to you: {error.strerror}") from None
    return _module(command).run(options, out, err)


def _meant(command: str) -> str:
    near = did_you_mean(command, _SUMMARIES)
    if not near and os.path.exists(command):
        return f"; did you mean nanlint check {command}?"
    return near


class _Parser(argparse.ArgumentParser):
    """argparse, whose complaints become ours: one line, with the nearest right option."""

    def error(self, message: str) -> NoReturn:
        """Fail as every wrong command line does."""
        wrong = message.partition("unrecognized arguments: ")[2].partition(" ")[0].partition("=")[0]
        right = [flag for flag in self._flags() if flag.startswith("--")]
        hint = did_you_mean(wrong, right) if wrong.startswith("-") else ""
        subs = list(self._subs())
        raise UsageError(f"{message}{hint} (see {subs[0].prog if len(subs) == 1 else self.prog} --help)")

    def _flags(self) -> list[str]:
        """The options of this parser and of those below it."""
        return [flag for each in (self, *self._subs()) for flag in each._option_string_actions]  # noqa: SLF001 - argparse has no public way

    def _subs(self) -> Iterator[argparse.ArgumentParser]:
        """The parsers of the commands."""
        for action in self._actions:
            if isinstance(action, argparse._SubParsersAction):  # noqa: SLF001 - as above
                yield from action.choices.values()


class _Formatter(argparse.RawDescriptionHelpFormatter):
    """Help as wide as the terminal; argparse asks shutil for that, and imports three compression libraries with it."""

    def __init__(self, prog: str) -> None:
        super().__init__(prog, width=_columns() - 2)


def _columns() -> int:
    try:
        return int(os.environ["COLUMNS"])
    except (KeyError, ValueError):
        pass
    try:
        return os.get_terminal_size(sys.__stdout__.fileno()).columns if sys.__stdout__ else 80
    except (OSError, ValueError):
        return 80


def parser(command: str = "") -> argparse.ArgumentParser:
    """The parser for one command, or with "" for all of them (help and completion)."""
    top = _Parser(
        prog="nanlint",
        description="Finds the code that will turn a PyTorch training run into NaN or Inf, and fixes it.",
        epilog=_EPILOG,
        formatter_class=_Formatter,
        allow_abbrev=False,
    )
    top.add_argument("-V", "--version", action="version", version=f"nanlint {nanlint.__version__}")
    commands = top.add_subparsers(title="commands", metavar="COMMAND", dest="command")
    for name, summary in _SUMMARIES.items():
        if command in {"", name}:
            module = _module(name)
            sub = commands.add_parser(
                name,
                help=summary,
                description=f"{summary[0].upper()}{summary[1:]}.",
                epilog=module.EPILOG,
                formatter_class=_Formatter,
                allow_abbrev=False,
            )
            module.add_options(sub)
    return top


def _module(command: str) -> _Command:
    from importlib import import_module  # noqa: PLC0415 - the point of this function

    return cast("_Command", import_module(f"nanlint.cli.{command}"))
