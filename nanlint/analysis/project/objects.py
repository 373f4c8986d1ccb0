"""Objects of the project's classes: what their attributes hold, over all methods and bases."""

from __future__ import annotations

from typing import TYPE_CHECKING

from nanlint.analysis.op_graph import ATTRIBUTE, CALL, CLASS, FUNCTION, INSTANCE, Op, Value
from nanlint.analysis.project.definitions import Class, Function
from nanlint.ops.interval import FINITE
from nanlint.word_sets import word_set

if TYPE_CHECKING:
    import ast

    from nanlint.analysis.operation_results import Maker
    from nanlint.analysis.project.definitions import Module
    from nanlint.analysis.project.index import Project

SUPER = "super()"
_BUILDING = word_set("__init__ setup reset_parameters build __post_init__ _build __new__")


class Objects:
    """What is known of objects; the graph is one of these."""

    project: Project
    maker: Maker
    _attributes: dict[tuple[Class, str, bool], Value]

    def attribute(self, owner: Class, name: str, base: Value, node: ast.AST) -> Value:
        """What an attribute of an object of the class holds: a method, or what all its methods store there."""
        method = self.project.method(owner, name)
        if method is not None:
            if {"property", "cached_property"}.isdisjoint(method.decorators):
                return Value(FUNCTION, None, target=method, name=name, parts=(base,))
            return self.result_of(method) or self.maker.unknown(ATTRIBUTE, f"self.{name}", node, None)
        is_exact = base.op is not None
        key = (owner, name, is_exact)
        if key not in self._attributes:
            value = self._stored(owner, name, is_exact=is_exact)
            if value is None:
                return self.maker.unknown(ATTRIBUTE, f"self.{name}", node, None)
            self._attributes[key] = value
        return self._as_constructed(self._attributes[key], owner, base)

    def _as_constructed(self, value: Value, owner: Class, base: Value) -> Value:
        """An attribute of an object that was made in sight: as the arguments of its constructor make it."""
        constructor = self.project.method(owner, "__init__")
        made = base.op
        if (
            constructor is None
            or made is None
            or made.function != CALL
            or made.where != owner.qualname
            or not made.operands
        ):
            return value
        return self.repeated(value, made, constructor)

    def _stored(self, owner: Class, name: str, *, is_exact: bool) -> Value | None:
        """All that is stored under a name, joined; None while some of it is being interpreted. `self` may be of a class below."""
        held: list[Value] = []
        below = [] if is_exact else self.project.below(owner)
        for each in [
            *self.project.lineage(owner),
            *(each for each in below if name in each.stored_by or name in each.constants),
        ]:
            for method_name in sorted(each.stored_by.get(name, ())):
                method = each.methods[method_name]
                if not self.run(method):
                    return None
                held += method.stores.get(name, ())
            if not held:
                for builder in _BUILDING & each.methods.keys():
                    if self.run(each.methods[builder]):
                        held += each.methods[builder].stores.get(name, ())
            if not held and name in each.constants:
                held.append(self.evaluated(each.constants[name], each.module))
        if not held:
            return None
        value = self.maker.join(held)
        op = Op(ATTRIBUTE, {"stored": value}, None, None)
        op.where = f"{owner.qualname}.{name}"
        reach = FINITE if value.learned else value.range
        return value.but(op=op, key=op, range=reach) if value.kind not in {FUNCTION, CLASS} else value

    def calling_method(self, owner: Class) -> Function | None:
        """What runs when an object of the class is called."""
        return self.project.method(owner, "forward") or self.project.method(owner, "__call__")

    def called_by(self, value: Value, method: str = "") -> Function | None:
        """The function that runs when a value is called, or a method of it."""
        if value.kind is FUNCTION and isinstance(value.target, Function):
            return value.target if not method else None
        if not isinstance(value.target, Class):
            return None
        return self.project.method(value.target, method) if method else self.calling_method(value.target)

    def above(self, function: Function) -> Value:
        """What `super()` is: of the class above, if that is of the project, or the layer of torch that it was built as."""
        owner = function.owner
        lineage = self.project.lineage(owner) if owner is not None else []
        if owner is None or len(lineage) > 1:
            return Value(INSTANCE, None, target=lineage[1]) if owner is not None else self.reference(SUPER)
        return self._stored(owner, SUPER, is_exact=True) or self.reference(SUPER)

    # -- what the graph does --------------------------------------------------------------------------------------

    def run(self, function: Function) -> bool:
        """Interpret a function, unless that was done."""
        raise NotImplementedError

    def result_of(self, function: Function) -> Value | None:
        """What a function returns; None where nobody knows."""
        raise NotImplementedError

    def reference(self, full: str) -> Value:
        """Something outside of the project."""
        raise NotImplementedError

    def evaluated(self, node: ast.expr, module: Module) -> Value:
        """An expression at the top of a file."""
        raise NotImplementedError

    def repeated(self, value: Value, call: Op, function: Function) -> Value:
        """A value that a function has made, as it is with what this call of it passes."""
        raise NotImplementedError
