"""What a name at the top of a file stands for: what the file binds, what it imports through other files, what is built in."""

from __future__ import annotations

import builtins
from typing import TYPE_CHECKING

from nanlint.analysis.op_graph import ATTRIBUTE, CLASS, FUNCTION, INSTANCE, LAYER, NOTHING, REFERENCE, Value
from nanlint.analysis.project.definitions import Class, Function, Module
from nanlint.ops.names import CANONICAL

if TYPE_CHECKING:
    from nanlint.analysis.interpreter.statements import Interpreter
    from nanlint.analysis.operation_results import Maker
    from nanlint.analysis.project.index import Project

_BUILTINS = frozenset(vars(builtins))
# What stays what it is once it was made.
_LASTING = frozenset({INSTANCE, LAYER, FUNCTION, CLASS, REFERENCE})


class Names:
    """What is known of names; the graph is one of these."""

    project: Project
    maker: Maker
    _references: dict[str, Value]
    _looked_for: set[tuple[Module, str]]
    _running_files: dict[Module, Interpreter]

    def global_value(self, module: Module, name: str) -> Value:
        """What a name stands for that the function itself does not bind."""
        held = self._bound(module, name)
        if held is not None:
            return held
        value = self.maker.unknown(ATTRIBUTE, name, None, None)
        value.key = ("global", module.path, name)  # read twice, it is the same
        return value

    def _bound(self, module: Module, name: str) -> Value | None:  # noqa: PLR0911 - one way out for each kind of name
        """What a file binds a name to, itself or by what it imports; None for a name that nobody knows there."""
        if name in module.functions:
            return Value(FUNCTION, None, target=module.functions[name], name=name)
        if name in module.classes:
            return Value(CLASS, None, target=module.classes[name], name=name)
        if name in module.rebound:
            return self.maker.unknown(ATTRIBUTE, name, None, None)
        held = self._bound_by_its_code(module, name)
        if held is not None:
            return held
        if name in module.imports:
            return self.imported(module.imports[name], module)
        if name in _BUILTINS and name not in module.assigned:
            return self.reference(name)
        return self._from_a_star(module, name)

    def _bound_by_its_code(self, module: Module, name: str) -> Value | None:
        """What the file's own code has bound a name to; while that code runs, the objects and constants that it binds once."""
        if name not in module.assigned:
            return None
        if self.run(module.body):
            return module.body.parameters.get(name)
        running = self._running_files.get(module)
        held = running.env.names.get(name) if running is not None and module.assigned[name] == 1 else None
        return held if held is not None and (held.kind in _LASTING or held.constant is not NOTHING) else None

    def _from_a_star(self, module: Module, name: str) -> Value | None:
        """What `from .constants import *` brings under a name; nothing that begins with an underscore."""
        if name.startswith("_") or (module, name) in self._looked_for:
            return None
        self._looked_for.add((module, name))  # for cycles of imports
        found = None
        for star in module.stars:
            if f"{star}.{name}" in CANONICAL:
                found = self.reference(f"{star}.{name}")
            elif self.project.may_give(star, name, module):
                home = self.project.resolve(star, module)
                found = self._bound(home, name) if isinstance(home, Module) else None
            if found is not None:
                break
        self._looked_for.discard((module, name))
        return found

    def imported(self, full: str, module: Module) -> Value:
        """What a full name stands for: something of the project, or a reference to something outside of it."""
        if full.startswith(("torch.", "numpy.", "math.")) or full in {"torch", "numpy", "math"}:
            return self.reference(full)
        found = self.project.resolve(full, module)
        if found is not None and not isinstance(found, Module):
            return self._symbol(found, full)
        if found is None and "." in full:
            owner, _, name = full.rpartition(".")
            home = self.project.resolve(owner, module) if owner.strip(".") or owner else None
            if isinstance(home, Module) and home is not module and (module, full) not in self._looked_for:
                self._looked_for.add((module, full))
                held = self._bound(home, name)
                self._looked_for.discard((module, full))
                if held is not None:
                    return held
        return self.reference(full)

    def reference(self, full: str) -> Value:
        """Something outside of the project."""
        if full not in self._references:
            self._references[full] = Value(REFERENCE, None, name=full, key=("ref", full))
        return self._references[full]

    def _symbol(self, found: Function | Class | Module, name: str) -> Value:
        if isinstance(found, Function):
            return Value(FUNCTION, None, target=found, name=name)
        if isinstance(found, Class):
            return Value(CLASS, None, target=found, name=name)
        return self.reference(name)

    # -- what the graph does --------------------------------------------------------------------------------------

    def run(self, function: Function) -> bool:
        """Interpret a function, unless that was done."""
        raise NotImplementedError
