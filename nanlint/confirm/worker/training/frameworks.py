"""Small stand-ins for frameworks that are not installed: enough of each that a user's step runs as it would there.

The real package is used where it is installed. A verdict names the stand-ins.
"""

from __future__ import annotations

import contextlib
import importlib.util
import sys
from types import SimpleNamespace
from typing import TYPE_CHECKING, Any

import torch
from torch import nn

from nanlint.confirm.worker.placement import chosen
from nanlint.confirm.worker.stub_objects import StubModule
from nanlint.confirm.worker.training.recipes import Samples
from nanlint.confirm.worker.training.small_model import SmallModel

if TYPE_CHECKING:
    from collections.abc import Iterator

Json = dict[str, Any]


class Accelerator:
    """accelerate's Accelerator on one device."""

    sync_gradients = is_main_process = is_local_main_process = True
    num_processes, process_index = 1, 0

    def __init__(self, *_: object, **__: object) -> None:
        self.device = chosen()

    def prepare(self, *things: Any) -> Any:
        """The things as they are."""
        return things if len(things) != 1 else things[0]

    def backward(self, loss: torch.Tensor, **_: object) -> None:
        """Backward, as everybody's."""
        loss.backward()  # type: ignore[no-untyped-call] # torch has no types for it

    def clip_grad_norm_(self, *args: Any, **kwargs: Any) -> Any:
        """The clip of torch."""
        return torch.nn.utils.clip_grad_norm_(*args, **kwargs)

    def clip_grad_value_(self, *args: Any, **kwargs: Any) -> Any:
        """The clip of torch."""
        return torch.nn.utils.clip_grad_value_(*args, **kwargs)

    def unwrap_model(self, model: Any, *_: object) -> Any:
        """The model as it is."""
        return model

    def gather(self, thing: Any) -> Any:
        """What one process has is all there is."""
        return thing

    def __getattr__(self, name: str) -> Any:
        if name in {"accumulate", "autocast", "no_sync", "main_process_first", "profile"}:
            return lambda *_, **__: contextlib.nullcontext()
        if name.startswith("__"):
            raise AttributeError(name)
        return lambda *_, **__: None


class LightningModule(nn.Module):
    """Lightning's module, as far as a training step asks for it."""

    automatic_optimization = True
    current_epoch = global_step = 0

    @property
    def device(self) -> torch.device:
        """Where everything is."""
        return chosen()

    def optimizers(self, *_: object, **__: object) -> Any:
        """The configured optimizers, one or all."""
        made = self.__dict__["_optimizers"]
        return made[0] if len(made) == 1 else made

    def lr_schedulers(self) -> Any:
        """The configured schedules, one or all."""
        made = self.__dict__["_schedules"]
        return made[0] if len(made) == 1 else made

    def manual_backward(self, loss: torch.Tensor, *_: object, **__: object) -> None:
        """Backward, as everybody's."""
        loss.backward()  # type: ignore[no-untyped-call] # torch has no types for it

    def clip_gradients(self, optimizer: Any, gradient_clip_val: float = 0.0, **_: object) -> None:
        """The clip of torch over the optimizer's weights."""
        weights = [weight for group in optimizer.param_groups for weight in group["params"]]
        torch.nn.utils.clip_grad_norm_(weights, gradient_clip_val)

    def log(self, *_: object, **__: object) -> None:
        """Nobody reads it."""

    log_dict = save_hyperparameters = toggle_optimizer = untoggle_optimizer = log
    hparams = SimpleNamespace()


class LightningTrainer:
    """Lightning's trainer: an epoch is a loop over the loader."""

    def __init__(self, *_: object, **options: Any) -> None:
        self.clip = options.get("gradient_clip_val")
        self.epochs = min(int(options.get("max_epochs") or 1), 3)

    def fit(self, model: Any, train_dataloaders: Any = None, *_: object, **options: Any) -> None:
        """Run training_step on each batch, and what automatic optimisation does around it."""
        loader = train_dataloaders if train_dataloaders is not None else options.get("datamodule", model)
        loader = loader.train_dataloader() if hasattr(loader, "train_dataloader") else loader
        optimizers, schedules = _configured(model.configure_optimizers())
        model.__dict__.update(_optimizers=optimizers, _schedules=schedules, trainer=self)
        for _epoch in range(self.epochs):
            for number, batch in enumerate(loader):
                self._batch(model, batch, number, optimizers)

    def _batch(self, model: Any, batch: Any, number: int, optimizers: list[Any]) -> None:
        result = model.training_step(batch, number)
        if not model.automatic_optimization or result is None:
            return
        loss = result["loss"] if isinstance(result, dict) else result
        optimizers[0].zero_grad()
        loss.backward()
        if self.clip:
            torch.nn.utils.clip_grad_norm_(model.parameters(), self.clip)
        optimizers[0].step()


def _configured(made: Any) -> tuple[list[Any], list[Any]]:
    if isinstance(made, dict):
        schedule = made.get("lr_scheduler")
        schedule = schedule["scheduler"] if isinstance(schedule, dict) else schedule
        return [made["optimizer"]], [schedule] if schedule is not None else []
    if isinstance(made, tuple) and len(made) == 2 and isinstance(made[0], list):
        return made[0], [one["scheduler"] if isinstance(one, dict) else one for one in made[1]]
    return (list(made), []) if isinstance(made, (list, tuple)) else ([made], [])


class TransformersTrainer:
    """transformers' Trainer: its own step, or the user's."""

    def __init__(self, model: Any = None, args: Any = None, train_dataset: Any = None, **more: Any) -> None:
        self.model, self.args, self.train_dataset = model, args, train_dataset
        self.accelerator = Accelerator()
        given = more.get("optimizers") or (None, None)
        self.optimizer = given[0] or torch.optim.AdamW(model.parameters(), lr=getattr(args, "learning_rate", 5e-5))
        self.lr_scheduler = given[1]
        self.state = SimpleNamespace(global_step=0, epoch=0)

    def _prepare_inputs(self, inputs: Any) -> Any:
        return inputs

    def compute_loss(self, model: Any, inputs: Any, return_outputs: bool = False, **_: object) -> Any:  # noqa: FBT001, FBT002 - transformers' own signature
        """The loss of the model."""
        outputs = model(**inputs)
        return (outputs.loss, outputs) if return_outputs else outputs.loss

    def training_step(self, model: Any, inputs: Any, *_: object) -> Any:
        """Forward and backward; the loop of transformers clips and steps."""
        loss = self.compute_loss(model, inputs)
        loss.backward()
        return loss.detach()

    def train(self, *_: object, **__: object) -> None:
        """The loop around the step."""
        own = type(self).training_step is not TransformersTrainer.training_step
        for _epoch in range(3):
            for batch in torch.utils.data.DataLoader(self.train_dataset, batch_size=2):
                self.training_step(self.model, batch)
                if not own:
                    torch.nn.utils.clip_grad_norm_(self.model.parameters(), getattr(self.args, "max_grad_norm", 1.0))
                    self.optimizer.step()
                    self.optimizer.zero_grad()

    def log(self, *_: object, **__: object) -> None:
        """Nobody reads it."""

    save_model = save_state = evaluate = add_callback = log


class _Settings(SimpleNamespace):
    def __init__(self, *_: object, **options: Any) -> None:
        super().__init__(**options)


class _Environment:
    """A game of four numbers and two moves that ends after five."""

    observation_space = SimpleNamespace(shape=(4,), n=4)
    action_space = SimpleNamespace(n=2, shape=(2,), sample=lambda: 0, high=[1.0], low=[-1.0])

    def reset(self, *_: object, **__: object) -> Any:
        """The first numbers."""
        self.moves = 0
        return torch.zeros(4).numpy() + 0.5, {}

    def step(self, _: Any) -> Any:
        """The next numbers, a reward, and whether it is over."""
        self.moves += 1
        return torch.full((4,), 0.1 * self.moves).numpy(), float(self.moves % 3), self.moves >= 5, False, {}

    def close(self) -> None:
        """Nothing to close."""


def stand_ins(recipe: Json) -> Iterator[tuple[str, Json]]:
    """Modules by name, and what each of them has."""

    class Rows(Samples):
        def __init__(self, *_: object, **__: object) -> None:
            super().__init__(recipe)

        def __getitem__(self, key: Any) -> Any:
            return self if isinstance(key, str) else super().__getitem__(key)

        def select(self, *_: object, **__: object) -> Any:
            return self

        set_format = with_format = remove_columns = rename_column = shuffle = map = select

    pretrained = SimpleNamespace(from_pretrained=lambda *_, **__: SmallModel())
    automatic = dict.fromkeys(
        [f"AutoModelFor{task}" for task in ("SequenceClassification", "CausalLM", "MaskedLM", "TokenClassification")]
        + ["AutoModel"],
        pretrained,
    )
    schedule = {
        "get_scheduler": _schedule,
        "get_linear_schedule_with_warmup": _schedule,
        "get_cosine_schedule_with_warmup": _schedule,
    }
    lightning = {"LightningModule": LightningModule, "Trainer": LightningTrainer}
    yield "accelerate", {"Accelerator": Accelerator}
    yield from ((name, lightning) for name in ("pytorch_lightning", "lightning", "lightning.pytorch"))
    yield "transformers", {"Trainer": TransformersTrainer, "TrainingArguments": _Settings, **automatic, **schedule}
    yield "datasets", {"load_dataset": Rows, "load_from_disk": Rows}
    yield from ((name, {"make": lambda *_, **__: _Environment()}) for name in ("gymnasium", "gym"))
    names = ("MNIST", "FashionMNIST", "CIFAR10", "CIFAR100", "ImageFolder", "ImageNet", "SVHN", "CelebA", "STL10")
    yield "torchvision.datasets", dict.fromkeys(names, Rows)
    yield "timm", {"create_model": lambda *_, **__: SmallModel()}
    nets = ("resnet18", "resnet34", "resnet50", "vgg16", "mobilenet_v2", "efficientnet_b0", "vit_b_16")
    yield "torchvision.models", dict.fromkeys(nets, lambda *_, **__: SmallModel())


def _schedule(*args: Any, **options: Any) -> Any:
    optimizer = options.get("optimizer") or next(one for one in args if isinstance(one, torch.optim.Optimizer))
    return torch.optim.lr_scheduler.LambdaLR(optimizer, lambda step: max(0.0, 1.0 - step / 1000))


def install(recipe: Json) -> list[str]:
    """Put stand-ins in the place of what is not installed; the names of those."""
    served = []
    for name, held in stand_ins(recipe):
        top = name.partition(".")[0]
        present = sys.modules.get(top)
        if not isinstance(present, StubModule) and (present is not None or importlib.util.find_spec(top) is not None):
            continue
        module: Any = StubModule(name)
        vars(module).update(held)
        sys.modules[name] = module
        if "." in name:
            parent: Any = sys.modules.setdefault(top, StubModule(top))
            setattr(parent, name.rpartition(".")[2], module)
        served.append(top)
    return list(dict.fromkeys(served))
