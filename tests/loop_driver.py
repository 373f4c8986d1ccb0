"""A training loop driven with real torch objects and one injected fault: what it does to the weights, the rate, the scale.

The model has two weights and one fault: in one of its forwards it adds something to its output (a loss of inf or NaN), or it
multiplies the gradient that comes back through it (a finite loss whose gradient is inf, NaN, or of norm 1e5). Everything
else is torch's own: optimizer, GradScaler on the CPU, scheduler, averaged model. The loop is a function whose parameters say
by their names what it wants to be given.
"""

from __future__ import annotations

import ast
import inspect
import io
import warnings
from contextlib import contextmanager, redirect_stdout
from dataclasses import dataclass, field
from types import SimpleNamespace
from typing import TYPE_CHECKING, Any
from unittest import mock

import torch

from nanlint.confirm.worker.slices import loaded_names
from nanlint.confirm.worker.subject import source_of

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping

RATE = 0.1
"""The learning rate of the driven optimizer."""
ROUNDS = 5
"""How many batches a driven loop gets."""
ENOUGH = 40 * ROUNDS
"""Rounds after which a loop that asks for no batches, or for many epochs, is ended."""
AT = 2
"""The round in which the fault strikes; rounds count from 0."""
STEEP = 1e5
"""What a steep gradient is multiplied by."""


@dataclass(frozen=True)
class Fault:
    """What goes wrong in round AT: `added` to what the model gives, the gradient `times` so much."""

    added: float = 0.0
    times: float = 1.0


NO_FAULT = Fault()
# The gradient of a loss that is not finite is not finite either.
NAN_LOSS, INF_LOSS = Fault(float("nan"), float("nan")), Fault(float("inf"), float("nan"))
NAN_GRADIENT, INF_GRADIENT = Fault(times=float("nan")), Fault(times=float("inf"))
STEEP_GRADIENT = Fault(times=STEEP)
NOT_FINITE = (NAN_LOSS, INF_LOSS, NAN_GRADIENT, INF_GRADIENT)


class _Strike(torch.autograd.Function):
    """The identity, but for a fault."""

    @staticmethod
    def forward(ctx: Any, x: torch.Tensor, model: FaultyLine, fault: Fault) -> torch.Tensor:
        """Add what the fault adds."""
        ctx.model, ctx.fault = model, fault
        return x + fault.added

    @staticmethod
    def backward(ctx: Any, gradient: torch.Tensor) -> tuple[torch.Tensor, None, None]:
        """Multiply by what the fault multiplies."""
        ctx.model.seen.append(
            Seen(float(gradient.abs().max()), torch.is_autocast_enabled(gradient.device.type), gradient.dtype)
        )
        if ctx.model.meet is not None:
            ctx.model.meet()
        return gradient * ctx.fault.times, None, None


@dataclass(frozen=True)
class Seen:
    """What a backward brought to the model: the size of the gradient, and the mode and dtype in which it came."""

    size: float
    under_autocast: bool
    dtype: torch.dtype


class Enough(BaseException):
    """A loop has gone on long enough to be judged; no `except Exception` of its own goes on."""


class FaultyLine(torch.nn.Module):
    """A plane through 0 with slopes of 1 to begin with, and a fault."""

    def __init__(self, fault: Fault = NO_FAULT) -> None:
        super().__init__()
        self.line = torch.nn.Linear(2, 1, bias=False)
        torch.nn.init.ones_(self.line.weight)
        self.fault = fault
        self.rounds = 0
        self.before: list[float] = []
        """The weight at the beginning of each round."""
        self.seen: list[Seen] = []
        self.meet: Callable[[], None] | None = None
        """Called in each backward: where several processes wait for each other."""

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        """The line at `x`; one round is one forward."""
        if self.rounds >= ENOUGH:
            raise Enough
        fault = self.fault if self.rounds == AT else NO_FAULT
        self.rounds += 1
        self.before.append(self.slope)
        struck: torch.Tensor = _Strike.apply(self.line(x), self, fault)  # type: ignore[no-untyped-call] # torch has no types for it
        return struck

    @property
    def slope(self) -> float:
        """The first weight; the second one moves as it does."""
        return float(self.line.weight.detach()[0, 0])


@dataclass
class Run:
    """What a driven loop has done."""

    model: FaultyLine
    optimizer: torch.optim.Optimizer
    things: Mapping[str, Any]
    rates: list[float] = field(default_factory=list)
    """The learning rate at each step of the optimizer."""
    gradients: list[float] = field(default_factory=list)
    """The largest gradient at each step of the optimizer; 0 where there is none."""
    saved: dict[str, bool] = field(default_factory=dict)
    """File -> whether all that was saved there last is finite."""
    error: Exception | None = None
    returned: object = None
    printed: str = ""

    def note_step(self) -> None:
        """Note the rate and the gradient with which the optimizer is about to step."""
        self.rates.append(self.optimizer.param_groups[0]["lr"])
        gradient = self.model.line.weight.grad
        self.gradients.append(float(gradient.abs().max()) if gradient is not None else 0.0)

    @property
    def slopes(self) -> list[float]:
        """The weight before each round, and at the end."""
        return [*self.model.before, self.model.slope]

    @property
    def course(self) -> str:
        """The weight before the first rounds, in words."""
        told = ", ".join(f"{slope:.4g}" for slope in self.slopes[: ROUNDS + 1])
        return f"{told}, …" if len(self.slopes) > ROUNDS + 1 else told

    @property
    def is_finite(self) -> bool:
        """Whether the model can still be used."""
        return bool(torch.isfinite(self.model.line.weight).all())

    def moved_in(self, round_: int) -> bool:
        """Whether a step was taken in a round, or broke the weights."""
        if round_ + 1 >= len(self.slopes):
            return False
        before, after = self.slopes[round_], self.slopes[round_ + 1]
        return before != after

    @property
    def longest(self) -> float:
        """The longest way that the weight has gone in one round."""
        pairs = zip(self.slopes, self.slopes[1:], strict=False)
        return max((abs(after - before) for before, after in pairs), default=0.0)


def drive(
    loop: Callable[..., Any], fault: Fault = NO_FAULT, *, decay: float = 0.01, more: Mapping[str, Any] | None = None
) -> Run:
    """Run `loop` with a model that has `fault`; what it raises ends it, as it would end a run."""
    torch.manual_seed(0)
    model = FaultyLine(fault)
    optimizer = torch.optim.SGD(model.parameters(), lr=RATE, momentum=0.9, weight_decay=decay)
    things = {**parts(model, optimizer), **_batches_for(loop), **(more or {})}
    asked = {"scheduler", *OTHER_NAMES["scheduler"]} & names_wanted(loop)
    if asked:
        # Making one changes the rate, so only those who ask for it get it.
        made = torch.optim.lr_scheduler.OneCycleLR(optimizer, max_lr=RATE, total_steps=4 * ROUNDS)
        things.update(dict.fromkeys(["scheduler", *asked], made))
    run = Run(model, optimizer, things)
    optimizer.register_step_pre_hook(lambda *_: run.note_step())
    printed = io.StringIO()
    with _saving_to(run), redirect_stdout(printed), warnings.catch_warnings():
        # torch warns of some orders; here they are to be seen through.
        warnings.simplefilter("ignore")
        try:
            run.returned = call_with(loop, things)
        except Enough:
            pass
        except Exception as error:  # noqa: BLE001 - whatever the loop raises is what it does about the fault
            run.error = error
    run.printed = printed.getvalue()
    return run


OTHER_NAMES = {
    "model": ("net", "network"),
    "optimizer": ("opt", "optim", "optimiser"),
    "batches": (
        "loader", "dataloader", "data_loader", "train_loader", "trainloader", "train_dataloader", "train_dl", "data",
    ),
    "scaler": ("grad_scaler",),
    "config": ("cfg", "args"),
    "criterion": ("loss_fn", "loss_function", "loss_func"),
    "epochs": ("num_epochs", "n_epochs", "max_epochs"),
    "scheduler": ("sched", "lr_scheduler", "lr_sched", "schedule"),
}  # fmt: skip
"""What people call the parts of a training loop."""


def _batches_for(loop: Callable[..., Any]) -> dict[str, Any]:
    """Batches in as many parts as the loop takes them apart into, by every name; inputs first, then targets of 1."""
    names = frozenset({"batches", *OTHER_NAMES["batches"]})
    size = parts_of_a_batch(loop, names)
    if size == 1:
        return {}
    batch = (torch.full((1, 2), 0.1), *(torch.ones(1, 1) for _ in range(size - 1)))
    return dict.fromkeys(names, [batch] * ROUNDS)


def parts(model: FaultyLine, optimizer: torch.optim.Optimizer) -> dict[str, Any]:
    """What a loop may ask for, by name."""
    batches = [torch.full((1, 2), 0.1) for _ in range(ROUNDS)]
    things = {
        "model": model,
        "optimizer": optimizer,
        "batches": batches,
        "scaler": torch.amp.GradScaler("cpu"),
        "ema": torch.optim.swa_utils.AveragedModel(model, avg_fn=lambda old, new, _: 0.9 * old + 0.1 * new),
        "config": SimpleNamespace(clip=1.0, lr=RATE, steps=ROUNDS, accumulate=2),
        "criterion": lambda result, *_: result.mean(),
        "device": "cpu",
        "epoch": 0,
        "epochs": 1,
    }
    aliases = {other: name for name, others in OTHER_NAMES.items() for other in others if name in things}
    return {**things, **{other: things[name] for other, name in aliases.items()}}


def names_wanted(function: Callable[..., Any]) -> set[str]:
    """The names of everything that a loop asks for; of a class, of all its methods."""
    functions = (
        [value for value in vars(function).values() if inspect.isfunction(value)]
        if inspect.isclass(function)
        else [function]
    )
    return {name for each in functions for name in inspect.signature(each).parameters}


def call_with(function: Callable[..., Any], things: Mapping[str, Any]) -> object:
    """Call `function`, or the first method of the class that it is, with the things that its parameters name."""
    if inspect.isclass(function):
        made = function(**_wanted(function.__init__, things))
        methods = [name for name, value in vars(function).items() if inspect.isfunction(value) and name != "__init__"]
        function = getattr(made, methods[0])
    return function(**_wanted(function, things))


def _wanted(function: Callable[..., Any], things: Mapping[str, Any]) -> dict[str, Any]:
    declared = inspect.signature(function).parameters.values()
    starred = (inspect.Parameter.VAR_KEYWORD, inspect.Parameter.VAR_POSITIONAL)
    needed = [each.name for each in declared if each.default is each.empty and each.kind not in starred]
    return {name: things[name] for name in needed if name != "self"}


@contextmanager
def _saving_to(run: Run) -> Iterator[None]:
    """Let `torch.save` note what it is given instead of writing it."""

    def save(state: object, file: object) -> None:
        run.saved[str(file)] = all(bool(torch.isfinite(tensor).all()) for tensor in _tensors(state))

    with mock.patch("torch.save", save):
        yield


def _tensors(state: object) -> Iterator[torch.Tensor]:
    if isinstance(state, torch.Tensor):
        yield state
    elif isinstance(state, dict):
        for value in state.values():
            yield from _tensors(value)
    elif isinstance(state, (list, tuple)):
        for value in state:
            yield from _tensors(value)
    elif isinstance(state, torch.nn.Module):
        yield from state.state_dict().values()


def parts_of_a_batch(loop: Any, batches: frozenset[str]) -> int:
    """How many things a loop over one of `batches` takes each batch apart into; 1 for a batch as it is."""
    try:
        tree = ast.parse(source_of(loop))
    except SyntaxError:
        return 1
    return max((len(found.elts) for found in _taken_apart(tree, batches)), default=1)


def _taken_apart(tree: ast.AST, batches: frozenset[str]) -> Iterator[ast.Tuple]:
    for loop in ast.walk(tree):
        if not isinstance(loop, ast.For) or not batches & {*loaded_names(loop.iter)}:
            continue
        target = loop.target
        if (
            isinstance(loop.iter, ast.Call)
            and ast.unparse(loop.iter.func) == "enumerate"
            and isinstance(target, ast.Tuple)
        ):
            target = target.elts[-1]
        if isinstance(target, ast.Tuple):
            yield target
        elif isinstance(target, ast.Name):
            yield from _assigned_from(loop, target.id)


def _assigned_from(loop: ast.For, name: str) -> Iterator[ast.Tuple]:
    """`x, y = batch`."""
    for node in ast.walk(loop):
        if isinstance(node, ast.Assign) and isinstance(node.value, ast.Name) and node.value.id == name:
            yield from (target for target in node.targets if isinstance(target, ast.Tuple))
