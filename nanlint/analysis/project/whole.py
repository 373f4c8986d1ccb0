"""One project, read and interpreted as a whole, and asked about one place of it."""

from __future__ import annotations

import ast
import gc
import os
import re
import sys
from contextlib import contextmanager
from functools import cached_property
from typing import TYPE_CHECKING

from nanlint.analysis.project.consequence import Consequence
from nanlint.analysis.project.gradient import Gradients
from nanlint.analysis.project.graph import Graph
from nanlint.analysis.project.index import Project
from nanlint.analysis.project.mentions import Mentions
from nanlint.analysis.project.scripts import only_runs_a_model
from nanlint.analysis.project.without_gradient import comes_without_gradient
from nanlint.analysis.source_text import SourceText
from nanlint.analysis.training_loop.code import Code
from nanlint.source.projects.stamp import LARGEST_PROJECT, project_stamp, python_files
from nanlint.source.read import UnreadableSource, read_bytes
from nanlint.source.syntax.outline import outline_of

if TYPE_CHECKING:
    from collections.abc import Iterator

    from nanlint.analysis.op_graph import Op, Value
    from nanlint.analysis.project.index import Function, Module
    from nanlint.source.syntax.outline import Outline

# Tests and examples call what nobody else calls, with what nobody else passes.
_NO_CALLERS = re.compile(r"(^|/)(tests?|testing|docs?|examples?)/|(^|/)(test_[^/]*|[^/]*_test|conftest|setup)\.py$")
_RECURSION_LIMIT = 4000
_ABOUT = (b"torch", b"numpy", b"lightning")
# Graphs are circles, which only the collector frees; it is asked once so many operations were made for files looked at alone.
# Callers of callers of …
_FURTHEST_CALLER = 4
_COLLECT_FROM = 60_000


class WholeProject:
    """Every function of a project, interpreted once. Nothing is run."""

    def __init__(self, root: str, *, is_project: bool = True) -> None:
        found = list(python_files(root, below=is_project))
        self._project = Project(root, [entry.path for entry in found])
        self.is_whole = is_project and sum(entry.stat().st_size for entry in found) <= LARGEST_PROJECT
        """False for a lone folder, or for a project that is too large to be read at once: then nobody knows who calls what."""
        self._files: dict[str, FileInProject] = {}
        self._let_go = 0
        """How many operations were made for files that were looked at alone, and may be garbage by now."""
        if self.is_whole:
            self._project.stamp = project_stamp(root)
            self._interpret([entry.path for entry in found if not _is_test(os.path.relpath(entry.path, root))])

    def _interpret(self, paths: list[str]) -> None:
        graph = Graph(self._project)
        modules: list[Module] = []
        with _room_to_recurse():
            for path in paths:
                module = graph.project.module(path) if _is_about_arrays(path) else None
                if module is not None:
                    graph.run_module(module)
                    modules.append(module)
            consequence, gradients, mentions = Consequence(graph), Gradients(graph), Mentions(graph.project)
        for module in modules:
            self._files[module.path] = FileInProject(graph, consequence, gradients, module, mentions=mentions)

    def file(self, path: str, text: str) -> FileInProject | None:
        """One file as it is now; None if Python cannot read it."""
        known = self._files.get(path)
        return known if known is not None and known.module.text == text else self._alone(path, text)

    def _alone(self, path: str, text: str) -> FileInProject | None:
        """A test, an editor's text, a notebook's cells, a file of a huge project: nobody knows who calls it."""
        if self._let_go > _COLLECT_FROM:
            gc.collect()
            self._let_go = 0
        graph = Graph(self._project.unread())
        module = graph.project.replaced(path, text)
        if module is None:
            return None
        with _room_to_recurse():
            graph.run_module(module)
            self._let_go += sum(len(function.ops) for function in graph.done)
            return FileInProject(graph, Consequence(graph), Gradients(graph), module, is_alone=True)


class FileInProject:
    """One file, interpreted, with the project around it."""

    def __init__(  # noqa: PLR0913 - what is known around one file
        self,
        graph: Graph,
        consequence: Consequence,
        gradients: Gradients,
        module: Module,
        *,
        mentions: Mentions | None = None,
        is_alone: bool = False,
    ) -> None:
        self.graph = graph
        self.module = module
        self.functions = list(module.interpreted)
        """Every function of the file that was interpreted, inner ones too."""
        self.is_alone = is_alone
        """Whether the rest of the project was read only as far as the file's imports lead."""
        self.source = SourceText(module.text)
        self._consequence = consequence
        self._gradients = gradients
        self._mentions = Mentions(graph.project) if mentions is None else mentions
        self._by_line: dict[int, list[Op]] = {}
        self._codes: dict[Function, Code] = {}
        self._outlines: dict[str, Outline] = {}

    def let_go(self) -> None:
        """Forget a file that was looked at alone, and all that was read for it: nobody asks about it again."""
        if self.is_alone:
            self._codes.clear()
            self.graph.let_go()

    def ends_of(self, op: Op) -> int:
        """Where the result of an operation goes: bits of `consequence`; 0 where nobody knows."""
        return self._consequence.of(op)

    def source_of(self, op: Op) -> SourceText:
        """The text of the file that an operation is written in."""
        module = op.scope.module if op.scope is not None else self.module
        return self.source if module is self.module else SourceText(module.text)

    def outline_of(self, module: Module) -> Outline | None:
        """What a file of the project holds; None for what is no whole file."""
        tree = module.body.node
        if module.path not in self._outlines and isinstance(tree, ast.Module):
            self._outlines[module.path] = outline_of(tree)
        return self._outlines.get(module.path)

    def code_of(self, function: Function) -> Code:
        """A function as it is written, with the values of its expressions."""
        if function not in self._codes:
            self._codes[function] = Code(function, self.source, self.graph)
        return self._codes[function]

    def is_cut_off(self, op: Op) -> bool:
        """Whether no gradient comes back to an operation, whatever is done with its result."""
        is_run_without = op.scope is not None and self._is_run_without_gradient(op.scope)
        return is_run_without or self._gradients.is_cut_off(op)

    def _is_run_without_gradient(self, function: Function, depth: int = _FURTHEST_CALLER) -> bool:
        """Whether all who call it are in sight, and all of them do so under `no_grad`."""
        if not depth or not self.sees_all_calls(function):
            return False
        return all(
            not site.op.recorded
            or (site.op.scope is not None and self._is_run_without_gradient(site.op.scope, depth - 1))
            for site in function.calls
        )

    @cached_property
    def only_runs_a_model(self) -> bool:
        """Whether it is a script that tests or shows what other files train, which nothing imports."""
        project = self.module.project
        is_known = not self.is_alone or _is_test(os.path.relpath(self.module.path, project.root or None))
        return is_known and only_runs_a_model(self.module) and not project.importers(self.module)

    def op_at(self, line: int, end_line: int, function: str) -> Op | None:
        """The operation called `function` on these lines, the outermost first; None if there is none."""
        if not self._by_line:
            for op in (op for each in self.functions for op in each.ops if op.copy_of is None):
                self._by_line.setdefault(getattr(op.node, "lineno", 0), []).append(op)
        found = (op for number in range(line, end_line + 1) for op in reversed(self._by_line.get(number, [])))
        return next((op for op in found if op.function == function), None)

    def knows_callers(self, function: Function) -> bool:
        """Whether those who call it are all in sight: it is private or nested, in a project that was read as a whole."""
        is_private = function.name.startswith("_") or function.parent is not None
        return is_private and bool(function.calls) and not self.is_alone

    def may_be_called_elsewhere(self, function: Function) -> bool:
        """Whether something may be a call of it that was not followed: `model.loss(x)` of a model that nobody knows."""
        if self.knows_callers(function):
            return False
        named = self._mentions.of_method(function) if function.is_method else self._mentions.of(function)
        return named > len({site.op.node for site in function.calls})

    def comes_without_gradient(self, value: Value) -> bool:
        """Whether nothing trained goes into a value, whoever passes it."""
        return comes_without_gradient(value, self.sees_all_calls)

    def is_named_by_nobody(self, function: Function) -> bool:
        """Whether no file of the project calls it or hands it on."""
        return not (self.is_alone or function.is_method or function.parent or function.calls) and not self._mentions.of(
            function
        )

    def sees_all_calls(self, function: Function) -> bool:
        """Whether who calls it is known: as `knows_callers`, or because all that names it was interpreted as a call of it."""
        if self.knows_callers(function):
            return True
        calls = {site.op.node for site in function.calls}
        if self.is_alone or function.is_method or not calls:
            return False
        return self._mentions.of(function) == len(calls)


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
        data = read_bytes(path)
    except UnreadableSource:
        return False
    return any(word in data for word in _ABOUT)
