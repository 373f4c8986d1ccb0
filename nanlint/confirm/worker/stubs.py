"""Stand-ins for packages that are not installed, or that are and do not import.

One missing package must not keep a whole repository from being run. A stub can be a base class, a decorator, a context
manager or a function, and gives another stub for whatever it is asked. It is served only where the code does not
expect the import to fail: inside `try` the code has its own answer, and `importlib.util.find_spec` is told the truth.
"""

from __future__ import annotations

import ast
import importlib.abc
import importlib.machinery
import linecache
import sys
import types
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

NEVER = frozenset({"torch", "numpy", "nanlint", "einops", "packaging"})
"""What a stub would do more harm than good for: without these there is nothing to run."""
_IMPORT_ERRORS = frozenset({"ImportError", "ModuleNotFoundError", "Exception", "BaseException", "RuntimeError"})


class _Meta(type):
    def __getattr__(cls, name: str) -> Any:
        return _part(name)

    def __iter__(cls) -> Iterator[Any]:
        return iter(())

    def __getitem__(cls, key: object) -> Any:
        return cls

    def __or__(cls, other: object) -> Any:
        return cls

    __ror__ = __or__


class Stub(metaclass=_Meta):
    """Whatever the code takes it for."""

    def __init__(self, *args: object, **kwargs: object) -> None:
        pass

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        """Itself again; as a decorator, the function as it is."""
        # As a decorator it leaves the function as it is.
        if len(args) == 1 and not kwargs and (isinstance(args[0], type) or callable(args[0])):
            return args[0]
        return self

    def __getattr__(self, name: str) -> Any:
        return _part(name)

    def __enter__(self) -> Any:
        return self

    def __exit__(self, *args: object) -> None:
        return None

    def __iter__(self) -> Iterator[Any]:
        return iter(())

    def __getitem__(self, key: object) -> Any:
        return self

    def __bool__(self) -> bool:
        return False

    def __or__(self, other: object) -> Any:
        return self

    __ror__ = __or__


def _part(name: str) -> Any:
    """What a stub has under a name: capitalised ones are classes, so they can be base classes."""
    if name.startswith("__") and name.endswith("__"):
        raise AttributeError(name)
    return type(name, (Stub,), {}) if name[:1].isupper() else Stub()


class StubModule(types.ModuleType):
    """A module in which every name exists."""

    __path__: list[str] = []  # noqa: RUF012 - what the import system expects of a package
    __version__ = "0.0.0"

    def __getattr__(self, name: str) -> Any:
        return _part(name)


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
        """The stub itself."""
        return StubModule(spec.name)

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
    """The bodies of `try` statements that catch what a failing import raises."""
    try:
        tree = ast.parse(text)
    except SyntaxError:
        return
    for node in ast.walk(tree):
        if isinstance(node, ast.Try) and any(map(_catches_imports, node.handlers)):
            yield node.body[0].lineno, node.body[-1].end_lineno or node.body[-1].lineno


def _catches_imports(handler: ast.ExceptHandler) -> bool:
    if handler.type is None:
        return True
    names = handler.type.elts if isinstance(handler.type, ast.Tuple) else [handler.type]
    return any(ast.unparse(name).rpartition(".")[2] in _IMPORT_ERRORS for name in names)
