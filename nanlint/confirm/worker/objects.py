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
from nanlint.confirm.names import count, fraction, is_count
from nanlint.confirm.uses import Uses
from nanlint.confirm.worker.stub_objects import Stub, Stubbed
from nanlint.confirm.worker.subject import signature_of

if TYPE_CHECKING:
    from types import ModuleType

_DEEPEST = 2
"""Classes whose constructors want classes: further down nothing good comes of guessing."""
_LARGE = 64
"""Integers of a default configuration above this are made small: a model of millions of weights proves no more."""
_TEXTS = {
    "act": "gelu",
    "activation": "gelu",
    "implementation": "eager",
    "type": "default",
    "mode": "default",
    "reduction": "mean",
}


class Loose(int):
    """The number of an attribute that nothing is known of: it counts, and it is empty, callable and has every part."""

    def __iter__(self) -> Any:
        return iter(())

    def __call__(self, *args: Any, **_: Any) -> Any:
        return args[0] if args else self

    def __getitem__(self, _: object) -> Any:
        return self

    def __len__(self) -> int:
        return 0

    def __contains__(self, _: object) -> bool:
        return False

    def __enter__(self) -> Any:
        return self

    def __exit__(self, *_: object) -> None:
        return None

    def __getattr__(self, name: str) -> Any:
        if name.startswith("__"):
            raise AttributeError(name)
        return guessed(name)


class GuessedConfig:
    """A configuration whose every attribute suits its name, and stays the same once it was read."""

    def __getattr__(self, name: str) -> Any:
        if name.startswith("__"):
            raise AttributeError(name)
        made = guessed(name)
        object.__setattr__(self, name, made)
        return made

    def __getitem__(self, name: str) -> Any:
        return getattr(self, name)

    def __contains__(self, name: str) -> bool:
        return True

    def __enter__(self) -> Any:
        return self

    def __exit__(self, *_: object) -> None:
        return None

    def get(self, name: str, default: object = None) -> Any:
        """As a dictionary would: what the code expects, if it says so."""
        return default if default is not None else getattr(self, name)


class StandIn(GuessedConfig):
    """An object with the attributes, the keys and the result that its spec names; the rest suits its name."""

    def __init__(self, attributes: dict[str, Any], held: dict[str, Any], result: Any) -> None:
        self.__dict__.update(attributes, _held=held, _result=result)

    def __getitem__(self, key: Any) -> Any:
        held = self.__dict__["_held"]
        return held[str(key)] if str(key) in held else getattr(self, str(key))

    def __contains__(self, key: Any) -> bool:
        return str(key) in self.__dict__["_held"]

    def __iter__(self) -> Any:
        return iter(self.__dict__["_held"].values())

    def __len__(self) -> int:
        return len(self.__dict__["_held"])

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        """What a call gives: the result of the spec, else the first argument."""
        result = self.__dict__["_result"]
        return result if result is not None else next(iter((*args, *kwargs.values())), GuessedConfig())

    def get(self, name: str, default: object = None) -> Any:
        """As a dictionary would."""
        return self.__dict__["_held"].get(name, default)

    def keys(self) -> Any:
        """As a dictionary would."""
        return self.__dict__["_held"].keys()

    def values(self) -> Any:
        """As a dictionary would."""
        return self.__dict__["_held"].values()

    def items(self) -> Any:
        """As a dictionary would."""
        return self.__dict__["_held"].items()

    def to(self, *_: object, **__: object) -> Any:
        """Itself: it has no place and no dtype of its own."""
        return self

    train = eval = float = half = cpu = cuda = zero_grad = to
    device, dtype, training = torch.device("cpu"), torch.float32, True

    def parameters(self) -> Any:
        """One parameter, as if it were a model."""
        return iter([self.__dict__.setdefault("_weight", torch.nn.Parameter(torch.ones(())))])

    def named_parameters(self) -> Any:
        """The same one, with its name."""
        return iter([("weight", next(self.parameters()))])

    def modules(self) -> Any:
        """No parts."""
        return iter(())

    def state_dict(self) -> dict[str, Any]:
        """The weight."""
        return {"weight": next(self.parameters())}


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


class AnyModel(torch.nn.Module):
    """A stand-in for a model that the code asks for attributes: it learns a scale, and embeds what is counted."""

    def __init__(self) -> None:
        super().__init__()
        self.scale = torch.nn.Parameter(torch.ones(()))
        self.embedding = torch.nn.Embedding(16, 11)
        self._is_made = True

    def __getattr__(self, name: str) -> Any:
        try:
            return super().__getattr__(name)
        except AttributeError:
            if name.startswith("_") or "_is_made" not in self.__dict__:
                raise
            return guessed(name)

    def forward(self, x: Any = None, *_: object, **__: object) -> Any:
        """The scaled input; for tokens, their embeddings, which serve as logits; without an input, what suits all names."""
        if x is None:
            return GuessedConfig()
        if not isinstance(x, torch.Tensor):
            return x
        return x * self.scale if x.is_floating_point() else self.embedding(x.clamp(0, 15))


def guessed(name: str) -> Any:
    """A value that suits the name of a setting."""
    lowered = name.lower()
    if re.search(r"^(use|is|has|with|do|add|tie|output|return|enable)_|_bias$|^bias$|causal|gradient_check", lowered):
        return False
    for word, text in _TEXTS.items():
        if lowered.endswith(word) or lowered.startswith(word):
            return text
    if re.search(
        r"eps|drop|rate|momentum|decay|prob|theta|range|std|scale|temperature|alpha|beta|gamma|coef|lambda|weight",
        lowered,
    ):
        return fraction(name)
    return count(name) if is_count(name) else Loose(2)


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
        return _MODULES[spec["name"]]()
    if kind == "dtype":
        return getattr(torch, spec["value"])
    if kind == "device":
        return torch.device("cpu")
    return _instance(_named(spec["name"], module), module, depth)


_MADE: dict[tuple[str, str], bool] = {}


def can_be_made(spec: dict[str, Any], module: ModuleType) -> bool:
    """Whether the class of a spec is there, and lets itself be made of what suits its parameters."""
    key = (str(spec["name"]), module.__name__)
    if key not in _MADE:
        try:
            thing = _named(spec["name"], module)
            _MADE[key] = thing is not None and not isinstance(make_object(spec, module), (Stub, Stubbed))
        except Exception:  # noqa: BLE001 - the border to the user's code
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
        return torch.zeros(spec["shape"])
    if spec["kind"] in COMPOSITE:
        return composed(spec, {label: plain(child, module, depth) for label, child in children(spec)})
    return make_object(spec, module, depth)
