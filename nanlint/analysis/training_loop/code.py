"""One function as it is written, with the values that the interpreter has found for its expressions."""

from __future__ import annotations

import ast
import re
from functools import cached_property
from typing import TYPE_CHECKING

from nanlint.analysis.op_graph import ATTRIBUTE, CALL, GUARDED, JOIN, PARAMETER, Op, Value
from nanlint.analysis.project.syntax_names import MIRRORED, bindings, dotted
from nanlint.analysis.source_text import SourceText
from nanlint.ops.names import CANONICAL
from nanlint.source.syntax.below import given_to, nodes_below
from nanlint.word_sets import word_set

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from nanlint.analysis.project.graph import Graph
    from nanlint.analysis.project.index import Function, Module

_SPACE = re.compile(r"\s+")
# What they are called on, they leave what it was.
_LEAVING_IT = word_set(".unscale_ .to .cuda changed")
_MOST_MAKERS = 50


class WrittenValues:
    """The operations and values of one file, by the nodes where they are written."""

    def __init__(self, module: Module) -> None:
        self.ops: dict[ast.AST, Op] = {}
        self.values: dict[ast.AST, Value] = {}
        self.callees: dict[ast.Call, Function | None] = {}
        """The function of the project that is called there; None where it may be one of several."""
        self.autocasts: dict[ast.AST, str] = {}
        """The half dtype that autocast computes in, of each `with` and each function under it."""
        for function in module.interpreted:
            self.callees.update(function.callees)
            self.autocasts.update(function.autocasts)
            for op in function.ops:
                if op.node is not None and op.copy_of is None:
                    self.ops.setdefault(op.node, op)
                    self._note_operands(op)

    def _note_operands(self, op: Op) -> None:
        for name, node in op.nodes.items():
            if name in op.operands:
                self.values.setdefault(node, op.operands[name])
        if not isinstance(op.node, ast.Call):
            return
        callee = self.callees.get(op.node)
        names = [str(place) for place in range(len(op.node.args))]
        if callee is not None and op.where == callee.qualname:
            names = callee.names()[callee.is_method :]
        places = [
            *zip(names, op.node.args, strict=False),
            *((each.arg or "**", each.value) for each in op.node.keywords),
        ]
        if isinstance(op.node.func, ast.Attribute):
            places.append(("input", op.node.func.value))
        for name, node in places:
            if name in op.operands:
                self.values.setdefault(node, op.operands[name])


class Code:
    """A function, method or module body, inner functions included."""

    def __init__(self, function: Function, source: SourceText, graph: Graph) -> None:
        self.function = function
        self.source = source
        self.graph = graph
        self.node = function.node
        self._texts: dict[ast.AST, str] = {}

    @property
    def module(self) -> Module:
        """The file that it is written in."""
        return self.function.module

    @cached_property
    def nodes(self) -> list[ast.AST]:
        """Everything in it, in reading order as far as statements go; of a module, without the functions and classes at its top."""
        found: list[ast.AST] = []
        waiting: list[tuple[ast.AST, bool]] = [(self.node, isinstance(self.node, ast.Module))]
        while waiting:
            node, is_top = waiting.pop()
            found.append(node)
            if is_top and isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef):
                continue
            is_top = is_top and isinstance(node, ast.Module | ast.If | ast.Try)
            waiting.extend((child, is_top) for child in reversed(nodes_below(node)))
        return found

    @cached_property
    def parents(self) -> dict[ast.AST, ast.AST]:
        """Each node -> the node around it."""
        return {child: node for node in self.nodes for child in nodes_below(node)}

    def around(self, node: ast.AST) -> Iterator[ast.AST]:
        """The nodes around `node`, innermost first."""
        found = self.parents.get(node)
        while found is not None:
            yield found
            found = self.parents.get(found)

    @cached_property
    def words(self) -> frozenset[str]:
        """Every name and attribute in it."""
        return names_among(self.nodes)

    @cached_property
    def assigned(self) -> dict[str, list[ast.expr]]:
        """Every name and attribute with what is assigned to it, in order."""
        found: dict[str, list[ast.expr]] = {}
        for node in self.nodes:
            if isinstance(node, ast.Assign):
                for target in node.targets:
                    found.setdefault(dotted(target), []).append(node.value)
        return found

    @cached_property
    def reads(self) -> dict[str, list[ast.AST]]:
        """Every name and attribute with the places where it is read, in order."""
        found: dict[str, list[ast.AST]] = {}
        for node in self.nodes:
            if isinstance(node, ast.Name | ast.Attribute) and isinstance(node.ctx, ast.Load):
                found.setdefault(dotted(node), []).append(node)
        return found

    @cached_property
    def imports(self) -> dict[str, str]:
        """Each imported name that can be read here -> what it stands for."""
        inner = [bindings(node) for node in self.nodes if isinstance(node, ast.Import | ast.ImportFrom)]
        return {**self.module.imports, **{name: full for each in inner for name, full in each.items()}}

    def text_of(self, node: ast.AST) -> str:
        """The text of an expression by which it is recognised again: without white space."""
        if node not in self._texts:
            text = self.source.text_of(node)
            self._texts[node] = _SPACE.sub("", ast.unparse(node) if "#" in text else text)
        return self._texts[node]

    # -- values ---------------------------------------------------------------------------------------------------

    @cached_property
    def _written(self) -> WrittenValues:
        if self.module not in self.graph.written:
            self.graph.written[self.module] = WrittenValues(self.module)
        return self.graph.written[self.module]

    def op_at(self, node: ast.AST) -> Op | None:
        """The operation that an expression is; None for a plain name, or what is never reached."""
        return self._written.ops.get(node)

    def value_of(self, node: ast.AST) -> Value | None:
        """The value of an expression, where something is done with it; None where nobody knows."""
        return self._written.values.get(node)

    def callee_at(self, call: ast.Call) -> Function | None:
        """The function of the project that is called; None for any other."""
        return self._written.callees.get(call)

    def called(self, callee: Function) -> Code:
        """Another function of the project, as code."""
        source = self.source if callee.module is self.module else SourceText(callee.module.text)
        return Code(callee, source, self.graph)

    def passed_for(self, call: ast.Call, callee: Function) -> dict[str, ast.expr]:
        """What a call passes for each parameter of a function, the object of a method left out."""
        declared = callee.names()
        is_bound = isinstance(call.func, ast.Attribute) and declared[:1] in (["self"], ["cls"])
        places = zip(declared[is_bound:], call.args, strict=False)
        return {**dict(places), **{each.arg: each.value for each in call.keywords if each.arg is not None}}

    def autocast_at(self, node: ast.AST) -> str:
        """The half dtype that an autocast region around an expression computes in; empty outside of one."""
        for around in self.around(node):
            if around in self._written.autocasts:
                return self._written.autocasts[around]
            if isinstance(around, ast.FunctionDef | ast.AsyncFunctionDef):
                break
        return ""

    def number_of(self, node: ast.AST) -> float | None:
        """The number that an expression is, where that is known."""
        if isinstance(node, ast.Constant) and isinstance(node.value, int | float):
            return float(node.value)
        value = self.value_of(node)
        return value.number if value is not None else None

    def sides_of(self, test: ast.Compare) -> tuple[ast.expr, ast.cmpop, ast.expr]:
        """What is compared, how, and with what: `0 < x` is `x > 0`."""
        left, sign, right = test.left, test.ops[0], test.comparators[0]
        mirrored = MIRRORED.get(type(sign))
        if mirrored is None or not self._is_fixed(left) or self._is_fixed(right):
            return left, sign, right
        return right, mirrored(), left

    def _is_fixed(self, node: ast.expr) -> bool:
        return isinstance(node, ast.Constant) or self.number_of(node) is not None

    def function_of(self, call: ast.Call) -> str:
        """What is called, by its full name: `torch.isnan`, `.step` for a method of nobody knows what."""
        op = self.op_at(call)
        if op is not None and not op.function.startswith("<"):
            return op.function
        if op is not None and op.function == CALL and op.where:
            return CANONICAL.get(op.where, op.where)
        first, _, rest = dotted(call.func).partition(".")
        if self._is_imported(call.func):
            full = f"{self.imports[first]}.{rest}" if rest else self.imports[first]
            return CANONICAL.get(full, full)
        return f".{call.func.attr}" if isinstance(call.func, ast.Attribute) else first

    def receiver_of(self, call: ast.Call) -> ast.expr | None:
        """What a method is called on; None for a function, be it one of a module."""
        if not isinstance(call.func, ast.Attribute):
            return None
        op = self.op_at(call)
        is_method = op is not None and op.function == CALL and op.where.startswith(".")
        return call.func.value if is_method or not self._is_imported(call.func.value) else None

    def _is_imported(self, node: ast.AST) -> bool:
        first = dotted(node).partition(".")[0]
        return first in self.imports and first not in self.assigned

    def asked_by(self, call: ast.Call) -> ast.expr | None:
        """What an operation looks at: what it is called on, else its first argument."""
        receiver = self.receiver_of(call)
        given = given_to(call)
        return receiver if receiver is not None else next(iter(given), None)

    def made_by(self, node: ast.AST) -> Op | None:
        """The one operation that made what an expression holds; None if that is not known, or there are several."""
        makers = list(self.makers_of(node))
        return makers[0] if len(makers) == 1 else None

    def makers_of(self, node: ast.AST) -> Iterator[Op]:
        """The operations that made what an expression holds: on each path, through the attributes of objects, and for every caller."""
        value = self.value_of(node)
        waiting, seen = [value] if value is not None else [], set[Op]()
        for _ in range(_MOST_MAKERS):
            op = waiting.pop(0).op if waiting else None
            if op is None or op in seen:
                continue
            seen.add(op)
            inner = self._behind(op)
            waiting += inner
            if not inner:
                yield op

    def _behind(self, op: Op) -> list[Value]:
        """What an operation only hands on."""
        if op.function in {JOIN, GUARDED}:
            return list(op.operands.values())
        if op.function == ATTRIBUTE and "stored" in op.operands:
            return [op.operands["stored"]]
        if op.function == PARAMETER and op.scope is not None:
            passed = self.graph.passed(op.scope, op.where)
            return [passed] if passed is not None else []
        if op.function == CALL and op.where in _LEAVING_IT and op.subject is not None:
            return [op.subject]
        return []


def names_among(nodes: Iterable[ast.AST]) -> frozenset[str]:
    """Every name and attribute among these."""
    found: set[str] = set()
    for node in nodes:
        if isinstance(node, ast.Name):
            found.add(node.id)
        elif isinstance(node, ast.Attribute):
            found.add(node.attr)
        elif isinstance(node, ast.keyword | ast.arg):
            found.add(node.arg or "")
        elif isinstance(node, ast.alias):
            found |= {node.name.rpartition(".")[2], node.asname or ""}
    return frozenset(found)
