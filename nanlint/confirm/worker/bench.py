"""One run of the subject on one case: forward and backward, and whether what comes out is finite.

A case is JSON: the specs of constructor and call, a corner for each tensor, seed, dtype, and what was done to the
parameters before. The same case gives the same run in every process.
"""

from __future__ import annotations

import contextlib
import warnings
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

import torch
from torch.nn.parameter import UninitializedBuffer, UninitializedParameter
from torch.utils._pytree import tree_flatten

from nanlint.confirm.composites import children
from nanlint.confirm.worker import chance, forcing, placement
from nanlint.confirm.worker.objects import COMPOSITE, composed, plain
from nanlint.confirm.worker.origin import Tracer
from nanlint.confirm.worker.outcome import OVERFLOW, Outcome, has_bad_float, is_finite, left_behind, tensors_in
from nanlint.confirm.worker.values import make_tensor

if TYPE_CHECKING:
    from nanlint.confirm.worker.examples import Call
    from nanlint.confirm.worker.subject import Subject

Json = dict[str, Any]


@dataclass
class Bench:
    """Runs cases of one subject on one device."""

    subject: Subject
    path: str
    amp: Any = None
    """A context manager maker for mixed precision, or None."""
    evaluations: int = 0
    clones: bool = False
    without_gradient: bool = False
    moves_cuda: bool = False
    """Whether the code asks for CUDA where there is none."""
    captured: Call | None = None
    """A call taken from a hook or an example, instead of a built one."""
    kept: dict[str, Any] = field(default_factory=dict)
    building: bool = False
    """Whether the last run ended in the constructor."""
    made: dict[tuple[str, str], Any] = field(default_factory=dict)
    """The arguments of the last run, by part and name."""
    ran: set[int] = field(default_factory=set)
    """The lines that the current run has run so far, if somebody watches."""

    def run(self, case: Json, *, traced: bool = False) -> Outcome:
        """Forward and backward of one case; errors of the user's code become part of the outcome."""
        self.evaluations += 1
        outcome = Outcome()
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            try:
                self._run(case, outcome, traced=traced)
            except Exception as error:  # noqa: BLE001 - the border to the user's code
                if self._can_adapt(error):
                    return self.run(case, traced=traced)
                outcome.error, outcome.trace = f"{type(error).__name__}: {error}", error
                outcome.refused = any(word in str(error) for word in OVERFLOW)
        return outcome

    def _can_adapt(self, error: Exception) -> bool:
        """Whether the same run could pass with other leaves."""
        text = str(error)
        if not self.clones and ("leaf Variable" in text or "leaf variable" in text):
            self.clones = True
            return True
        if not self.moves_cuda and placement.wants_cuda(text):
            self.moves_cuda = True
            return True
        refused = ("requires grad", "require grad", "requires_grad", "modified by an inplace operation")
        if not self.without_gradient and any(words in text for words in refused):
            self.without_gradient = True
            return True
        return False

    def _run(self, case: Json, outcome: Outcome, *, traced: bool) -> None:
        chance.seed(case["seed"])
        with self._moving():
            function, arguments, learned = self.prepared(case)
        weights = [one for one in learned if isinstance(one, torch.nn.Parameter)]
        tracer = Tracer(self.path, weights) if traced else None
        outcome.tracer = tracer
        amp = self.amp() if self.amp else contextlib.nullcontext()
        with contextlib.ExitStack() as stack:
            for one in (placement.here(), self._moving(), chance.fixed(case.get("chance", "")), amp):
                stack.enter_context(one)
            if tracer is not None:
                stack.enter_context(tracer)
                stack.enter_context(torch.autograd.set_multithreading_enabled(False))
            result = self._called(function, arguments)
            outputs = tensors_in(result)
            self._backward(outputs, learned, outcome)
            owner = getattr(function, "__self__", function)
            kept, numbers = left_behind(owner, arguments)
            outcome.outputs = len(outputs)
            known = set(map(id, outcome.damaged))
            damaged = [one for one in [*outputs, *kept] if id(one) not in known and not is_finite(one)]
            outcome.forward = bool(damaged) or has_bad_float(result) or has_bad_float(numbers)
            outcome.damaged = [*damaged, *outcome.damaged]

    def _moving(self) -> Any:
        return placement.OnDevice() if self.moves_cuda else contextlib.nullcontext()

    def _called(self, function: Any, arguments: Json) -> Any:
        result = function(**arguments) if isinstance(arguments, dict) else function(*arguments)
        if self.subject.nested and callable(result) and not isinstance(result, torch.Tensor):
            # The flagged line is in what the function returns.
            result = result(
                *[value for value in arguments.values() if isinstance(value, torch.Tensor)][:1]
                or [torch.randn(2, 3, device=placement.chosen())]
            )
        if isinstance(result, torch.optim.Optimizer):
            result = _step_without_gradient(result)
        if hasattr(result, "__next__"):
            result = [item for _, item in zip(range(3), result, strict=False)]
        return result

    def _backward(self, outputs: list[torch.Tensor], learned: list[torch.Tensor], outcome: Outcome) -> None:
        roots = [one for one in outputs if one.requires_grad and one.grad_fn is not None]
        if not roots:
            return
        # The gradient of a sum is 1 for every element, also where the sum itself overflows.
        sum((torch.view_as_real(one) if one.is_complex() else one).float().sum() for one in roots).backward()  # type: ignore[union-attr] # there is at least one
        bad = [one.grad for one in learned if one.grad is not None and not is_finite(one.grad)]
        outcome.backward = bool(bad)
        outcome.damaged += bad

    def prepared(self, case: Json) -> tuple[Any, Json, list[torch.Tensor]]:
        """What is called, with which arguments, and the leaves whose gradients count."""
        dtype = getattr(torch, case["dtype"])
        if self.captured is not None:
            function, arguments = self.captured.function, {**self.captured.arguments, **self.arguments(case, dtype)}
            instance = self._restored(getattr(function, "__self__", function), case, dtype)
        else:
            self.building = True
            instance = self.instance(case, dtype)
            self.building = False
            function, arguments = self.subject.bound(instance), self.arguments(case, dtype)
        learned = [one for one in tree_flatten(arguments)[0] if isinstance(one, torch.Tensor) and one.requires_grad]
        if isinstance(instance, torch.nn.Module):
            learned += [one for one in instance.parameters() if one.requires_grad]
            for one in instance.parameters():
                one.grad = None
        given = {name: _clones(value) if self.clones else value for name, value in arguments.items()}
        return function, given, learned

    def instance(self, case: Json, dtype: torch.dtype) -> Any:
        """The object whose method is called, freshly made or put back to how it was made."""
        if self.subject.owner is None:
            return None
        key = repr((sorted(case["ctor"].items(), key=repr), case["seed"], case["dtype"], case.get("settings")))
        if self.kept.get("key") != key or not self.subject.is_module:
            built = self._built(case, dtype)
            state = {name: value.clone() for name, value in _state_of(built).items()}
            # What the constructor ran counts for every call of the object it made.
            lines = set(self.ran)
            self.kept = {"key": key, "built": built, "state": state, "plain": _plain_state(built), "lines": lines}
        built = self.kept["built"]
        if isinstance(built, torch.nn.Module):
            for name, value in _state_of(built).items():
                if name in self.kept["state"] and self.kept["state"][name].shape == value.shape:
                    value.data.copy_(self.kept["state"][name])
            for part, values in self.kept["plain"]:
                vars(part).update(values)
            built.train(case.get("train", True))
            forcing.force(built, case.get("force", ""))
        return built

    def _restored(self, instance: Any, case: Json, dtype: torch.dtype) -> Any:
        """The object of a captured call, as it was when it was captured."""
        if not isinstance(instance, torch.nn.Module):
            return instance
        if "state" not in self.kept:
            placement.moved(instance).to(dtype)
            self.kept = {
                "built": instance,
                "state": {name: value.clone() for name, value in _state_of(instance).items()},
            }
        for name, value in _state_of(instance).items():
            value.data.copy_(self.kept["state"][name])
        forcing.force(instance, case.get("force", ""))
        return instance

    def _built(self, case: Json, dtype: torch.dtype) -> Any:
        arguments = {name: plain(spec, self.subject.module) for name, spec in case["ctor"].items()}
        self._set(case, "ctor", arguments)
        with placement.here():
            built = self.subject.owner(**arguments)  # type: ignore[misc] # the caller knows that there is one
        if isinstance(built, torch.nn.Module):
            built = placement.moved(built)
            built = built.to(dtype) if dtype is not torch.float32 else built
        return built

    def arguments(self, case: Json, dtype: torch.dtype) -> Json:
        """The arguments of the call."""
        made: dict[str, torch.Tensor] = {}
        arguments = {name: self._argument(spec, case, dtype, (name, made)) for name, spec in case["call"].items()}
        self._set(case, "call", arguments)
        return arguments

    def _set(self, case: Json, part: str, arguments: Json) -> None:
        """Give the settings of configurations the numbers that the case has for them; remember what was made."""
        self.made.update({(part, name): value for name, value in arguments.items()})
        for of, argument, name, number in case.get("settings", ()):
            if of == part and argument in arguments:
                # Not every configuration lets itself be changed; object's own way does for frozen ones.
                object.__setattr__(arguments[argument], name, number)

    def _argument(self, spec: Json, case: Json, dtype: torch.dtype, named: tuple[str, dict[str, torch.Tensor]]) -> Any:
        name, made = named
        inner = {
            label: self._argument(child, case, dtype, (f"{name}.{label}", made)) for label, child in children(spec)
        }
        if spec["kind"] in COMPOSITE:
            return composed(spec, inner)
        if spec["kind"] != "tensor":
            return plain(spec, self.subject.module)
        corner = case.get("corners", {}).get(name, case.get("corner", "normal"))
        # `same` gives every tensor the values of the first of its shape.
        seed = case["seed"] if case.get("same") else case["seed"] + sum(map(ord, name))
        with placement.on_the_cpu():
            value = make_tensor(spec, corner, torch.Generator().manual_seed(seed))
        if spec.get("numpy"):
            return value.numpy()
        value = value.to(placement.chosen())
        if value.dtype in {torch.bool, torch.long}:
            return value
        value = value.to(dtype)
        if spec.get("grad", True) and not self.without_gradient:
            value.requires_grad_()
        return value


def _step_without_gradient(optimizer: torch.optim.Optimizer) -> list[torch.Tensor]:
    """The weights after one step with gradients of 0: what becomes of a row that a batch does not use."""
    weights = [weight for group in optimizer.param_groups for weight in group["params"]]
    for weight in weights:
        weight.grad = torch.zeros_like(weight)
    optimizer.step()
    return [weight.detach() for weight in weights]


def _state_of(built: Any) -> dict[str, torch.Tensor]:
    if not isinstance(built, torch.nn.Module):
        return {}
    named = [*built.named_parameters(), *built.named_buffers()]
    return {
        name: value for name, value in named if not isinstance(value, (UninitializedParameter, UninitializedBuffer))
    }


def _plain_state(built: Any) -> list[tuple[Any, Json]]:
    """The numbers, texts and switches of every submodule: a call may count steps or lower a temperature."""
    kinds = (int, float, str, bool, type(None))
    parts = built.modules() if isinstance(built, torch.nn.Module) else ()
    return [(part, {name: value for name, value in vars(part).items() if isinstance(value, kinds)}) for part in parts]


def _clones(value: Any) -> Any:
    return value.clone() if isinstance(value, torch.Tensor) and value.requires_grad else value
