"""A hazard: an operation whose operand can enter a zone in which it breaks, and what a rule may ask about it."""

from __future__ import annotations

import ast
import os
from functools import cached_property
from typing import TYPE_CHECKING

from nanlint.analysis.name_hints import SHOWN_OR_TESTED
from nanlint.analysis.op_graph import (
    ARRAY,
    ATTRIBUTE,
    ELEMENT,
    JOIN,
    NONE,
    NUMBER,
    TENSOR,
    TEXT,
    Op,
    Value,
    made_from,
    name_of,
    original,
)
from nanlint.analysis.patterns.dtype_tests import is_decided_by_dtype
from nanlint.analysis.project.syntax_names import last_word, names_below, written_argument
from nanlint.analysis.relations import op_behind
from nanlint.hazards.op_uses import may_use
from nanlint.hazards.operand import ATOMS, Operand
from nanlint.hazards.placed import Placed
from nanlint.hazards.under_autocast import is_saved, runs_in_float32
from nanlint.hazards.zero_operand import ZeroOperand
from nanlint.hazards.zones_met import is_fraction, is_inverse
from nanlint.model import Direction, Edit, Label, Span
from nanlint.ops.formats import AUTOCAST, FLOAT32, FORMATS, REFUSED, SINGLE
from nanlint.ops.interval import INF, number
from nanlint.ops.names import SIGNATURES
from nanlint.ops.zone import BACKWARD, FORWARD, Zone
from nanlint.source.syntax.below import given_to
from nanlint.word_sets import word_set

if TYPE_CHECKING:
    from collections.abc import Sequence

    from nanlint.analysis.patterns.few import Few
    from nanlint.analysis.patterns.kept import Kept
    from nanlint.analysis.project.index import Function
    from nanlint.analysis.project.whole import FileInProject
    from nanlint.hazards.no_elements import NoElements
    from nanlint.hazards.resume import Resume

_LARGEST_EPS = 1e-3
_HALVES = word_set("float16 bfloat16")
_SETTINGS = frozenset({NUMBER, TEXT, NONE})


class Hazard(ZeroOperand, Placed):
    """One operation, one operand, the zones it can enter; with what callers pass and where the result goes."""

    def __init__(  # noqa: PLR0913 - what is known of one place
        self,
        op: Op,
        name: str,
        zones: Sequence[Zone | NoElements],
        function: Function,
        file: FileInProject,
        *,
        is_cut_off: bool = False,
    ) -> None:
        self.op = op
        self.zones = zones
        self.function = function
        self.file = file
        self.source = file.source
        self.graph = file.graph
        self.ends = file.ends_of(original(op))
        """Where the result goes: bits of `analysis.project.consequence`."""
        self.is_cut_off = is_cut_off
        """No gradient comes back to it: it is not recorded, or all its uses are plain numbers, indices, detached copies."""
        held = op.operands.get(name)
        node = op.nodes.get(name) or written_argument(op.node, name) if name else op.node
        self.operand = Operand(held if held is not None else Value(op=op), node, file.source)
        self.operand_name = name
        self.siblings: Sequence[Hazard] = (self,)
        """All hazards of the function by the same operand, in the order of the code, this one among them: one defect."""
        self.few: Few | None = None
        """How there come to be too few elements, where that is the hazard."""
        self.resume: Resume | None = None
        """What the call restores of a saved run, where that is the hazard."""
        self.kept: Kept | None = None
        """What throws the broken results away, where that is the hazard."""

    @cached_property
    def callers(self) -> Value:
        """The operand as it is with what all callers in the project pass."""
        return self.graph.with_callers(self.operand.value)

    @property
    def range(self) -> str:
        """What the operand can be, as `[0, 1]`; empty where nothing bounds it."""
        low, high = self.callers.range.low, self.callers.range.high
        return "" if (low, high) == (-INF, INF) else f"[{number(low)}, {number(high)}]"

    @cached_property
    def direction(self) -> Direction:
        """Whether the result breaks, its gradient, or both."""
        found = {zone.direction for zone in self.zones}
        if found == {FORWARD, BACKWARD} and not self.operand.value.detached:
            return Direction.BOTH
        return Direction.FORWARD if FORWARD in found or not found else Direction.BACKWARD

    @cached_property
    def dtypes(self) -> tuple[str, ...]:
        """The formats in which it breaks."""
        found = {zone.dtype for zone in self.zones}
        return tuple(name for name in FORMATS if name in found)

    @property
    def word(self) -> str:
        """The operation as people call it: `acos`."""
        return name_of(self.op).rpartition(".")[2]

    @property
    def is_half_alone(self) -> bool:
        """Whether it breaks in the half formats alone, and nothing says that one of them is used here."""
        return not self.operand.value.dtype and set(self.dtypes) <= {"float16", "bfloat16"}

    @property
    def is_format_stated(self) -> bool:
        """Whether the code at hand says in which format it computes."""
        return self.operand.value.dtype in FORMATS

    @property
    def is_half_stated(self) -> bool:
        """Whether the code at hand says that it computes in a half format."""
        cast_to = AUTOCAST.get(self.op.function) if self.op.autocast else None
        is_half = any(value.dtype in _HALVES for value in self.op.operands.values())
        return cast_to == REFUSED or (is_half and cast_to != SINGLE)

    @cached_property
    def saved_by(self) -> str:
        """The format in which autocast to float16 computes it without breaking: float32, or empty for none."""
        maker, is_of_values = self.graph.maker, any(isinstance(zone, Zone) for zone in self.zones)
        is_safe = is_saved(self.op, self.operand_name, maker) if is_of_values else runs_in_float32(self.op, maker)
        return FLOAT32.name if is_safe else ""

    @cached_property
    def is_decided_by_dtype(self) -> bool:
        """Whether it stands on one side of a test on dtypes."""
        return is_decided_by_dtype(self.op, self.function)

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
        """Whether somebody else says what the exponent is, and it may be a whole number: a setting, a weight."""
        held = self.exponent
        return held is not None and held.number is None and not is_inverse(held) and not is_fraction(held)

    @property
    def text(self) -> str:
        """The operation as it is written."""
        return self.source.text_of(self.op.node) if self.op.node is not None else ""

    @property
    def is_bracketed(self) -> bool:
        """Whether the operation stands in brackets of its own."""
        return self.op.node is not None and self.source.is_bracketed(self.op.node)

    @cached_property
    def uses(self) -> list[tuple[Op, str]]:
        """The operations of this function that take its result, views of it included, and as which operand."""
        return [
            (op, name)
            for op in may_use(self.op, self.function)
            for name, value in op.operands.items()
            if op_behind(value) is self.op and op.copy_of is None
        ]

    def is_foremost(self, defect: Sequence[Hazard]) -> bool:
        """Whether it is the one of a defect to tell of: the first through which a gradient passes, else the first."""
        return min(defect, key=lambda each: not each.op.recorded or each.is_cut_off) is self

    def only_given_to(self, functions: frozenset[str]) -> list[tuple[Op, Value]]:
        """The one operation that uses its result, if it is by one of these functions, and what that is given; else nothing."""
        users = may_use(self.op, self.function)
        is_kept = any(value.op is self.op for stored in self.function.stores.values() for value in stored)
        if len(users) != 1 or users[0].function not in functions or is_kept:
            return []
        parts = (part for value in users[0].operands.values() for part in (value, *value.parts))
        return [(users[0], part) for part in parts if part.op is self.op]

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
        users = may_use(op, self.function)
        divisors = (each.operands.get("other") for each in users if each.function == "torch.div")
        return any(value is not None and op_behind(value) is op for value in divisors)

    @property
    def span(self) -> Span:
        """Where the operation is written."""
        return self.source.span_of(self.op.node)

    @property
    def is_operand_known(self) -> bool:
        """Whether anything is known of the operand: its range, what callers pass, how it was computed, that somebody expects a 0."""
        values = self.operand.value, self.callers
        if self.few is not None and self.few.is_ordinary:
            return True
        return self.is_guarded_too_late or any(value.is_known or _is_computed(value) for value in values)

    @property
    def is_ruled_out_by_callers(self) -> bool:
        """Whether no caller in the project passes what would break it."""
        return not any(zone.meets_ordinarily(self.callers.range) for zone in self.zones)

    @property
    def is_without_gradient(self) -> bool:
        """Whether no backward passes through it: none reaches it, or none goes on to its operands, as they are or as callers pass them."""
        values = [value for value in self.op.operands.values() if value.kind not in _SETTINGS]
        # Of a layer that is made with numbers and words nobody knows. A count has no gradient, and what is divided by it may have one.
        is_operand_detached = self.callers.detached and self.kept is None and not self.is_forward
        is_detached = bool(values) and (is_operand_detached or all(value.detached for value in values))
        return is_detached or self.is_cut_off

    @property
    def is_called_without_gradient(self) -> bool:
        """Whether all calls in the project pass what has no gradient."""
        values = (self.graph.with_callers(value) for value in self.op.operands.values())
        return all(value.detached or value.kind in _SETTINGS for value in values)

    @property
    def is_presumed_safe(self) -> bool:
        """Whether somebody added an eps, so that the operand is presumed to be above 0."""
        return self.operand.value.presumed

    @property
    def floor(self) -> str:
        """A number above 0 in the dtype of the operand, or in every dtype if nobody knows which it is."""
        return self.operand.floor

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
    def is_item_set(self) -> bool:
        """Whether it is written as `x[mask] = value`."""
        return isinstance(self.op.node, ast.Subscript) and self.op.in_place

    @property
    def has_stars(self) -> bool:
        """Whether it is given `*args` or `**kwargs`, in which anything may be stated."""
        node = self.op.node
        return isinstance(node, ast.Call) and (
            any(isinstance(each, ast.Starred) for each in node.args) or any(each.arg is None for each in node.keywords)
        )

    def class_computes(self, *operations: str) -> bool:
        """Whether its function, or a method of its class, computes one of these."""
        owner = self.function.owner
        methods = [self.function, *(owner.methods.values() if owner is not None else ())]
        return any(op.function in operations for method in methods for op in method.ops)

    @property
    def is_in_test(self) -> bool:
        """Whether it stands in a test or draws something, by the name of the file or the function: what breaks there breaks no run."""
        return self.is_in_tests or self.function.name.startswith(SHOWN_OR_TESTED)

    @property
    def is_spelled_out(self) -> bool:
        """Whether all that the call passes is written there: no `*args`, no `**kwargs`."""
        given = self.op.node.args if isinstance(self.op.node, ast.Call) else []
        return "**" not in self.op.operands and not any(isinstance(each, ast.Starred) for each in given)

    @property
    def said(self) -> str:
        """What people say of it: the name of the function, and the comments at the statement, in lower case."""
        return f"{self.comments} {self.function.name}".lower()

    @property
    def kept_as(self) -> tuple[str, ...]:
        """The words of the name that the result is kept under: ("train", "loader")."""
        statement = self._statement
        targets = statement.targets if isinstance(statement, ast.Assign) else [getattr(statement, "target", None)]
        return tuple(word for target in targets if target is not None for word in last_word(target).lower().split("_"))

    @cached_property
    def file_names(self) -> frozenset[str]:
        """Every name and attribute in the file."""
        return names_below(self.function.module.body.node)

    @property
    def is_in_place(self) -> bool:
        """Whether the operation writes its result into its operand: `x.acos_()`, `x /= y`."""
        node = self.op.node
        word = getattr(getattr(node, "func", None), "attr", "")
        return isinstance(node, ast.AugAssign) or (word.endswith("_") and not word.endswith("__"))

    def quoted(self, op: Op, longest: int) -> str:
        """Another operation as it is written, in one line, cut if it is long."""
        return Operand(Value(), op.node, self.file.source_of(op)).quoted(longest)

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

    def rewritten(self, text: str | None) -> Edit | None:
        """Another text in the place of the operation; None for none."""
        return Edit(self.span, text) if text is not None else None

    def text_with(self, operand: str) -> str | None:
        """The operation with another text for its operand; None if it stands on several lines."""
        whole, inner = self.span, self.operand.span
        if inner is None or whole.line != whole.end_line or self.operand.node is None:
            return None
        start = inner.column - whole.column
        return f"{self.text[:start]}{operand}{self.text[start + len(self.operand.text) :]}"

    def operand_of(self, op: Op, name: str) -> Operand:
        """An operand of another operation, as it is written there."""
        return Operand(op.operands[name], op.nodes.get(name), self.file.source_of(op))

    def inside(self, *functions: str) -> Operand:
        """The operand without the call of one of `functions` around it: `x` of `x.clamp(-1, 1)`."""
        made = self.operand.value.op
        if made is None or made.function not in functions or made.node is not self.operand.node or made.subject is None:
            return self.operand
        return Operand(made.subject, made.nodes.get("input"), self.source)

    def label(self, op: Op | None, text: str, *, finding: Span | None = None) -> tuple[Label, ...]:
        """A label at the place where something was made, if that is another place of the same file than that of the finding."""
        at = finding or self.span
        op = _built(op)
        here = (
            op is not None and op.node is not None and op.scope is not None and op.scope.module is self.function.module
        )
        if op is None or not here or not isinstance(op.node, ast.expr):
            return ()
        place = self.source.span_of(op.node)
        return (Label(place, text),) if not place.overlaps(at) else ()

    def elsewhere(self, op: Op | None, text: str) -> str:
        """`text` and the place where something was made, if that is in another file: no label can point there."""
        op = _built(op)
        module = op.scope.module if op is not None and op.scope is not None else None
        if op is None or module is None or module is self.function.module:
            return ""
        return f"{text} {os.path.relpath(module.path, self.function.module.project.root or None)}:{getattr(op.node, 'lineno', 1)}"

    def with_keyword(self, name: str, text: str) -> Edit | None:
        """The call with an argument set; None for what is no call in brackets."""
        node = self.op.node
        given = self.op.nodes.get(name) or written_argument(node, name)
        if given is not None:
            return Edit(self.source.span_of(given), text)
        if not isinstance(node, ast.Call):
            return None
        values = given_to(node)
        if not values:
            whole = self.source.span_of(node)
            return Edit(
                Span(whole.end_line, whole.end_column - 1, whole.end_line, whole.end_column - 1), f"{name}={text}"
            )
        last = max(values, key=lambda each: (each.lineno, each.col_offset))
        bracket = self.source.bracket_behind(last)
        return Edit((bracket or self.source.span_of(last)).behind, f", {name}={text}")

    def with_call(self, suffix: str) -> Edit | None:
        """The operand with a method called on it: `(a + b).clamp_min(1e-6)`."""
        node = self.operand.node
        if node is None:
            return None
        text, span = self.source.text_of(node), self.source.span_of(node)
        if isinstance(node, ATOMS):
            return Edit(span, f"{text}{suffix}")
        bracket = self.source.bracket_behind(node)
        return Edit(bracket.behind, suffix) if bracket is not None else Edit(span, f"({text}){suffix}")


def _is_computed(value: Value, depth: int = 4) -> bool:
    """Whether some operation made it, on one of several paths at least, or what it is an element of, or what an attribute holds."""
    op = op_behind(value)
    if op is None or not depth:
        return False
    is_passed_on = op.function in {JOIN, ELEMENT} or (op.function == ATTRIBUTE and "stored" in op.operands)
    return (
        any(_is_computed(each, depth - 1) for each in op.operands.values())
        if is_passed_on
        else not op.function.startswith("<")
    )


def _built(op: Op | None) -> Op | None:
    """Of what a layer computes, the place where the layer is built; else the operation itself."""
    made = op.module.op if op is not None and op.module is not None else op
    stored = made.operands.get("stored") if made is not None else None
    return stored.op if stored is not None else made


def _is_made_by_call(value: Value, depth: int = 6) -> bool:
    """Whether an operation of the op table that is written as a call made it, operators on it aside."""
    made = made_from(value)
    if made is None or not depth:
        return False
    if isinstance(made.node, ast.Call):
        return made.function in SIGNATURES
    return any(_is_made_by_call(each, depth - 1) for each in made.operands.values())
