"""What is run: the function of the target, or the object whose method it is, with the parameters that both take."""

from __future__ import annotations

import ast
import contextlib
import inspect
import textwrap
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any

import torch

from nanlint.confirm.columns import columns_in
from nanlint.confirm.inputs import Parameter
from nanlint.confirm.worker.evidence import Function, Resolved, Uses
from nanlint.confirm.worker.stub_objects import Stub
from nanlint.confirm.worker.uses import uses_in

if TYPE_CHECKING:
    from collections.abc import Callable
    from types import ModuleType

    from nanlint.confirm.columns import Columns
    from nanlint.confirm.inputs import Spec
    from nanlint.confirm.worker.evidence import Resolve


class CannotRun(Exception):  # noqa: N818 - reads as a sentence where it is raised
    """There is nothing that could be called; the message says why and what the user can supply."""


@dataclass
class Signature:
    """The parameters of one callable, with the evidence on each."""

    parameters: list[Parameter] = field(default_factory=list)
    uses: dict[str, Uses] = field(default_factory=dict)
    source: str = ""
    columns: dict[str, Columns] = field(default_factory=dict)
    """How many columns each tensor must have."""
    stated: dict[str, list[Spec]] = field(default_factory=dict)
    """Specs that somebody else than the name or the use decides."""

    @property
    def required(self) -> list[Parameter]:
        """Those without a default."""
        return [parameter for parameter in self.parameters if not parameter.has_default]


@dataclass
class Subject:
    """A function, or a class and one of its methods."""

    module: ModuleType
    function: Callable[..., Any] | None = None
    owner: type | None = None
    method: str = ""
    building: Signature = field(default_factory=Signature)
    calling: Signature = field(default_factory=Signature)
    nested: bool = False
    """The flagged line is in a function that this one defines and perhaps returns."""
    internal: bool = False
    """Only called through something else, which may prepare its arguments."""

    @property
    def is_module(self) -> bool:
        """Whether an nn.Module must be built."""
        return self.owner is not None and issubclass(self.owner, torch.nn.Module)

    @property
    def level(self) -> str:
        """The level of confirmation that running it gives."""
        return "module" if self.is_module else "function"

    def bound(self, instance: Any) -> Callable[..., Any]:
        """What is called in the end."""
        if self.owner is None:
            assert self.function is not None  # noqa: S101 - one of both is set
            return self.function
        if self.method == "forward" and self.is_module:
            return instance  # type: ignore[no-any-return] # a module is callable
        return getattr(instance, self.method)  # type: ignore[no-any-return] # the user's method


def subjects_of(module: ModuleType, owners: list[list[str]]) -> list[Subject]:
    """The ways to reach the target; subclasses come after the class itself, which may be abstract."""
    if not owners:
        raise CannotRun("the flagged line is in no function; a function or an nn.Module can be run")
    kind, name = owners[0]
    thing = getattr(module, name, None)
    if thing is None or isinstance(thing, Stub):
        raise CannotRun(f"`{name}` is not in the module after its import")
    if kind == "def":
        return [_function(module, thing, nested=len(owners) > 1)]
    return _methods(module, thing, owners[1:])


def _function(module: ModuleType, thing: Any, *, nested: bool) -> Subject:
    if not callable(thing):
        raise CannotRun("it is no function after the import of the file; a decorator has replaced it")
    return Subject(module, function=thing, calling=signature_of(thing), nested=nested)


def _methods(module: ModuleType, thing: Any, rest: list[list[str]]) -> list[Subject]:
    while rest and rest[0][0] == "class":
        thing, rest = getattr(thing, rest[0][1], None), rest[1:]
    if not inspect.isclass(thing):
        raise CannotRun("its class is no class after the import of the file; a missing package may have replaced it")
    if not rest:
        raise CannotRun("the flagged line is in the body of a class and in no method")
    method, nested = rest[0][1], len(rest) > 1
    return [_method(module, owner, method, nested=nested) for owner in _concrete(module, thing, method)]


def _method(module: ModuleType, owner: type, method: str, *, nested: bool) -> Subject:
    raw = inspect.getattr_static(owner, method, None)
    if isinstance(raw, (staticmethod, classmethod)):
        bound = getattr(owner, method)
        internal = issubclass(owner, torch.autograd.Function)
        return Subject(module, function=bound, calling=signature_of(bound), nested=nested, internal=internal)
    calling = Signature() if isinstance(raw, property) or method == "__init__" else signature_of(raw, skip=1)
    building = signature_of(owner)
    building.parameters = [_annotated(parameter, owner) for parameter in building.parameters]
    _learn_from_method(building, raw, owner)
    return Subject(module, owner=owner, method=method, building=building, calling=calling, nested=nested)


def _annotated(parameter: Parameter, owner: type) -> Parameter:
    """The parameter with the annotation that the class has for an attribute of its name, if it has none itself."""
    if parameter.annotation:
        return parameter
    notes = (vars(base).get("__annotations__", {}).get(parameter.name) for base in owner.__mro__)
    note = next((one for one in notes if one is not None), None)
    text = note if isinstance(note, str) else getattr(note, "__name__", "")
    return replace(parameter, annotation=text) if text else parameter


def _learn_from_method(building: Signature, method: Any, owner: type) -> None:
    """What a method does with an attribute is evidence on the constructor's parameter of that name."""
    function = inspect.unwrap(method) if inspect.isfunction(method) else None
    if function is None or not building.parameters:
        return
    own = _evidence(source_of(function), {"self"}, resolver_of(function, owner))["self"]
    for name, uses in building.uses.items():
        if name in own.parts:
            uses.take(own.parts[name])


def _concrete(module: ModuleType, owner: type, method: str) -> list[type]:
    """The class if it can be made, and classes of the file that inherit the method."""
    heirs = [
        other
        for other in vars(module).values()
        if inspect.isclass(other)
        and other is not owner
        and issubclass(other, owner)
        and inspect.getattr_static(other, method, None) is inspect.getattr_static(owner, method, None)
    ]
    return heirs[:2] if inspect.isabstract(owner) and heirs else [owner, *heirs[:2]]


def signature_of(thing: Any, *, skip: int = 0) -> Signature:
    """The named parameters of a callable, without the first `skip`."""
    for _ in range(5):
        if not hasattr(thing, "__wrapped__"):
            break
        thing = thing.__wrapped__
    try:
        found = list(inspect.signature(thing).parameters.values())[skip:]
    except (ValueError, TypeError):
        return Signature()
    parameters = [_parameter(one) for one in found if one.kind not in {one.VAR_KEYWORD, one.VAR_POSITIONAL}]
    function = thing.__init__ if inspect.isclass(thing) else thing
    source = source_of(function)
    names = {parameter.name for parameter in parameters}
    return Signature(parameters, _evidence(source, names, resolver_of(function)), source, _columns(source, names))


def _parameter(one: inspect.Parameter) -> Parameter:
    note = one.annotation
    text = "" if note is one.empty else note if isinstance(note, str) else getattr(note, "__name__", None) or str(note)
    if not isinstance(note, (str, type)) and note is not one.empty:
        text = str(note)
    return Parameter(one.name, text, one.default is not one.empty, one.default)


def source_of(function: Any) -> str:
    """The source of a function; empty if there is none."""
    try:
        return textwrap.dedent(inspect.getsource(function))
    except (OSError, TypeError, IndentationError):
        return ""


def _evidence(source: str, names: set[str], resolve: Resolve) -> dict[str, Uses]:
    try:
        return uses_in(ast.parse(source), names, resolve)
    except (SyntaxError, ValueError, RecursionError):
        return {name: Uses() for name in names}


def _columns(source: str, names: set[str]) -> dict[str, Columns]:
    try:
        return columns_in(ast.parse(source), names)
    except (SyntaxError, ValueError, RecursionError):
        return {}


def resolver_of(function: Any, owner: type | None = None) -> Resolve:
    """Where the functions are defined that a function calls: in the files it sees, or in its class."""
    function = inspect.unwrap(function) if callable(function) else function
    space = getattr(function, "__globals__", {})

    def resolve(name: str) -> Resolved | None:
        first, _, second = name.partition(".")
        found = space.get(first) if not second else None
        if first == "self" and owner is not None:
            raw = inspect.getattr_static(owner, second, None)
            found = raw.fget if isinstance(raw, property) else getattr(raw, "__func__", raw)
        found = inspect.unwrap(found) if inspect.isfunction(found) else None
        definition = definition_of(found) if inspect.isfunction(found) else None
        return Resolved(definition, resolver_of(found, owner)) if definition is not None else None

    return resolve


def definition_of(function: Any) -> Function | None:
    """The syntax of one of the user's functions; None for torch's own, and where there is no source."""
    if any(word in function.__code__.co_filename for word in _FOREIGN):
        return None
    with contextlib.suppress(SyntaxError, ValueError):
        body = ast.parse(source_of(function)).body
        return body[0] if body and isinstance(body[0], (ast.FunctionDef, ast.AsyncFunctionDef)) else None
    return None


_FOREIGN = ("site-packages/torch", "site-packages\\torch", "lib/python", "nanlint/confirm")
