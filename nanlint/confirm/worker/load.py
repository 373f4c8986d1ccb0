"""Import the user's file: as it is if that works, else its definitions alone.

A training script that starts to train when it is imported, a package that is missing or broken, a data set that is not
there: none of these keeps a function of the file from being run. What was left out is told in `notes`.
"""

from __future__ import annotations

import ast
import contextlib
import importlib
import importlib.machinery
import importlib.util
import linecache
import os
import signal
import sys
import traceback
import types
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from nanlint.confirm.worker.lenient import Interrupted, LenientLoader, holds, import_leniently, run_definitions
from nanlint.confirm.worker.stub_objects import importing
from nanlint.confirm.worker.stubs import Finder, install

if TYPE_CHECKING:
    from collections.abc import Iterator

IMPORT_SECONDS = 20
"""A file that takes longer to import does more than define things."""
_RETRIES = 12


class CannotLoad(Exception):  # noqa: N818 - reads as a sentence where it is raised
    """The file could not be imported, not even in part."""


@dataclass
class Loaded:
    """The module, and what had to be left out or replaced to get it."""

    module: types.ModuleType
    stubbed: list[str] = field(default_factory=list)
    notes: list[str] = field(default_factory=list)


class _TooLong(Interrupted):
    """The import did not end in time."""


def load(target: dict[str, Any], text: str | None = None) -> Loaded:
    """The module of the target; with `text`, as if the file held that."""
    path, root, name, project = target["path"], target["root"], target["module"], target["project"]
    sources = [project, os.path.join(project, "src")]  # noqa: PTH118 - strings
    sys.path[:0] = [root, *sources]
    own = frozenset({name.partition(".")[0], *(found for folder in (root, *sources) for found in _packages_in(folder))})
    finder = install(own)
    source = text if text is not None else source_text(path)
    if text is not None:
        _lend(path, text)
        sys.meta_path.insert(0, _Lender(name, path, text))
    with importing():
        if _trains_at_import(source):
            notes = ["only the definitions of the file were run: it trains at import"]
            return Loaded(_definitions(path, name, source), sorted(finder.served), notes)
        module, problem = _imported(name, finder)
        if module is None and not isinstance(problem, _TooLong):
            import_leniently(own)
            module, _ = _imported(name, finder)
        if module is not None and all(holds(module, owner) for _, owner in target["owners"][:1]):
            notes = [f"left out what failed at import, as {_told(problem)}"] if problem is not None else []
            return Loaded(module, sorted(finder.served), notes)
        notes = [f"only the definitions of the file were run, because {_told(problem)}"]
        return Loaded(_definitions(path, name, source), sorted(finder.served), notes)


def _imported(name: str, finder: Finder) -> tuple[types.ModuleType | None, BaseException | None]:
    """The module, or what keeps it from being imported when every foreign package that fails is a stub."""
    problem: BaseException | None = None
    for _ in range(_RETRIES):
        try:
            with alarm(IMPORT_SECONDS):
                return importlib.import_module(name), None
        except _TooLong as error:  # noqa: PERF203 - a dozen imports at most
            return None, error
        except BaseException as error:  # noqa: BLE001 - the border to the user's code; SystemExit is common here
            problem = error
            if not _sideline(error, finder, name):
                break
    return None, problem


def _told(problem: BaseException | None) -> str:
    if isinstance(problem, _TooLong):
        return f"it takes longer than {IMPORT_SECONDS} s to import"
    return _one_line(f"{type(problem).__name__}: {problem}") if problem is not None else "it is not there otherwise"


def _one_line(text: str) -> str:
    return " ".join(text.split())[:200]


def source_text(path: str) -> str:
    """What the file holds, or the text that was lent for it."""
    if path in _LENT:
        return _LENT[path]
    with open(path, encoding="utf-8", errors="replace") as file:  # noqa: PTH123 - no pathlib in the child
        return file.read()


def _packages_in(root: str) -> list[str]:
    """Top-level packages beside the user's: they are his as well."""
    try:
        entries = os.listdir(root)  # noqa: PTH208 - strings
    except OSError:
        return []
    if root in sys.path[3:]:
        return []
    return [entry for entry in entries if os.path.isfile(os.path.join(root, entry, "__init__.py"))]  # noqa: PTH113, PTH118 - strings


_LENT: dict[str, str] = {}


def _lend(path: str, text: str) -> None:
    """Let tracebacks and `inspect` see `text` as the file."""
    _LENT[path] = text
    linecache.cache[path] = (len(text), None, text.splitlines(keepends=True), path)


class _Lender(LenientLoader):
    """Imports one module from a text that is not on the disk."""

    def __init__(self, name: str, path: str, text: str) -> None:
        super().__init__(name, path)
        self.text = text

    def find_spec(self, name: str, path: object, target: object = None) -> importlib.machinery.ModuleSpec | None:
        del path, target
        if name != self.name:
            return None
        return importlib.util.spec_from_file_location(name, self.path, loader=self)

    def get_data(self, path: str) -> bytes:
        return self.text.encode() if path == self.path else super().get_data(path)

    def get_code(self, fullname: str) -> types.CodeType:
        del fullname
        return compile(self.text, self.path, "exec", dont_inherit=True)


@contextlib.contextmanager
def alarm(seconds: int) -> Iterator[None]:
    """Raise _TooLong after that many seconds, where the system has alarms."""
    if not hasattr(signal, "SIGALRM"):
        yield
        return

    def ring(_: int, __: object) -> None:
        raise _TooLong

    before = signal.signal(signal.SIGALRM, ring)
    signal.alarm(seconds)
    try:
        yield
    finally:
        signal.alarm(0)
        signal.signal(signal.SIGALRM, before)


def _sideline(error: BaseException, finder: Finder, name: str) -> bool:
    """Replace the foreign package in which `error` arose by a stub; False if there is none to blame."""
    own = name.partition(".")[0]
    blamed = ""
    for frame, _ in traceback.walk_tb(error.__traceback__):
        top = str(frame.f_globals.get("__name__", "")).partition(".")[0]
        if (
            top
            and top not in finder.own
            and top != own
            and top not in sys.stdlib_module_names
            and top not in _UNTOUCHED
        ):
            blamed = top
            break
    if not blamed or blamed in finder.broken:
        return False
    finder.broken.add(blamed)
    for module in list(sys.modules):
        if module.partition(".")[0] in {blamed, own, *finder.own}:
            del sys.modules[module]
    return True


_UNTOUCHED = frozenset({"torch", "numpy", "nanlint", "__main__", "importlib", "einops"})


def _trains_at_import(text: str) -> bool:
    """Whether a loop at the top level of the file takes optimizer steps."""
    try:
        tree = ast.parse(text)
    except SyntaxError as error:
        raise CannotLoad(f"line {error.lineno}: {error.msg}") from None
    loops = [node for node in tree.body if isinstance(node, (ast.For, ast.While, ast.With))]
    calls = (node for loop in loops for node in ast.walk(loop) if isinstance(node, ast.Call))
    return any(isinstance(call.func, ast.Attribute) and call.func.attr in {"backward", "step"} for call in calls)


def _definitions(path: str, name: str, text: str) -> types.ModuleType:
    """The module with its imports, functions, classes and assignments alone; what fails among these is left out."""
    module = types.ModuleType(name)
    module.__file__ = path
    module.__package__ = name.rpartition(".")[0]
    sys.modules[name] = module
    with contextlib.suppress(_TooLong), alarm(IMPORT_SECONDS):
        run_definitions(module, path, text)
    return module
