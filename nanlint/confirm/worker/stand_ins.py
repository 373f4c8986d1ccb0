"""Objects that nobody has told us how to make: settings that suit their names, models, and what a spec describes."""

from __future__ import annotations

import re
from typing import Any

import torch

from nanlint.confirm.names import count, fraction, is_count
from nanlint.confirm.worker.placement import chosen

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
        """The first argument, as if nothing had been done."""
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
    dtype, training = torch.float32, True

    @property
    def device(self) -> torch.device:
        """Where everything is."""
        return chosen()

    def parameters(self) -> Any:
        """One parameter, as if it were a model."""
        return iter([self.__dict__.setdefault("_weight", torch.nn.Parameter(torch.ones((), device=chosen())))])

    def named_parameters(self) -> Any:
        """The same one, with its name."""
        return iter([("weight", next(self.parameters()))])

    def modules(self) -> Any:
        """No parts."""
        return iter(())

    def state_dict(self) -> dict[str, Any]:
        """The weight."""
        return {"weight": next(self.parameters())}


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
    if lowered == "device":
        return chosen()
    if re.search(r"^(use|is|has|with|do|add|tie|output|return|enable)_|_bias$|^bias$|causal|gradient_check", lowered):
        return False
    for word, text in _TEXTS.items():
        if lowered.endswith(word) or lowered.startswith(word):
            return text
    if re.search(
        r"(^|_)eps|epsilon|drop|rate|momentum|decay|prob|theta|range|std|scale|temperature|alpha|beta|gamma|coef|lambda|weight",
        lowered,
    ):
        return fraction(name)
    return Loose(count(name) if is_count(name) else 2)
