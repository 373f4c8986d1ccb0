"""What a function of a training loop asks for, by the names of its parameters: one model, and everything that belongs to it."""

from __future__ import annotations

import inspect
import re
from functools import cached_property
from typing import TYPE_CHECKING, Any

import torch

from nanlint.confirm.evidence import Uses
from nanlint.confirm.inputs import Parameter, proposals
from nanlint.confirm.worker.objects import plain
from nanlint.confirm.worker.stand_ins import GuessedConfig
from nanlint.confirm.worker.training.loaded import OldFile
from nanlint.confirm.worker.training.recipes import Samples
from nanlint.confirm.worker.training.small_model import SmallModel

if TYPE_CHECKING:
    from types import ModuleType

Json = dict[str, Any]
RATE = 0.01


class Things:
    """The parts of one training run; each is made when it is asked for."""

    def __init__(self, recipe: Json, module: ModuleType) -> None:
        self.recipe, self.module = recipe, module
        self.guessed: list[str] = []
        """Parameters that nothing was known of."""

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
        return own[0]() if len(own) == 1 else SmallModel()

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
    def loader(self) -> Any:
        """Batches of the recipe."""
        return torch.utils.data.DataLoader(Samples(self.recipe), batch_size=2)

    def for_function(self, function: Any) -> Json:
        """Arguments for what has no default."""
        signature = inspect.signature(function)
        starred = {inspect.Parameter.VAR_KEYWORD, inspect.Parameter.VAR_POSITIONAL}
        wanted = [p for p in signature.parameters.values() if p.default is p.empty and p.kind not in starred]
        return {one.name: self._named(one) for one in wanted}

    def _named(self, parameter: inspect.Parameter) -> Any:
        name = parameter.name.lower()
        for pattern, make in _KINDS:
            if re.search(pattern, name):
                return make(self)
        self.guessed.append(parameter.name)
        note = parameter.annotation
        text = "" if note is parameter.empty else note if isinstance(note, str) else getattr(note, "__name__", "")
        spec = proposals(Parameter(parameter.name, text), Uses(), rank=2, building=True)[0]
        return plain(spec, self.module)


_KINDS: tuple[tuple[str, Any], ...] = (
    (r"^(checkpoint|ckpt|state|states|saved|snapshot)$", lambda things: OldFile(things.recipe)),
    (r"path|file|dir$|folder|root|resume|name", lambda _: "checkpoint.pt"),
    (r"sched", lambda things: things.scheduler),
    (r"optim|^opt$", lambda things: things.optimizer),
    (r"scaler", lambda things: things.scaler),
    (r"loader|^dl$|_dl$|batches|dataset", lambda things: things.loader),
    (r"^batch$|^inputs$|^sample$", lambda things: next(iter(things.loader))),
    (r"criterion|loss_f", lambda _: lambda result, *__: _first(result).float().pow(2).mean()),
    (r"^loss$", lambda things: _first(things.model(torch.ones(2, 8))).mean()),
    (r"model|^net|network|policy|module", lambda things: things.model),
    (r"device", lambda _: torch.device("cpu")),
    (r"epochs|steps|iters", lambda _: 3),
    (r"epoch|step|iter|index|idx", lambda _: 0),
    (r"^lr$|rate", lambda _: RATE),
    (r"^(args|cfg|config|opts?|hparams|conf|settings)$", lambda _: GuessedConfig()),
)
"""Patterns of names, the special ones first."""


def _first(result: Any) -> torch.Tensor:
    found: torch.Tensor = result if isinstance(result, torch.Tensor) else result.logits
    return found
