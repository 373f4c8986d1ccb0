"""Stand-ins for packages that are not installed, or that are and do not import.

One missing package must not keep a whole repository from being run. A stub (`stub_objects`) is served only where the code
does not expect the import to fail: inside `try` the code has its own answer, and `importlib.util.find_spec` is told the
truth.
"""

from __future__ import annotations

import ast
import importlib.abc
import importlib.machinery
import linecache
import sys
from typing import TYPE_CHECKING

from nanlint.confirm.worker import small_einops
from nanlint.confirm.worker.stub_objects import StubModule

if TYPE_CHECKING:
    import types
    from collections.abc import Iterator, Sequence

NEVER = frozenset({"torch", "numpy", "nanlint", "packaging"})
"""What a stub would do more harm than good for: without these there is nothing to run."""
_IMPORT_ERRORS = frozenset({"ImportError", "ModuleNotFoundError", "Exception", "BaseException", "RuntimeError"})


class Finder(importlib.abc.MetaPathFinder, importlib.abc.Loader):
    """Serves stubs: for `broken` packages always, for missing ones if nobody expects them to be missing."""

    def __init__(self, own: frozenset[str]) -> None:
        self.own = own
        self.broken: set[str] = set()
        self.served: set[str] = set()
        self.last_resort = True

    def find_spec(
        self, name: str, path: Sequence[str] | None, target: types.ModuleType | None = None
    ) -> importlib.machinery.ModuleSpec | None:
        """A stub for what is broken, or missing and not expected to be."""
        del path, target
        top = name.partition(".")[0]
        if top in NEVER or top in self.own or top in sys.stdlib_module_names:
            return None
        if top not in self.broken and _failure_is_expected():
            return None
        self.served.add(top)
        return importlib.machinery.ModuleSpec(name, self, is_package=True)

    def create_module(self, spec: importlib.machinery.ModuleSpec) -> types.ModuleType:
        """The stub itself; of what is exactly defined, the thing."""
        module = StubModule(spec.name)
        vars(module).update({one.__name__: one for one in small_einops.HELD.get(spec.name, ())})
        return module

    def exec_module(self, module: types.ModuleType) -> None:
        """Nothing to run."""


class BrokenFinder(importlib.abc.MetaPathFinder):
    """The same stubs, asked before the real packages: for those that are installed and broken."""

    def __init__(self, finder: Finder) -> None:
        self.finder = finder

    def find_spec(
        self, name: str, path: Sequence[str] | None, target: types.ModuleType | None = None
    ) -> importlib.machinery.ModuleSpec | None:
        """A stub for what is broken."""
        top = name.partition(".")[0]
        return self.finder.find_spec(name, path, target) if top in self.finder.broken else None


def install(own: frozenset[str]) -> Finder:
    """Serve stubs from now on; `own` are the packages of the user, which are never replaced."""
    finder = Finder(own)
    sys.meta_path.insert(0, BrokenFinder(finder))
    sys.meta_path.append(finder)
    return finder


def _failure_is_expected() -> bool:
    """Whether the code that imports is ready for an ImportError, or only asks whether the module is there."""
    frame = sys._getframe(1)  # noqa: SLF001 - there is no other way to see who asks
    while frame is not None:
        name = frame.f_code.co_filename
        if "importlib.util" in name or name.endswith(("importlib/util.py", "importlib\\util.py")):
            return True
        if "importlib" not in name and name != __file__:
            return _is_tried(name, frame.f_lineno)
        frame = frame.f_back  # type: ignore[assignment] # None ends the loop
    return False


_TRIED: dict[str, list[tuple[int, int]]] = {}


def _is_tried(filename: str, line: int) -> bool:
    if filename not in _TRIED:
        _TRIED[filename] = list(_tried_lines("".join(linecache.getlines(filename))))
    return any(first <= line <= last for first, last in _TRIED[filename])


def _tried_lines(text: str) -> Iterator[tuple[int, int]]:
    """The bodies of `try` statements, and of `with suppress(...)`, that catch what a failing import raises."""
    try:
        tree = ast.parse(text)
    except SyntaxError:
        return
    for node in ast.walk(tree):
        is_tried = isinstance(node, ast.Try) and any(map(_catches_imports, node.handlers))
        if is_tried or (isinstance(node, ast.With) and any(map(_suppresses_imports, node.items))):
            body = node.body  # type: ignore[attr-defined] # one of the two that have one
            yield body[0].lineno, body[-1].end_lineno or body[-1].lineno


def _suppresses_imports(item: ast.withitem) -> bool:
    call = item.context_expr
    if not isinstance(call, ast.Call) or not ast.unparse(call.func).endswith("suppress"):
        return False
    return any(ast.unparse(name).rpartition(".")[2] in _IMPORT_ERRORS for name in call.args)


def _catches_imports(handler: ast.ExceptHandler) -> bool:
    if handler.type is None:
        return True
    names = handler.type.elts if isinstance(handler.type, ast.Tuple) else [handler.type]
    return any(ast.unparse(name).rpartition(".")[2] in _IMPORT_ERRORS for name in names)
