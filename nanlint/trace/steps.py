"""The steps of a run: who makes them, how many there were, what was read at each, and a diagnosis begun from that."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

from nanlint.trace.diagnose import gradient_symptom, loss_symptom
from nanlint.trace.diagnosis import ELSEWHERE, Diagnosis
from nanlint.trace.explosion import growth
from nanlint.trace.names import Names, is_compiled_among
from nanlint.trace.optimizers import described, spoiled
from nanlint.trace.own_updates import OwnUpdates
from nanlint.trace.places import Place, calling_places
from nanlint.trace.readings import Reading
from nanlint.trace.vitals import Vitals, bad_parameters, parameters

if TYPE_CHECKING:
    from collections.abc import Sequence

    import torch

    from nanlint.trace.scaling import Scaling

    Optimizer = torch.optim.Optimizer


class Steps:
    """What is known of the steps so far."""

    def __init__(self, vitals: Vitals) -> None:
        self.optimizers: dict[int, Optimizer] = {}
        self.has_optimizer = False
        """Whether the script has made one, which then tells of its steps."""
        self.own = OwnUpdates()
        self._vitals = vitals
        self._counts: dict[int, int] = {}
        self._places: tuple[Place, ...] = ()

    def meet(self, optimizer: Optimizer) -> bool:
        """Whether this is its first step."""
        if id(optimizer) in self.optimizers:
            return False
        self.optimizers[id(optimizer)] = optimizer
        self.has_optimizer = True
        self._places = self._places or calling_places()
        return True

    def count(self, optimizer: Optimizer) -> None:
        """It has made one."""
        self._counts[id(optimizer)] = self._counts.get(id(optimizer), 0) + 1

    def present(self, optimizer: Optimizer | None) -> int:
        """The step that is being made, counted from 1; with several optimizers that of the one that is behind."""
        if optimizer is not None:
            return self._counts.get(id(optimizer), 0) + 1
        if not self.optimizers:
            return self.own.steps + 1
        return min(self._counts.get(key, 0) for key in self.optimizers) + 1

    def remember(self, reading: Reading, *, again: bool) -> None:
        """Put it into the history; with `again` in the place of the same step's."""
        self._vitals.remember(reading, again=again or not self.optimizers)

    def symptom(self, optimizer: Optimizer, losses: Sequence[torch.Tensor], bad: Sequence[torch.Tensor]) -> str:
        """What is wrong with a step: its loss, or the gradients of the parameters in `bad`."""
        if losses:
            return loss_symptom(losses)
        if not bad:
            return "loss and gradients are finite on this rank"
        return gradient_symptom(bad, Names.gather(), sum(1 for _ in parameters(optimizer)))

    def blank(self, symptom: str, optimizer: Optimizer | None, scaling: Scaling) -> Diagnosis:
        """A diagnosis without an origin, of the step that is being made."""
        history, step = tuple(self._vitals.history), self.present(optimizer)
        known = optimizer or next(iter(self.optimizers.values()), None)
        if symptom.startswith("the loss") and (not history or history[-1].step != step):
            history = (*history, self._reading_of_bad_loss(step, scaling.scale))
        made_by = described(known) if known else ""
        return Diagnosis(ELSEWHERE, step, symptom, history=history, optimizer=made_by, explosion=growth(history))

    def _reading_of_bad_loss(self, step: int, scale: float | None) -> Reading:
        """The step of which only the loss is known."""
        bad = self._vitals.bad_losses()
        last = self._vitals.history[-1] if self._vitals.history else None
        loss = bad[0].sum().item() if bad else math.nan
        return Reading(step, loss, None, last.learning_rate if last else None, scale)

    def spoiled(self, blank: Diagnosis) -> Diagnosis | None:
        """`blank` completed if what is trained is not finite itself."""
        lost = next((each for each in self.optimizers.values() if bad_parameters(each)), None)
        if lost is not None:
            return spoiled(blank, lost, self.present(lost), self._places)
        return self.own.spoiled(blank) if not self.has_optimizer and self.own.bad_leaves() else None

    def is_compiled(self) -> bool:
        """Whether a module that is being trained went through torch.compile."""
        return is_compiled_among(parameter for each in self.optimizers.values() for parameter in parameters(each))

    def note_of_clean_replay(self) -> str:
        """What to say of a bad step that was run again and stayed finite."""
        note = "run again under the tracer, the step stayed finite: it depends on something that is not repeated"
        if self.is_compiled():
            note = "run again without torch.compile, the step stayed finite: it happens only in the compiled code"
        return f"{note}; from here on every operation is looked at, and the next occurrence is told"
