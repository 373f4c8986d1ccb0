"""Values and the operations that made them: the graph that the analysis speaks of.

An operation points to the values it was given; each value points to the operation that made it. What enters from outside
has an operation too (`<parameter>`, `<attribute>`, `<call>`), so that one graph tells how a value was made and where it goes.
Two values with one `key` are the same value, however they were written.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from nanlint.ops.interval import FINITE, Interval

if TYPE_CHECKING:
    import ast
    from collections.abc import Mapping

    from nanlint.analysis.project.index import Function

# Kinds are interned strings: they are compared with `is` and read a few times for each expression.
UNKNOWN: Final = "unknown"
TENSOR: Final = "tensor"
ARRAY: Final = "array"
NUMBER: Final = "number"
TEXT: Final = "text"
NONE: Final = "none"
TUPLE: Final = "tuple"
DICT: Final = "dict"
FUNCTION: Final = "function"
CLASS: Final = "class"
INSTANCE: Final = "instance"
LAYER: Final = "layer"
REFERENCE: Final = "reference"
DTYPE: Final = "dtype"

PARAMETER, ATTRIBUTE, CALL, JOIN, ELEMENT, GUARDED, LITERAL = (
    "<parameter>",
    "<attribute>",
    "<call>",
    "<join>",
    "<element>",
    "<guarded>",
    "<literal>",
)

ASSUMED: Final = "assumed"
"""Where a guard comes from whose limit is a default."""


class _Nothing:
    """No constant is known; None is one."""

    def __repr__(self) -> str:
        return "NOTHING"


NOTHING: Final = _Nothing()


class Op:
    """One operation on values, however it is spelled."""

    __slots__ = (
        "autocast", "copy_of", "function", "in_place", "module", "node", "nodes", "operands", "recorded", "rest", "scope", "storage", "where",
    )  # fmt: skip

    def __init__(
        self,
        function: str,
        operands: Mapping[str, Value],
        node: ast.AST | None,
        scope: Function | None,
        *,
        recorded: bool = True,
    ) -> None:
        self.function = function
        """The op table's name, a dotted name, `.method`, or one of the names in angle brackets above."""
        self.operands = operands
        self.node = node
        self.scope = scope
        self.recorded = recorded
        """Whether autograd records it: it does not stand under no_grad."""
        self.autocast = ""
        """The kind of device of the autocast region that it stands in; empty outside of one."""
        self.copy_of: Op | None = None
        """The operation of a called function that this one repeats with what the caller passes."""
        self.module: Value | None = None
        """The layer whose call this is: `self.softmax(x)`."""
        self.nodes: Mapping[str, ast.AST] = {}
        """Where each operand is written, as far as it is written here."""
        self.where = ""
        """The name of a parameter, an attribute, an element."""
        self.in_place = False
        """What it makes lies where its first operand lay."""
        self.rest: tuple[Value, ...] = ()
        """Sizes and other starred arguments: `x.view(2, -1)`."""
        self.storage: frozenset[Op] | None = None
        """What `storages` has found; None before it was asked."""

    @property
    def subject(self) -> Value | None:
        """The operand that the operation is about: its first."""
        for value in self.operands.values():
            return value
        return None

    def __repr__(self) -> str:
        line = getattr(self.node, "lineno", "?")
        return f"<{self.function} {self.where} line {line}>"


class Value:
    """What is known of one value."""

    __slots__ = (
        "assumed",
        "constant",
        "detached",
        "dtype",
        "key",
        "keys",
        "kind",
        "learned",
        "name",
        "op",
        "parts",
        "presumed",
        "range",
        "some",
        "target",
    )

    def __init__(  # noqa: PLR0913 - all that is known of a value, and most of it by name
        self,
        kind: str = UNKNOWN,
        op: Op | None = None,
        *,
        range: Interval = FINITE,  # noqa: A002 - it is the word for it
        dtype: str = "",
        constant: object = NOTHING,
        parts: tuple[Value, ...] = (),
        keys: tuple[object, ...] = (),
        detached: bool = False,
        learned: bool = False,
        assumed: bool = False,
        name: str = "",
        target: object = None,
        key: object = None,
        some: int = 0,
    ) -> None:
        self.kind = kind
        self.op = op
        self.range = range
        self.dtype = dtype
        self.constant = constant
        self.parts = parts
        """The elements of a tuple or list; the values of a dict, in the order of `keys`; what a layer was built with."""
        self.keys = keys
        self.detached = detached
        """No backward passes through it."""
        self.learned = learned
        """A parameter of the model, or a view of one: training moves it anywhere."""
        self.assumed = assumed
        """The constant is a default, which holds as long as no caller says otherwise."""
        self.name = name
        """The full name of what is imported or built in."""
        self.target = target
        """The function or class of the project that it is, or of which it is an object."""
        self.key = key if key is not None else object()
        self.some = some
        """How many it selects, or holds, at least: 1 or 2 where somebody has asked, else 0."""
        self.presumed = False
        """Somebody added an eps: as nothing says that it can be negative, it is presumed to be above 0."""

    def but(self, **changes: object) -> Value:
        """The same in all but this."""
        made = Value.__new__(Value)
        for slot in Value.__slots__:
            setattr(made, slot, getattr(self, slot))
        for name, value in changes.items():
            setattr(made, name, value)
        return made

    @property
    def number(self) -> float | None:
        """The constant, if it is a real number (a bool is none)."""
        if isinstance(self.constant, bool) or not isinstance(self.constant, int | float):
            return None
        try:
            return float(self.constant)
        except OverflowError:
            return float("inf") if self.constant > 0 else float("-inf")

    @property
    def is_known(self) -> bool:
        """Whether the range says more than that it is a number."""
        return self.range != FINITE

    def part(self, key: object) -> Value | None:
        """The element of a tuple under a number, or of a dict under a key; None if it is not known."""
        if self.kind is DICT:
            return self.parts[self.keys.index(key)] if key in self.keys else None
        if self.kind is TUPLE and isinstance(key, int) and -len(self.parts) <= key < len(self.parts):
            return self.parts[key]
        return None

    def __repr__(self) -> str:
        return f"<{self.kind} {self.range} {self.dtype} by {self.op}>"


def made_from(value: Value | None) -> Op | None:
    """The operation that computed it, seen through guards; None for no value."""
    op = value.op if value is not None else None
    while op is not None and op.function == GUARDED and op.subject is not None:
        op = op.subject.op
    return op


def name_of(op: Op) -> str:
    """The name of an operation; of a call that the op table does not know, that of what is called: `transformers.Trainer`, `.step`."""
    return op.where if op.function == CALL else op.function


def original(op: Op) -> Op:
    """The operation that is written: that which a call repeats, or itself."""
    while op.copy_of is not None:
        op = op.copy_of
    return op
