"""Containers: tuples, lists, dicts, their elements, comprehensions, and what a loop takes out of something."""

from __future__ import annotations

import ast
from dataclasses import replace
from typing import TYPE_CHECKING

from nanlint.analysis.interpreter.operators import Operators
from nanlint.analysis.op_graph import (
    ARRAY,
    CALL,
    DICT,
    ELEMENT,
    JOIN,
    LAYER,
    LITERAL,
    NOTHING,
    NUMBER,
    TENSOR,
    TUPLE,
    UNKNOWN,
    Op,
    Value,
)
from nanlint.analysis.project.index import dotted
from nanlint.analysis.selection import SUBSCRIPT, beside_first, is_shape, range_of_each
from nanlint.ops.interval import COUNT, FINITE, INF, Interval, point
from nanlint.source.syntax.below import walk

if TYPE_CHECKING:
    from nanlint.analysis.interpreter.environment import Env


# A key is looked for through so many stores and branches.
_MOST_STORES = 12


class Containers(Operators):
    """Evaluates containers and what is taken out of them."""

    def _sequence(self, node: ast.Tuple | ast.List | ast.Set) -> Value:
        parts = tuple(self.evaluate(each) for each in node.elts)
        op = Op(CALL, {str(place): part for place, part in enumerate(parts)}, node, self.function)
        op.where = "sequence"
        starred = any(isinstance(each, ast.Starred) for each in node.elts)
        value = Value(TUPLE, op, parts=() if starred else parts)
        if parts and all(each.op is not None and each.op.function == LITERAL for each in parts):
            value.key = self.maker.key_of_parts(parts)  # `x[..., None]` is the same again
        return value

    def _dict(self, node: ast.Dict) -> Value:
        keys, parts = [], []
        for key, each in zip(node.keys, node.values, strict=True):
            value = self.evaluate(each)
            held = self.evaluate(key).constant if key is not None else NOTHING
            keys.append(held if isinstance(held, str | int) else object())
            parts.append(value)
        op = Op(CALL, {str(place): part for place, part in enumerate(parts)}, node, self.function)
        op.where = "dict"
        return Value(DICT, op, keys=tuple(keys), parts=tuple(parts))

    def piece(self, whole: Value, place: str, node: ast.expr) -> Value:
        """One of the sizes that `b, c = x.shape` unpacks, a piece of a tensor, or a part of something unknown."""
        if place and is_shape(whole):
            return self.of_shape(whole, self.maker.literal(int(place)), node)
        value = self.unknown(ELEMENT, place, node, {"input": whole})
        value.detached = whole.detached
        if whole.kind is TENSOR:
            beside = beside_first(whole, int(place)) if place else None
            is_count = beside is not None and beside.integer
            value.kind, value.range = TENSOR, beside or whole.range
            value.dtype, value.detached = "int" if is_count else whole.dtype, whole.detached or is_count
        return value

    def _subscript(self, node: ast.Subscript) -> Value:  # noqa: PLR0911 - one way out for each kind of container
        base = self.evaluate(node.value)
        index = self.index(node.slice)
        if index.constant is not NOTHING:
            part = base.part(index.constant)
            if part is not None:
                return part
        if is_shape(base):
            return self.of_shape(base, index, node)
        if isinstance(index.constant, int) and beside_first(base, index.constant) is not None:
            return self.piece(base, str(index.constant), node)
        if base.kind in {TUPLE, DICT, LAYER} and base.parts:
            if isinstance(node.slice, ast.Slice):
                return Value(base.kind, base.op, parts=())
            if base.kind is LAYER and not base.name.endswith(("List", "Sequential", "Dict")):
                return base
            return self.maker.join(list(base.parts), node, self.function)
        if index.dtype == "bool" or _is_part_of_tensor(base, index, node):
            value = self.emit(SUBSCRIPT, {"input": base, "index": index}, node, {"input": node.value})
            return value if base.kind in {TENSOR, ARRAY} else value.but(kind=UNKNOWN)
        return self._element(base, index, node)

    def _element(self, base: Value, index: Value, node: ast.Subscript) -> Value:
        """An element of something of which nothing is known: what was stored there, or the same whenever it is asked for."""
        stored = self._stored_under(base, index.constant, node) if isinstance(index.constant, str) else None
        if stored is not None:
            return stored
        value = self.unknown(
            ELEMENT, str(index.constant) if index.constant is not NOTHING else "", node, {"input": base, "index": index}
        )
        value.detached, value.range = base.detached, range_of_each(base)
        text = ast.unparse(node) if isinstance(node.slice, ast.Constant) and dotted(node.value) else ""
        if text:
            held = self.env.names.get(text)
            if held is not None:
                return held
            self.env.names[text] = value
        return value

    def _stored_under(self, base: Value, key: str, node: ast.AST, depth: int = _MOST_STORES) -> Value | None:
        """What was stored under a key of something of which nothing else is known, by a function that was called too."""
        op = base.op
        if op is None or not depth:
            return None
        if op.function == CALL and op.where == "dict" and "key" in op.operands:
            is_meant = op.operands["key"].constant == key
            return op.operands["value"] if is_meant else self._stored_under(op.operands["input"], key, node, depth - 1)
        if op.function != JOIN or op.where:
            return None
        held = [self._stored_under(each, key, node, depth - 1) for each in op.operands.values()]
        if all(each is None for each in held):
            return None
        return self.maker.join([each or self.unknown(ELEMENT, key, node, {"input": base}) for each in held], node, self.function)  # fmt: skip

    def of_shape(self, base: Value, index: Value, node: ast.AST) -> Value:
        """One size of a shape: the same for the same index, at least 1 but for what a mask has chosen."""
        operands = {"input": base, "index": index}
        subject = base.op.operands.get("input", base) if base.op is not None else base
        value = self.maker.make("torch.Tensor.size", {"input": subject, "dim": index}, node, self.function)
        if value.op is not None:
            value.op.operands = {**operands, "input": subject}
        return value

    def index(self, node: ast.expr) -> Value:
        """What stands between the brackets; of a slice nothing is known."""
        if isinstance(node, ast.Slice):
            for part in (node.lower, node.upper, node.step):
                if part is not None:
                    self.evaluate(part)
            return Value(UNKNOWN, None)
        return self.evaluate(node)

    def _comprehension(self, node: ast.ListComp | ast.SetComp | ast.GeneratorExp | ast.DictComp) -> Value:
        outer = self.env
        self.env = outer.copy()
        for clause in node.generators:
            self.bind(clause.target, self.taken_from(self.evaluate(clause.iter), clause.iter))
            for condition in clause.ifs:
                self.env = self.env.under(self.evaluate(condition), holds=True)
        if isinstance(node, ast.DictComp):
            self.evaluate(node.key)
            element = self.evaluate(node.value)
        else:
            element = self.evaluate(node.elt)
        inner, self.env = self.env, outer
        self._left_by_rounds(node, inner)
        value = self.unknown(CALL, "comprehension", node, {"input": element})
        value.detached, value.range = element.detached, element.range
        return value

    def _left_by_rounds(self, node: ast.expr, inner: Env) -> None:
        """What a comprehension has bound by a walrus or changed in place, in some number of rounds, is not known."""
        names = self.env.names
        own = {
            each.id
            for clause in getattr(node, "generators", ())
            for each in walk(clause.target)
            if isinstance(each, ast.Name)
        }
        bound = self.walrus_names & inner.names.keys()
        changed = {name for name, _ in inner.names.items() - names.items()} & (names.keys() | bound)
        for name in sorted(changed - own):
            held = inner.names[name]
            op = Op(JOIN, {"0": names.get(name, held), "1": held}, node, self.function)
            op.where, op.in_place = "changed", True
            names[name] = Value(held.kind, op, dtype=held.dtype, detached=held.detached, learned=held.learned)

    def taken_from(self, source: Value, node: ast.expr) -> Value:
        """What a loop over `source` takes out of it."""
        op = source.op
        if op is not None and op.function == "range":
            return Value(
                NUMBER,
                Op(ELEMENT, {"input": source}, node, self.function),
                range=_of_range(list(op.operands.values())),
                detached=True,
            )
        if op is not None and op.function == "enumerate" and op.subject is not None:
            index = Value(NUMBER, Op(ELEMENT, {}, node, self.function), range=COUNT, detached=True)
            return Value(TUPLE, op, parts=(index, self.taken_from(op.subject, node)))
        if op is not None and op.function == "zip":
            return Value(TUPLE, op, parts=tuple(self.taken_from(each, node) for each in op.operands.values()))
        if source.kind in {TUPLE, LAYER} and source.parts:
            return self.maker.join(list(source.parts), node, self.function)
        if source.kind in {TENSOR, ARRAY}:
            return self.emit(SUBSCRIPT, {"input": source}, node, {"input": node})
        value = self.unknown(ELEMENT, "", node, {"input": source})
        value.detached, value.range = source.detached, range_of_each(source)
        return value


def _is_part_of_tensor(base: Value, index: Value, node: ast.Subscript) -> bool:
    """Whether a subscript takes numbers out of a tensor: what has keys is none, whatever it was taken for."""
    if isinstance(index.constant, str):
        return False
    # What has a dtype may be a module, too, but that has no columns.
    return base.kind in {TENSOR, ARRAY} or bool(base.dtype and isinstance(node.slice, ast.Tuple))


def _of_range(stated: list[Value]) -> Interval:
    """The numbers of `range(stop)` or `range(start, stop, step)`."""
    if len(stated) <= 1:
        return COUNT
    step = stated[2].range if len(stated) > 2 else point(1.0)
    if step.least <= 0:
        return replace(FINITE, integer=True)
    return Interval(stated[0].range.least, INF, integer=True)
