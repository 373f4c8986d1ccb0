"""Where the operation of a hazard stands: its function, its statement and the comments there; and where its result goes."""

from __future__ import annotations

import ast
from functools import lru_cache
from typing import TYPE_CHECKING

from nanlint.analysis.listed_nodes import ids_in, nodes_of, used_once
from nanlint.analysis.op_graph import Op, Value, made_from, name_of
from nanlint.analysis.project.consequence import RETURNED
from nanlint.analysis.relations import op_behind
from nanlint.analysis.trained_by_name import is_test_file
from nanlint.hazards.op_uses import may_use
from nanlint.hazards.operand import Operand
from nanlint.model import Label
from nanlint.source.syntax.below import walk
from nanlint.source.syntax.file_imports import TORCH, global_imports, line_for_torch
from nanlint.source.syntax.outline import MODULE
from nanlint.word_sets import torch_names

if TYPE_CHECKING:
    from collections.abc import Iterator

    from nanlint.analysis.project.index import Function
    from nanlint.analysis.project.whole import FileInProject
    from nanlint.analysis.source_text import SourceText
    from nanlint.analysis.training_loop.code import Code

_TESTS = torch_names("isnan isinf isfinite")


class Placed:
    """The part of a hazard that is about its place."""

    op: Op
    operand: Operand
    function: Function
    file: FileInProject
    source: SourceText
    ends: int

    @property
    def _statement(self) -> ast.stmt | None:
        """The innermost statement that it stands in."""
        return self._statement_at(getattr(self.op.node, "lineno", 0))

    def _statement_at(self, line: int) -> ast.stmt | None:
        around = [node for node in _statements(self.function.node) if node.lineno <= line <= (node.end_lineno or 0)]
        return max(around, key=lambda node: node.lineno, default=None)

    @property
    def ends_with_gradient(self) -> int:
        """Where the result goes, but for a caller that gets a plain number; of a test, where what it asks about goes."""
        value = self.operand.value
        made = self.op if self.op.function not in _TESTS else op_behind(value)
        ends = self.file.ends_of(made) if made is not None else self.ends
        return ends & ~RETURNED if made is None or self.file.is_cut_off(made) else ends

    @property
    def code(self) -> Code:
        """The function as it is written, with the values of its expressions."""
        return self.file.code_of(self.function)

    @property
    def called(self) -> str:
        """The name of the operation, or of what is called."""
        return name_of(self.op)

    @property
    def is_in_tests(self) -> bool:
        """Whether the file holds tests, by its name: no run of anybody's breaks there."""
        return is_test_file(self.function.module.path)

    @property
    def users(self) -> str:
        """The functions that the calls of its function begin in, with a space between; empty where that is nobody, or a script."""
        found = sorted({each.qualname for each in _beginnings(self.function.outermost)})
        return " ".join(found) if self.function.calls and MODULE not in found else ""

    @property
    def is_in_optimizer_step(self) -> bool:
        """Whether it computes what an optimizer of the project does to the weights: no gradient is recorded, and all is trained by it."""
        return self.function.name == "step" and self.function.module.project.is_never_recorded(self.function)

    @property
    def is_used(self) -> bool:
        """Whether anything is done with the result: it is no statement of its own, nor a name nobody reads."""
        kept = [value for _, value, _ in self.function.sinks]
        kept += [value for held in self.function.stores.values() for value in held]
        return bool(may_use(self.op, self.function)) or any(made_from(value) is self.op for value in kept)

    @property
    def comments(self) -> str:
        """What the comments of its statement say, and those right above."""
        statement = self._statement
        first = statement.lineno if statement is not None else getattr(self.op.node, "lineno", 1)
        return self.source.comments_in(first, getattr(self.op.node, "end_lineno", first))

    def is_here(self, op: Op) -> bool:
        """Whether an operation is written in the same function."""
        return op.scope is not None and op.scope.node is self.function.node

    @property
    def outer_function(self) -> str:
        """The qualified name of the function of the file that it stands in; of an inner function, that around it."""
        return self.function.outermost.qualname

    @property
    def beside(self) -> list[Op]:
        """The operations of the statement that it stands in, itself included, in the order they are computed.

        A name that is used once makes one statement of two.
        """
        statement = self._statement
        if statement is None:
            return [self.op]
        inside, before = set(map(id, walk(statement))), 0
        while before < len(inside):
            before = len(inside)
            for read, value in used_once(self.function.node):
                if id(read) in inside:
                    inside.update(map(id, walk(value)))
                elif id(value) in inside and (user := self._statement_at(read.lineno)) is not None:
                    inside.update(map(id, walk(user)))
        return [op for op in self.function.ops if op.copy_of is None and id(op.node) in inside]

    @property
    def is_in_a_loop(self) -> bool:
        """Whether it stands in a loop of a script."""
        node, line = self.function.node, getattr(self.op.node, "lineno", 0)
        loops = (*nodes_of(node, ast.For), *nodes_of(node, ast.While))
        return any(loop.lineno <= line <= (loop.end_lineno or 0) for loop in loops)

    def name_of(self, full: str) -> str | None:
        """What the file calls a module (`torch`, `torch.nn.functional`); None if it does not import it, and a fix could not."""
        tree = self.function.module.body.node
        if not isinstance(tree, ast.Module):
            return None
        named = {meant: local for local, meant in reversed(global_imports(tree.body).items())}
        if full in named:
            return named[full]
        outer, _, last = full.rpartition(".")
        if not outer:
            return TORCH if full == TORCH and line_for_torch(tree) else None
        above = self.name_of(outer)
        return f"{above}.{last}" if above is not None else None

    def quote(self, node: ast.AST | None, longest: int = 60) -> str:
        """Any part of the file as it is written, in one line, cut if it is long."""
        return Operand(Value(), node, self.source).quoted(longest)

    def label_at(self, node: ast.AST | None, text: str) -> tuple[Label, ...]:
        """A label at a node of the same file, apart from the operand."""
        tree = self.function.module.body.node
        if not isinstance(node, ast.expr) or id(node) not in ids_in(tree):
            return ()
        place, own = self.source.span_of(node), self.operand.span
        return (Label(place, text),) if own is None or not place.overlaps(own) else ()


def _beginnings(function: Function, depth: int = 4) -> Iterator[Function]:
    """The functions that nobody in sight calls, through which a function is called; itself if nobody calls it."""
    callers = {site.op.scope for site in function.calls if site.op.scope is not None} - {function}
    if not callers or not depth:
        yield function
    for caller in callers if depth else ():
        yield from _beginnings(caller.outermost, depth - 1)


@lru_cache(maxsize=16)
def _statements(function: ast.AST) -> list[ast.stmt]:
    return [node for node in walk(function) if isinstance(node, ast.stmt)]
