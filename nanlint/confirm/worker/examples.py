"""Calls that somebody wrote down: the user's `nanlint_inputs` and the examples in docstrings.

A call that was supplied beats every guess: its shapes fit, and its values are ordinary. Its tensors become specs, so
corners can be derived that keep shape, dtype and domain.
"""

from __future__ import annotations

import contextlib
import doctest
import importlib.util
import inspect
import os
import sys
from typing import TYPE_CHECKING, Any

import torch

from nanlint.confirm.names import domain_of
from nanlint.confirm.worker.load import alarm

if TYPE_CHECKING:
    from collections.abc import Iterator
    from types import FrameType, ModuleType

    from nanlint.confirm.worker.subject import Subject

Json = dict[str, Any]
HOOK = "nanlint_inputs"
HOOKS_FILE = "nanlint_hooks.py"
_MOST = 3
"""Calls of one source that are tried."""
_SECONDS = 5


class Call:
    """One call: what is called, and with which arguments by name."""

    def __init__(self, function: Any, arguments: Json, source: str) -> None:
        self.function, self.arguments, self.source = function, arguments, source

    def specs(self) -> Json:
        """The tensors among the arguments as specs; the rest stays as it is."""
        return {name: spec_of(name, value) for name, value in self.arguments.items() if isinstance(value, torch.Tensor)}


def spec_of(name: str, value: torch.Tensor) -> Json:
    """A spec with the shape of a tensor and the domain that its dtype, its name and its values allow."""
    if value.dtype is torch.bool:
        domain, extra = "mask", {}
    elif not value.is_floating_point():
        domain, extra = "index", {"high": int(value.max()) + 1 if value.numel() else 1}
    else:
        domain, extra = domain_of(name), {}
        domain = "real" if domain in {"mask", "index", "length"} else domain
    return {
        "kind": "tensor",
        "name": name,
        "shape": list(value.shape),
        "domain": domain,
        "grad": value.is_floating_point(),
        **extra,
    }


def supplied(subject: Subject, target: Json) -> list[Call]:
    """The calls of the user's hooks that are about this subject."""
    found = []
    for hook in _hooks(subject, target):
        for item in _items(hook):
            call = _matching(item, subject)
            if call is not None:
                found.append(call)
    return found[:_MOST]


def _hooks(subject: Subject, target: Json) -> Iterator[Any]:
    owners = [subject.owner, subject.module, *_hook_files(target)]
    for owner in owners:
        hook = getattr(owner, HOOK, None) if owner is not None else None
        if callable(hook):
            yield hook


def _hook_files(target: Json) -> Iterator[ModuleType]:
    """`nanlint_hooks.py` beside the file, at the root of its package, and at the root of the project."""
    folders = dict.fromkeys([os.path.dirname(target["path"]), target["root"], target["project"]])  # noqa: PTH120 - strings
    for folder in folders:
        path = os.path.join(folder, HOOKS_FILE)  # noqa: PTH118 - strings
        if not os.path.isfile(path):  # noqa: PTH113 - strings
            continue
        spec = importlib.util.spec_from_file_location("nanlint_hooks", path)
        if spec is not None and spec.loader is not None:
            module = importlib.util.module_from_spec(spec)
            spec.loader.exec_module(module)
            yield module


def _items(hook: Any) -> list[Any]:
    made = hook()
    if inspect.isgenerator(made) or isinstance(made, list):
        return [item for _, item in zip(range(20), made, strict=False)]
    return [made]


def _matching(item: Any, subject: Subject) -> Call | None:
    """A pair of callable and arguments, if it calls the subject; arguments alone are for a plain function."""
    thing, arguments = item if isinstance(item, tuple) and len(item) == 2 else (None, item)
    if thing is None and subject.owner is None:
        return Call(subject.function, dict(arguments), HOOK)
    if subject.owner is not None and isinstance(thing, subject.owner):
        return Call(subject.bound(thing), dict(arguments), HOOK)
    same = subject.owner is None and getattr(thing, "__name__", "") == getattr(subject.function, "__name__", None)
    return Call(subject.function, dict(arguments), HOOK) if same else None


def _code_of(subject: Subject) -> tuple[Any, Any]:
    """What is called in the end, and its code; None for what is not written in Python."""
    function = subject.function if subject.owner is None else getattr(subject.owner, subject.method, None)
    return function, getattr(inspect.unwrap(function), "__code__", None) if callable(function) else None


def documented(subject: Subject) -> list[Call]:
    """The calls that the examples in the docstrings of function, method, class and module make."""
    function, code = _code_of(subject)
    if code is None:
        return []
    calls: list[Call] = []
    for text in (getattr(function, "__doc__", ""), getattr(subject.owner, "__doc__", ""), subject.module.__doc__):
        for examples in _sessions(text or ""):
            calls += _captured(examples, subject, code)
            if len(calls) >= _MOST:
                return calls[:_MOST]
    return calls


def _sessions(text: str) -> Iterator[list[str]]:
    if ">>>" in text:
        with contextlib.suppress(ValueError):
            yield [example.source for example in doctest.DocTestParser().get_examples(text)]


def _captured(sources: list[str], subject: Subject, code: Any) -> list[Call]:
    """Run the lines of an example and note with which arguments the subject was called."""
    seen: list[Json] = []

    def watch(frame: FrameType, event: str, _: object) -> None:
        if event == "call" and frame.f_code is code:
            count = code.co_argcount + code.co_kwonlyargcount
            seen.append({name: frame.f_locals[name] for name in code.co_varnames[:count] if name in frame.f_locals})

    space = {**vars(subject.module), "torch": torch, "nn": torch.nn, "F": torch.nn.functional}
    torch.manual_seed(0)
    sys.setprofile(watch)
    try:
        with alarm(_SECONDS):
            for source in sources:
                # One line of an example may want a file or a package; the next may do without.
                with contextlib.suppress(Exception):
                    exec(compile(source, "<example>", "single"), space)  # noqa: S102 - the user's own text, in the sandbox
    except BaseException:  # noqa: BLE001 - too slow an example is no example
        return []
    finally:
        sys.setprofile(None)
    return [call for call in (_call_of(arguments, subject) for arguments in seen[:_MOST]) if call is not None]


def _call_of(arguments: Json, subject: Subject) -> Call | None:
    if subject.owner is None:
        return Call(subject.function, _detached(arguments), "example")
    arguments = dict(arguments)
    owner = arguments.pop("self", None)
    return Call(subject.bound(owner), _detached(arguments), "example") if owner is not None else None


def _detached(arguments: Json) -> Json:
    return {name: value.detach() if isinstance(value, torch.Tensor) else value for name, value in arguments.items()}
