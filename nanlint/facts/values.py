"""What is known of the value of one expression, and the call that made it.

A value is bound once and never changed: assigning a name makes a new value, so two places where a name stands for the same
object hold the same value, and `is` answers "was it touched in between?".
"""

from __future__ import annotations

import enum
from collections.abc import Mapping
from dataclasses import dataclass, field

import libcst as cst

from nanlint.ops.interval import FINITE, Interval


class Kind(enum.Enum):
    """What sort of thing a value is; UNKNOWN when nothing says."""

    UNKNOWN = "unknown"
    TENSOR = "tensor"
    NUMBER = "number"
    TEXT = "text"
    MODULE = "module"
    TUPLE = "tuple"
    FUNCTION = "function"
    NONE = "none"
    DTYPE = "dtype"


class Form(enum.Enum):
    """How a call is written: `torch.log(x)`, `x.log()`, `a / b`, or `self.softmax(x)` with an nn.Module."""

    FUNCTION = "function"
    METHOD = "method"
    OPERATOR = "operator"
    MODULE = "module"


@dataclass(frozen=True, slots=True, eq=False)
class Call:
    """One operation, whatever its spelling. `function` is the op table's name, else the dotted name, else `.method`."""

    function: str
    node: cst.BaseExpression
    form: Form
    arguments: Mapping[str, cst.BaseExpression] = field(default_factory=dict)
    """By parameter name; arguments that no signature names are "0", "1", … in order."""
    receiver: cst.BaseExpression | None = None
    """What a method is called on, when the op table does not make it the subject."""

    @property
    def subject(self) -> cst.BaseExpression | None:
        """The operand that the operation is about: its first parameter."""
        return self.arguments.get("input") or self.arguments.get("0")


class _Nothing(enum.Enum):
    """No constant is known; None is one."""

    NOTHING = "nothing"


NOTHING = _Nothing.NOTHING


@dataclass(frozen=True, slots=True, eq=False)
class Value:
    """What one expression evaluates to, as far as the source tells."""

    kind: Kind = Kind.UNKNOWN
    made_by: Call | None = None
    origin: Call | None = None
    """As `made_by`, seen through views and casts: the operation whose values these are."""
    constant: object = NOTHING
    parts: tuple[Value, ...] = ()
    """The elements of a tuple or list, the arguments of a module's constructor, or what a function returns."""
    range: Interval = FINITE
    """Every number that it, or an element of it, can be. FINITE, from -inf to inf, is what is said of the unknown."""
    dtype: str = ""
    """float16, bfloat16, float32, float64, int or bool; empty when nothing says."""
    learnable: bool = False
    """A parameter of the model, or a view of one: training moves it anywhere."""
    same_as: object = None
    """Set on a value that is another one under a guard; `identity` then is that of the other."""

    @property
    def identity(self) -> object:
        """Equal for two reads of one binding, guarded or not."""
        return self.same_as if self.same_as is not None else self

    @property
    def is_known(self) -> bool:
        """Whether the range says more than that it is a number."""
        return self.range != FINITE

    @property
    def number(self) -> float | None:
        """The constant, if it is a real number (a bool is none)."""
        if isinstance(self.constant, bool) or not isinstance(self.constant, (int, float)):
            return None
        try:
            return float(self.constant)
        except OverflowError:  # an int beyond any float
            return float("inf") if self.constant > 0 else float("-inf")


UNKNOWN = Value()
"""Nothing is known. A name that is bound to something unknown gets a `Value()` of its own, which equals only itself."""


def join(first: Value, second: Value) -> Value:
    """What is true whichever of the two it is."""
    if first is second:
        return first
    same_kind = first.kind if first.kind is second.kind else Kind.UNKNOWN
    same_call = first.made_by if first.made_by is second.made_by else None
    # 1 and True, 0.0 and -0.0 compare equal and are not the same constant.
    same_origin = first.origin if first.origin is second.origin else None
    same_constant = first.constant if repr(first.constant) == repr(second.constant) else NOTHING
    return Value(
        same_kind,
        same_call,
        same_origin,
        same_constant,
        range=first.range.join(second.range),
        dtype=first.dtype if first.dtype == second.dtype else "",
        learnable=first.learnable or second.learnable,
        same_as=first.identity if first.identity is second.identity else None,
    )
