"""Assignments: what a name, an attribute or an element holds from now on, and what else is changed when something is changed in place."""

from __future__ import annotations

import ast
from typing import TYPE_CHECKING

from nanlint.analysis.interpreter.calls import Calls
from nanlint.analysis.op_graph import (
    ARRAY,
    ATTRIBUTE,
    CALL,
    DICT,
    ELEMENT,
    INSTANCE,
    JOIN,
    NUMBER,
    PARAMETER,
    TENSOR,
    TUPLE,
    UNKNOWN,
    Op,
    Value,
    made_from,
)
from nanlint.analysis.operation_results import COMPARISONS
from nanlint.analysis.project.index import dotted
from nanlint.analysis.sources import suggests_mask
from nanlint.analysis.storage import in_order, storages
from nanlint.ops.names import METHODS
from nanlint.word_sets import torch_names

if TYPE_CHECKING:
    from collections.abc import Iterable

# A tuple in a tuple in a tuple: deeper ones are not searched for what was changed in place.
_DEEPEST_PART = 4
# Comparisons, and what is made of them: no other index is either, and nobody inverts the number of an element.
_TESTS = COMPARISONS | torch_names("bitwise_not logical_not logical_and logical_or")
# float16 ends here: what is below is written to hide something.
_LOWEST = -65504.0
_REQUIRES_GRADIENT = METHODS["requires_grad_"]


class Assignments(Calls):
    """Binds names, and keeps up with changes in place."""

    changes_seen: int
    """How many changes in place there were so far."""

    def bind(self, target: ast.expr, value: Value) -> None:
        """Assign `value` to a name, an attribute, an element, or to each part of a tuple."""
        if isinstance(target, ast.Name):
            self.env.names[target.id] = value
        elif isinstance(target, ast.Tuple | ast.List):
            self._bind_parts(target, value)
        elif isinstance(target, ast.Attribute):
            self._bind_attribute(target, value)
        elif isinstance(target, ast.Subscript):
            self._bind_element(target, value)
        elif isinstance(target, ast.Starred):
            self.bind(target.value, value)

    def _bind_parts(self, target: ast.Tuple | ast.List, value: Value) -> None:
        starred = any(isinstance(each, ast.Starred) for each in target.elts)
        known = value.parts if value.kind is TUPLE and len(value.parts) == len(target.elts) and not starred else ()
        for place, element in enumerate(target.elts):
            if isinstance(element, ast.Starred):
                self.bind(element.value, self.unknown(ELEMENT, str(place), element, {"input": value}))
            else:
                self.bind(element, known[place] if known else self.piece(value, "" if starred else str(place), element))

    def _bind_attribute(self, target: ast.Attribute, value: Value) -> None:
        base = self.evaluate(target.value)
        # Of a tensor it is what the tensor holds, of an object a name like any other: `self.data = loader`.
        if target.attr == "data" and base.kind is not INSTANCE:
            self.change(base, value.but(detached=base.detached), target.value)
            return
        if target.attr == "requires_grad" and base.kind is TENSOR:
            self.replace(
                base, self.emit(_REQUIRES_GRADIENT, {"input": base, "requires_grad": value}, target), target.value
            )
            return
        self.set_attribute(dotted(target.value), target.attr, base, value, target)

    def set_attribute(self, owner: str, name: str, base: Value, value: Value, node: ast.AST) -> None:
        """`owner.name = value`, however it is written."""
        if owner:
            text = f"{owner}.{name}"
            for held in [held for held in self.env.names if held.startswith(f"{text}.")]:
                del self.env.names[held]
            self.env.names[text] = value
        if base.kind is INSTANCE and base.target is self.function.owner:
            self.store(name, value)
        else:
            self.function.sinks.append(("stored", value, node))

    def store(self, name: str, value: Value) -> None:
        """An attribute of the object at hand is set."""
        self.function.stores.setdefault(name, []).append(value)
        self.function.attributes.add(name)
        self.env.names[f"self.{name}"] = value

    def _bind_element(self, target: ast.Subscript, value: Value) -> None:
        """`x[mask] = 0` changes what x holds; `d["loss"] = x` what d holds under a key."""
        base, index = self.evaluate(target.value), self.index(target.slice)
        if base.kind is DICT or (base.kind in {UNKNOWN, TENSOR} and isinstance(index.constant, str)):
            self._bind_key(target, base, index, value)
            return
        if base.kind in {TENSOR, ARRAY, UNKNOWN} and _selects(index, value):
            operands = {"input": base, "mask": index, "value": value}
            nodes = {"input": target.value, "mask": target.slice}
            made = self.emit("torch.masked_fill", operands, target, nodes, in_place=True)
            self.change(base, made.but(kind=base.kind), target.value)
            return
        op = Op(JOIN, {"0": base, "1": value}, target, self.function)
        op.where, op.in_place, op.nodes = "element", True, {"0": target.value}
        self.function.ops.append(op)
        # `mask[0] = True` selects something.
        is_marked = base.dtype == "bool" and isinstance(index.constant, int) and value.constant == 1
        is_cut = base.detached and (value.detached or not self.recorded)
        reach = base.range.join(self.maker.fitting(value.range, base))
        parts = self._parts_with(base, index, value)
        held = Value(base.kind, op, range=reach, dtype=base.dtype, detached=is_cut, parts=parts, some=is_marked)
        self.change(base, held, target.value)

    def _parts_with(self, base: Value, index: Value, value: Value) -> tuple[Value, ...]:
        """The elements of a list of which one was replaced; none where nobody knows which."""
        place = index.constant
        if base.kind is not TUPLE or not isinstance(place, int) or not -len(base.parts) <= place < len(base.parts):
            return ()
        parts = list(base.parts)
        parts[place] = value
        return tuple(parts)

    def _bind_key(self, target: ast.Subscript, base: Value, index: Value, value: Value) -> None:
        keys, parts = list(base.keys), list(base.parts)
        if not isinstance(index.constant, str | int):
            # Any of them may have been replaced.
            keys, parts = [object() for _ in keys], [*parts]
        key = index.constant if isinstance(index.constant, str | int) else object()
        if key in keys:
            parts[keys.index(key)] = value
        else:
            keys.append(key)
            parts.append(value)
        op = Op(CALL, {"input": base, "key": index, "value": value}, target, self.function)
        op.where, op.in_place = "dict", True
        self.function.ops.append(op)
        changed = Value(DICT, op, keys=tuple(keys), parts=tuple(parts)) if base.kind is DICT else Value(UNKNOWN, op)
        self.change(base, changed, target.value)
        if base.kind is not DICT:
            self.env.names[ast.unparse(target)] = value

    # -- in place -------------------------------------------------------------------------------------------------

    def replace(self, held: Value, value: Value, target: ast.expr) -> None:
        """The tensor itself is now this, under every name that it has; its views stay."""
        made = made_from(held)
        for name, other in list(self.env.names.items()):
            if other is held or (made is not None and made_from(other) is made):
                self.env.names[name] = value
        text = dotted(target)
        if text:
            self.env.names[text] = value

    def change(self, held: Value, value: Value, target: ast.AST) -> None:
        """What `held` was holds `value` from now on, under every name; what shares its memory holds some of it."""
        changed = storages(held)
        made = made_from(held) if held.kind is not UNKNOWN else None
        self.changes_seen += 1
        for name, other in list(self.env.names.items()):
            after = self._after(other, held, value, (made, changed))
            if after is not other:
                self.env.names[name] = after
        text = dotted(target)
        if text:
            self.env.names[text] = value
        for op in in_order(changed):
            self._note_change(op, value)
        if text.startswith("self.") and text.count(".") == 1 and self.function.owner is not None:
            self.store(text.removeprefix("self."), value)

    def changed_by_call(self, roots: Iterable[Op], node: ast.AST) -> None:
        """A function that was called has changed what lies in this memory in place; nobody knows to what."""
        for root in roots:
            held = Value(UNKNOWN, root)
            op = Op(CALL, {"input": held}, node, self.function)
            op.where, op.in_place = "changed", True
            self.change(held, Value(UNKNOWN, op), node)

    def _after(
        self, other: Value, held: Value, value: Value, memory: tuple[Op | None, frozenset[Op]], depth: int = 0
    ) -> Value:
        """What `other` is after the change of what was made by the first of `memory` and lies in the rest."""
        op, (made, changed) = other.op, memory
        if (other is held and held.kind is not UNKNOWN) or (
            made is not None and op is not None and made_from(other) is made
        ):
            return value
        if other.parts and depth < _DEEPEST_PART and other.kind in {TUPLE, DICT}:
            parts = tuple(self._after(part, held, value, memory, depth + 1) for part in other.parts)
            if any(new is not old for new, old in zip(parts, other.parts, strict=True)):
                return other.but(parts=parts, key=object())
        if op is None or changed.isdisjoint(op.storage if op.storage is not None else storages(other)):
            return other
        op = Op(JOIN, {"0": other, "1": value}, None, self.function)
        op.where, op.in_place = "changed", True
        return Value(
            other.kind,
            op,
            range=other.range.join(value.range),
            dtype=other.dtype,
            learned=other.learned,
            detached=other.detached and value.detached,
            target=other.target,
        )

    def _note_change(self, op: Op, value: Value) -> None:
        """What came in from outside is changed for those outside as well."""
        if op.scope is not self.function or op.function == PARAMETER:
            self.function.changes.add(op)
        if op.function == ATTRIBUTE and op.where.startswith("self.") and self.function.owner is not None:
            self.store(op.where.removeprefix("self."), value)


def _selects(index: Value, value: Value) -> bool:
    """Whether an index says which elements are meant by truth values: a comparison, or a mask by its name where -inf is written."""
    made = made_from(index)
    if index.dtype == "bool" or (made is not None and made.function in _TESTS):
        return True
    is_hidden = value.number is not None and value.number <= _LOWEST
    return is_hidden and index.kind is not NUMBER and suggests_mask(index)
