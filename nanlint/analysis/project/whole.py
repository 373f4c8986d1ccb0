"""One project, read and interpreted as a whole, and asked about one place of it."""

# ruff: noqa: PTH - asked for thousands of files; pathlib costs ten times as much

from __future__ import annotations

import gc
import os
import re
import sys
from contextlib import contextmanager
from typing import TYPE_CHECKING

from nanlint.analysis.project.consequence import Consequence
from nanlint.analysis.project.gradient import Gradients
from nanlint.analysis.project.graph import Graph
from nanlint.analysis.project.index import Project
from nanlint.analysis.source_text import SourceText
from nanlint.source.project_stamp import python_files

if TYPE_CHECKING:
    from collections.abc import Iterator

    from nanlint.analysis.op_graph import Op
    from nanlint.analysis.project.index import Function, Module

# Tests and examples call what nobody else calls, with what nobody else passes.
_NO_CALLERS = re.compile(r"(^|/)(tests?|testing|docs?|examples?)/|(^|/)(test_[^/]*|[^/]*_test|conftest|setup)\.py$")
_LARGEST_PROJECT = 12_000_000
_RECURSION_LIMIT = 4000
_ABOUT = (b"torch", b"numpy", b"lightning")


class WholeProject:
    """Every function of a project, interpreted once. Nothing is run."""

    def __init__(self, root: str, *, is_project: bool = True) -> None:
        found = list(python_files(root, below=is_project))
        paths = [entry.path for entry in found]
        self.is_whole = is_project and sum(entry.stat().st_size for entry in found) <= _LARGEST_PROJECT
        """False for a lone folder, or for a project that is too large to be read at once: then nobody knows who calls what."""
        self.graph = Graph(Project(root, paths))
        self.consequence: Consequence | None = None
        self._gradients = Gradients(self.graph)
        self._by_line: dict[str, dict[int, list[Op]]] = {}
        if self.is_whole:
            self._interpret([path for path in paths if not _is_test(os.path.relpath(path, root))])

    def _interpret(self, paths: list[str]) -> None:
        with _room_to_recurse():
            for path in paths:
                module = self.graph.project.module(path) if _is_about_arrays(path) else None
                if module is not None:
                    self.graph.run_module(module)
            self.consequence = Consequence(self.graph)

    def file(self, path: str, text: str) -> FileInProject | None:
        """One file as it is now; None if Python cannot read it."""
        module = self.graph.project.module(path)
        if module is None or module.text != text:
            return self._alone(path, text)
        with _room_to_recurse():
            self.graph.run_module(module)
            if self.consequence is None:
                self.consequence = Consequence(self.graph)
        return FileInProject(self, module, SourceText(text))

    def _alone(self, path: str, text: str) -> FileInProject | None:
        """A text that is not the file on disk (an editor's, a notebook's cells): nobody knows who calls it."""
        other = WholeProject.__new__(WholeProject)
        other.is_whole = False
        other.graph = Graph(Project(self.graph.project.root, self.graph.project.paths))
        other.consequence = None
        other._gradients = Gradients(other.graph)
        other._by_line = {}
        module = other.graph.project.replaced(path, text)
        return other.file(path, text) if module is not None else None

    def ends_of(self, op: Op) -> int:
        """Where the result of an operation goes; 0 where nobody knows."""
        return self.consequence.of(op) if self.consequence is not None else 0

    def is_cut_off(self, op: Op) -> bool:
        """Whether no gradient comes back to an operation, whatever is done with its result."""
        return self._gradients.is_cut_off(op)

    def op_at(self, path: str, line: int, end_line: int, function: str) -> Op | None:
        """The operation called `function` on these lines, the outermost first; None if there is none."""
        if path not in self._by_line:
            self._by_line[path] = {}
            for each in self.graph.done:
                for op in each.ops if each.module.path == path else ():
                    if op.copy_of is None and op.node is not None:
                        self._by_line[path].setdefault(getattr(op.node, "lineno", 0), []).append(op)
        lines = self._by_line[path]
        found = (op for number in range(line, end_line + 1) for op in reversed(lines.get(number, [])))
        return next((op for op in found if op.function == function), None)

    def knows_callers(self, function: Function) -> bool:
        """Whether those who call it are all in sight: it is private or nested, in a project that was read as a whole."""
        return self.is_whole and (function.name.startswith("_") or function.parent is not None) and bool(function.calls)


class FileInProject:
    """One file, interpreted, with the project around it."""

    def __init__(self, project: WholeProject, module: Module, source: SourceText) -> None:
        self.project = project
        self.module = module
        self.source = source

    @property
    def functions(self) -> list[Function]:
        """Every function of the file that was interpreted, inner ones too."""
        return [function for function in self.project.graph.done if function.module is self.module]


@contextmanager
def _room_to_recurse() -> Iterator[None]:
    """Deeply nested code is walked down into; nothing of it is garbage before the end."""
    limit, collects = sys.getrecursionlimit(), gc.isenabled()
    sys.setrecursionlimit(max(limit, _RECURSION_LIMIT))
    gc.disable()
    try:
        yield
    finally:
        sys.setrecursionlimit(limit)
        if collects:
            gc.enable()


def _is_test(path: str) -> bool:
    return _NO_CALLERS.search(path.replace(os.sep, "/")) is not None


def _is_about_arrays(path: str) -> bool:
    try:
        with open(path, "rb") as file:
            data = file.read()
    except OSError:
        return False
    return any(word in data for word in _ABOUT)
