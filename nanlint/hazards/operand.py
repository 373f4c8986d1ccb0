"""The operand that is in danger: its value, how it is written, how it was made."""

from __future__ import annotations

import ast
from typing import TYPE_CHECKING

from nanlint.analysis.op_graph import ATTRIBUTE, ELEMENT, PARAMETER, Op, Value
from nanlint.analysis.relations import op_behind
from nanlint.analysis.source_text import shortened
from nanlint.source.syntax.below import walk
from nanlint.word_sets import word_set

if TYPE_CHECKING:
    from nanlint.analysis.source_text import SourceText
    from nanlint.model import Span

# Above 0 in float16, too, which ends at 6e-8, and far below what matters in a wider format.
_FLOOR, _FLOOR_IF_WIDE = "1e-7", "1e-12"
_WIDE = word_set("bfloat16 float32 float64")
_MOST_SOURCES = 100
ATOMS = (ast.Name, ast.Attribute, ast.Call, ast.Subscript)


class Operand:
    """One operand of one operation."""

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
        return op_behind(self.value)

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

    def holds(self, node: ast.AST) -> bool:
        """Whether something is written within it."""
        return self.node is not None and any(each is node for each in walk(self.node))

    @property
    def as_receiver(self) -> str:
        """Its text as a method can be called on it."""
        if self.node is None:
            return ""
        is_atom = isinstance(self.node, ATOMS)
        return self.text if is_atom else f"({self.text})"

    @property
    def floor(self) -> str:
        """A number above 0 in its dtype, or in every dtype if nobody knows which it is."""
        return _FLOOR_IF_WIDE if self.value.dtype in _WIDE else _FLOOR

    @property
    def divisor_floor(self) -> str:
        """A number that it can be held above before something is divided by it, whatever its dtype: half types round 1e-6 away."""
        return "1e-6" if self.value.dtype in _WIDE else "1e-4"

    def call_of(self, functions: frozenset[str]) -> Op | None:
        """The call of one of `functions` that is written here, and no name for what it made."""
        op = self.value.op
        return op if op is not None and op.function in functions and op.node is self.node else None

    def plus(self, other: str, *, is_receiver: bool) -> str:
        """The text of its sum with something, to stand where it stands itself: as what a method is called on, or as an argument."""
        text = f"{self.text} + {other}"
        return f"({text})" if is_receiver and isinstance(self.node, ATOMS) else text

    def quoted(self, longest: int = 40) -> str:
        """Its text in one line, cut if it is long."""
        return shortened(" ".join(self.text.split()), longest)


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
