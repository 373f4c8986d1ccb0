"""A hazard: an operation whose operand can enter a zone in which it breaks, and what a rule may ask about it."""

from __future__ import annotations

import ast
from functools import cached_property
from typing import TYPE_CHECKING, NamedTuple

from nanlint.analysis.op_graph import ARRAY, ATTRIBUTE, JOIN, NUMBER, TENSOR, UNKNOWN, Op, Value, made_from
from nanlint.analysis.patterns.quotients import (
    is_by_its_peak,
    is_own_part,
    is_place_between,
    is_relative_error,
    is_share,
    is_weighted_mean,
)
from nanlint.analysis.patterns.tensors import is_data, is_of_tensors
from nanlint.analysis.patterns.zeros import SUMS, VALUE, Zero, why_zero
from nanlint.analysis.project.consequence import BACKWARD as TRAINED
from nanlint.analysis.project.consequence import DATA, LEARNED, OUTPUT, WRITTEN
from nanlint.analysis.relations import root, same
from nanlint.analysis.sources import suggests_count
from nanlint.hazards.mended import is_mended, uses_of
from nanlint.model import Direction, Edit, Label, Span
from nanlint.ops.formats import FORMATS
from nanlint.ops.names import TENSOR_ONLY_METHODS
from nanlint.ops.zone import BACKWARD, FORWARD

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from nanlint.analysis.patterns.few import Few
    from nanlint.analysis.project.index import Function
    from nanlint.analysis.source_text import SourceText
    from nanlint.ops.zone import Zone

_ATOMS = (ast.Name, ast.Attribute, ast.Call, ast.Subscript)


class NoElements(NamedTuple):
    """The place of a zone where not the values break an operation, but that there are too few of them."""

    dtype: str
    is_spread: bool
    """It takes one element to break it, and not none."""
    direction: Direction = FORWARD

    def meets_ordinarily(self, _: object) -> bool:
        """No range tells how many there are."""
        return True

    def __str__(self) -> str:
        return "one element" if self.is_spread else "no elements"


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
        """A number that it can be held above before something is divided by it, whatever its dtype: half types round 1e-6 away."""
        return "1e-6" if self.value.dtype in {"bfloat16", "float32", "float64"} else "1e-4"

    def call_of(self, functions: frozenset[str]) -> Op | None:
        """The call of one of `functions` that is written here, and no name for what it made."""
        op = self.value.op
        return op if op is not None and op.function in functions and op.node is self.node else None

    def quoted(self, longest: int = 40) -> str:
        """Its text in one line, cut if it is long."""
        text = " ".join(self.text.split())
        return text if len(text) <= longest else f"{text[: longest - 1]}…"


class Hazard:
    """One operation, one operand, the zones it can enter; with what callers pass and where the result goes."""

    def __init__(  # noqa: PLR0913 - what is known of one place
        self, op: Op, name: str, zones: Sequence[Zone | NoElements], function: Function, source: SourceText, *, callers: Value, ends: int
    ) -> None:
        self.op = op
        self.zones = zones
        self.function = function
        self.source = source
        self.callers = callers
        """The operand as it is with what all callers in the project pass."""
        self.ends = ends
        """Where the result goes: bits of `analysis.project.consequence`."""
        self.operand = Operand(op.operands[name], op.nodes.get(name), source)
        self.operand_name = name
        self.siblings: Sequence[Hazard] = (self,)
        """All hazards of the function by the same operand, in the order of the code, this one among them: one defect."""
        self.few: Few | None = None
        """How there come to be too few elements, where that is the hazard."""

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

    @cached_property
    def zero(self) -> Zero | None:
        """How the operand comes to be 0; None if it cannot, or nothing tells that it can, or nothing is made of what breaks then."""
        if self.operand.value.kind is ARRAY and not self.ends & (TRAINED | OUTPUT | LEARNED | DATA):
            return None
        above = self.op.operands.get("input") if self.operand_name != "input" else None
        found = why_zero(self.callers) or why_zero(self.operand.value)
        made = self.operand.made_by
        if made is not None and is_relative_error(above, self.operand.value) and self.operand.value.range.has_zero:
            found = Zero(VALUE, made)
        elif found is None and made is not None and is_own_part(self.operand.value, above):
            found = Zero(VALUE, made, is_ordinary=False)
        elif found is None and made is not None and suggests_count(self.operand.value):
            found = Zero(VALUE, made, is_ordinary=False, is_by_name=True)
        if found is None or not self._is_of_tensors or is_mended(self.op, self.operand.value, self.function):
            return None
        if any(holds(above, self.operand.value) for holds in (is_weighted_mean, is_by_its_peak, is_place_between)):
            return found._replace(is_ordinary=True)
        return found.rarely if is_share(above, self.operand.value) else found

    @property
    def _is_of_tensors(self) -> bool:
        """Whether tensors take part: numbers from settings raise when they are divided by 0."""
        return any(map(is_data, self.op.operands.values())) or any(map(is_of_tensors, uses_of(self.op, self.function)))

    @property
    def is_of_one_sign(self) -> bool:
        """Whether the operand is not negative: by its range, or because what is made of it makes no sense otherwise."""
        above, exponent = self.op.operands.get("input"), self.op.operands.get("exponent")
        is_root = exponent is not None and not exponent.range.integer
        total = self.operand.made_by
        is_mask = total is not None and total.function in SUMS and self._is_used_as_mask(total.subject)
        return self.operand.value.range.least >= 0 or is_root or is_mask or is_weighted_mean(above, self.operand.value)

    def _is_used_as_mask(self, value: Value | None) -> bool:
        """Whether something else in the function fills or selects by it."""
        masks = (op.operands.get(name) for op in self.function.ops for name in ("mask", "condition"))
        return value is not None and any(mask is not None and same(mask, value) for mask in masks)

    @property
    def is_tensor(self) -> bool:
        """Whether the operand has a tensor's methods; what is not annotated has them where nothing else has `sum` and `std`, or torch is given it."""
        value = self.operand.value
        if value.kind is not UNKNOWN or not is_data(value):
            return value.kind is TENSOR
        if "numpy" not in self.function.module.imports.values():
            return True
        sources = {root(each).key for each in _sources(value)}
        given = (each for op in self.function.ops if _is_of_torch_alone(op) for each in op.operands.values())
        return any(root(each).key in sources for each in given)

    @property
    def eps_when_divided_by(self) -> float | None:
        """The number that is added to the result before something is divided by it, 0 for none; None if nothing is."""
        for op in self.function.ops:
            below = made_from(root(op.operands["other"])) if op.function == "torch.div" and "other" in op.operands else None
            if below is self.op:
                return 0.0
            if below is not None and below.function == "torch.add" and any(made_from(root(each)) is self.op for each in below.operands.values()):
                return max((each.range.low for each in below.operands.values() if each.range.constant is not None), default=0.0)
        return None

    @property
    def is_mended(self) -> bool:
        """Whether the result is replaced where it breaks, only compared, or only shown to people."""
        is_shown = bool(self.ends) and not self.ends & ~WRITTEN
        return is_shown or is_mended(self.op, self.operand.value, self.function)

    @property
    def defect(self) -> object:
        """What hazards with one cause have in common: the operand, or what it is the sum of, along whatever dimension."""
        if self.few is not None and self.few.mask is not None:
            return root(self.few.mask).key
        made = self.operand.made_by
        is_sum = made is not None and made.function in SUMS and made.subject is not None
        return ("sum", root(made.subject).key) if is_sum and made is not None and made.subject is not None else root(self.operand.value).key

    @property
    def is_operand_known(self) -> bool:
        """Whether anything is known of the operand: its range, what callers pass, or how it was computed."""
        if self.few is not None and self.few.is_ordinary:
            return True
        return self.operand.value.is_known or self.callers.is_known or _is_computed(self.operand.value) or _is_computed(self.callers)

    @property
    def is_ruled_out_by_callers(self) -> bool:
        """Whether no caller in the project passes what would break it."""
        return not any(zone.meets_ordinarily(self.callers.range) for zone in self.zones)

    @property
    def is_without_gradient(self) -> bool:
        """Whether no backward passes through any of its operands; of a layer that is made with numbers nobody knows."""
        values = [value for value in self.op.operands.values() if value.kind is not NUMBER]
        return bool(values) and all(value.detached for value in values)

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
        imports = self.function.module.imports
        found = next((local for local, meant in imports.items() if meant == full), None)
        outer, _, last = full.rpartition(".")
        above = self.name_of(outer) if found is None and outer else None
        return f"{above}.{last}" if above is not None else found

    def inside(self, *functions: str) -> Operand:
        """The operand without the call of one of `functions` around it: `x` of `x.clamp(-1, 1)`."""
        made = self.operand.value.op
        if made is None or made.function not in functions or made.node is not self.operand.node or made.subject is None:
            return self.operand
        return Operand(made.subject, made.nodes.get("input"), self.source)

    def label(self, op: Op | None, text: str) -> tuple[Label, ...]:
        """A label at the place where something was made, if that is another place of the same file."""
        here = op is not None and op.node is not None and op.scope is not None and op.scope.module is self.function.module
        if op is None or not here or not isinstance(op.node, ast.expr) or op.node is self.op.node:
            return ()
        place = self.source.span_of(op.node)
        return (Label(place, text),) if not place.overlaps(self.span) else ()

    def at_least(self, tensor: str, number: str) -> Edit | None:
        """The operand kept above something, as its type does that; None if that is not known."""
        if self.is_tensor:
            return self.with_call(tensor)
        span = self.operand.span
        return Edit(span, f"max({self.operand.text}, {number})") if self.operand.value.kind is NUMBER and span is not None else None

    def with_keyword(self, name: str, text: str) -> Edit | None:
        """The call with an argument set; None for what is no call in brackets."""
        node, given = self.op.node, self.op.nodes.get(name)
        if given is not None:
            return Edit(self.source.span_of(given), text)
        if not isinstance(node, ast.Call):
            return None
        values = [*node.args, *(each.value for each in node.keywords)]
        if not values:
            whole = self.source.span_of(node)
            return Edit(Span(whole.end_line, whole.end_column - 1, whole.end_line, whole.end_column - 1), f"{name}={text}")
        last = max(values, key=lambda each: (each.lineno, each.col_offset))
        bracket = self.source.bracket_behind(last)
        return Edit((bracket or self.source.span_of(last)).behind, f", {name}={text}")

    def with_call(self, suffix: str) -> Edit | None:
        """The operand with a method called on it: `(a + b).clamp_min(1e-6)`."""
        node = self.operand.node
        if node is None:
            return None
        text, span = self.source.text_of(node), self.source.span_of(node)
        if isinstance(node, _ATOMS):
            return Edit(span, f"{text}{suffix}")
        bracket = self.source.bracket_behind(node)
        return Edit(bracket.behind, suffix) if bracket is not None else Edit(span, f"({text}){suffix}")


def _is_computed(value: Value, depth: int = 4) -> bool:
    """Whether some operation made it, on one of several paths at least, or what an attribute holds."""
    op = made_from(root(value))
    if op is None or not depth:
        return False
    is_passed_on = op.function == JOIN or (op.function == ATTRIBUTE and "stored" in op.operands)
    return any(_is_computed(each, depth - 1) for each in op.operands.values()) if is_passed_on else not op.function.startswith("<")


def _sources(value: Value, depth: int = 6) -> Iterator[Value]:
    """What a value was computed of, itself included."""
    yield value
    for each in value.op.operands.values() if value.op is not None and depth else ():
        yield from _sources(each, depth - 1)


def _is_of_torch_alone(op: Op) -> bool:
    """Whether it is written as a function of torch, or as a method that arrays do not have."""
    func = op.node.func if isinstance(op.node, ast.Call) else None
    if not isinstance(func, ast.Attribute) or not op.function.startswith("torch."):
        return False
    return func.attr in TENSOR_ONLY_METHODS or (isinstance(func.value, ast.Name) and func.value.id in {"torch", "F"})


def _subject_of(node: ast.AST | None) -> ast.AST | None:
    """What a call or an operator is about: `x` of `x.norm()`, `a` of `f(a)`, `m` of `m[0]`."""
    if isinstance(node, ast.Call):
        return node.func.value if isinstance(node.func, ast.Attribute) and not node.args else node.args[0] if node.args else None
    return node.value if isinstance(node, ast.Subscript) else None
