"""The batches that DataLoaders hand out: remembered for a while, and handed out again for a replay."""

from __future__ import annotations

from collections import deque
from typing import Any

from torch.utils.data.dataloader import _BaseDataLoaderIter

from nanlint.trace.measure import bytes_of

REMEMBERED = 64
"""A window of accumulated gradients is rarely longer; older batches are let go."""
SPARE_BYTES = 1 << 24
"""Of batches from before the window; the last two are spared whatever their size."""


class Batches:
    """Counts and remembers what is handed out; `install` puts it between loaders and loop."""

    def __init__(self) -> None:
        self.position = 0
        self._recent: deque[tuple[int, Any]] = deque(maxlen=REMEMBERED)
        self._waiting: deque[tuple[int, Any]] = deque()
        self._original: Any = None

    def install(self) -> None:
        """Every DataLoader of this process, from now on."""
        self._original = _BaseDataLoaderIter.__next__

        def hand_out(iterator: Any) -> Any:
            return self._next(iterator)

        _BaseDataLoaderIter.__next__ = hand_out  # type: ignore[method-assign, assignment] # the one place all loaders pass

    def remove(self) -> None:
        """Leave the loaders alone again."""
        _BaseDataLoaderIter.__next__ = self._original  # type: ignore[method-assign] # as it was

    def _next(self, iterator: Any) -> Any:
        # A loader over another dataset, say of the validation, gets nothing that is not its own.
        owner = id(iterator._dataset)  # noqa: SLF001 - the iterator has no public attributes
        for index, (waiting_for, batch) in enumerate(self._waiting):
            if waiting_for == owner:
                del self._waiting[index]
                return batch
        batch = self._original(iterator)
        self.position += 1
        self._recent.append((owner, batch))
        return batch

    def forget_before(self, position: int, *, spare: int) -> None:
        """Let go of what was handed out before `position`, but for the last `spare` of it while they are small."""
        window = min(max(self.position - position, 0), len(self._recent))
        kept = list(self._recent)
        earlier, current = kept[: len(kept) - window], kept[len(kept) - window :]
        spared: list[tuple[int, Any]] = []
        size = 0
        for entry in reversed(earlier[-spare:] if spare else []):
            size += bytes_of(entry[1])
            if len(spared) >= 2 and size > SPARE_BYTES:
                break
            spared.insert(0, entry)
        self._recent = deque([*spared, *current], maxlen=REMEMBERED)

    def since(self, position: int) -> list[Any]:
        """What was handed out after `position`, as far as it is remembered."""
        wanted = min(self.position - position, len(self._recent))
        return [batch for _, batch in list(self._recent)[len(self._recent) - wanted :]]

    def recent(self) -> list[Any]:
        """What is remembered, the latest first."""
        return [batch for _, batch in reversed(self._recent)]

    def hand_out_again(self, position: int, *, extra: int = 0) -> int:
        """Queue what came after `position`, and behind it up to `extra` from before, the latest first; how many these are.

        Those from before are for loaders that fetch ahead: there the bad batch was handed out one window early.
        """
        recent = list(self._recent)
        window = min(self.position - position, len(recent))
        current, earlier = recent[len(recent) - window :], recent[: len(recent) - window]
        self._waiting = deque([*current, *reversed(earlier[-extra:] if extra else [])])
        return len(self._waiting)

    def stop_repeating(self) -> None:
        """Forget what is queued."""
        self._waiting.clear()
