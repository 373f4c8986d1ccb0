"""One traced run: watches steps lightly, and when one is lost, goes back and runs it again under the tracer.

    WATCHING   one fused check per step
    REPLAYING  the bad step once more: random states and batches as before, every operation looked at, nothing applied
    LIVE       every operation looked at; chosen by the user, or after a replay that stayed clean

How the user's loop is left and entered again is in `attempts`; what is found goes to `on_found`, which may not return.
"""

from __future__ import annotations

import enum
import math
import sys
from typing import TYPE_CHECKING, Any

import torch
from torch.optim.optimizer import register_optimizer_step_post_hook, register_optimizer_step_pre_hook

from nanlint.trace import ranks
from nanlint.trace.attempts import Loops, Rewind, Turn
from nanlint.trace.diagnose import gradient_symptom, loss_symptom
from nanlint.trace.diagnosis import ELSEWHERE, Diagnosis, Found
from nanlint.trace.evidence import bad_losses_behind, bad_losses_in, has_nan_behind, is_ours
from nanlint.trace.names import Names, is_compiled, living_modules
from nanlint.trace.optimizers import described, spoiled
from nanlint.trace.places import Place, calling_places
from nanlint.trace.replay import Replay
from nanlint.trace.scaling import HOPELESS_SCALE, Scaling
from nanlint.trace.tracing import Looker, TracedStep
from nanlint.trace.vitals import Reading, Vitals, bad_gradients, bad_parameters, drop_gradients, parameters

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence
    from types import FrameType

    from nanlint.trace.events import Event
    from nanlint.trace.marks import Mark

    Optimizer = torch.optim.Optimizer
    OnFound = Callable[[Diagnosis, Event | None], None]


class Phase(enum.Enum):
    """What the session is doing."""

    WATCHING = "watching"
    REPLAYING = "replaying"
    LIVE = "live"


class Session:
    """Installed for the time of a run."""

    def __init__(self, on_found: OnFound, *, look: Callable[[], Looker] = TracedStep, live: bool = False) -> None:
        self.loops = Loops(self)
        self.activity = 0
        self.tracer: Looker | None = None
        self.vitals = Vitals()
        self.pending: Diagnosis | None = None
        """A failure whose origin is not known yet."""
        self._phase = Phase.WATCHING
        self._starts_live = live
        self._on_found = on_found
        self._look = look
        self._replay = Replay()
        self._scaling = Scaling(self.vitals.note_loss, self._on_skip)
        self._steps: dict[int, int] = {}
        self._optimizers: dict[int, Optimizer] = {}
        self._step_places: tuple[Place, ...] = ()
        self._is_spread = False
        self._is_in_closure = False
        self._is_telling = False
        self._hooks: list[Any] = []
        self._backward = torch.autograd.backward

    # -- coming and going ------------------------------------------------------------------------------------------

    def install(self) -> None:
        """Begin to watch every optimizer, loader and scaler of this process."""
        self._replay.batches.install()
        self._scaling.install()
        self._hooks = [
            register_optimizer_step_pre_hook(self._before_step),
            register_optimizer_step_post_hook(self._after_step),
        ]

        def backward(tensors: Any, *args: Any, **options: Any) -> None:
            if not self._is_telling:
                self._before_backward([tensors] if isinstance(tensors, torch.Tensor) else list(tensors))
            self._backward(tensors, *args, **options)

        torch.autograd.backward = backward
        if self._starts_live:
            self._go_live()

    def remove(self) -> None:
        """Leave no trace; what is pending stays."""
        self._stop_tracing()
        for hook in self._hooks:
            hook.remove()
        torch.autograd.backward = self._backward
        self._replay.batches.remove()
        self._scaling.remove()

    def left_over(self) -> Diagnosis | None:
        """At the end of the run: a failure that was never located, or parameters that the last step spoiled."""
        for optimizer in self._optimizers.values():
            if self.pending is None and bad_parameters(optimizer):
                return self._spoiled(optimizer, self._steps.get(id(optimizer), 0) + 1)
        if self.pending is not None and not self.pending.notes:
            self.pending.notes.append("the run ended before the step could be run again; --mode live looks at once")
        return self.pending

    # -- what torch tells ------------------------------------------------------------------------------------------

    def _before_backward(self, tensors: Sequence[torch.Tensor]) -> None:
        self.activity += 1
        if not self._optimizers:
            self._is_spread = ranks.is_spread()
        for tensor in tensors:
            if not self._scaling.is_scaled(tensor):
                self.vitals.note_loss(tensor)
        if self._is_spread or not self._may_look_now():
            return
        with self._own_work():
            bad = self.vitals.bad_losses()
        if bad and self.tracer is not None:
            self._conclude(bad, loss_symptom(bad), None)
        elif bad and self.loops.turns and not self._is_in_closure:
            self._trip(None, loss_symptom(bad))

    def _may_look_now(self) -> bool:
        """Reading a loss on the CPU waits for nobody; on a device it would wait for all the work before it."""
        return self.tracer is not None or all(loss.device.type == "cpu" for loss in self.vitals.losses[-1:])

    def _before_step(self, optimizer: Optimizer, args: tuple[Any, ...], options: dict[str, Any]) -> Any:
        closure = options.get("closure") or (args[1] if len(args) > 1 and callable(args[1]) else None)
        self._meet(optimizer)
        if self.tracer is not None:
            self.tracer.is_paused = True
        if closure is not None:
            return self._with_watched_closure(optimizer, closure, args, options)
        if getattr(optimizer, "found_inf", False):
            # A fused optimizer is handed scaled gradients and leaves the step out itself.
            self._on_skip(optimizer, self._scaling.scale or HOPELESS_SCALE)
        else:
            self._check(optimizer)
        return None

    def _after_step(self, optimizer: Optimizer, _args: Any, _options: Any) -> None:
        self._steps[id(optimizer)] = self._steps.get(id(optimizer), 0) + 1
        self._close_window(optimizer)
        if self.tracer is not None:
            self.tracer.is_paused = False
            if self._phase is Phase.LIVE:
                self.tracer.forget()

    def _on_skip(self, optimizer: Optimizer, scale: float) -> None:
        """A GradScaler met infinite gradients and leaves the step out."""
        self._meet(optimizer)
        with self._own_work():
            bad = self.vitals.bad_losses()
            reading = self.vitals.read(optimizer, self._step(optimizer), scale)
        self.vitals.history.append(reading)
        if bad or scale < HOPELESS_SCALE:
            self._fail(optimizer, bad)
        self._close_window(optimizer)

    def _close_window(self, optimizer: Optimizer) -> None:
        self.activity += 1
        self.vitals.losses.clear()
        is_unmarked = not self.loops.turns and self._phase is Phase.WATCHING
        self._replay.close_window(id(optimizer), self.activity, mark=is_unmarked)

    def _meet(self, optimizer: Optimizer) -> None:
        if id(optimizer) not in self._optimizers:
            self._optimizers[id(optimizer)] = optimizer
            self._step_places = self._step_places or calling_places()
            self._is_spread = ranks.is_spread()
            self._replay.marks.learn_buffers()

    def _step(self, optimizer: Optimizer | None) -> int:
        """The step that is being made, counted from 1; with several optimizers that of the one that is behind."""
        if optimizer is not None:
            return self._steps.get(id(optimizer), 0) + 1
        return min((self._steps.get(key, 0) for key in self._optimizers), default=0) + 1

    # -- one step --------------------------------------------------------------------------------------------------

    def _check(self, optimizer: Optimizer) -> None:
        reading = self.vitals.read(optimizer, self._step(optimizer), self._scaling.scale)
        is_bad = reading.is_suspicious and self._is_really_bad(optimizer)
        if self._is_spread:
            is_bad = ranks.on_any_rank(is_bad)
        self._remember(reading)
        if is_bad:
            with self._own_work():
                bad = self.vitals.bad_losses()
            self._fail(optimizer, bad)
        elif self._phase is Phase.REPLAYING:
            self._after_clean_replay(optimizer)

    def _remember(self, reading: Reading) -> None:
        history = self.vitals.history
        if history and history[-1].step == reading.step and self._phase is Phase.REPLAYING:
            history.pop()
        history.append(reading)

    def _is_really_bad(self, optimizer: Optimizer) -> bool:
        with self._own_work():
            return bool(self.vitals.bad_losses() or bad_gradients(optimizer))

    def _fail(self, optimizer: Optimizer, bad_losses: Sequence[torch.Tensor]) -> None:
        with self._own_work():
            spoiled_ones = bad_gradients(optimizer)
            symptom = self._symptom(optimizer, bad_losses, spoiled_ones)
        if self.tracer is not None:
            targets = bad_losses or [parameter.grad for parameter in spoiled_ones if parameter.grad is not None]
            self._conclude(targets, symptom, optimizer)
        else:
            self._trip(optimizer, symptom)

    def _symptom(
        self, optimizer: Optimizer, losses: Sequence[torch.Tensor], spoiled_ones: Sequence[torch.Tensor]
    ) -> str:
        if losses:
            return loss_symptom(losses)
        if not spoiled_ones:
            return "loss and gradients are finite on this rank"
        return gradient_symptom(spoiled_ones, Names.gather(), sum(1 for _ in parameters(optimizer)))

    def _after_clean_replay(self, optimizer: Optimizer) -> None:
        if self._replay.is_over():
            self._give_up_replay()
        else:
            drop_gradients(optimizer)

    def _give_up_replay(self) -> None:
        self._note_clean_replay()
        self._go_live()

    def _note_clean_replay(self) -> None:
        if self.pending is None:
            return
        note = "run again under the tracer, the step stayed finite: it depends on something that is not repeated"
        if self._is_compiled():
            note = "run again without torch.compile, the step stayed finite: it happens only in the compiled code"
        self.pending.notes.append(f"{note}; from here on every operation is looked at")

    def _is_compiled(self) -> bool:
        """Whether a module that is being trained went through torch.compile."""
        if "torch._dynamo" not in sys.modules:
            return False
        trained = {id(parameter) for optimizer in self._optimizers.values() for parameter in parameters(optimizer)}
        compiled = (module for module in living_modules() if is_compiled(module))
        return any(id(parameter) in trained for module in compiled for parameter in module.parameters())

    # -- going back ------------------------------------------------------------------------------------------------

    def _trip(self, optimizer: Optimizer | None, symptom: str) -> None:
        """A step is lost and nobody knows why: arrange for it to be run again."""
        lost = [each for each in self._optimizers.values() if bad_parameters(each)]
        if self._agreed(bool(lost)):
            self._tell(self._spoiled(lost[0], self._step(lost[0])) if lost else self._blank(symptom, optimizer))
            return
        self.pending = self._blank(symptom, optimizer)
        turn = self.loops.turns[-1] if self.loops.turns else None
        repeat = self._replay.begin(turn, id(optimizer))
        self._start_over()
        if turn is not None:
            raise Rewind(repeat=repeat)

    def _agreed(self, here: bool) -> bool:  # noqa: FBT001 - as on_any_rank
        return ranks.on_any_rank(here) if self._is_spread else here

    def _start_over(self) -> None:
        """No gradients, no losses, and from here on under the tracer."""
        for each in self._optimizers.values():
            drop_gradients(each)
        self.vitals.losses.clear()
        self._scaling.forget_step()
        self._phase = Phase.REPLAYING
        self._start_tracing()

    def _with_watched_closure(
        self, optimizer: Optimizer, closure: Callable[[], Any], args: tuple[Any, ...], options: dict[str, Any]
    ) -> tuple[tuple[Any, ...], dict[str, Any]]:
        def watched() -> Any:
            return self._run_closure(optimizer, closure)

        if "closure" in options:
            return args, {**options, "closure": watched}
        return (args[0], watched, *args[2:]), options

    def _run_closure(self, optimizer: Optimizer, closure: Callable[[], Any]) -> Any:
        """The closure; if its step is lost, the closure once more under the tracer, which is a replay by itself."""
        mark, activity = self._replay.take_mark(), self.activity
        result = self._evaluate(closure)
        reading = self.vitals.read(optimizer, self._step(optimizer), self._scaling.scale)
        is_bad = self._agreed(reading.is_suspicious and self._is_really_bad(optimizer))
        self._remember(reading)
        if is_bad and self.tracer is None:
            replayed = self._replay_closure(optimizer, closure, mark, did_learn=self.activity > activity)
            result = result if replayed is None else replayed
        elif is_bad:
            self._fail(optimizer, self.vitals.bad_losses())
        elif self._phase is Phase.REPLAYING:
            self._after_clean_replay(optimizer)
        self.vitals.losses.clear()
        return result

    def _replay_closure(self, optimizer: Optimizer, closure: Callable[[], Any], mark: Mark, *, did_learn: bool) -> Any:
        """What the closure returned when it was run again; None if it was not, because it has no part in it."""
        symptom = self._symptom(optimizer, self.vitals.bad_losses(), bad_gradients(optimizer))
        if self._agreed(bool(bad_parameters(optimizer))) or not did_learn:
            self._trip(optimizer, symptom)
            return None
        self.pending = self._blank(symptom, optimizer)
        self._replay.begin_at(mark)
        self._start_over()
        result = self._evaluate(closure)
        if self._agreed(self._is_really_bad(optimizer)):
            self._fail(optimizer, self.vitals.bad_losses())
        else:
            # Gradients that were there before the closure are to blame: those of the batches before.
            self._stop_tracing()
            self._trip(optimizer, symptom)
        return result

    def _evaluate(self, closure: Callable[[], Any]) -> Any:
        self._is_in_closure = True
        if self.tracer is not None:
            self.tracer.is_paused = False
        try:
            return closure()
        finally:
            self._is_in_closure = False
            if self.tracer is not None:
                self.tracer.is_paused = True

    # -- what the loops ask ----------------------------------------------------------------------------------------

    def take_mark(self) -> Mark | None:
        """The present moment, while there is something to watch for."""
        return self._replay.take_mark() if self._phase is Phase.WATCHING else None

    def is_lost(self, turn: Turn, frame: FrameType) -> bool:
        """Whether a turn in which nothing was learned left a bad loss behind; then it is run again."""
        if self.activity == turn.activity and not self._is_spread:
            with self._own_work():
                bad = bad_losses_in(frame)
            if bad and self._gave_up(turn, bad):
                return True
        if self._replay.turn is turn and self._phase is Phase.REPLAYING:
            self._give_up_replay()
        return False

    def is_worth_repeating(self, turn: Turn, error: BaseException) -> bool:
        """Whether an exception leaves the loop because of a bad loss; then the turn is run again."""
        if isinstance(error, (Found, KeyboardInterrupt, GeneratorExit)) or self._is_spread or is_ours(error):
            return False
        with self._own_work():
            bad = bad_losses_behind(error)
        if not bad and not has_nan_behind(error):
            return False
        return self._gave_up(turn, bad)

    def _gave_up(self, turn: Turn, bad: Sequence[torch.Tensor]) -> bool:
        """The script itself turned away from a bad loss: say why, or go back and look."""
        symptom = loss_symptom(bad) if bad else "the loss is NaN"
        if self.tracer is not None:
            if bad:
                self._conclude(bad, symptom, None)
            return False
        lost = [each for each in self._optimizers.values() if bad_parameters(each)]
        if lost:
            self._tell(self._spoiled(lost[0], self._step(lost[0])))
            return False
        self.pending = self._blank(symptom, None)
        if turn.mark is None or self._replay.turn is turn:
            self._go_live()
            return False
        self._replay.begin_turn(turn)
        self._start_over()
        return True

    # -- telling ---------------------------------------------------------------------------------------------------

    def _blank(self, symptom: str, optimizer: Optimizer | None) -> Diagnosis:
        history = tuple(self.vitals.history)
        known = optimizer or next(iter(self._optimizers.values()), None)
        step = self._step(optimizer)
        if symptom.startswith("the loss") and (not history or history[-1].step != step):
            history = (*history, self._reading_of_bad_loss(step))
        return Diagnosis(ELSEWHERE, step, symptom, history=history, optimizer=described(known) if known else "")

    def _reading_of_bad_loss(self, step: int) -> Reading:
        """The step of which only the loss is known."""
        bad = self.vitals.bad_losses()
        last = self.vitals.history[-1] if self.vitals.history else None
        loss = bad[0].sum().item() if bad else math.nan
        return Reading(step, loss, None, last.learning_rate if last else None, self._scaling.scale)

    def _spoiled(self, optimizer: Optimizer, step: int) -> Diagnosis:
        blank = self._blank("", optimizer)
        return spoiled(blank, optimizer, step, self._step_places)

    def _conclude(self, targets: Sequence[torch.Tensor], symptom: str, optimizer: Optimizer | None) -> None:
        assert self.tracer is not None  # noqa: S101 - only a traced step is concluded from
        blank = self._blank(symptom, optimizer)
        if self.pending is not None and self._phase is Phase.REPLAYING:
            # Steps that were made without gradients in between do not count.
            blank.step, blank.history = self.pending.step, self.pending.history
        elif self.pending is not None:
            blank.notes += self.pending.notes
        if self._is_compiled():
            blank.notes.append("the step was run again without torch.compile, which shows the lines")
        with self._own_work():
            found, origin = self.tracer.conclude(targets, blank)
        self._tell(found, origin)

    def _tell(self, found: Diagnosis, origin: Event | None = None) -> None:
        self.pending = None
        self._stop_tracing()
        self._phase = Phase.WATCHING
        self._is_telling = True  # what is run to tell, such as a repro, is none of the script's
        try:
            self._on_found(found, origin)
        finally:
            self._is_telling = False

    # -- the tracer ------------------------------------------------------------------------------------------------

    def _start_tracing(self) -> None:
        if self.tracer is None:
            self.tracer = self._look()
            self.tracer.start()

    def _stop_tracing(self) -> None:
        if self.tracer is not None:
            self.tracer.stop()
            self.tracer = None

    def _go_live(self) -> None:
        self._replay.end()
        self._phase = Phase.LIVE
        self._start_tracing()

    def _own_work(self) -> _Paused:
        return _Paused(self.tracer)


class _Paused:
    """Our own arithmetic is none of the script's."""

    def __init__(self, tracer: Looker | None) -> None:
        self._tracer = tracer
        self._before = False

    def __enter__(self) -> None:
        if self._tracer is not None:
            self._before, self._tracer.is_paused = self._tracer.is_paused, True

    def __exit__(self, *_: object) -> None:
        if self._tracer is not None:
            self._tracer.is_paused = self._before
