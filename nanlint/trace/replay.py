"""Where to go back to after a bad step, and how long to wait for it to happen again.

A loop of the script can run its turn again; a loop inside a library cannot, but its loader hands out the same batches
once more, and with the gradients dropped its next steps are the bad one again.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from nanlint.trace.batches import Batches
from nanlint.trace.marks import Mark, Marks

if TYPE_CHECKING:
    from nanlint.trace.attempts import Turn

SPARE_STEPS = 2
"""Beyond the batches that were queued: what a loader has fetched ahead."""
EARLIER_BATCHES = 8


class Replay:
    """The marks of the run and the state of a replay."""

    def __init__(self) -> None:
        self.marks, self.batches = Marks(), Batches()
        self.turn: Turn | None = None
        """The turn that is being run again."""
        self._left = 0
        self._step_marks: dict[int, Mark] = {}
        self._window: tuple[int, int, Mark | None] = (0, 0, None)
        """Since the last step: batches handed out before, activity before, and the first mark after it."""

    def take_mark(self) -> Mark:
        """The present moment."""
        mark = self.marks.take(self.batches.position)
        position, activity, first = self._window
        self._window = (position, activity, first or mark)
        return mark

    def close_window(self, optimizer: int, activity: int, turn: Turn | None, *, mark: bool) -> None:
        """A step was made or left out; with `mark`, no loop will take one before the next step."""
        self._window = (self.batches.position, activity, None)
        if turn is not None:
            self.batches.forget_before(turn.mark.position if turn.mark else self.batches.position, spare=0)
        else:
            self.batches.forget_before(self.batches.position, spare=EARLIER_BATCHES)
        if mark:
            self._step_marks[optimizer] = self.marks.take(self.batches.position)

    def begin(self, turn: Turn | None, optimizer: int) -> bool:
        """Go back as far as is known; whether the turn is to be run again, or the loop to go on."""
        position, activity, first = self._window
        is_wide = turn is not None and turn.activity > activity and len(self.batches.since(position)) > 1
        if turn is not None and not is_wide:
            self.begin_turn(turn)
            return True
        mark = first if is_wide else self._step_marks.get(optimizer)
        self._left = self.batches.hand_out_again(position, extra=EARLIER_BATCHES) + SPARE_STEPS
        self.turn = None
        if mark is not None:
            self.marks.return_to(mark)
        return False

    def begin_turn(self, turn: Turn) -> None:
        """Go back to the start of this turn."""
        self.turn = turn
        if turn.mark is not None:
            self.begin_at(turn.mark)

    def begin_at(self, mark: Mark) -> None:
        """Go back to `mark`."""
        self.batches.hand_out_again(mark.position)
        self.marks.return_to(mark)

    def is_over(self) -> bool:
        """Whether another clean step was one too many; while a turn is run again, its end decides."""
        self._left -= self.turn is None
        return self.turn is None and self._left <= 0

    def end(self) -> None:
        """Hand out new batches from now on."""
        self.turn = None
        self.batches.stop_repeating()
