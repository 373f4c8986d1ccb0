"""Import the user's packages although something in them fails: what fails is left out, and the rest is there.

A package that wants an older Python, a registry that meets a stand-in, a decorator that asks for what is not installed:
one statement breaks, and with it everything that imports the file. Here a file is run to its first failure; from there
on only definitions are run, each on its own, and the names that one of them would have bound are stubs.
"""

from __future__ import annotations
import __future__

import ast
import importlib.abc
import importlib.machinery
import sys
from typing import TYPE_CHECKING, Any

from nanlint.confirm.worker.stub_objects import Stub, part

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence
    from types import ModuleType

DEFINITIONS = (
    ast.Import,
    ast.ImportFrom,
    ast.FunctionDef,
    ast.AsyncFunctionDef,
    ast.ClassDef,
    ast.Assign,
    ast.AnnAssign,
)
_KEPT_DECORATORS = frozenset(
    {
        "abstractmethod",
        "cache",
        "cached_property",
        "classmethod",
        "contextmanager",
        "dataclass",
        "getter",
        "inference_mode",
        "lru_cache",
        "no_grad",
        "once_differentiable",
        "overload",
        "property",
        "setter",
        "staticmethod",
        "wraps",
    }
)
"""Decorators without which a method is another thing."""


class Interrupted(BaseException):
    """Somebody outside wants the import to end; no `except Exception` of the user's file stops it."""


class LenientFinder(importlib.abc.MetaPathFinder):
    """Serves the user's own packages with a loader that leaves out what fails."""

    def __init__(self, own: frozenset[str]) -> None:
        self.own = own

    def find_spec(
        self, name: str, path: Sequence[str] | None, target: ModuleType | None = None
    ) -> importlib.machinery.ModuleSpec | None:
        """The spec that the import system would find, with another loader."""
        if name.partition(".")[0] not in self.own:
            return None
        spec = importlib.machinery.PathFinder.find_spec(name, path, target)
        if spec is not None and type(spec.loader) is importlib.machinery.SourceFileLoader:
            spec.loader = LenientLoader(name, spec.loader.path)
        return spec


class LenientLoader(importlib.machinery.SourceFileLoader):
    """Runs a file to its end, whatever fails in between."""

    def exec_module(self, module: ModuleType) -> None:
        """The file as it is; from the first failure on its definitions alone."""
        try:
            super().exec_module(module)
        except Interrupted:
            raise
        except BaseException as error:  # noqa: BLE001 - the border to the user's code
            text = self.get_data(self.path).decode("utf-8", "replace")
            run_definitions(module, self.path, text, first=_failed_line(error, self.path))


def _failed_line(error: BaseException, path: str) -> int:
    """The line at the top level of the file at which it failed."""
    trace = error.__traceback__
    while trace is not None:
        if trace.tb_frame.f_code.co_name == "<module>" and trace.tb_frame.f_code.co_filename == path:
            return trace.tb_lineno
        trace = trace.tb_next
    return 0


def run_definitions(module: ModuleType, path: str, text: str, *, first: int = 0) -> None:
    """Run the imports, functions, classes and assignments of a text from a line on; SyntaxError if it is no Python."""
    flags = __future__.annotations.compiler_flag if "from __future__ import annotations" in text else 0
    for statement in _defining(ast.parse(text).body):
        if (statement.end_lineno or statement.lineno) >= first:
            _Runner(module, path, flags).run(statement)


def _defining(body: list[ast.stmt]) -> Iterator[ast.stmt]:
    for statement in body:
        if isinstance(statement, (*DEFINITIONS, ast.Try)) or (
            isinstance(statement, ast.If) and "__name__" not in ast.unparse(statement.test)
        ):
            yield statement


class _Runner:
    """Runs one statement after the other in a module, and mends those that fail."""

    def __init__(self, module: ModuleType, path: str, flags: int) -> None:
        self.module, self.path, self.flags = module, path, flags

    def run(self, statement: ast.stmt) -> None:
        if isinstance(statement, ast.Try):
            self._each([*statement.body, *statement.orelse] if self._passes(statement) is not None else [])
        elif isinstance(statement, ast.If):
            self._branch(statement)
        elif self._passes(statement) is not None:
            self._mend(statement)

    def _each(self, body: list[ast.stmt]) -> None:
        for statement in body:
            self.run(statement)

    def _passes(self, statement: ast.stmt) -> BaseException | None:
        """Run a statement; what it raised, None if nothing."""
        try:
            code = compile(ast.Module([statement], []), self.path, "exec", flags=self.flags, dont_inherit=True)
            exec(code, self.module.__dict__)  # noqa: S102 - the user's own file, in the sandbox
        except Interrupted:
            raise
        except BaseException as error:  # noqa: BLE001 - SystemExit and what a stub provokes
            return error
        return None

    def _branch(self, statement: ast.If) -> None:
        try:
            test = compile(ast.Expression(statement.test), self.path, "eval", flags=self.flags, dont_inherit=True)
            chosen = statement.body if eval(test, self.module.__dict__) else statement.orelse  # noqa: S307 - same
        except Interrupted:
            raise
        except BaseException:  # noqa: BLE001 - same
            chosen = statement.orelse
        self._each(chosen)

    def _mend(self, statement: ast.stmt) -> None:
        """Run what can be run of a statement that failed; the rest of its names become stubs."""
        if isinstance(statement, (ast.Import, ast.ImportFrom)) and len(statement.names) > 1:
            for alias in statement.names:
                single = type(statement)(**{**vars(statement), "names": [alias]})
                self.run(ast.copy_location(single, statement))
            return
        if isinstance(statement, (ast.ClassDef, ast.FunctionDef, ast.AsyncFunctionDef)):
            # The tree is not used again, so it may be changed.
            _undecorate(statement)
            if self._passes(statement) is None:
                return
            statement.decorator_list = []
            if self._passes(statement) is None:
                return
            if isinstance(statement, ast.ClassDef) and self._without_failing_parts(statement):
                return
        for name in _bound(statement):
            self.module.__dict__.setdefault(name, part(name) if not name.startswith("__") else Stub(name))

    def _without_failing_parts(self, statement: ast.ClassDef) -> bool:
        """A class without the statements of its body that fail; its methods are what we come for."""
        statement.body = [
            one for one in statement.body if isinstance(one, (ast.FunctionDef, ast.AsyncFunctionDef))
        ] or statement.body[:1]
        return self._passes(statement) is None


def _undecorate(statement: ast.stmt) -> None:
    for node in ast.walk(statement):
        if isinstance(node, (ast.ClassDef, ast.FunctionDef, ast.AsyncFunctionDef)):
            node.decorator_list = [one for one in node.decorator_list if _is_kept(one)]


def _is_kept(decorator: ast.expr) -> bool:
    called = decorator.func if isinstance(decorator, ast.Call) else decorator
    return ast.unparse(called).rpartition(".")[2] in _KEPT_DECORATORS


def _bound(statement: ast.stmt) -> Iterator[str]:
    """The names that a statement would have bound."""
    if isinstance(statement, (ast.Import, ast.ImportFrom)):
        for alias in statement.names:
            yield alias.asname or alias.name.partition(".")[0]
    elif isinstance(statement, (ast.ClassDef, ast.FunctionDef, ast.AsyncFunctionDef)):
        yield statement.name
    else:
        for node in ast.walk(statement):
            if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store):
                yield node.id


def import_leniently(own: frozenset[str]) -> None:
    """From now on the user's packages are imported without what fails in them; what was imported is forgotten."""
    # Behind what lends texts and replaces broken packages.
    sys.meta_path.insert(sys.meta_path.index(importlib.machinery.PathFinder), LenientFinder(own))
    for name in list(sys.modules):
        if name.partition(".")[0] in own:
            del sys.modules[name]


def holds(module: Any, name: str) -> bool:
    """Whether a module has a thing of its own under a name, and no stub."""
    return name in vars(module) and not isinstance(vars(module)[name], Stub)
