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
from nanlint.analysis.project.graph import Graph
from nanlint.analysis.project.index import Project
from nanlint.analysis.source_text import SourceText

if TYPE_CHECKING:
    from collections.abc import Iterator

    from nanlint.analysis.op_graph import Op
    from nanlint.analysis.project.index import Function, Module

# Tests and examples call what nobody else calls, with what nobody else passes.
_NO_CALLERS = re.compile(r"(^|/)(tests?|testing|docs?|examples?)/|(^|/)(test_[^/]*|[^/]*_test|conftest|setup)\.py$")
_LARGEST_FILE, _LARGEST_PROJECT = 1_000_000, 12_000_000
_RECURSION_LIMIT = 4000
_ABOUT = (b"torch", b"numpy", b"lightning")


class WholeProject:
    """Every function of a project, interpreted once. Nothing is run."""

    def __init__(self, root: str, excluded: frozenset[str]) -> None:
        paths = list(_python_files(root, excluded))
        self.is_whole = sum(size for _, size in paths) <= _LARGEST_PROJECT
        """False for a project that is too large to be read at once: then nobody knows who calls what."""
        self.graph = Graph(Project(root, [path for path, _ in paths]))
        self.consequence: Consequence | None = None
        if self.is_whole:
            self._interpret(
                [path for path, _ in paths if not _NO_CALLERS.search(os.path.relpath(path, root).replace(os.sep, "/"))]
            )

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
        module = other.graph.project.replaced(path, text)
        return other.file(path, text) if module is not None else None

    def ends_of(self, op: Op) -> int:
        """Where the result of an operation goes; 0 where nobody knows."""
        return self.consequence.of(op) if self.consequence is not None else 0

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


def _python_files(root: str, excluded: frozenset[str]) -> Iterator[tuple[str, int]]:
    """Each Python file below a folder with its size, links and generated monsters left out."""
    for folder, folders, files in os.walk(root):
        folders[:] = sorted(name for name in folders if name not in excluded and not name.startswith("."))
        for name in sorted(files):
            path = os.path.join(folder, name)
            if name.endswith(".py") and not os.path.islink(path):
                try:
                    size = os.path.getsize(path)
                except OSError:
                    continue
                if size <= _LARGEST_FILE:
                    yield path, size


def _is_about_arrays(path: str) -> bool:
    try:
        with open(path, "rb") as file:
            data = file.read()
    except OSError:
        return False
    return any(word in data for word in _ABOUT)
