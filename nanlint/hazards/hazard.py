"""A hazard: an operation whose operand can enter a zone in which it breaks, and what a rule may ask about it."""

from __future__ import annotations

import ast
from functools import cached_property
from typing import TYPE_CHECKING

from nanlint.analysis.op_graph import ARRAY, ATTRIBUTE, ELEMENT, PARAMETER, TENSOR, Op, Value, made_from
from nanlint.analysis.relations import root
from nanlint.hazards.zones_met import is_inverse
from nanlint.model import Direction, Edit, Label, Span
from nanlint.ops.formats import FORMATS
from nanlint.ops.names import SIGNATURES
from nanlint.ops.zone import BACKWARD, FORWARD
from nanlint.source.file_imports import TORCH, global_imports, line_for_torch

if TYPE_CHECKING:
    from collections.abc import Sequence

    from nanlint.analysis.project.index import Function
    from nanlint.analysis.source_text import SourceText
    from nanlint.ops.zone import Zone

# Above 0 in float16, too, which ends at 6e-8, and far below what matters in a wider format.
_FLOOR, _FLOOR_IF_WIDE = "1e-7", "1e-12"
_WIDE = frozenset({"bfloat16", "float32", "float64"})
_LARGEST_EPS, _MOST_SOURCES = 1e-3, 100
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
    def sources(self) -> frozenset[str]:
        """The names of what it was computed of and came from outside: parameters, attributes, entries."""
        names: set[str] = set()
        seen, waiting = {id(self.value)}, [self.value]
        while waiting and len(seen) < _MOST_SOURCES:
            op = waiting.pop().op
            if op is not None and op.function in {PARAMETER, ATTRIBUTE, ELEMENT} and op.where:
                names.add(op.where)
            for value in op.operands.values() if op is not None else ():
                if id(value) not in seen:
                    seen.add(id(value))
                    waiting.append(value)
        return frozenset(names)

    @property
    def written(self) -> Op | None:
        """The operation whose call or operator is written right here as the operand; None for a name or a part of something."""
        op = self.value.op
        return op if op is not None and op.node is self.node and op.nodes else None

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

    def plus(self, other: str, *, is_receiver: bool) -> str:
        """The text of its sum with something, to stand where it stands itself: as what a method is called on, or as an argument."""
        text = f"{self.text} + {other}"
        return f"({text})" if is_receiver and isinstance(self.node, _ATOMS) else text

    def quoted(self, longest: int = 40) -> str:
        """Its text in one line, cut if it is long."""
        text = " ".join(self.text.split())
        return text if len(text) <= longest else f"{text[: longest - 1]}…"


class Hazard:
    """One operation, one operand, the zones it can enter; with what callers pass and where the result goes."""

    def __init__(  # noqa: PLR0913 - what is known of one place
        self,
        op: Op,
        name: str,
        zones: Sequence[Zone],
        function: Function,
        source: SourceText,
        *,
        callers: Value,
        ends: int,
        is_cut_off: bool = False,
    ) -> None:
        self.op = op
        self.zones = zones
        self.function = function
        self.source = source
        self.callers = callers
        """The operand as it is with what all callers in the project pass."""
        self.ends = ends
        """Where the result goes: bits of `analysis.project.consequence`."""
        self.is_cut_off = is_cut_off
        """No gradient comes back to it: it is not recorded, or all its uses are plain numbers, indices, detached copies."""
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
    def word(self) -> str:
        """The operation as people call it: `acos`."""
        return self.op.function.rpartition(".")[2]

    @property
    def is_half_alone(self) -> bool:
        """Whether it breaks in the half formats alone, and nothing says that one of them is used here."""
        return not self.operand.value.dtype and set(self.dtypes) <= {"float16", "bfloat16"}

    @property
    def is_forward(self) -> bool:
        """Whether the result itself breaks."""
        return self.direction is not Direction.BACKWARD

    @property
    def is_of_tensors(self) -> bool:
        """Whether it computes with tensors: of a plain operator nobody knows, unless an operand is one or was made by a call."""
        kinds = {value.kind for value in self.op.operands.values()}
        is_plain = not isinstance(self.op.node, ast.Call) and TENSOR not in kinds
        return ARRAY not in kinds and (not is_plain or _is_made_by_call(self.operand.value))

    @property
    def exponent(self) -> Value | None:
        """The exponent of a power."""
        return self.op.operands.get("exponent")

    @property
    def is_exponent_open(self) -> bool:
        """Whether somebody else says what the exponent is: a setting, a weight."""
        held = self.exponent
        return held is not None and held.number is None and not is_inverse(held)

    @property
    def floor(self) -> str:
        """A number above 0 in the dtype of the operand, or in every dtype if nobody knows which it is."""
        return _FLOOR_IF_WIDE if self.operand.value.dtype in _WIDE else _FLOOR

    @property
    def text(self) -> str:
        """The operation as it is written."""
        return self.source.text_of(self.op.node) if self.op.node is not None else ""

    @cached_property
    def uses(self) -> list[tuple[Op, str]]:
        """The operations of this function that take its result, views of it included, and as which operand."""
        return [
            (op, name)
            for op in self.function.ops
            for name, value in op.operands.items()
            if made_from(root(value)) is self.op and op.copy_of is None
        ]

    @property
    def is_guarded_too_late(self) -> bool:
        """Whether an eps is added to its result: somebody expects a 0."""
        added = (op for op, _ in self.uses if op.function == "torch.add")
        return any(0 < (value.number or 0) <= _LARGEST_EPS for op in added for value in op.operands.values())

    @property
    def is_divided_by(self) -> bool:
        """Whether something is divided by its result."""
        return self.is_divisor(self.op)

    def is_divisor(self, op: Op) -> bool:
        """Whether something in this function is divided by the result of `op`."""
        divisors = (each.operands.get("other") for each in self.function.ops if each.function == "torch.div")
        return any(value is not None and made_from(root(value)) is op for value in divisors)

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
        """Whether anything is known of the operand: its range, what callers pass, how it was computed, that somebody expects a 0."""
        made = self.operand.made_by
        return (
            self.operand.value.is_known
            or self.callers.is_known
            or (made is not None and not made.function.startswith("<"))
            or self.is_guarded_too_late
        )

    @property
    def is_ruled_out_by_callers(self) -> bool:
        """Whether no caller in the project passes what would break it."""
        return not any(zone.meets_ordinarily(self.callers.range) for zone in self.zones)

    @property
    def is_without_gradient(self) -> bool:
        """Whether no backward passes through it: none reaches it, or none goes on to its operands, as they are or as callers pass them."""
        is_detached = self.callers.detached or all(value.detached for value in self.op.operands.values())
        return is_detached or self.is_cut_off

    @property
    def is_presumed_safe(self) -> bool:
        """Whether somebody added an eps, so that the operand is presumed to be above 0."""
        return self.operand.value.presumed

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
        """What the file calls a module (`torch`, `torch.nn.functional`); None if it does not import it, and a fix could not."""
        tree = self.function.module.body.node
        if not isinstance(tree, ast.Module):
            return None
        found = (local for local, meant in global_imports(tree.body).items() if meant == full)
        return next(found, TORCH if full == TORCH and line_for_torch(tree) else None)

    @property
    def is_method(self) -> bool:
        """Whether it is written as a method of its operand."""
        called = getattr(self.op.node, "func", None)
        return called is not None and getattr(called, "value", None) is self.operand.node

    def span_of(self, op: Op) -> Span:
        """Where another operation is written."""
        return self.source.span_of(op.node)

    def whole(self, outer: Op, value: Value) -> Span | None:
        """Where `outer` is written, if its operand `value` is this operation, written right there, and no comment would be lost."""
        nodes = [outer.nodes.get(name) for name, each in outer.operands.items() if each is value]
        is_here = any(node is self.op.node for node in nodes) and isinstance(outer.node, ast.BinOp | ast.Call)
        is_changed = self.is_in_place or outer.in_place
        if not is_here or is_changed or outer.node is None or "#" in self.source.text_of(outer.node):
            return None
        return self.span_of(outer)

    def text_with(self, operand: str) -> str | None:
        """The operation with another text for its operand; None if it stands on several lines."""
        whole, inner = self.span, self.operand.span
        if inner is None or whole.line != whole.end_line or self.operand.node is None:
            return None
        start = inner.column - whole.column
        return f"{self.text[:start]}{operand}{self.text[start + len(self.operand.text) :]}"

    def operand_of(self, op: Op, name: str) -> Operand:
        """An operand of another operation, as it is written there."""
        return Operand(op.operands[name], op.nodes.get(name), self.source)

    def inside(self, *functions: str) -> Operand:
        """The operand without the call of one of `functions` around it: `x` of `x.clamp(-1, 1)`."""
        made = self.operand.value.op
        if made is None or made.function not in functions or made.node is not self.operand.node or made.subject is None:
            return self.operand
        return Operand(made.subject, made.nodes.get("input"), self.source)

    def label(self, op: Op | None, text: str) -> tuple[Label, ...]:
        """A label at the place where something was made, if that is another place of the same file."""
        here = (
            op is not None and op.node is not None and op.scope is not None and op.scope.module is self.function.module
        )
        if op is None or not here or not isinstance(op.node, ast.expr) or op.node is self.op.node:
            return ()
        place = self.source.span_of(op.node)
        return (Label(place, text),) if not place.overlaps(self.span) else ()

    def with_call(self, suffix: str) -> Edit | None:
        """The operand with a method called on it: `(a + b).clamp_min(1e-6)`."""
        node = self.operand.node
        if node is None:
            return None
        return Edit(self.source.span_of(node), f"{self.operand.as_receiver}{suffix}")


def _subject_of(node: ast.AST | None) -> ast.AST | None:
    """What a call or an operator is about: `x` of `x.norm()`, `a` of `f(a)`, `m` of `m[0]`."""
    if isinstance(node, ast.Call):
        return (
            node.func.value
            if isinstance(node.func, ast.Attribute) and not node.args
            else node.args[0]
            if node.args
            else None
        )
    return node.value if isinstance(node, ast.Subscript) else None


def _is_made_by_call(value: Value, depth: int = 6) -> bool:
    """Whether an operation of the op table that is written as a call made it, operators on it aside."""
    made = made_from(value)
    if made is None or not depth:
        return False
    if isinstance(made.node, ast.Call):
        return made.function in SIGNATURES
    return any(_is_made_by_call(each, depth - 1) for each in made.operands.values())
