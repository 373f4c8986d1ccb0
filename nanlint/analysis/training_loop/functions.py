"""The functions of a file and of the project around it, as code that training loops are read from."""

from __future__ import annotations

import ast
from functools import cached_property
from typing import TYPE_CHECKING

from nanlint.analysis.project.index import Class, Function
from nanlint.analysis.project.syntax_names import inner_statements
from nanlint.analysis.source_text import SourceText
from nanlint.analysis.training_loop.code import Code, names_among
from nanlint.source.syntax.below import walk
from nanlint.word_sets import word_set

if TYPE_CHECKING:
    from collections.abc import Iterator

    from nanlint.analysis.project.index import Module
    from nanlint.analysis.project.whole import FileInProject

# A function that uses none of these, nor calls one that does, has no part in training.
_WORDS = word_set("""
    backward manual_backward step zero_grad unscale_ unscale unscale_gradients scale update clip_grad_norm_
    clip_grad_norm clip_grad_value_ clip_gradients clip_grad update_parameters grad save save_checkpoint save_pretrained
    save_state save_model isnan isinf isfinite ema all_reduce
""")
# Functions that call functions are looked into so far, and so many of them.
_DEEPEST, _MOST = 4, 60
_FUNCTIONS = (ast.FunctionDef, ast.AsyncFunctionDef)
_CALLING = word_set("forward __call__")


class Functions:
    """What training loops of one file are read from."""

    def __init__(self, file: FileInProject) -> None:
        self.file = file
        self.module = file.module
        self._sources: dict[Module, SourceText] = {file.module: file.source}
        self._codes: dict[Function, Code] = {}
        self._training: dict[Function, bool] = {}

    def code_of(self, function: Function) -> Code:
        """The function as code."""
        if function not in self._codes:
            module = function.module
            if module not in self._sources:
                self._sources[module] = SourceText(module.text)
            self._codes[function] = Code(function, self._sources[module], self.file.graph)
        return self._codes[function]

    @property
    def tree(self) -> ast.Module:
        """The file."""
        node = self.module.body.node
        return node if isinstance(node, ast.Module) else ast.Module([], [])

    @cached_property
    def words(self) -> frozenset[str]:
        """Every name and attribute of the file."""
        return names_among(walk(self.tree))

    @cached_property
    def of_file(self) -> list[Function]:
        """Every function and method of the file, those included that a later one of the same name hides; its own statements first."""
        known: dict[ast.AST, Function] = {function.node: function for function in self.module.all_functions()}
        return [self.module.body, *self._in_block(self.tree.body, None, known)]

    def _in_block(
        self, body: list[ast.stmt], owner: Class | None, known: dict[ast.AST, Function]
    ) -> Iterator[Function]:
        for statement in body:
            if isinstance(statement, _FUNCTIONS):
                function = known.get(statement)
                if function is None:
                    name = f"{owner.qualname}.{statement.name}" if owner is not None else statement.name
                    function = Function(statement, self.module, owner, name)
                    self.file.graph.run(function)
                yield function
            elif isinstance(statement, ast.ClassDef):
                held = self.module.classes.get(statement.name)
                hidden = held if held is not None and held.node is statement else None
                yield from self._in_block(
                    statement.body, hidden or Class(statement, self.module, statement.name), known
                )
            else:
                yield from self._in_block(inner_statements(statement), owner, known)

    def may_train(self, function: Function) -> bool:
        """Whether a function may have a part in training by the words it uses, or by those of what it calls."""
        if function not in self._training:
            self._training[function] = self._looks_like_training(function)
        return self._training[function]

    def _looks_like_training(self, function: Function) -> bool:
        if self._is_forward(function):
            return False
        level, seen = [function], {function}
        for _ in range(_DEEPEST):
            if any(not _WORDS.isdisjoint(self.code_of(each).words) for each in level):
                return True
            called = [other for each in level for other in self.called_by(each) if not self._is_forward(other)]
            level = [each for each in dict.fromkeys(called) if each not in seen]
            seen.update(level)
            if not level or len(seen) > _MOST:
                break
        return False

    def _is_forward(self, function: Function) -> bool:
        """Whether it is what a model computes when it is called."""
        owner = function.owner
        return owner is not None and function.name in _CALLING and self.file.graph.project.is_module_class(owner)

    def called_by(self, function: Function) -> list[Function]:
        """The functions of the project that a function calls, as far as it is known which they are."""
        code = self.code_of(function)
        calls = [code.callee_at(node) for node in code.nodes if isinstance(node, ast.Call)]
        return [callee for callee in calls if callee is not None]
