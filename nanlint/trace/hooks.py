"""Where torch is listened to: the steps of optimizers, backward passes, the making of optimizers, and the calls of a model."""

from __future__ import annotations

from collections import OrderedDict
from typing import TYPE_CHECKING, Any

import torch
from torch.optim.optimizer import register_optimizer_step_post_hook, register_optimizer_step_pre_hook

from nanlint.trace.own_updates import plain

if TYPE_CHECKING:
    from collections.abc import Callable

    from nanlint.trace.session import Session


_HOOKS = ("_forward_pre_hooks", "_forward_pre_hooks_with_kwargs", "_forward_hooks")
"""Where a module keeps those on its calls."""


class Hooks:
    """In force from `install` to `remove`."""

    def __init__(self, session: Session) -> None:
        self._session = session
        self._steps: list[Any] = []
        self._originals = (torch.autograd.backward, torch.autograd.grad, torch.optim.Optimizer.__init__)

    def install(self) -> None:
        """Listen to every optimizer and backward pass of this process."""
        session = self._session
        run_backward, take_gradients, make_optimizer = self._originals

        def backward(tensors: Any, *args: Any, **options: Any) -> None:
            losses = [tensors] if isinstance(tensors, torch.Tensor) else list(tensors)
            is_told = session.before_backward(losses)
            run_backward(losses, *args, **options)
            if is_told:
                session.after_backward(None)

        def grad(outputs: Any, inputs: Any, *args: Any, **options: Any) -> Any:
            is_told = session.before_gradients(outputs, inputs, options)
            results = take_gradients(outputs, inputs, *args, **options)
            if is_told:
                session.after_backward([values for each in results if (values := plain(each)) is not None])
            return results

        def make(optimizer: Any, *args: Any, **options: Any) -> None:
            session.optimizer_made()
            make_optimizer(optimizer, *args, **options)

        torch.autograd.backward, torch.autograd.grad = backward, grad
        torch.optim.Optimizer.__init__ = make  # type: ignore[method-assign, assignment] # every optimizer of torch passes here
        self._steps = [
            register_optimizer_step_pre_hook(session.before_step),
            register_optimizer_step_post_hook(session.after_step),
        ]

    def remove(self) -> None:
        """Leave torch as it was."""
        for hook in self._steps:
            hook.remove()
        backward, grad, make = self._originals
        torch.autograd.backward, torch.autograd.grad = backward, grad
        torch.optim.Optimizer.__init__ = make  # type: ignore[method-assign] # as it was


class _Unsaved(OrderedDict[int, Any]):
    """The hooks of a module, of which copies and saved files get only those that are not ours."""

    def __init__(self) -> None:
        super().__init__()
        self.ours: set[int] = set()

    def __reduce__(self) -> Any:
        return OrderedDict((key, hook) for key, hook in self.items() if key not in self.ours).__reduce__()


def follow_calls(model: torch.nn.Module, before: Callable[..., None], after: Callable[..., None]) -> list[Any]:
    """Handles of two hooks on the calls of `model`: a script that copies or saves the model itself gets neither."""
    # Who has hooked it already holds a handle of the dictionary that is there.
    is_free = not any(vars(model)[name] for name in _HOOKS)
    ours = {name: _Unsaved() for name in _HOOKS if is_free}
    vars(model).update(ours)
    handles = [model.register_forward_pre_hook(before, with_kwargs=True), model.register_forward_hook(after)]
    for hooks in ours.values():
        hooks.ours.update(handle.id for handle in handles)
    return handles


def with_closure(args: tuple[Any, ...], options: dict[str, Any], closure: Callable[[], Any]) -> tuple[Any, Any]:
    """The arguments of a step with another closure."""
    if "closure" in options:
        return args, {**options, "closure": closure}
    return (args[0], closure, *args[2:]), options
