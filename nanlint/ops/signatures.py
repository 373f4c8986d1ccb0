"""The parameters of every operation, its nn.Module forms, and which argument of a call is which parameter.

Parsed from the text in the op table when facts are first asked. An argument binds to one name whether it was given by
position, by keyword, by torch's own keyword for it (`axis`, `x1`), or as the receiver of a method.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Generic, TypeVar

from nanlint.ops.names import SIGNATURES, full_name
from nanlint.ops.tables import layers as table_layers

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence

T = TypeVar("T")

Constant = bool | int | float | str | tuple[int, ...] | None
"""What a default, or an argument written as a literal, can be."""

RECEIVER = "input"

# torch's argument parser takes numpy's words for these, in every operation that has them.
NUMPY_WORDS = {"dim": ("axis",), "keepdim": ("keepdims",), "input": ("x", "a", "x1"), "other": ("x2",)}

_WORDS: dict[str, Constant] = {"None": None, "True": True, "False": False}


@dataclass(frozen=True, slots=True)
class Parameter:
    """One parameter: our name, torch's other keywords for it, its default (with `required` unset), how it is given."""

    name: str
    default: Constant = None
    required: bool = True
    keyword_only: bool = False
    variadic: bool = False
    keywords: tuple[str, ...] = ()


Signature = tuple[Parameter, ...]


@dataclass(frozen=True, slots=True)
class ModuleForm:
    """An nn.Module class whose call is `operation`.

    `binds` maps a constructor parameter to the operation's parameter it sets; `fixed` is what the class itself sets.
    """

    operation: str
    constructor: Signature
    binds: Mapping[str, str]
    fixed: Mapping[str, Constant]


@dataclass(frozen=True)  # slots break Binding[T](...) in Python 3.11
class Binding(Generic[T]):
    """The arguments of a call by parameter name; `variadic` are those behind a starred parameter."""

    arguments: dict[str, T]
    variadic: tuple[T, ...] = ()


def _constant(text: str) -> Constant:
    if text in _WORDS:
        return _WORDS[text]
    if text.startswith("("):
        return tuple(int(number) for number in text[1:-1].split(",") if number)
    try:
        return float(text) if "." in text or "e-" in text else int(text)
    except ValueError:
        return text


def _parameter(text: str, *, keyword_only: bool) -> Parameter:
    names, equals, default = text.partition("=")
    variadic = names.startswith("*")
    name, *keywords = names.lstrip("*").split("|")
    return Parameter(
        name,
        _constant(default) if equals else None,
        required=not equals and not variadic,
        keyword_only=keyword_only,
        variadic=variadic,
        keywords=(*keywords, *NUMPY_WORDS.get(name, ())),
    )


def _signature(text: str) -> Signature:
    parameters: list[Parameter] = []
    keyword_only = False
    for part in text.split(", ") if text else ():
        if part == "*":
            keyword_only = True
            continue
        parameters.append(_parameter(part, keyword_only=keyword_only))
        keyword_only = keyword_only or parameters[-1].variadic
    return tuple(parameters)


def _overloads(text: str) -> tuple[Signature, ...]:
    inner = text.rstrip()[:-1]
    return tuple(_signature(overload) for overload in inner.split(" / "))


def _module_form(text: str) -> ModuleForm:
    constructor, _, operation = text.partition(" -> ")
    canonical, _, fixed = operation.partition("(")
    parameters: list[str] = []
    binds: dict[str, str] = {}
    for part in constructor[:-1].split(", ") if constructor != ")" else ():
        declared, equals, default = part.partition("=")
        own, _, target = declared.lstrip("~").partition(">")
        parameters.append(own + equals + default)
        if not declared.startswith(("~", "*")):
            binds[own] = target or own
    values = dict(part.split("=") for part in fixed[:-1].split(", ") if part)
    return ModuleForm(
        full_name(canonical),
        _signature(", ".join(parameters)),
        binds,
        {key: _constant(value) for key, value in values.items()},
    )


class Parsed(Mapping[str, T]):
    """A mapping whose values are parsed when first asked for: a file touches a few dozen of the operations."""

    def __init__(self, texts: Mapping[str, str], parse: Callable[[str], T]) -> None:
        self._texts = texts
        self._parse = parse
        self._values: dict[str, T] = {}

    def __getitem__(self, name: str) -> T:
        if name not in self._values:
            self._values[name] = self._parse(self._texts[name])
        return self._values[name]

    def __iter__(self) -> Iterator[str]:
        return iter(self._texts)

    def __len__(self) -> int:
        return len(self._texts)


def _modules() -> dict[str, str]:
    lines = (line.partition("(") for line in table_layers.MODULES.strip().splitlines())
    return {name: rest for name, _, rest in lines}


OVERLOADS: Mapping[str, tuple[Signature, ...]] = Parsed(SIGNATURES, _overloads)
"""Every way to call an operation, the usual one first."""

PARAMETERS: Mapping[str, Signature] = Parsed(SIGNATURES, lambda text: _overloads(text)[0])
"""The usual way to call an operation."""

MODULES: Mapping[str, ModuleForm] = Parsed(_modules(), _module_form)
"""The dotted name of an nn.Module class to its form."""


def bind(
    operation: str, positional: Sequence[T], keywords: Mapping[str, T], receiver: T | None = None
) -> Binding[T] | None:
    """The arguments of a call by parameter name, by the first overload that takes them; None when none does."""
    for signature in OVERLOADS[operation]:
        bound = bind_to(signature, positional, keywords, receiver)
        if bound is not None:
            return bound
    return None


def bind_to(
    signature: Signature, positional: Sequence[T], keywords: Mapping[str, T], receiver: T | None = None
) -> Binding[T] | None:
    """As `bind`, to one signature. A receiver is the parameter `input`, wherever that stands."""
    arguments: dict[str, T] = {}
    variadic: tuple[T, ...] = ()
    rest = list(positional)
    for parameter in signature:
        keyword = _keyword_for(parameter, keywords) if keywords else None
        if parameter.name == RECEIVER and receiver is not None:
            arguments[RECEIVER] = receiver
        elif keyword is not None:
            arguments[parameter.name] = keywords[keyword]
        elif parameter.variadic:
            variadic, rest = tuple(rest), []
        elif rest and not parameter.keyword_only:
            arguments[parameter.name] = rest.pop(0)
        elif parameter.required:
            return None
    if rest or (keywords and not _words_of(signature).issuperset(keywords)):
        return None
    return Binding(arguments, variadic)


def _words_of(signature: Signature) -> set[str]:
    return {word for parameter in signature for word in (parameter.name, *parameter.keywords)}


def _keyword_for(parameter: Parameter, keywords: Mapping[str, T]) -> str | None:
    return next((word for word in (parameter.name, *parameter.keywords) if word in keywords), None)
