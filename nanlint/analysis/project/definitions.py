"""What a file defines: functions, classes and their methods, what it imports and assigns."""

from __future__ import annotations

import ast
import re
from collections import Counter
from copy import copy
from functools import cached_property
from typing import TYPE_CHECKING

from nanlint.analysis.project.syntax_names import (
    attributes_stored,
    bindings,
    dotted,
    inner_statements,
    last_word,
    names_assigned,
)
from nanlint.source.syntax.below import walk

if TYPE_CHECKING:
    from collections.abc import Iterator

    from nanlint.analysis.op_graph import Op, Value
    from nanlint.analysis.project.index import Project

MODULE_BODY = "<module>"
# In prose, it stands within a line.
_GLOBAL = re.compile(r"(^|[;:])\s*global\b", re.MULTILINE)
_SET_OF_OTHERS = re.compile(r"(?<!\bself)\.(\w+)\s*=(?!=)")
_DEFINITIONS = (ast.FunctionDef, ast.AsyncFunctionDef)


class CallSite:
    """One call of a function of the project: what is passed for each parameter."""

    __slots__ = ("arguments", "is_whole", "made", "op")

    def __init__(self, op: Op, arguments: dict[str, Value], *, is_whole: bool) -> None:
        self.op = op
        self.arguments = arguments
        self.is_whole = is_whole
        """No `*args` or `**kwargs`: what is not passed has its default."""
        self.made: list[Op] = []
        """The operations of the function that led to its result, repeated with what is passed."""


class Function:
    """A function, method or module body, and what the interpreter has found in it."""

    __slots__ = (
        "attributes", "autocasts", "callees", "caller", "calls", "changes", "decorators", "is_done", "is_running", "is_too_deep", "module", "name", "node", "ops", "owner", "parameters", "parent",
        "qualname", "rebinds", "result", "sinks", "stores", "uses",
    )  # fmt: skip

    def __init__(
        self,
        node: ast.FunctionDef | ast.AsyncFunctionDef | ast.Module | ast.Lambda,
        module: Module,
        owner: Class | None,
        qualname: str,
    ) -> None:
        self.node = node
        self.module = module
        self.owner = owner
        self.parent: Function | None = None
        self.qualname = qualname
        self.name = qualname.rpartition(".")[2]
        self.decorators = [last_word(each) for each in getattr(node, "decorator_list", ())]
        self.is_running = self.is_done = self.is_too_deep = False
        self.caller: Function | None = None
        """Among whose operations it is looked at, if not among its own."""
        self.forget()

    def forget(self) -> None:
        """Be as before it was interpreted."""
        self.parameters: dict[str, Value] = {}
        self.result: Value | None = None
        """What it returns, its paths joined; None while nothing is known."""
        self.ops: list[Op] = []
        self.uses: tuple[int, dict[Op, list[Op]]] | None = None
        """How many operations there were when it was last listed which of them may use which."""
        self.calls: list[CallSite] = []
        """Every call of it that was seen."""
        self.callees: dict[ast.Call, Function | None] = {}
        """Each call in it of a function of the project; None where it may be one of several."""
        self.autocasts: dict[ast.AST, str] = {}
        """Each `with`, and the function itself, -> the half dtype that autocast computes in there; empty for none."""
        self.stores: dict[str, list[Value]] = {}
        """What it assigns to attributes of its object."""
        self.attributes: set[str] = set()
        """Attributes of its object that it sets, or that methods set which it calls."""
        self.changes: set[Op] = set()
        """What it changes in place: its parameters, and memory that was there before it."""
        self.rebinds: set[str] = set()
        """Names of the function or file around it that it assigns."""
        self.sinks: list[tuple[str, Value, ast.AST]] = []
        """Where values go for good: a backward, a log line, something returned; with the place."""

    def as_called_by(self, caller: Function) -> Function:
        """The function as it runs in a caller: among its operations, where what becomes of the result is seen as well."""
        seen = copy(self)
        seen.caller = caller
        seen.ops, seen.sinks, seen.stores, seen.uses = caller.ops, caller.sinks, caller.stores, caller.uses
        return seen

    @property
    def callers(self) -> list[Function]:
        """The functions that call it, as far as they are known; the one caller as which it is looked at."""
        if self.caller is not None:
            return [self.caller]
        return list(dict.fromkeys(site.op.scope for site in self.calls if site.op.scope is not None))

    @property
    def outermost(self) -> Function:
        """The function of the file or class that it stands in; mostly itself."""
        return self if self.parent is None else self.parent.outermost

    @property
    def is_method(self) -> bool:
        """Whether the object it is called on is its first parameter."""
        return self.owner is not None and "staticmethod" not in self.decorators

    def names(self) -> list[str]:
        """Its parameters in order, starred ones left out."""
        args = getattr(self.node, "args", None)
        return [each.arg for each in (*args.posonlyargs, *args.args, *args.kwonlyargs)] if args is not None else []

    def __repr__(self) -> str:
        return f"<{self.module.path}:{self.qualname}>"


class Class:
    """A class of the project: its methods, its bases as they are written, and where its attributes are assigned."""

    def __init__(self, node: ast.ClassDef, module: Module, qualname: str) -> None:
        self.node = node
        self.module = module
        self.name = node.name
        self.qualname = qualname
        self.methods: dict[str, Function] = {}
        self.shadowed: list[Function] = []
        self.constants: dict[str, ast.expr] = {}
        self.bases = [text for base in node.bases if (text := dotted(base))]
        for statement in node.body:
            if isinstance(statement, _DEFINITIONS):
                self._add_method(statement)
            elif isinstance(statement, ast.Assign):
                for target in statement.targets:
                    if isinstance(target, ast.Name):
                        self.constants[target.id] = statement.value
            elif isinstance(statement, ast.AnnAssign) and isinstance(statement.target, ast.Name) and statement.value:
                self.constants[statement.target.id] = statement.value

    def _add_method(self, node: ast.FunctionDef | ast.AsyncFunctionDef) -> None:
        method = Function(node, self.module, self, f"{self.qualname}.{node.name}")
        if node.name in self.methods:
            self.shadowed.append(self.methods[node.name])
        self.methods[node.name] = method

    @cached_property
    def stored_by(self) -> dict[str, set[str]]:
        """The name of an attribute -> the methods that assign it."""
        found: dict[str, set[str]] = {}
        for node in self.node.body:
            if isinstance(node, _DEFINITIONS):
                first = node.args.args[0].arg if node.args.args else ""
                for name in attributes_stored(node.body, first):
                    found.setdefault(name, set()).add(node.name)
        return found

    @property
    def is_dataclass(self) -> bool:
        """Whether its constants are fields, which hold as long as nobody passes others."""
        return "dataclass" in map(last_word, self.node.decorator_list)

    def __repr__(self) -> str:
        return f"<class {self.qualname}>"


class Module:
    """One file: what it defines and imports."""

    def __init__(self, path: str, text: str, tree: ast.Module, project: Project) -> None:
        self.path = path
        self.text = text
        self.project = project
        self.imports: dict[str, str] = {}
        self.stars: list[str] = []
        self.functions: dict[str, Function] = {}
        self.classes: dict[str, Class] = {}
        self.shadowed: list[Function] = []
        """Functions and methods whose name a later definition takes: on another branch, for another type, of a property."""
        self.assigned: Counter[str] = Counter()
        """The names that its own code binds, and how often that is written."""
        self.interpreted: list[Function] = []
        """Its functions that were interpreted, inner ones too, in that order."""
        self.rebound: set[str] = set()
        """Names of the file that some function assigns."""
        if _GLOBAL.search(text):
            self.rebound = {name for node in walk(tree) if isinstance(node, ast.Global) for name in node.names}
        self.body = Function(tree, self, None, MODULE_BODY)
        self._read(tree.body)

    def _read(self, body: list[ast.stmt]) -> None:
        waiting = list(reversed(body))
        stand_ins: set[ast.stmt] = set()
        while waiting:
            statement = waiting.pop()
            if statement in stand_ins and getattr(statement, "name", "") in self.imports:
                self._set_aside(statement)
            elif isinstance(statement, _DEFINITIONS):
                self._shadow(self.functions.get(statement.name))
                self.functions[statement.name] = Function(statement, self, None, statement.name)
            elif isinstance(statement, ast.ClassDef):
                earlier = self.classes.get(statement.name)
                self._shadow(*earlier.methods.values() if earlier is not None else ())
                self.classes[statement.name] = Class(statement, self, statement.name)
            elif isinstance(statement, ast.Import | ast.ImportFrom):
                self.imports.update(bindings(statement))
                if isinstance(statement, ast.ImportFrom) and statement.names[0].name == "*":
                    self.stars.append("." * statement.level + (statement.module or ""))
            else:
                # What `except ImportError:` defines stands in for what `try:` imports, where that is missing.
                stand_ins.update(each for handler in getattr(statement, "handlers", ()) for each in handler.body)
                self.assigned.update(names_assigned(statement))
                waiting.extend(reversed(inner_statements(statement)))

    def _set_aside(self, statement: ast.stmt) -> None:
        if isinstance(statement, _DEFINITIONS):
            self._shadow(Function(statement, self, None, statement.name))
        elif isinstance(statement, ast.ClassDef):
            self._shadow(*Class(statement, self, statement.name).methods.values())

    def _shadow(self, *functions: Function | None) -> None:
        self.shadowed += [each for each in functions if each is not None]

    def let_go(self) -> None:
        """Forget what it defines, all of which knows it."""
        del self.body
        for owner in self.classes.values():
            owner.methods.clear()
        for held in (self.functions, self.classes, self.interpreted, self.shadowed):
            held.clear()

    @cached_property
    def sets_of_others(self) -> frozenset[str]:
        """The attributes that it assigns to anything but `self`: `model.attribute = ...`."""
        return frozenset(_SET_OF_OTHERS.findall(self.text))

    def all_functions(self) -> Iterator[Function]:
        """Every function and method at the top of the file, the body of the module first."""
        yield self.body
        yield from self.functions.values()
        for each in self.classes.values():
            yield from each.methods.values()
            yield from each.shadowed
        yield from self.shadowed
