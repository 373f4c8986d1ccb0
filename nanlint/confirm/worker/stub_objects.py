"""What a missing package is replaced by: one kind of object that is whatever the code takes it for.

A stub is called, asked, entered and derived from without complaint. It computes only while files are imported, where
versions are compared and paths are joined: when code runs, a sum with a stub in it must fail, for its result would be
nothing that the code ever sees.
"""

from __future__ import annotations

import re
import types
from typing import TYPE_CHECKING, Any

import torch

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

_EXCEPTIONS = re.compile(r"(Error|Exception|Warning|Interrupt)$")
_MODULES = re.compile(
    r"(Module|ModuleBase|Model|ModelBase|Loss|LossModule|Layer|Net|Network|Block|Encoder|Decoder|Kernel|Likelihood|Embedding|Head)$"
)
"""Names of base classes that are an nn.Module in every package we know."""


class importing:  # noqa: N801 - reads as the statement it is
    """While files are imported, stubs compute."""

    depth = 0

    def __enter__(self) -> None:
        importing.depth += 1

    def __exit__(self, *_: object) -> None:
        importing.depth -= 1


def _computed(name: str) -> Callable[..., Any]:
    def operator(self: Stub, *_: object) -> Any:
        if not importing.depth:
            raise TypeError(f"{name} of a stand-in for `{self.__name__}`, whose package is not installed")
        return self

    return operator


class Stub:
    """Whatever the code takes it for."""

    def __init__(self, name: str = "stub") -> None:
        self.__name__ = self.__qualname__ = name

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        """Itself again; as a decorator, the function or class as it is."""
        if len(args) == 1 and not kwargs and callable(args[0]) and not isinstance(args[0], Stub):
            return args[0]
        return self

    def __getattr__(self, name: str) -> Any:
        return part(name)

    def __mro_entries__(self, bases: tuple[Any, ...]) -> tuple[type, ...]:
        """The class to derive from: an nn.Module if the name says so and no other base is one."""
        real = [base for base in bases if isinstance(base, type)]
        stubs = [base for base in bases if isinstance(base, Stub)]
        modules = [base for base in stubs if _MODULES.search(base.__name__)]
        if any(issubclass(base, torch.nn.Module) for base in real):
            return ()
        if modules:
            return (StubbedModule,) if modules[0] is self else ()
        return (Stubbed,) if not real and stubs[0] is self else ()

    def __instancecheck__(self, instance: object) -> bool:
        return False

    def __subclasscheck__(self, subclass: type) -> bool:
        return False

    def __enter__(self) -> Any:
        return self

    def __exit__(self, *args: object) -> None:
        return None

    def __iter__(self) -> Iterator[Any]:
        return iter(())

    def __len__(self) -> int:
        return 0

    def __contains__(self, item: object) -> bool:
        return False

    def __getitem__(self, key: object) -> Any:
        return self

    def __setitem__(self, key: object, value: object) -> None:
        pass

    def __bool__(self) -> bool:
        return False

    def __fspath__(self) -> str:
        return f"missing-{self.__name__}"

    def __or__(self, other: object) -> Any:
        return self

    def __lt__(self, other: object) -> bool:
        return False

    __ror__ = __or__
    __le__ = __gt__ = __ge__ = __lt__
    __add__ = __radd__ = _computed("the sum")
    __sub__ = __rsub__ = _computed("the difference")
    __mul__ = __rmul__ = _computed("the product")
    __truediv__ = __rtruediv__ = __floordiv__ = __mod__ = _computed("the quotient")


class Stubbed:
    """What a class derives from whose base is missing: it takes any arguments, and has a stub for whatever it is asked."""

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        _keep_config(self, args, kwargs)

    def __init_subclass__(cls, **_: Any) -> None:
        _give_methods(Stubbed, cls)

    def __getattr__(self, name: str) -> Any:
        return part(name)


class StubbedModule(torch.nn.Module):
    """What a module derives from whose base is missing."""

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__()
        _keep_config(self, args, kwargs)

    def __init_subclass__(cls, **_: Any) -> None:
        _give_methods(StubbedModule, cls)

    def __getattr__(self, name: str) -> Any:
        try:
            return super().__getattr__(name)
        except AttributeError:
            if name.startswith("_") or "_parameters" not in self.__dict__:
                raise
            return part(name)


def _give_methods(base: type, derived: type) -> None:
    """Let the base have every method that a derived class extends by calling `super()`; it does nothing."""
    for name, method in vars(derived).items():
        code = getattr(method, "__code__", None)
        if code is not None and "super" in code.co_names and not hasattr(base, name):
            setattr(base, name, lambda *_, **__: None)


def _keep_config(thing: Any, args: tuple[Any, ...], kwargs: dict[str, Any]) -> None:
    """A configuration is kept by every base class that takes one."""
    config = kwargs.get("config") or next((one for one in args if "config" in type(one).__name__.lower()), None)
    if config is not None:
        thing.config = config


def part(name: str) -> Any:
    """What a stub has under a name: exceptions are classes, because `except` wants one."""
    if name.startswith("__") and name.endswith("__"):
        raise AttributeError(name)
    return type(name, (Exception,), {}) if _EXCEPTIONS.search(name) else Stub(name)


class StubModule(types.ModuleType):
    """A module in which every name exists."""

    __path__: list[str] = []  # noqa: RUF012 - what the import system expects of a package
    __version__ = "0.0.0"

    def __getattr__(self, name: str) -> Any:
        return part(name)
