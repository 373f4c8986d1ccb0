"""A hazard: an operation whose operand can enter a zone in which it breaks, and what a rule may ask about it."""

from __future__ import annotations

import ast
import os
from functools import cached_property
from typing import TYPE_CHECKING

from nanlint.analysis.op_graph import ARRAY, TENSOR, Op, Value, made_from
from nanlint.analysis.relations import root
from nanlint.model import Direction, Edit, Label, Span
from nanlint.ops.formats import FORMATS
from nanlint.ops.zone import BACKWARD, FORWARD

if TYPE_CHECKING:
    from collections.abc import Sequence

    from nanlint.analysis.project.graph import Graph
    from nanlint.analysis.project.index import Function
    from nanlint.analysis.source_text import SourceText
    from nanlint.ops.zone import Zone

# Above 0 in float16, too, which ends at 6e-8, and far below what matters in a wider format.
_FLOOR, _FLOOR_IF_WIDE = "1e-7", "1e-12"
_WIDE = frozenset({"bfloat16", "float32", "float64"})
_ATOMS = (ast.Name, ast.Attribute, ast.Call, ast.Subscript)


class Operand:
    """The operand that is in danger: its value, how it is written, how it was made."""

    def __init__(self, value: Value, node: ast.AST | None, source: SourceText) -> None:
        self.value = value
        self.node = node
        self._source = source

    @property
    def text(self) -> str:
        """It as it is written."""
        return self._source.text_of(self.node) if self.node is not None else ""

    @property
    def span(self) -> Span | None:
        """Where it is written."""
        return self._source.span_of(self.node) if self.node is not None else None

    @property
    def made_by(self) -> Op | None:
        """The operation that computed it, seen through views and guards."""
        return made_from(root(self.value))

    @property
    def named(self) -> str:
        """The name of something that has its dtype: its own, or that of what it was computed of; empty for none."""
        node = self.node
        for _ in range(2):
            text = self._source.text_of(node) if node is not None else ""
            if text.replace(".", "").replace("_", "a").isalnum() and not text[:1].isdigit():
                return text
            node = _subject_of(node)
        return ""

    @property
    def as_receiver(self) -> str:
        """Its text as a method can be called on it."""
        if self.node is None:
            return ""
        is_atom = isinstance(self.node, _ATOMS)
        return self.text if is_atom else f"({self.text})"

    @property
    def floor(self) -> str:
        """A number above 0 in its dtype, or in every dtype if nobody knows which it is."""
        return _FLOOR_IF_WIDE if self.value.dtype in _WIDE else _FLOOR

    def quoted(self, longest: int = 40) -> str:
        """Its text in one line, cut if it is long."""
        text = " ".join(self.text.split())
        return text if len(text) <= longest else f"{text[: longest - 1]}…"


class Hazard:
    """One operation, one operand, the zones it can enter; with what callers pass and where the result goes."""

    def __init__(  # noqa: PLR0913 - what is known of one place
        self, op: Op, name: str, zones: Sequence[Zone], function: Function, source: SourceText, *, callers: Value, ends: int, graph: Graph
    ) -> None:
        self.op = op
        self.zones = zones
        self.function = function
        self.source = source
        self.callers = callers
        """The operand as it is with what all callers in the project pass."""
        self.graph = graph
        self.ends = ends
        """Where the result goes: bits of `analysis.project.consequence`."""
        self.operand = Operand(op.operands[name], op.nodes.get(name), source)
        self.operand_name = name

    @cached_property
    def direction(self) -> Direction:
        """Whether the result breaks, its gradient, or both."""
        found = {zone.direction for zone in self.zones}
        if found == {FORWARD, BACKWARD} and not self.operand.value.detached:
            return Direction.BOTH
        return Direction.FORWARD if FORWARD in found else Direction.BACKWARD

    @cached_property
    def dtypes(self) -> tuple[str, ...]:
        """The formats in which it breaks."""
        found = {zone.dtype for zone in self.zones}
        return tuple(name for name in FORMATS if name in found)

    @property
    def text(self) -> str:
        """The operation as it is written."""
        return self.source.text_of(self.op.node) if self.op.node is not None else ""

    @property
    def is_bracketed(self) -> bool:
        """Whether the operation stands in brackets of its own."""
        return self.op.node is not None and self.source.is_bracketed(self.op.node)

    @property
    def span(self) -> Span:
        """Where the operation is written."""
        return self.source.span_of(self.op.node)

    @property
    def outer_function(self) -> str:
        """The qualified name of the function of the file that it stands in; of an inner function, that around it."""
        function = self.function
        while function.parent is not None:
            function = function.parent
        return function.qualname

    @property
    def is_operand_known(self) -> bool:
        """Whether anything is known of the operand: its range, what callers pass, or how it was computed."""
        made = self.operand.made_by
        return (
            self.operand.value.is_known
            or self.callers.is_known
            or self.callers.learned
            or (made is not None and not made.function.startswith("<"))
        )

    @property
    def is_ruled_out_by_callers(self) -> bool:
        """Whether no caller in the project passes what would break it."""
        return not any(zone.meets_ordinarily(self.callers.range) for zone in self.zones)

    @property
    def is_without_gradient(self) -> bool:
        """Whether no backward passes through any of its operands."""
        return all(value.detached for value in self.op.operands.values())

    @property
    def floor(self) -> str:
        """A number above 0 in the dtype of the operand, or in every dtype if nobody knows which it is."""
        return self.operand.floor

    def quoted(self, op: Op, longest: int) -> str:
        """Another operation as it is written, in one line, cut if it is long."""
        return Operand(Value(), op.node, self.source).quoted(longest)

    def operand_of(self, op: Op, name: str) -> Operand:
        """An operand of another operation, as it is written there."""
        return Operand(op.operands[name], op.nodes.get(name), self.source)

    @property
    def is_behind_relu(self) -> bool:
        """Whether the operand is what a relu gives: no gradient passes where that is 0."""
        made = self.operand.made_by
        return made is not None and made.function == "torch.relu"

    @property
    def takes_methods(self) -> bool:
        """Whether the operand is surely a tensor, and is not written to by the operation."""
        return self.operand.value.kind is TENSOR and not self.is_in_place

    @property
    def is_of_arrays(self) -> bool:
        """Whether it computes with numpy's arrays: they have no gradient."""
        kinds = {value.kind for value in self.op.operands.values()}
        return ARRAY in kinds and TENSOR not in kinds

    @property
    def beside(self) -> list[Op]:
        """The operations of the statement that it stands in, itself included, in the order they are computed."""
        line = getattr(self.op.node, "lineno", 0)
        around = [node for node in ast.walk(self.function.node) if isinstance(node, ast.stmt) and node.lineno <= line <= (node.end_lineno or 0)]
        statement = max(around, key=lambda node: node.lineno, default=None)
        if statement is None:
            return [self.op]
        inside = set(map(id, ast.walk(statement)))
        return [op for op in self.function.ops if op.copy_of is None and id(op.node) in inside]

    @property
    def is_in_a_loop(self) -> bool:
        """Whether it stands in a loop of a script."""
        node, line = self.function.node, getattr(self.op.node, "lineno", 0)
        loops = (each for each in ast.walk(node) if isinstance(each, ast.For | ast.While))
        return any(loop.lineno <= line <= (loop.end_lineno or 0) for loop in loops)

    @property
    def is_in_place(self) -> bool:
        """Whether the operation writes its result into its operand: `x.acos_()`, `x /= y`."""
        node = self.op.node
        word = getattr(getattr(node, "func", None), "attr", "")
        return isinstance(node, ast.AugAssign) or (word.endswith("_") and not word.endswith("__"))

    def name_of(self, full: str) -> str | None:
        """What the file calls a module (`torch`, `torch.nn.functional`); None if it does not import it."""
        found = (local for local, meant in self.function.module.imports.items() if meant == full)
        return next(found, None)

    def inside(self, *functions: str) -> Operand:
        """The operand without the call of one of `functions` around it: `x` of `x.clamp(-1, 1)`."""
        made = self.operand.value.op
        if made is None or made.function not in functions or made.node is not self.operand.node or made.subject is None:
            return self.operand
        return Operand(made.subject, made.nodes.get("input"), self.source)

    def label(self, op: Op | None, text: str) -> tuple[Label, ...]:
        """A label at the place where something was made, if that is another place of the same file."""
        op = _built(op)
        here = op is not None and op.node is not None and op.scope is not None and op.scope.module is self.function.module
        if op is None or not here or not isinstance(op.node, ast.expr) or op.node is self.op.node:
            return ()
        place = self.source.span_of(op.node)
        return (Label(place, text),) if not place.overlaps(self.span) else ()

    def elsewhere(self, op: Op | None, text: str) -> str:
        """`text` and the place where something was made, if that is in another file: no label can point there."""
        op = _built(op)
        module = op.scope.module if op is not None and op.scope is not None else None
        if op is None or module is None or module is self.function.module:
            return ""
        return f"{text} {os.path.relpath(module.path, self.function.module.project.root or None)}:{getattr(op.node, 'lineno', 1)}"

    def with_call(self, suffix: str) -> Edit | None:
        """The operand with a method called on it: `(a + b).clamp_min(1e-6)`."""
        node = self.operand.node
        if node is None:
            return None
        text, span = self.source.text_of(node), self.source.span_of(node)
        return Edit(span, f"{text}{suffix}" if isinstance(node, _ATOMS) else f"({text}){suffix}")


def _built(op: Op | None) -> Op | None:
    """Of what a layer computes, the place where the layer is built; else the operation itself."""
    made = op.module.op if op is not None and op.module is not None else op
    stored = made.operands.get("stored") if made is not None else None
    return stored.op if stored is not None else made


def _subject_of(node: ast.AST | None) -> ast.AST | None:
    """What a call or an operator is about: `x` of `x.norm()`, `a` of `f(a)`, `m` of `m[0]`."""
    if isinstance(node, ast.Call):
        return node.func.value if isinstance(node.func, ast.Attribute) and not node.args else node.args[0] if node.args else None
    return node.value if isinstance(node, ast.Subscript) else None
