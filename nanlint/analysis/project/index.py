"""The files of a project, and the functions and classes in them: found by name, parsed when somebody asks."""

# ruff: noqa: PTH - asked for thousands of files; pathlib costs ten times as much

from __future__ import annotations

import ast
import os
import warnings
from typing import TYPE_CHECKING

from nanlint.source.read import UnreadableSource, decode, read_bytes

if TYPE_CHECKING:
    from collections.abc import Iterator

    from nanlint.analysis.op_graph import Op, Value

MODULE_BODY = "<module>"
# `from .a import x` in a package's __init__, where a has it from b.
_MOST_HOPS = 5
_DEFINITIONS = (ast.FunctionDef, ast.AsyncFunctionDef)


class CallSite:
    """One call of a function of the project: what is passed for each parameter."""

    __slots__ = ("arguments", "is_whole", "op")

    def __init__(self, op: Op, arguments: dict[str, Value], *, is_whole: bool) -> None:
        self.op = op
        self.arguments = arguments
        self.is_whole = is_whole
        """No `*args` or `**kwargs`: what is not passed has its default."""


class Function:
    """A function, method or module body, and what the interpreter has found in it."""

    __slots__ = (
        "attributes", "calls", "changes", "decorators", "is_done", "is_running", "module", "name", "node", "ops", "owner", "parameters", "parent",
        "qualname", "rebinds", "result", "sinks", "stores",
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
        self.decorators = [_last_word(each) for each in getattr(node, "decorator_list", ())]
        self.is_running = self.is_done = False
        self.parameters: dict[str, Value] = {}
        self.result: Value | None = None
        """What it returns, its paths joined; None while nothing is known."""
        self.ops: list[Op] = []
        self.calls: list[CallSite] = []
        """Every call of it that was seen."""
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

    __slots__ = ("bases", "constants", "methods", "module", "name", "node", "qualname", "stored_by")

    def __init__(self, node: ast.ClassDef, module: Module, qualname: str) -> None:
        self.node = node
        self.module = module
        self.name = node.name
        self.qualname = qualname
        self.methods: dict[str, Function] = {}
        self.constants: dict[str, ast.expr] = {}
        self.bases = [text for base in node.bases if (text := dotted(base))]
        self.stored_by: dict[str, set[str]] = {}
        """The name of an attribute -> the methods that assign it."""
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
        self.methods[node.name] = method
        first = node.args.args[0].arg if node.args.args else ""
        for name in _stores(node.body, first):
            self.stored_by.setdefault(name, set()).add(node.name)

    def __repr__(self) -> str:
        return f"<class {self.qualname}>"


_MODULES = frozenset({"Module", "LightningModule", "PreTrainedModel", "MessagePassing"})


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
        self.assigned: set[str] = set()
        self.body = Function(tree, self, None, MODULE_BODY)
        self._read(tree.body)

    def _read(self, body: list[ast.stmt]) -> None:
        for statement in body:
            if isinstance(statement, _DEFINITIONS):
                self.functions[statement.name] = Function(statement, self, None, statement.name)
            elif isinstance(statement, ast.ClassDef):
                self.classes[statement.name] = Class(statement, self, statement.name)
            elif isinstance(statement, ast.Import | ast.ImportFrom):
                self.imports.update(bindings(statement))
                if isinstance(statement, ast.ImportFrom) and statement.names[0].name == "*":
                    self.stars.append("." * statement.level + (statement.module or ""))
            elif isinstance(statement, ast.Assign):
                self.assigned |= {target.id for target in statement.targets if isinstance(target, ast.Name)}
            for field in ("body", "orelse", "handlers", "finalbody"):
                inner = getattr(statement, field, None)
                if isinstance(statement, ast.If | ast.Try | ast.With) and isinstance(inner, list):
                    for each in inner:
                        self._read(each.body if isinstance(each, ast.ExceptHandler) else [each])

    def all_functions(self) -> Iterator[Function]:
        """Every function and method at the top of the file, the body of the module first."""
        yield self.body
        yield from self.functions.values()
        for each in self.classes.values():
            yield from each.methods.values()


Symbol = Function | Class | Module


class Project:
    """All files below one folder that may be read, by path and by the names under which they can be imported."""

    def __init__(self, root: str, paths: list[str]) -> None:
        self.root = root
        self.paths = paths
        self._modules: dict[str, Module | None] = {}
        self._by_name: dict[str, list[str]] = {}
        self._resolved: dict[tuple[str, str], Symbol | None] = {}
        for path in paths:
            parts = os.path.relpath(path, root).removesuffix(".py").split(os.sep)
            parts = parts[:-1] if parts[-1] == "__init__" else parts
            for start in range(len(parts)):
                self._by_name.setdefault(".".join(parts[start:]), []).append(path)

    def module(self, path: str, text: str | None = None) -> Module | None:
        """The file, parsed once; None if it is no readable Python. `text` is what it holds where that is known."""
        if path not in self._modules:
            self._modules[path] = self._parsed(path, text)
        return self._modules[path]

    def replaced(self, path: str, text: str) -> Module | None:
        """The file with another text: what an editor holds, the joined cells of a notebook."""
        self._modules[path] = self._parsed(path, text)
        return self._modules[path]

    def _parsed(self, path: str, text: str | None) -> Module | None:
        try:
            source = decode(read_bytes(path), path).text if text is None else text
            with warnings.catch_warnings():
                warnings.simplefilter("ignore")
                return Module(path, source, ast.parse(source), self)
        except (UnreadableSource, SyntaxError, ValueError, RecursionError, MemoryError):
            return None

    def resolve(self, name: str, module: Module, hops: int = _MOST_HOPS) -> Symbol | None:
        """What a full name (`pkg.helpers.norm`, `..helpers.norm`) stands for in the project; None for what is none of it."""
        key = (name, module.path)
        if key not in self._resolved:
            self._resolved[key] = None  # for cycles of imports
            self._resolved[key] = self._resolve(name, module, hops)
        return self._resolved[key]

    def _resolve(self, name: str, module: Module, hops: int) -> Symbol | None:
        parts = name.lstrip(".").split(".")
        level = len(name) - len(name.lstrip("."))
        for count in range(len(parts), -1, -1):
            path = self._file(parts[:count], level, module)
            found = self.module(path) if path is not None else None
            if found is not None:
                return self._inside(found, parts[count:], hops)
        return None

    def _file(self, parts: list[str], level: int, module: Module) -> str | None:
        if level:
            folder = os.path.dirname(module.path)
            for _ in range(level - 1):
                folder = os.path.dirname(folder)
            stem = os.path.join(folder, *parts)
            known = [path for path in (f"{stem}.py", os.path.join(stem, "__init__.py")) if path in self._all]
            return known[0] if known else None
        found = self._by_name.get(".".join(parts), ()) if parts else ()
        if not found:
            return None
        return max(found, key=lambda path: (len(os.path.commonprefix([path, module.path])), -len(path)))

    @property
    def _all(self) -> set[str]:
        return self.__dict__.setdefault("_path_set", set(self.paths))

    def _inside(self, module: Module, parts: list[str], hops: int) -> Symbol | None:
        if not parts:
            return module
        name, rest = parts[0], parts[1:]
        found: Symbol | None = module.functions.get(name) or module.classes.get(name)
        if found is None and name in module.imports and hops:
            found = self.resolve(module.imports[name], module, hops - 1)
        for star in module.stars if found is None and hops else ():
            found = self.resolve(f"{star}.{name}" if not star.endswith(".") else star + name, module, hops - 1)
            if found is not None:
                break
        if not rest or found is None:
            return found
        if isinstance(found, Module):
            return self._inside(found, rest, hops)
        return self.method(found, rest[0]) if isinstance(found, Class) and len(rest) == 1 else None

    def lineage(self, owner: Class) -> list[Class]:
        """The class and those above it that are of the project, nearest first."""
        found, waiting = [], [owner]
        while waiting and len(found) < 20:
            current = waiting.pop(0)
            if current in found:
                continue
            found.append(current)
            for base in current.bases:
                above = self.named(base, current.module)
                if isinstance(above, Class):
                    waiting.append(above)
        return found

    def named(self, text: str, module: Module) -> Symbol | None:
        """What a name as it is written in a file stands for."""
        first, _, rest = text.partition(".")
        if first in module.classes or first in module.functions:
            return self._inside(module, text.split("."), _MOST_HOPS)
        full = module.imports.get(first)
        if full is None:
            return self._inside(module, [first], _MOST_HOPS) if module.stars and not rest else None
        return self.resolve(f"{full}.{rest}" if rest else full, module)

    def method(self, owner: Class, name: str) -> Function | None:
        """The method that an object of the class has under a name."""
        return next((each.methods[name] for each in self.lineage(owner) if name in each.methods), None)

    def is_module_class(self, owner: Class) -> bool:
        """Whether it is an nn.Module, as far as the project tells."""
        return any(
            full.rpartition(".")[2] in _MODULES or full.startswith("torch.nn.") for full in self._bases_of(owner)
        )

    def is_never_recorded(self, function: Function) -> bool:
        """Whether torch runs it without gradients: an optimizer's step, what an autograd.Function computes."""
        methods = {"Optimizer": {"step"}, "Function": {"forward", "backward"}}
        bases = self._bases_of(function.owner) if function.owner is not None else ()
        return any(
            full.startswith(("torch.optim.", "torch.autograd.")) and function.name in methods.get(full.rpartition(".")[2], ())
            for full in bases
        )

    def _bases_of(self, owner: Class) -> Iterator[str]:
        """The full names of what a class derives from, through the project."""
        for each in self.lineage(owner):
            for base in each.bases:
                first, _, rest = base.partition(".")
                yield each.module.imports.get(first, first) + (f".{rest}" if rest else "")


def dotted(node: ast.AST) -> str:
    """`a.b.c` of an expression that is just that; empty for any other."""
    parts: list[str] = []
    while isinstance(node, ast.Attribute):
        parts.append(node.attr)
        node = node.value
    if not isinstance(node, ast.Name):
        return ""
    return ".".join([node.id, *reversed(parts)])


def bindings(statement: ast.Import | ast.ImportFrom) -> dict[str, str]:
    """Each name that the statement binds, with the full name of what it then stands for."""
    if isinstance(statement, ast.Import):
        return {
            alias.asname or alias.name.partition(".")[0]: alias.name if alias.asname else alias.name.partition(".")[0]
            for alias in statement.names
        }
    origin = "." * statement.level + (statement.module or "")
    origin += "" if origin.endswith(".") else "."
    return {alias.asname or alias.name: origin + alias.name for alias in statement.names if alias.name != "*"}


def _last_word(node: ast.expr) -> str:
    function = node.func if isinstance(node, ast.Call) else node
    return str(getattr(function, "attr", "") or getattr(function, "id", ""))


def _stores(body: list[ast.stmt], first: str) -> Iterator[str]:
    """The attributes of its object that a method assigns, statement by statement."""
    for statement in body:
        targets: list[ast.expr] = []
        if isinstance(statement, ast.Assign):
            targets = list(statement.targets)
        elif isinstance(statement, ast.AugAssign | ast.AnnAssign):
            targets = [statement.target]
        while targets:
            target = targets.pop()
            if isinstance(target, ast.Tuple | ast.List):
                targets += target.elts
            elif isinstance(target, ast.Attribute) and isinstance(target.value, ast.Name) and target.value.id == first:
                yield target.attr
        for field in ("body", "orelse", "finalbody"):
            inner = getattr(statement, field, None)
            if isinstance(inner, list):
                yield from _stores(inner, first)
        for handler in getattr(statement, "handlers", ()):
            yield from _stores(handler.body, first)
