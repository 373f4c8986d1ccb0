"""What a function of a training loop asks for, by the names of its parameters: one model, and everything that belongs to it."""

from __future__ import annotations

import inspect
import re
from functools import cached_property
from typing import TYPE_CHECKING, Any

import torch

from nanlint.confirm.inputs import Parameter, proposals
from nanlint.confirm.names import is_count, is_fraction
from nanlint.confirm.worker.evidence import Uses
from nanlint.confirm.worker.objects import plain
from nanlint.confirm.worker.placement import chosen
from nanlint.confirm.worker.stand_ins import guessed
from nanlint.confirm.worker.subject import signature_of
from nanlint.confirm.worker.training.frameworks import Accelerator
from nanlint.confirm.worker.training.loaded import OldFile
from nanlint.confirm.worker.training.recipes import BATCH, Samples, part
from nanlint.confirm.worker.training.small_model import SmallModel
from nanlint.confirm.worker.training.world import CHECKPOINT

if TYPE_CHECKING:
    from types import ModuleType

Json = dict[str, Any]
RATE = 0.01


class Things:
    """The parts of one training run; each is made when it is asked for."""

    def __init__(self, recipe: Json, module: ModuleType, guessed: list[str]) -> None:
        """`guessed` takes the parameters that nothing is known of."""
        self.recipe, self.module, self.guessed = recipe, module, guessed

    @cached_property
    def model(self) -> Any:
        """The one network of the file that needs no arguments, else a small one."""
        own = [
            one
            for one in vars(self.module).values()
            if inspect.isclass(one)
            and issubclass(one, torch.nn.Module)
            and one.__module__ == self.module.__name__
            and not [p for p in inspect.signature(one).parameters.values() if p.default is p.empty]
        ]
        made = own[0]() if len(own) == 1 else SmallModel()
        return (made if next(made.parameters(), None) is not None else SmallModel()).to(chosen())

    @cached_property
    def optimizer(self) -> Any:
        """Plain descent with momentum."""
        return torch.optim.SGD(self.model.parameters(), lr=RATE, momentum=0.9)

    @cached_property
    def scheduler(self) -> Any:
        """A slow descent of the rate."""
        return torch.optim.lr_scheduler.CosineAnnealingLR(self.optimizer, T_max=1000)

    @cached_property
    def scaler(self) -> Any:
        """A scaler that the surroundings put on the right device."""
        return torch.amp.GradScaler("cuda")

    @cached_property
    def average(self) -> Any:
        """An average of the weights."""
        return torch.optim.swa_utils.AveragedModel(self.model, avg_fn=lambda old, new, _: 0.9 * old + 0.1 * new)

    @cached_property
    def loader(self) -> Any:
        """Batches of the recipe."""
        return Loader(Samples(self.recipe), batch_size=2)

    def for_function(self, function: Any, wanted_values: Json | None = None) -> Json:
        """Arguments for what has no default, and those that are demanded."""
        signature = inspect.signature(function)
        starred = {inspect.Parameter.VAR_KEYWORD, inspect.Parameter.VAR_POSITIONAL}
        wanted = [p for p in signature.parameters.values() if p.default is p.empty and p.kind not in starred]
        uses = signature_of(function).uses
        optional = [one.name for one in signature.parameters.values() if one.default is not one.empty]
        demanded = {name: (wanted_values or {})[name] for name in optional if name in (wanted_values or {})}
        return {one.name: self._named(one, uses.get(one.name, Uses())) for one in wanted} | demanded

    def attribute(self, name: str, uses: Uses) -> Any:
        """What suits the name of an attribute and what is done with it."""
        lowered = name.lower().lstrip("_")
        for pattern, make in _KINDS:
            if re.search(pattern, lowered):
                return make(self)
        for is_it, make in _BY_USE:
            if is_it("", uses):
                return make(self)
        return _setting(name, self)

    def _named(self, parameter: inspect.Parameter, uses: Uses) -> Any:
        name = parameter.name.lower()
        note = parameter.annotation
        text = "" if note is parameter.empty else note if isinstance(note, str) else getattr(note, "__name__", "")
        if name in _SETTINGS or (name == "opt" and uses.attributes and not uses.attributes & _OF_OPTIMIZERS):
            return Settings(self)
        annotated = next((word for word in _ANNOTATED if word in text), name)
        for pattern, make in _KINDS:
            if re.search(pattern, _ANNOTATED.get(annotated, name)):
                return make(self)
        for is_it, make in _BY_USE:
            if is_it(text, uses):
                return make(self)
        is_number = is_count(name) or is_fraction(name)
        if text == "Tensor" or uses.is_tensor or (name in self.recipe["call"] and not is_number):
            return part(self.recipe, parameter.name, BATCH).to(chosen())
        spec = proposals(Parameter(parameter.name, text), uses, rank=2, building=False)[0]
        if spec["kind"] != "value":
            self.guessed.append(parameter.name)
        return part(self.recipe, parameter.name, BATCH) if spec["kind"] == "tensor" else plain(spec, self.module)


class Loader(torch.utils.data.DataLoader[Any]):
    """A loader that `next` can be asked of, as of one that somebody has made endless."""

    def __next__(self) -> Any:
        return next(iter(self))


class Place(str):
    """A path, as a text and as a Path: what is below it is one, too."""

    __slots__ = ()

    def __truediv__(self, other: object) -> Place:
        return Place(f"{self}/{other}")


class Settings(float):
    """The settings of a run: paths, counts and rates that suit their names, by attribute and by key; taken as a number, 2."""

    def __new__(cls, things: Things, name: str = "settings") -> Settings:  # noqa: PYI034 - Self is not in Python 3.10
        """A number that knows the run."""
        made = super().__new__(cls, 2.0)
        made.__dict__.update(_things=things, _name=name)
        return made

    def __index__(self) -> int:
        return 2

    def __call__(self, *args: Any, **_: object) -> Any:
        """What it is given, as if nothing had been done; that is a guess."""
        self.__dict__["_things"].guessed.append(self.__dict__["_name"])
        return args[0] if args else self

    @staticmethod
    def keys() -> tuple[str, ...]:
        """None: given on as keyword arguments, it says nothing."""
        return ()

    def __getattr__(self, name: str) -> Any:
        if name.startswith("__"):
            raise AttributeError(name)
        made = _setting(name, self.__dict__["_things"])
        self.__dict__[name] = made
        return made

    def __getitem__(self, name: str) -> Any:
        return getattr(self, name)

    def __contains__(self, name: object) -> bool:
        return not self.__dict__["_things"].recipe.get("unset")

    def get(self, name: str, default: object = None) -> Any:
        """As of a dictionary."""
        return default if default is not None else getattr(self, name)


def _setting(name: str, things: Things) -> Any:
    lowered = name.lower()
    if things.recipe.get("unset") and re.search(r"clip|norm", lowered):
        return None
    if re.search(r"resume|checkpoint|ckpt|path|file|dir$|folder|root|output|save", lowered):
        return Place(CHECKPOINT)
    for pattern, make in _NUMBERS:
        if re.search(pattern, lowered):
            return make(things)
    if re.search(r"(^|_)lrs?($|_)|rate", lowered):
        return RATE
    return guessed(name) if is_count(name) or is_fraction(name) else Settings(things, name)


_OF_OPTIMIZERS = frozenset({"step", "zero_grad", "param_groups", "state_dict", "load_state_dict"})
_OF_MODELS = frozenset({"parameters", "named_parameters", "train", "eval", "modules"})
_BY_USE: tuple[tuple[Any, Any], ...] = (
    (
        lambda text, uses: text.endswith("Module") or bool(uses.attributes & _OF_MODELS),
        lambda _: SmallModel().to(chosen()),
    ),
    (
        lambda _, uses: "backward" in uses.attributes,
        lambda things: _first(things.model(torch.ones(2, 8, device=chosen()))).mean(),
    ),
    (lambda _, uses: uses.called, lambda things: things.model),
    (lambda text, uses: bool(uses.own_parts) and text != "Tensor", Settings),
)
"""What the use of a parameter says, and what suits it."""
_SETTINGS = frozenset({"args", "cfg", "config", "opts", "hparams", "hp", "conf", "settings", "options", "flags"})
_NUMBERS: tuple[tuple[str, Any], ...] = (
    (r"device", lambda _: str(chosen())),
    (r"warmup|accum", lambda _: 1),
    (r"last_epoch", lambda _: -1),
    (r"epochs|steps|iters|iterations", lambda _: 3),
    (r"weight_decay|dropout|label_smoothing|eta_min|min_lr", lambda _: 0.0),
    (r"clip|max_norm|grad_norm", lambda _: 1.0),
    (r"batch", lambda _: BATCH),
)
_ANNOTATED = {
    "Optimizer": "optimizer",
    "GradScaler": "scaler",
    "LRScheduler": "scheduler",
    "DataLoader": "loader",
    "AveragedModel": "ema",
}
"""Words of annotations, and the names that say the same."""
_KINDS: tuple[tuple[str, Any], ...] = (
    (r"^(checkpoint|ckpt|state|states|saved|snapshot)$|state_?dict$", lambda things: OldFile(things.recipe)),
    (r"path|file|dir$|folder|root|resume|name", lambda _: Place(CHECKPOINT)),
    (r"^accelerator$", lambda _: Accelerator()),
    (r"^ema|average", lambda things: things.average),
    (r"sched", lambda things: things.scheduler),
    (r"optim|^opt$", lambda things: things.optimizer),
    (r"scaler", lambda things: things.scaler),
    (r"loader|^dl$|_dl$|batches|dataset", lambda things: things.loader),
    (r"^batch$|^inputs$|^sample$", lambda things: next(iter(things.loader))),
    (r"criterion|loss_f", lambda _: lambda result, *__: _first(result).float().pow(2).mean()),
    (r"^loss$", lambda things: _first(things.model(torch.ones(2, 8, device=chosen()))).mean()),
    (r"model|^net|network|policy|module", lambda things: things.model),
    (r"^param(eter)?s$|weights$", lambda things: list(things.model.parameters())),
    *_NUMBERS,
    (r"epoch|step|iter|index|idx", lambda _: 0),
    (r"^lr$|rate", lambda _: RATE),
)
"""Patterns of names, the special ones first."""


def is_known(name: str) -> bool:
    """Whether a name says what is meant."""
    return name in _SETTINGS or any(re.search(pattern, name) for pattern, _ in _KINDS)


def _first(result: Any) -> torch.Tensor:
    found: torch.Tensor = result if isinstance(result, torch.Tensor) else result.logits
    return found
