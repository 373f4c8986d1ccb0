"""Arguments that are no tensors: configurations, layers, callables, instances of the user's classes, made small."""

from __future__ import annotations

import contextlib
import dataclasses
import enum
import inspect
import re
import sys
from typing import TYPE_CHECKING, Any

import torch

from nanlint.confirm.composites import children
from nanlint.confirm.inputs import proposals
from nanlint.confirm.names import count, is_count
from nanlint.confirm.worker.evidence import Uses
from nanlint.confirm.worker.lenient import Interrupted
from nanlint.confirm.worker.load import alarm
from nanlint.confirm.worker.placement import chosen, here
from nanlint.confirm.worker.stand_ins import AnyModel, GuessedConfig, StandIn
from nanlint.confirm.worker.stub_objects import Stub, Stubbed
from nanlint.confirm.worker.subject import signature_of
from nanlint.confirm.worker.values import make_tensor

if TYPE_CHECKING:
    from types import ModuleType

_DEEPEST = 2
"""Classes whose constructors want classes: further down nothing good comes of guessing."""
_LARGE = 64
"""Integers of a default configuration above this are made small: a model of millions of weights proves no more."""


COMPOSITE = frozenset({"list", "dict", "distribution", "object"})


def composed(spec: dict[str, Any], inner: dict[str, Any]) -> Any:
    """The argument of a spec that is made of others, from what was made of these."""
    kind = spec["kind"]
    if kind == "list":
        return tuple(inner.values()) if spec.get("tuple") else list(inner.values())
    if kind == "dict":
        return inner
    if kind == "distribution":
        return torch.distributions.Normal(inner["loc"], inner["scale"], validate_args=False)
    attributes = {name: inner[name] for name in spec["items"]}
    held = {key: inner[f"[{key}]"] for key in spec["keys"]}
    return StandIn(attributes, held, inner.get("()"))


def shrink_config(config: Any) -> Any:
    """Make the large integers of a configuration small, by their names."""
    for name, value in list(getattr(config, "__dict__", {}).items()):
        if type(value) is not int or not is_count(name) or value <= max(4, count(name)):
            continue
        if value > _LARGE or re.search(r"head|layer|depth|expert", name.lower()):
            # A configuration may refuse; then it stays large.
            with contextlib.suppress(Exception):
                setattr(config, name, count(name))
    return config


_MODULES: dict[str, Any] = {
    "any": AnyModel,
    "model": lambda: torch.nn.Linear(3, 3),
    "identity": torch.nn.Identity,
    "linear": lambda: torch.nn.LazyLinear(16),
    "class": lambda: torch.nn.LayerNorm,
}


def make_object(spec: dict[str, Any], module: ModuleType, depth: int = 0) -> Any:
    """The object of a spec of kind class, config, module, dtype or device."""
    kind = spec["kind"]
    if kind == "config":
        return GuessedConfig()
    if kind == "expression":
        return eval(spec["text"], vars(sys.modules[spec["module"]]))  # noqa: S307 - the user's own text, in the sandbox
    if kind == "module":
        with here():
            return _MODULES[spec["name"]]()
    if kind == "dtype":
        return getattr(torch, spec["value"])
    if kind in {"device", "device_type"}:
        return chosen() if kind == "device" else chosen().type
    return _instance(_named(spec["name"], module), module, depth)


_SECONDS = 5
"""A class that takes longer to make is a model of its real size."""
_MADE: dict[tuple[str, str], bool] = {}


def can_be_made(spec: dict[str, Any], module: ModuleType) -> bool:
    """Whether the class of a spec is there, and lets itself be made of what suits its parameters."""
    key = (str(spec["name"]), module.__name__)
    if key not in _MADE:
        try:
            with alarm(_SECONDS):
                thing = _named(spec["name"], module)
                _MADE[key] = thing is not None and not isinstance(make_object(spec, module), (Stub, Stubbed))
        except (Exception, Interrupted):  # noqa: BLE001 - the border to the user's code
            _MADE[key] = False
    return _MADE[key]


def _named(text: str, module: ModuleType) -> Any:
    """The class that an annotation names, as the user's file sees it."""
    for word in re.findall(r"[A-Za-z_][\w.]*", text):
        if word in {"Optional", "Union", "None", "typing", "List", "Dict", "Type"}:
            continue
        thing: Any = module
        for part in word.split("."):
            thing = getattr(thing, part, None)
        if thing is not None and not isinstance(thing, Stub):
            return thing
    return None


def _instance(thing: Any, module: ModuleType, depth: int) -> Any:
    if thing is None or depth > _DEEPEST:
        return GuessedConfig()
    if not inspect.isclass(thing):
        return thing() if callable(thing) else thing
    if issubclass(thing, enum.Enum):
        return next(iter(thing))
    made = thing(**_arguments(thing, module, depth))
    is_config = dataclasses.is_dataclass(thing) or "config" in thing.__name__.lower()
    return shrink_config(made) if is_config else made


def _arguments(thing: type, module: ModuleType, depth: int) -> dict[str, Any]:
    """Arguments for what has no default."""
    signature = signature_of(thing)
    found = {}
    for parameter in signature.required:
        spec = proposals(parameter, signature.uses.get(parameter.name, Uses()), rank=2, building=True)[0]
        found[parameter.name] = plain(spec, module, depth + 1)
    return found


def plain(spec: dict[str, Any], module: ModuleType, depth: int = 0) -> Any:
    """The argument of a spec, a tensor with its ordinary values."""
    if spec["kind"] == "value":
        return tuple(spec["value"]) if spec.get("tuple") else spec["value"]
    if spec["kind"] == "tensor":
        return make_tensor(spec, "normal", torch.Generator().manual_seed(0)).to(chosen())
    if spec["kind"] in COMPOSITE:
        return composed(spec, {label: plain(child, module, depth) for label, child in children(spec)})
    return make_object(spec, module, depth)
