"""The files of a project, and what a name in one of them stands for: found by name, parsed when somebody asks."""

# ruff: noqa: PTH118, PTH120, PTH206, RUF071 - asked for thousands of files; pathlib costs ten times as much

from __future__ import annotations

import os
from typing import TYPE_CHECKING

from nanlint.analysis.project.bound_names import bound_names
from nanlint.analysis.project.definitions import MODULE_BODY, CallSite, Class, Function, Module
from nanlint.analysis.project.syntax_names import bindings, dotted
from nanlint.digest import digest_of
from nanlint.source.read import UnreadableSource, decode, read_bytes
from nanlint.source.syntax.trees import tree_of
from nanlint.word_sets import word_set

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

__all__ = ["MODULE_BODY", "CallSite", "Class", "Function", "Module", "Project", "Symbol", "bindings", "dotted"]

# `from .a import x` in a package's __init__, where a has it from b.
_MOST_HOPS = 5
_MODULES = word_set("Module LightningModule PreTrainedModel MessagePassing")

Symbol = Function | Class | Module


class Project:
    """All files below one folder that may be read, by path and by the names under which they can be imported."""

    def __init__(self, root: str, paths: Sequence[str]) -> None:
        self.root = root
        self._all = frozenset(paths)
        self._modules: dict[str, Module | None] = {}
        self._by_name: dict[str, list[str]] = {}
        self._resolved: dict[tuple[str, str], Symbol | None] = {}
        self._importers: tuple[int, dict[str, list[Module]]] | None = None
        self._bound: dict[str, tuple[str, frozenset[str]]] = {}
        """A file whose names are all imported -> the hash of its bytes, and what its names may be."""
        self._lineages: dict[Class, list[Class]] = {}
        self.consulted: dict[str, str] = {}
        """Each file that was read -> the hash of its bytes."""
        self.stamp = ""
        """The state of all its files, if it was read as a whole."""
        for path in paths:
            parts = os.path.relpath(path, root).removesuffix(".py").split(os.sep)
            parts = parts[:-1] if parts[-1] == "__init__" else parts
            for start in range(len(parts)):
                self._by_name.setdefault(".".join(parts[start:]), []).append(path)

    def unread(self) -> Project:
        """The same files, none of them read yet."""
        other = Project(self.root, ())
        other._all, other._by_name, other._bound = self._all, self._by_name, self._bound
        return other

    def module(self, path: str, text: str | None = None) -> Module | None:
        """The file, parsed once; None if it is no readable Python. `text` is what it holds where that is known."""
        if path not in self._modules:
            self._modules[path] = self._parsed(path, text)
        return self._modules[path]

    def let_go(self) -> None:
        """Take what was read apart, of which nobody asks any more."""
        for module in self.modules:
            module.let_go()
        for held in (self._modules, self._resolved, self._lineages):
            held.clear()
        self._importers = None

    @property
    def modules(self) -> Iterator[Module]:
        """The files that were parsed."""
        return (module for module in self._modules.values() if module is not None)

    def replaced(self, path: str, text: str) -> Module | None:
        """The file with another text: what an editor holds, the joined cells of a notebook."""
        self._modules[path] = self._parsed(path, text)
        return self._modules[path]

    def _parsed(self, path: str, text: str | None) -> Module | None:
        try:
            if text is not None:
                return Module(path, text, tree_of(text), self)
            data = read_bytes(path)
            self.consulted[path] = digest_of(data)
            source = decode(data, path).text
            return Module(path, source, tree_of(source), self)
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
                given = self._given_by_package(parts, level, module, hops) if count == len(parts) else None
                return given or self._inside(found, parts[count:], hops)
        return None

    def _given_by_package(self, parts: list[str], level: int, module: Module, hops: int) -> Symbol | None:
        """`ops.norm` of a package whose own file says `from .norm import norm`: the function, and not the file of its name."""
        path = self._file(parts[:-1], level, module) if len(parts) > 1 or level else None
        package = self.module(path) if path is not None and path.endswith("__init__.py") else None
        if package is None or not hops or parts[-1] not in package.imports:
            return None
        given = self.resolve(package.imports[parts[-1]], package, hops - 1)
        return None if isinstance(given, Module) else given

    def _file(self, parts: list[str], level: int, module: Module) -> str | None:
        if level:
            folder = os.path.dirname(module.path)
            for _ in range(level - 1):
                folder = os.path.dirname(folder)
            stem = os.path.join(folder, *parts)
            known = [path for path in (f"{stem}.py", os.path.join(stem, "__init__.py")) if path in self._all]
            return known[0] if known else None
        named = self._by_name.get(".".join(parts), ()) if parts else ()
        found = [
            path for path in named if path != module.path
        ] or named  # `lpips/lpips.py` that imports lpips means the package
        if not found:
            return None
        return max(found, key=lambda path: (len(os.path.commonprefix([path, module.path])), -len(path)))

    def _inside(self, module: Module, parts: list[str], hops: int) -> Symbol | None:
        if not parts:
            return module
        name, rest = parts[0], parts[1:]
        found: Symbol | None = module.functions.get(name) or module.classes.get(name)
        if found is None and name in module.imports and hops:
            found = self.resolve(module.imports[name], module, hops - 1)
        # A star brings no name that begins with an underscore: `from . import __version__` leads into no other file.
        for star in module.stars if found is None and hops and not name.startswith("_") else ():
            if self.may_give(star, name, module):
                found = self.resolve(f"{star}.{name}" if not star.endswith(".") else star + name, module, hops - 1)
            if found is not None:
                break
        if not rest or found is None:
            return found
        if isinstance(found, Module):
            return self._inside(found, rest, hops)
        return self.method(found, rest[0]) if isinstance(found, Class) and len(rest) == 1 else None

    def may_give(self, star: str, name: str, module: Module) -> bool:
        """Whether a file whose names are all imported may have this one: not if its text binds none of that name."""
        level = len(star) - len(star.lstrip("."))
        path = self._file([part for part in star.lstrip(".").split(".") if part], level, module)
        if path is None or path in self._modules:
            return True
        if path not in self._bound:
            try:
                data = read_bytes(path)
            except UnreadableSource:
                return True
            self._bound[path] = digest_of(data), bound_names(data)
        digest, names = self._bound[path]
        if {name, "*"}.isdisjoint(names):
            self.consulted[path] = digest
            return False
        return True

    def lineage(self, owner: Class) -> list[Class]:
        """The class and those above it that are of the project, nearest first."""
        if owner not in self._lineages:
            self._lineages[owner] = self._lineage(owner)
        return self._lineages[owner]

    def _lineage(self, owner: Class) -> list[Class]:
        found: list[Class] = []
        waiting = [owner]
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

    def below(self, owner: Class) -> list[Class]:
        """The classes of the same file that inherit from it."""
        return [each for each in owner.module.classes.values() if each is not owner and owner in self.lineage(each)]

    def importers(self, module: Module) -> list[Module]:
        """The files that were read so far and import something of this one."""
        if self._importers is None or self._importers[0] != len(self._modules):
            found: dict[str, list[Module]] = {}
            for user in (each for each in list(self._modules.values()) if each is not None):
                symbols = [self.resolve(full, user) for full in user.imports.values()]
                symbols += [self.resolve(star.lstrip(".") and star, user) for star in user.stars]
                homes = {
                    each.path if isinstance(each, Module) else each.module.path for each in symbols if each is not None
                }
                for path in homes - {user.path}:
                    found.setdefault(path, []).append(user)
            self._importers = len(self._modules), found
        return self._importers[1].get(module.path, [])

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
        return any(full.rpartition(".")[2] in _MODULES or full.startswith("torch.nn.") for full in self.bases_of(owner))

    def is_autograd_function(self, owner: Class) -> bool:
        """Whether it is an operation with a backward of its own."""
        return "torch.autograd.Function" in self.bases_of(owner)

    def is_data_set(self, owner: Class) -> bool:
        """Whether it reads data for a loader: nothing there has a gradient."""
        return any(full.startswith(("torch.utils.data.", "torchvision.datasets.")) for full in self.bases_of(owner))

    def is_never_recorded(self, function: Function) -> bool:
        """Whether torch runs it without gradients: an optimizer's step, what an autograd.Function computes."""
        methods = {"Optimizer": {"step"}, "Function": {"forward", "backward"}}
        bases = self.bases_of(function.owner) if function.owner is not None else ()
        return any(
            full.startswith(("torch.optim.", "torch.autograd."))
            and function.name in methods.get(full.rpartition(".")[2], ())
            for full in bases
        )

    def bases_of(self, owner: Class) -> Iterator[str]:
        """The full names of what a class derives from, through the project."""
        for each in self.lineage(owner):
            for base in each.bases:
                first, _, rest = base.partition(".")
                yield each.module.imports.get(first, first) + (f".{rest}" if rest else "")
