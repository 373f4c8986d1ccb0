"""What is known of the value of one expression, and the call that made it.

A value is bound once and never changed: assigning a name makes a new value, so two places where a name stands for the same
object hold the same value, and `is` answers "was it touched in between?".
"""

from __future__ import annotations

import enum
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, ClassVar

from nanlint.ops.interval import FINITE, Interval

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    import libcst as cst


class Kind:
    """What sort of thing a value is; UNKNOWN when nothing says.

    No Enum: before Python 3.12 its members take four times as long to read, and every expression reads a few.
    """

    UNKNOWN: ClassVar[Kind]
    TENSOR: ClassVar[Kind]
    NUMBER: ClassVar[Kind]
    TEXT: ClassVar[Kind]
    MODULE: ClassVar[Kind]
    """An object of one of torch's own nn.Module classes."""
    TUPLE: ClassVar[Kind]
    FUNCTION: ClassVar[Kind]
    """A function, method or lambda of this file."""
    CLASS: ClassVar[Kind]
    """A class of this file."""
    INSTANCE: ClassVar[Kind]
    """An object of a class of this file."""
    REFERENCE: ClassVar[Kind]
    """Something imported or built in, known by its name."""
    NONE: ClassVar[Kind]
    DTYPE: ClassVar[Kind]

    __slots__ = ("value",)

    def __init__(self, value: str) -> None:
        self.value = value

    def __repr__(self) -> str:
        return f"Kind.{self.value.upper()}"


KINDS = frozenset(map(Kind, map(str.lower, Kind.__annotations__)))
for _kind in KINDS:
    setattr(Kind, _kind.value.upper(), _kind)


class Form(enum.Enum):
    """How a call is written: `torch.log(x)`, `x.log()`, `a / b`, or `self.softmax(x)` with an nn.Module."""

    FUNCTION = "function"
    METHOD = "method"
    OPERATOR = "operator"
    MODULE = "module"


# Not frozen: nobody changes one, and freezing the tens of thousands that a run makes takes a fifteenth of its time.
@dataclass(slots=True, eq=False)
class Call:
    """One operation, whatever its spelling. `function` is the op table's name, else the dotted name, else `.method`."""

    function: str
    node: cst.BaseExpression
    form: Form
    arguments: Mapping[str, cst.BaseExpression] = field(default_factory=dict)
    """By parameter name; arguments that no signature names are "0", "1", … in order."""
    receiver: cst.BaseExpression | None = None
    """What a method is called on, when the op table does not make it the subject."""
    module: Value | None = None
    """The nn.Module behind a call of Form.MODULE."""

    @property
    def subject(self) -> cst.BaseExpression | None:
        """The operand that the operation is about: its first parameter."""
        return self.arguments.get("input") or self.arguments.get("0")


class _Nothing(enum.Enum):
    """No constant is known; None is one."""

    NOTHING = "nothing"


NOTHING = _Nothing.NOTHING


@dataclass(slots=True, eq=False)  # not frozen, as a Call is not
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
    detached: bool = False
    """Whether no backward passes through it."""
    name: str = ""
    """The full name of what is imported or built in; the qualified name of a function or class of this file, or of an object's class."""
    choices: tuple[Value, ...] = ()
    """Where paths met: each thing that it can be. Empty when there is one."""
    assumed: bool = False
    """Whether the constant is a default, which holds as long as nobody says otherwise."""
    node: cst.BaseExpression | None = None
    """The expression that a constant is written as."""
    same_as: object = None
    """Set on a value that is another one under a guard; `identity` then is that of the other."""

    def but(self, **changes: object) -> Value:
        """The same in all but this. In half the time of `dataclasses.replace`, which asks what the fields are."""
        made = Value(
            self.kind,
            self.made_by,
            self.origin,
            self.constant,
            self.parts,
            self.range,
            self.dtype,
            self.learnable,
            self.detached,
            self.name,
            self.choices,
            self.assumed,
            self.node,
            self.same_as,
        )
        for name, value in changes.items():
            setattr(made, name, value)
        return made

    @property
    def identity(self) -> object:
        """Equal for two reads of one binding, guarded or not."""
        return self.same_as if self.same_as is not None else self

    @property
    def is_known(self) -> bool:
        """Whether the range says more than that it is a number."""
        return self.range != FINITE

    @property
    def possible(self) -> tuple[Value, ...]:
        """Each thing that it can be: one, unless paths met."""
        return self.choices or (self,)

    @property
    def number(self) -> float | None:
        """The constant, if it is a real number (a bool is none)."""
        if self.constant is NOTHING or isinstance(self.constant, bool) or not isinstance(self.constant, (int, float)):
            return None
        try:
            return float(self.constant)
        except OverflowError:  # an int beyond any float
            return float("inf") if self.constant > 0 else float("-inf")


UNKNOWN = Value()
"""Nothing is known. A name that is bound to something unknown gets a `Value()` of its own, which equals only itself."""


# A value that can be more things than this is called unknown.
_MOST_CHOICES = 8


def join(first: Value, second: Value) -> Value:
    """What is true whichever of the two it is."""
    if first is second:
        return first
    choices = tuple(dict.fromkeys((*first.possible, *second.possible)))
    if len(choices) > _MOST_CHOICES:
        choices = (UNKNOWN,)
    same_kind = first.kind if first.kind is second.kind else Kind.UNKNOWN
    same_call = first.made_by if first.made_by is second.made_by else None
    # 1 and True, 0.0 and -0.0 compare equal and are not the same constant.
    same_origin = first.origin if first.origin is second.origin else None
    is_same = first.constant is second.constant or repr(first.constant) == repr(second.constant)
    return Value(
        same_kind,
        same_call,
        same_origin,
        first.constant if is_same else NOTHING,
        range=first.range.join(second.range),
        dtype=first.dtype if first.dtype == second.dtype else "",
        learnable=first.learnable or second.learnable,
        name=first.name if first.name == second.name else "",
        parts=_joined_parts(first, second),
        choices=choices,
        assumed=first.assumed or second.assumed,
        detached=first.detached and second.detached,
        same_as=first.identity if first.identity is second.identity else None,
    )


def joined(values: Sequence[Value]) -> Value:
    """What is true whichever of them it is; UNKNOWN of none."""
    result = values[0] if values else UNKNOWN
    for value in values[1:]:
        result = join(result, value)
    return result


def _joined_parts(first: Value, second: Value) -> tuple[Value, ...]:
    if first.kind is not second.kind or first.kind is not Kind.TUPLE or len(first.parts) != len(second.parts):
        return ()
    return tuple(join(one, other) for one, other in zip(first.parts, second.parts, strict=True))


def without_defaults(value: Value) -> Value:
    """What a caller knows of a value that a function returns: constants that rest on the function's own defaults go."""
    if value.choices:
        return joined([without_defaults(choice) for choice in value.choices])
    if value.kind is Kind.TUPLE and value.parts:
        return value.but(parts=tuple(without_defaults(part) for part in value.parts))
    return value.but(constant=NOTHING, range=FINITE, assumed=False, node=None) if value.assumed else value
