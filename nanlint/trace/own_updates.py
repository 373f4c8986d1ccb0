"""Training without an optimizer of torch: `p.data.add_(p.grad, alpha=-lr)`, functional steps, optimizers of one's own.

Nobody tells when such a step is made. It is seen at the next backward pass: the leaves of its graph have other values than
before, or are other tensors. Leaves are held weakly, so no old weights live on.
"""

from __future__ import annotations

import weakref
from typing import TYPE_CHECKING, Any

import torch

from nanlint.trace.came_in import variable_of
from nanlint.trace.diagnose import from_the_start, gradient_symptom, parameter_state, what
from nanlint.trace.diagnosis import OPTIMIZER, PARAMETER, Diagnosis
from nanlint.trace.measure import flaws_of, is_checkable
from nanlint.trace.names import Names

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

COMPARED = 4
"""Leaves whose values are compared; the smallest, as that is cheapest."""


class OwnUpdates:
    """The steps that a script makes by itself, as far as they can be seen."""

    def __init__(self) -> None:
        self.steps = 0
        """Updates that were seen."""
        self._leaves: list[weakref.ref[torch.Tensor]] = []
        self._before: list[tuple[weakref.ref[torch.Tensor], torch.Tensor]] = []

    def meet(self, leaves: Sequence[torch.Tensor]) -> bool:
        """Look at what the next backward pass will reach; whether it was updated since the last one."""
        is_new = bool(self._before) and not any(known() is leaf for known, _ in self._before for leaf in leaves)
        is_changed = any(_differs(known(), values) for known, values in self._before)
        self._leaves = [weakref.ref(leaf) for leaf in leaves]
        compared = sorted(leaves, key=lambda leaf: leaf.numel())[:COMPARED]
        self._before = [(weakref.ref(leaf), _summary(leaf)) for leaf in compared]
        self.steps += is_new or is_changed
        return is_new or is_changed

    @property
    def leaves(self) -> list[torch.Tensor]:
        """Those that are still there."""
        return [leaf for known in self._leaves if (leaf := known()) is not None]

    def gradients(self) -> list[torch.Tensor]:
        """What has come back to them."""
        return [leaf.grad for leaf in self.leaves if leaf.grad is not None]

    def bad_leaves(self) -> list[torch.Tensor]:
        """Those that are not finite themselves."""
        return [leaf for leaf in self.leaves if is_checkable(leaf) and flaws_of(leaf)]

    def symptom(self, bad: Sequence[torch.Tensor], total: int) -> str:
        """Whose gradients are wrong."""
        owners = [leaf for leaf in self.leaves if leaf.grad is not None and flaws_of(leaf.grad)]
        if owners:
            return gradient_symptom(owners, Names.gather(), len(self.leaves))
        return f"{len(bad)} of {total} gradients are {what(flaws_of(bad[0]))}"

    def clear_gradients(self) -> None:
        """Let an update that may follow change nothing; not to None, which the script may not expect."""
        for gradient in self.gradients():
            gradient.zero_()

    def spoiled(self, blank: Diagnosis) -> Diagnosis:
        """`blank` completed for a leaf that is not finite itself: by the update before, or from the start."""
        names, bad = Names.gather(), self.bad_leaves()
        name = names.of_tensor(bad[0]) or variable_of(bad[0]) or f"of shape {tuple(bad[0].shape)}"
        blank.parameters = tuple(parameter_state(names.of_tensor(leaf) or name, leaf) for leaf in bad[:6])
        blank.module = names.of_module(names.owners.get(id(bad[0])))
        blank.symptom = f"{len(bad)} parameters are not finite, first `{name}`"
        flaws = flaws_of(bad[0])
        if blank.step <= 1:
            blank.kind, blank.reason = PARAMETER, from_the_start(name, flaws)
            return blank
        blank.kind, blank.step, blank.operation = OPTIMIZER, blank.step - 1, "the script's own update"
        made = f"the script's own update made {what(flaws)} of `{name}`"
        blank.reason = f"the gradients of step {blank.step} were finite, and {made}"
        return blank


def leaves_behind(tensors: Iterable[torch.Tensor]) -> list[torch.Tensor]:
    """The tensors to which a backward pass from `tensors` brings gradients."""
    waiting: list[Any] = [tensor.grad_fn for tensor in tensors if tensor.grad_fn is not None]
    seen: set[Any] = set(waiting)
    found: list[torch.Tensor] = []
    while waiting:
        node = waiting.pop()
        if hasattr(node, "variable"):
            found.append(node.variable)
        for following, _ in node.next_functions:
            if following is not None and following not in seen:
                seen.add(following)
                waiting.append(following)
    return found


def losses_and_leaves(
    outputs: Any, inputs: Any, options: dict[str, Any]
) -> tuple[list[torch.Tensor], list[torch.Tensor]]:
    """Of a call of `torch.autograd.grad`: the losses and what it asks gradients for; nothing if it is no step of training.

    A gradient of another kind (a penalty, a derivative by the inputs) is asked for with `create_graph`; torch.func does so always.
    """
    given = [outputs] if isinstance(outputs, torch.Tensor) else list(outputs)
    wanted = [inputs] if isinstance(inputs, torch.Tensor) else list(inputs)
    losses = [loss for each in given if (loss := plain(each)) is not None and loss.numel() == 1]
    is_functional = any(each is not plain(each) for each in given)
    leaves = [leaf for each in wanted if (leaf := plain(each)) is not None and (leaf.is_leaf or is_functional)]
    if len(leaves) < len(wanted) or (options.get("create_graph") and not is_functional):
        return [], []
    return losses, leaves


def plain(tensor: Any) -> torch.Tensor | None:
    """The tensor without the wrappers of torch.func; None if it stands for several, as under vmap."""
    functorch = torch._C._functorch  # noqa: SLF001 - it has no public name
    while isinstance(tensor, torch.Tensor) and functorch.is_functorch_wrapped_tensor(tensor):
        if functorch.is_batchedtensor(tensor):
            return None
        tensor = functorch.get_unwrapped(tensor)
    return tensor if isinstance(tensor, torch.Tensor) else None


def _summary(leaf: torch.Tensor) -> torch.Tensor:
    values = leaf.detach()
    return values.clone() if values.numel() <= 4096 else values.flatten()[:: values.numel() // 1024].clone()


def _differs(leaf: torch.Tensor | None, values: torch.Tensor) -> bool:
    return leaf is not None and not torch.equal(_summary(leaf), values)
