"""One traced run: watches steps lightly, and when one is lost, goes back and runs it again under the tracer.

    WATCHING   one fused check per step
    REPLAYING  the bad step once more: random states and batches as before, every operation looked at, nothing applied
    LIVE       every operation looked at; chosen by the user, or after a replay that stayed clean

How the user's loop is left and entered again is in `attempts`; what is found goes to `on_found`, which may not return.
"""

from __future__ import annotations

import enum
from dataclasses import replace
from typing import TYPE_CHECKING, Any

from nanlint.trace import ranks
from nanlint.trace.attempts import Loops, Rewind, Turn
from nanlint.trace.batch_rows import tensors_in
from nanlint.trace.came_in import named_tensors
from nanlint.trace.diagnose import loss_symptom
from nanlint.trace.diagnosis import ELSEWHERE, Diagnosis, Found
from nanlint.trace.evidence import (
    bad_losses_behind,
    bad_losses_in,
    bad_tensors_behind,
    first_line,
    has_nan_behind,
    is_ours,
    is_refusal,
)
from nanlint.trace.hooks import Hooks, with_closure
from nanlint.trace.measure import flaws_of, is_checkable
from nanlint.trace.model_calls import ModelCalls
from nanlint.trace.own_updates import leaves_behind, losses_and_leaves
from nanlint.trace.replay import Replay
from nanlint.trace.scaling import HOPELESS_SCALE, Scaling
from nanlint.trace.steps import Steps
from nanlint.trace.tracing import Looker, Paused, TracedStep
from nanlint.trace.vitals import Vitals, bad_gradients, bad_parameters, drop_gradients, parameters

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence
    from types import FrameType

    import torch

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

    def __init__(
        self,
        on_found: OnFound,
        *,
        look: Callable[[], Looker] = TracedStep,
        live: bool = False,
        vitals: Vitals | None = None,
    ) -> None:
        self.loops = Loops(self)
        self.activity = 0
        self.tracer: Looker | None = None
        self.vitals = vitals or Vitals()
        self.pending: Diagnosis | None = None
        """A failure whose origin is not known yet."""
        self._phase = Phase.WATCHING
        self._starts_live = live
        self._on_found = on_found
        self._look = look
        self._replay = Replay()
        self._scaling = Scaling(self.vitals.note_loss, self._on_skip)
        self._steps = Steps(self.vitals)
        self._calls = ModelCalls(self._replay.marks)
        self.batch: dict[str, torch.Tensor] = {}
        """What the bad step was given."""
        self.origin: Event | None = None
        """The event behind what is left over."""
        self._is_spread = False
        self._is_in_closure = False
        self._is_telling = False
        self._hooks = Hooks(self)

    # -- coming and going ------------------------------------------------------------------------------------------

    def install(self) -> None:
        """Begin to watch every optimizer, loader and scaler of this process."""
        self._replay.batches.install()
        self._scaling.install()
        self.vitals.install()
        self._hooks.install()
        if self._starts_live:
            self._go_live()

    def remove(self) -> None:
        """Leave no trace; what is pending stays."""
        self._stop_tracing()
        self._hooks.remove()
        self._calls.remove()
        self.vitals.remove()
        self._replay.batches.remove()
        self._scaling.remove()

    def left_over(self) -> Diagnosis | None:
        """At the end of the run: a failure that was never located, or parameters that the last step spoiled."""
        if self.pending is None:
            blank = self._blank("", None)
            # An update of the script's own is counted at the next backward pass, which did not come.
            blank.step += not self._steps.has_optimizer
            return self._steps.spoiled(blank)
        if not self.pending.notes:
            self.pending.notes.append("the run ended before the step could be run again; --mode live looks at once")
        return self.pending

    # -- what torch tells ------------------------------------------------------------------------------------------

    def optimizer_made(self) -> None:
        """The script has one, which will tell of its steps."""
        self._steps.has_optimizer = True

    def before_backward(self, tensors: Sequence[torch.Tensor]) -> bool:
        """Look at the losses; whether the step will be one that no optimizer tells of."""
        if self._is_telling or self._calls.is_paused:
            return False
        self.activity += 1
        if not self._steps.optimizers:
            self._is_spread = ranks.is_spread()
        is_own = not self._steps.has_optimizer and not any(self._scaling.is_scaled(tensor) for tensor in tensors)
        if is_own:
            self._meet_leaves(leaves_behind(tensors))
        for tensor in tensors:
            if not self._scaling.is_scaled(tensor):
                self.vitals.note_loss(tensor)
        if not self._is_spread and self._may_look_now():
            self._look_at_losses()
        return is_own and not self._is_spread

    def _look_at_losses(self) -> None:
        with self._own_work():
            bad = self.vitals.bad_losses()
        if bad and self.tracer is not None:
            self._conclude(bad, loss_symptom(bad), None)
        elif bad and self.loops.turns and not self._is_in_closure:
            self._trip(None, loss_symptom(bad))

    def before_gradients(self, outputs: Any, inputs: Any, options: dict[str, Any]) -> bool:
        """Whether gradients that are returned look like a step of the script's own; then look at the losses."""
        if self._steps.has_optimizer or self._is_telling or self._is_spread or self._calls.is_paused:
            return False
        losses, leaves = losses_and_leaves(outputs, inputs, options)
        if not losses:
            return False
        self.activity += 1
        self._meet_leaves(leaves)
        for loss in losses:
            self.vitals.note_loss(loss)
        self._look_at_losses()
        return True

    def _meet_leaves(self, leaves: Sequence[torch.Tensor]) -> None:
        is_first = self._steps.own.steps == 0
        with self._own_work():
            is_updated = self._steps.own.meet(leaves)
        if is_updated:
            self._replay.close_window(0, self.activity, self._turn, mark=self._turn is None)
        if is_updated and is_first:
            self._calls.follow(leaves)

    def after_backward(self, gradients: list[torch.Tensor] | None) -> None:
        """The script will apply these gradients itself: nobody will ask us before it does."""
        with self._own_work():
            made = self._steps.own.gradients() if gradients is None else gradients
            reading = self.vitals.read_gradients(made, self._steps.present(None), None, None)
            suspects = made if reading.is_suspicious else []
            bad = [gradient for gradient in suspects if is_checkable(gradient) and flaws_of(gradient)]
            symptom = self._steps.own.symptom(bad, len(made)) if bad else ""
        self._steps.remember(reading, again=self._phase is Phase.REPLAYING)
        self.vitals.losses.clear()
        if bad and self.tracer is not None:
            self._conclude(bad, symptom, None)
        elif bad:
            self._trip(None, symptom)

    def _may_look_now(self) -> bool:
        """Reading a loss on the CPU waits for nobody; on a device it would wait for all the work before it."""
        return self.tracer is not None or all(loss.device.type == "cpu" for loss in self.vitals.losses[-1:])

    def before_step(self, optimizer: Optimizer, args: tuple[Any, ...], options: dict[str, Any]) -> Any:
        """Check the step before it is made."""
        closure = options.get("closure") or (args[1] if len(args) > 1 and callable(args[1]) else None)
        self._meet(optimizer)
        if self.tracer is not None:
            self.tracer.is_paused = True
        if closure is not None:
            return with_closure(args, options, lambda: self._run_closure(optimizer, closure))
        if getattr(optimizer, "found_inf", False):
            # A fused optimizer is handed scaled gradients and leaves the step out itself.
            self._on_skip(optimizer, self._scaling.scale or HOPELESS_SCALE)
        else:
            self._check(optimizer)
        return None

    def after_step(self, optimizer: Optimizer, args: Any, options: Any) -> None:
        """A step was made."""
        del args, options
        self.vitals.after_step(self._steps.present(optimizer))
        self._steps.count(optimizer)
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
            reading = self.vitals.read(optimizer, self._steps.present(optimizer), scale)
        self.vitals.remember(replace(reading, skipped=True))
        if bad or scale < HOPELESS_SCALE:
            self._fail(optimizer, bad)
        self._close_window(optimizer)

    @property
    def _turn(self) -> Turn | None:
        return self.loops.turns[-1] if self.loops.turns else None

    def _close_window(self, optimizer: Optimizer) -> None:
        self.activity += 1
        self.vitals.losses.clear()
        is_unmarked = not self.loops.turns and self._phase is Phase.WATCHING
        self._replay.close_window(id(optimizer), self.activity, self._turn, mark=is_unmarked)

    def _meet(self, optimizer: Optimizer) -> None:
        if self._steps.meet(optimizer):
            self._is_spread = ranks.is_spread()
            self._replay.marks.learn()
            self._calls.follow(parameters(optimizer))

    # -- one step --------------------------------------------------------------------------------------------------

    def _check(self, optimizer: Optimizer) -> None:
        reading = self.vitals.read(optimizer, self._steps.present(optimizer), self._scaling.scale)
        is_bad = reading.is_suspicious and self._is_really_bad(optimizer)
        if self._is_spread:
            is_bad = ranks.on_any_rank(is_bad)
        self._steps.remember(reading, again=self._phase is Phase.REPLAYING)
        if is_bad:
            with self._own_work():
                bad = self.vitals.bad_losses()
            self._fail(optimizer, bad)
        elif self._phase is Phase.REPLAYING:
            self._after_clean_replay(optimizer)

    def _is_really_bad(self, optimizer: Optimizer) -> bool:
        with self._own_work():
            return bool(self.vitals.bad_losses() or bad_gradients(optimizer))

    def _fail(self, optimizer: Optimizer, bad_losses: Sequence[torch.Tensor]) -> None:
        with self._own_work():
            spoiled_ones = bad_gradients(optimizer)
            symptom = self._steps.symptom(optimizer, bad_losses, spoiled_ones)
        if self.tracer is not None:
            targets = bad_losses or [parameter.grad for parameter in spoiled_ones if parameter.grad is not None]
            self._conclude(targets, symptom, optimizer)
        else:
            self._trip(optimizer, symptom)

    def _after_clean_replay(self, optimizer: Optimizer) -> None:
        if self._replay.is_over():
            self._give_up_replay()
        else:
            drop_gradients(optimizer)

    def _give_up_replay(self) -> None:
        if self.pending is not None:
            self.pending.notes.append(self._steps.note_of_clean_replay())
        self._locate_by_model()
        self._go_live()

    def _locate_by_model(self) -> None:
        """Tell if the origin is in a model, which can be called again although the step around it cannot be repeated."""
        if self.pending is None or self._is_spread:
            return
        self._stop_tracing()
        found, origin = self._calls.locate(self.pending)
        if found.kind != ELSEWHERE:
            self._tell(found, origin)

    # -- going back ------------------------------------------------------------------------------------------------

    def _trip(self, optimizer: Optimizer | None, symptom: str) -> None:
        """A step is lost and nobody knows why: arrange for it to be run again."""
        blank = self._blank(symptom, optimizer)
        lost = self._steps.spoiled(replace(blank))
        if self._agreed(lost is not None):
            self._tell(lost or blank)
            return
        self.pending = blank
        self._calls.keep()
        turn = self._turn
        if turn is None:
            self._locate_by_model()
        repeat = self._replay.begin(turn, id(optimizer))
        self._start_over()
        if turn is not None:
            raise Rewind(repeat=repeat)

    def _agreed(self, here: bool) -> bool:  # noqa: FBT001 - as on_any_rank
        return ranks.on_any_rank(here) if self._is_spread else here

    def _start_over(self) -> None:
        """No gradients, no losses, and from here on under the tracer."""
        for each in self._steps.optimizers.values():
            drop_gradients(each)
        self._steps.own.clear_gradients()
        self.vitals.losses.clear()
        self._scaling.forget_step()
        self._phase = Phase.REPLAYING
        self._start_tracing()

    def _run_closure(self, optimizer: Optimizer, closure: Callable[[], Any]) -> Any:
        """The closure; if its step is lost, the closure once more under the tracer, which is a replay by itself."""
        mark, activity = self._replay.take_mark(), self.activity
        result = self._evaluate(closure)
        reading = self.vitals.read(optimizer, self._steps.present(optimizer), self._scaling.scale)
        is_bad = self._agreed(reading.is_suspicious and self._is_really_bad(optimizer))
        # Of the closures of a step the last counts: a search along a line tries far worse ones.
        self._steps.remember(reading, again=True)
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
        symptom = self._steps.symptom(optimizer, self.vitals.bad_losses(), bad_gradients(optimizer))
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
            is_refused = not bad and is_refusal(error)
            held = bad_tensors_behind(error) if is_refused and self.tracer is not None else []
        if not bad and not is_refused and not has_nan_behind(error):
            return False
        return self._gave_up(turn, bad or held, refusal=first_line(error) if is_refused else "")

    def explain(self, error: BaseException) -> None:
        """The script is about to end by `error`, which no loop could repeat: find out whether it was given NaN."""
        if isinstance(error, (Found, KeyboardInterrupt)) or self._is_spread or self.pending is not None:
            return
        if bad_losses_behind(error) or is_refusal(error):
            self._stop_tracing()
            self.pending = self._blank(first_line(error), None)
            self._calls.keep()
            self.pending, self.origin = self._calls.locate(self.pending)

    def _gave_up(self, turn: Turn, bad: Sequence[torch.Tensor], refusal: str = "") -> bool:
        """The script or torch itself turned away from bad values: say why, or go back and look."""
        symptom = refusal or (loss_symptom(bad) if bad else "the loss is NaN")
        if self.tracer is not None:
            if bad or refusal:
                self._conclude(bad, symptom, None)
            return False
        self.pending = self._blank(symptom, None)
        lost = self._steps.spoiled(replace(self.pending))
        if lost is not None:
            self._tell(lost)
            return False
        self._calls.keep()
        if turn.mark is None or self._replay.turn is turn:
            self._go_live()
            return False
        self._replay.begin_turn(turn)
        self._start_over()
        return True

    # -- telling ---------------------------------------------------------------------------------------------------

    def _blank(self, symptom: str, optimizer: Optimizer | None) -> Diagnosis:
        return self._steps.blank(symptom, optimizer, self._scaling)

    def _conclude(self, targets: Sequence[torch.Tensor], symptom: str, optimizer: Optimizer | None) -> None:
        assert self.tracer is not None  # noqa: S101 - only a traced step is concluded from
        blank = self._blank(symptom, optimizer)
        if self.pending is not None and self._phase is Phase.REPLAYING:
            # Steps that were made without gradients in between do not count.
            blank.step, blank.history = self.pending.step, self.pending.history
        elif self.pending is not None:
            blank.notes += self.pending.notes
        if self._steps.is_compiled():
            blank.notes.append("the step was run again without torch.compile, which shows the lines")
        with self._own_work():
            taken, loaded = self._taken(), [("", batch) for batch in self._replay.batches.recent()]
            self.batch = tensors_in(taken) or tensors_in(loaded[:1]) or tensors_in(self._calls.last_arguments())
            found, origin = self.tracer.conclude(targets, blank, named_tensors([*taken, *loaded]))
        self._tell(found, origin)

    def _taken(self) -> list[tuple[str, Any]]:
        """What the turn was given: by the loop, and by `next`."""
        turn = self._turn
        return [*turn.batch.items(), *(("", value) for _, value in turn.drawn)] if turn is not None else []

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

    def _own_work(self) -> Paused:
        return Paused(self.tracer)
