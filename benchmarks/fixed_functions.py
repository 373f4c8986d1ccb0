"""Functions and methods of real modules that a fix has changed, run before and after on ordinary inputs.

A module is executed statement by statement, and what cannot be executed here is left out: a function that needs it cannot
be run then. Arguments are made from names and annotations. A method gets a stand-in for `self` with the class's other
methods and numbers for what settings are called.
"""

from __future__ import annotations

import ast
import contextlib
import inspect
import io
import itertools
import random
import warnings
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Iterator

SHAPES = (
    (4, 3), (2, 4, 3), (3, 3), (2, 3, 4, 4), (5,), (2, 5, 4), (3, 2), (4, 4), (1,), (5, 2), (2, 5, 2), (2, 3, 3),
    (2, 3, 3, 3), (2, 4, 2, 3), (2, 1, 16, 16), (2, 3, 16, 16), (2, 1, 6, 8, 8),
)  # fmt: skip
# What a parameter or setting is called -> what it is given. The first that is part of the name counts.
NUMBERS = {
    "eps": 1e-5,
    "axis": -1,
    "temperature": 0.5,
    "tau": 0.5,
    "alpha": 0.5,
    "beta": 0.5,
    "gamma": 0.5,
    "lambda": 0.5,
    "scale": 0.5,
    "reduction": "mean",
    "size_average": True,
    "keepdim": True,
    "keep_dim": True,
    "window": 3,
    "kernel": 3,
    "margin": 0.5,
    "delta": 0.5,
    "sigma": 0.5,
    "threshold": 0.5,
    "tolerance": 1,
    "gain": 0.5,
    "coef": 0.5,
    "use_": False,
    "dist_": 1.0,
    "max_val": 1.0,
    "num": 3,
    "iters": 2,
}
WHOLE = ("labels", "label", "index", "indices", "idx", "ids")
KINDS: dict[str, object] = {"int": 2, "float": 0.5, "bool": False, "str": "mean"}
TOLERANCE = 1e-3
EQUAL, MOVED, RAISES = "equal", "moved", "raises"
ORDER = ("", EQUAL, MOVED, RAISES)


class Unknown(Exception):  # noqa: N818 - no error, but that nothing can be said
    """What is needed to run a function cannot be made."""


def changed_functions(before: str, after: str) -> Iterator[tuple[str, str]]:
    """The functions and methods whose code differs: the class, or nothing, and the name."""
    old, new = _functions(before), _functions(after)
    for key in old.keys() & new.keys():
        if old[key] != new[key]:
            yield key


def _functions(text: str) -> dict[tuple[str, str], str]:
    found: dict[tuple[str, str], str] = {}
    for node in ast.parse(text).body:
        inside = node.body if isinstance(node, ast.ClassDef) else [node]
        owner = node.name if isinstance(node, ast.ClassDef) else ""
        found |= {(owner, each.name): ast.dump(each) for each in inside if isinstance(each, ast.FunctionDef)}
    return found


def compare(before: str, after: str, owner: str, name: str) -> str:
    """How the results on ordinary inputs compare, in value and gradient: EQUAL, MOVED or RAISES; empty if it cannot be run."""
    import torch  # noqa: PLC0415 - only where something was fixed

    with (
        warnings.catch_warnings(),
        contextlib.redirect_stdout(io.StringIO()),
        contextlib.redirect_stderr(io.StringIO()),
    ):
        warnings.simplefilter("ignore")
        try:
            functions = [_taken(_executed(text), owner, name) for text in (before, after)]
        except Unknown:
            return ""
        verdicts = [_agree(functions, inputs, torch) for inputs in _ordinary(functions[0], torch)]
    return max(verdicts, key=ORDER.index, default="")


def _executed(text: str) -> dict[str, Any]:
    """The names that the module binds, as far as its statements can be executed here."""
    names: dict[str, Any] = {"__name__": "fixed", "__package__": ""}
    future = [node for node in ast.parse(text).body if isinstance(node, ast.ImportFrom) and node.module == "__future__"]
    for node in ast.parse(text).body:
        # A test of the platform, a loop or a call is not what a function needs.
        if isinstance(node, (ast.Import, ast.ImportFrom, ast.FunctionDef, ast.ClassDef, ast.Assign, ast.AnnAssign)):
            module = ast.Module(body=[*future, node] if node not in future else [node], type_ignores=[])
            with contextlib.suppress(Exception):
                exec(compile(module, "fixed", "exec"), names)  # noqa: S102 - what was fixed has to be run
    return names


def _taken(names: dict[str, Any], owner: str, name: str) -> Any:
    if not owner:
        found = names.get(name)
    else:
        kind = names.get(owner)
        found = vars(kind).get(name) if kind is not None else None
        if isinstance(found, staticmethod):
            found = found.__func__
        elif isinstance(found, classmethod):
            found = found.__func__.__get__(kind)
        elif inspect.isfunction(found):
            found = found.__get__(_instance(kind))
        else:
            # A property is computed when it is asked for.
            found = None
    if not callable(found):
        raise Unknown(name)
    return found


def _instance(kind: Any) -> Any:
    """An instance, where it takes no arguments to make one; a stand-in otherwise."""
    import torch  # noqa: PLC0415 - as above

    torch.manual_seed(0)
    try:
        made = kind()
    except Exception:  # noqa: BLE001 - code of others
        return _StandIn(kind)
    return made.double() if isinstance(made, torch.nn.Module) else made


class _StandIn:
    """An instance that was never made: the methods of its class, and numbers for what settings are called."""

    def __init__(self, kind: Any) -> None:
        self.__dict__["_kind"] = kind

    def bound(self, function: Any) -> Any:
        return function.__get__(self)

    def __getattr__(self, name: str) -> Any:
        found = inspect.getattr_static(self._kind, name, None)
        if inspect.isfunction(found):
            return self.bound(found)
        if found is not None and not callable(found) and not isinstance(found, property):
            return found
        return _number(name)


def _number(name: str) -> Any:
    for word, number in NUMBERS.items():
        if word in name.lower():
            return number
    if name in {"k", "p"}:
        return 2
    if name in {"dim", "dims"} or name.endswith("_dim"):
        return -1
    raise AttributeError(name)


def _ordinary(function: Any, torch: Any) -> Iterator[dict[str, Any]]:
    """Values for every parameter without a default, in a few shapes."""
    try:
        parameters = list(inspect.signature(function).parameters.values())
    except (TypeError, ValueError):
        return
    kinds = (inspect.Parameter.VAR_POSITIONAL, inspect.Parameter.VAR_KEYWORD)
    required = [each for each in parameters if each.default is each.empty and each.kind not in kinds]
    for seed, (shape, is_whole) in enumerate(itertools.product(SHAPES, (False, True))):
        torch.manual_seed(seed)
        yield {each.name: _value(each, shape, torch, is_whole=is_whole) for each in required}


def _value(parameter: inspect.Parameter, shape: tuple[int, ...], torch: Any, *, is_whole: bool) -> Any:
    said = parameter.annotation
    kind = said if isinstance(said, str) else getattr(said, "__name__", "")
    name = parameter.name.lower()
    if "Tensor" not in kind:
        with contextlib.suppress(AttributeError):
            return _number(name)
        if kind in KINDS:
            return KINDS[kind]
    if "mask" in name:
        return torch.rand(shape) > 0.3
    if is_whole and any(word in name for word in (*WHOLE, "target")):
        return torch.randint(0, shape[-1], shape[:-1] or shape)
    return torch.rand(shape) * 0.8 + 0.1


def _agree(functions: list[Any], inputs: dict[str, Any], torch: Any) -> str:
    try:
        old = _run(functions[0], inputs, torch)
    except Exception:  # noqa: BLE001 - code of others: whatever it raises, these inputs do not fit
        return ""
    if not old or not all(bool(torch.isfinite(part).all()) for part in old):
        return ""
    try:
        new = _run(functions[1], inputs, torch)
    except Exception:  # noqa: BLE001 - as above, but the old code could be run
        return RAISES
    is_equal = len(old) == len(new) and all(_is_close(one, two, torch) for one, two in zip(old, new, strict=True))
    return EQUAL if is_equal else MOVED


def _is_close(one: Any, two: Any, torch: Any) -> bool:
    return one.shape == two.shape and bool(torch.allclose(one, two, rtol=TOLERANCE, atol=TOLERANCE))


def _run(function: Any, inputs: dict[str, Any], torch: Any) -> list[Any]:
    """The outputs of the function and the gradients of its inputs, in float64."""
    torch.manual_seed(0)
    random.seed(0)
    given = {
        name: value.double().requires_grad_()
        if torch.is_tensor(value) and value.is_floating_point()
        else (value.clone() if torch.is_tensor(value) else value)
        for name, value in inputs.items()
    }
    outputs = [out for out in _tensors(function(**given), torch) if out.is_floating_point()]
    real = [out for out in outputs if out.requires_grad]
    if real:
        sum(out.sum() for out in real).backward()
    leaves = [value.grad for value in given.values() if torch.is_tensor(value) and value.grad is not None]
    return [part.detach().double() for part in [*outputs, *leaves]]


def _tensors(value: Any, torch: Any) -> Iterator[Any]:
    if torch.is_tensor(value):
        yield value
    elif isinstance(value, (tuple, list, dict)):
        for part in value.values() if isinstance(value, dict) else value:
            yield from _tensors(part, torch)
