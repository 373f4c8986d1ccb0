"""A method run on a shell: an object of its class that was never constructed, with only the attributes it reads.

For classes whose constructor wants what cannot be made: a trainer with its data, a model with its checkpoint. The whole
method runs, so the level is function; but what the attributes can really be, only the constructor knows, so a failure
is reachable and never confirmed.
"""

from __future__ import annotations

import ast
import contextlib
import inspect
from typing import TYPE_CHECKING, Any

import torch

from nanlint.confirm.inputs import Parameter, value
from nanlint.confirm.worker.subject import CannotRun, Signature, Subject, resolver_of, signature_of, source_of
from nanlint.confirm.worker.uses import uses_in

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from nanlint.confirm.inputs import Spec
    from nanlint.confirm.worker.evidence import Uses

OWN = "self."
"""What the names of attributes begin with among the arguments of a shell."""


class ShellSubject(Subject):
    """A method and the attributes it reads, as one function of both."""

    @property
    def level(self) -> str:
        """The whole method is run."""
        return "function"


def shell_of(subject: Subject) -> ShellSubject:
    """The method of a subject on a shell; raises CannotRun if it is none of the user's methods."""
    owner, method = subject.owner, subject.method
    if owner is None or method in {"__init__", "__new__"}:
        raise CannotRun("only a method can be run on a shell")
    raw = inspect.getattr_static(owner, method, None)
    function = raw.fget if isinstance(raw, property) else raw
    source = source_of(inspect.unwrap(function)) if callable(function) else ""
    if not source:
        raise CannotRun("the source of the method is not at hand")
    names = {"self", *(parameter.name for parameter in subject.calling.parameters)}
    evidence = uses_in(ast.parse(source), names, resolver_of(function, owner))
    attributes = {name: uses for name, uses in evidence.pop("self").parts.items() if not _is_there(owner, name)}
    parameters = [Parameter(OWN + name) for name in sorted(attributes)]
    calling = Signature(
        [*parameters, *subject.calling.parameters],
        {**evidence, **{OWN + name: uses for name, uses in attributes.items()}},
        subject.calling.source,
        subject.calling.columns,
        dict(_stated(owner, attributes)),
    )
    return ShellSubject(subject.module, function=_on_shell(owner, method), calling=calling, nested=subject.nested)


def _on_shell(owner: type, method: str) -> Callable[..., Any]:
    """A function that puts its `self.` arguments on a new shell and gives the others to the method."""

    def run(**arguments: Any) -> Any:
        shell = _empty(owner)
        for name, thing in arguments.items():
            if name.startswith(OWN):
                _put(shell, name.removeprefix(OWN), thing)
        rest = {name: thing for name, thing in arguments.items() if not name.startswith(OWN)}
        found = getattr(shell, method)
        is_property = isinstance(inspect.getattr_static(owner, method, None), property)
        return found if is_property else found(**rest)

    return run


def _empty(owner: type) -> Any:
    """An object of the class without its construction, also of an abstract one."""
    made = type(owner.__name__, (owner,), {}) if inspect.isabstract(owner) else owner
    if made is not owner:
        made.__abstractmethods__ = frozenset()  # type: ignore[attr-defined] # of abstract classes
    shell: Any = made.__new__(made)  # type: ignore[call-overload] # of whatever the user's class is
    if isinstance(shell, torch.nn.Module):
        torch.nn.Module.__init__(shell)
    return shell


def _put(shell: Any, name: str, thing: Any) -> None:
    try:
        setattr(shell, name, thing)
    except Exception:  # noqa: BLE001 - the border to the user's code: a property, a check
        object.__setattr__(shell, name, thing)


def _is_there(owner: type, name: str) -> bool:
    """Whether the class itself has it: a method, a property, a constant."""
    missing = object()
    return name == "training" or inspect.getattr_static(owner, name, missing) is not missing


def _stated(owner: type, attributes: dict[str, Uses]) -> Iterator[tuple[str, list[Spec]]]:
    """What the constructors of the class and its bases set, where that needs no arguments."""
    for base in owner.__mro__:
        initial = vars(base).get("__init__")
        if initial is None or base in {object, torch.nn.Module}:
            continue
        defaults = {one.name: one for one in signature_of(initial, skip=1).parameters}
        with contextlib.suppress(SyntaxError):
            for node in ast.walk(ast.parse(source_of(initial))):
                if isinstance(node, (ast.Assign, ast.AnnAssign)) and node.value is not None:
                    target = node.targets[0] if isinstance(node, ast.Assign) else node.target
                    name = target.attr if isinstance(target, ast.Attribute) else ""
                    found = _made_without(node.value, defaults, base) if name in attributes else None
                    if found is not None:
                        yield OWN + name, [found]


def _made_without(node: ast.expr, defaults: dict[str, Parameter], base: type) -> Spec | None:
    """The spec of an expression that is a literal, a parameter with a default, or made of what the module has."""
    with contextlib.suppress(ValueError, TypeError, SyntaxError, MemoryError, RecursionError):
        return value(ast.literal_eval(node))
    if isinstance(node, ast.Name) and node.id in defaults:
        default = defaults[node.id]
        is_plain = default.has_default and isinstance(default.default, (int, float, str, bool))
        return value(default.default) if is_plain else None
    names = {one.id for one in ast.walk(node) if isinstance(one, ast.Name)}
    space = vars(inspect.getmodule(base) or object)
    if isinstance(node, ast.Call) and names and all(name in space for name in names):
        return {"kind": "expression", "text": ast.unparse(node), "module": base.__module__}
    return None
