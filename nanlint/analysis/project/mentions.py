"""How often a function is named in its project: if every name of it is a call in sight, all who call it are known."""

from __future__ import annotations

import ast
import re
from collections import Counter, defaultdict
from functools import cached_property
from typing import TYPE_CHECKING

from nanlint.source.syntax.below import walk

if TYPE_CHECKING:
    from nanlint.analysis.project.index import Function, Module, Project

_OWNED = re.compile(r"\b(\w+)\.(\w+)")
_ASKED = re.compile(r"\.(\w+)")
_ELSEWHERE = ("torch", "numpy", "math")


class Mentions:
    """The names in all files of a project that were parsed, each file read once and only when somebody asks."""

    def __init__(self, project: Project) -> None:
        self._project = project
        self._read: dict[Module, Counter[str]] = {}

    def of(self, function: Function) -> int:
        """How often a function at the top of a file is named, as itself or as part of something; more, if in doubt."""
        named = self._attributes[function.name]
        for module in {function.module, *self._importers[function.name], *self._importers["*"]}:
            named += sum(self._names(module)[name] for name in self._known_as(function, module))
        return named

    def of_method(self, function: Function) -> int:
        """How often something of a method's name is asked of an object; more, if in doubt."""
        return self._asked_for[function.name]

    def _known_as(self, function: Function, module: Module) -> set[str]:
        """The names by which a file may mean the function."""
        if module is function.module:
            return {function.name}
        known = {
            local
            for local, full in module.imports.items()
            if full.rpartition(".")[2] == function.name and self._project.resolve(full, module) in {function, None}
        }
        is_own = function.name in module.imports or function.name in module.functions
        return known if is_own or not module.stars else known | {function.name}

    @cached_property
    def _attributes(self) -> Counter[str]:
        """`helpers.norm`, but not `torch.norm`."""
        return Counter(
            name
            for module in self._project.modules
            for owner, name in _OWNED.findall(module.text)
            if not module.imports.get(owner, "").startswith(_ELSEWHERE)
        )

    @cached_property
    def _asked_for(self) -> Counter[str]:
        return Counter(name for module in self._project.modules for name in _ASKED.findall(module.text))

    @cached_property
    def _importers(self) -> dict[str, list[Module]]:
        """The last part of what is imported -> the files that import it; `*` for those that import all of something."""
        found: dict[str, list[Module]] = defaultdict(list)
        for module in self._project.modules:
            for name in {full.rpartition(".")[2] for full in module.imports.values()} | (
                {"*"} if module.stars else set()
            ):
                found[name].append(module)
        return found

    def _names(self, module: Module) -> Counter[str]:
        if module not in self._read:
            nodes = walk(module.body.node)
            read = (node for node in nodes if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Load))
            self._read[module] = Counter(node.id for node in read)
        return self._read[module]
