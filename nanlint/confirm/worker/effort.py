"""What a run costs, counted and not timed: the same on every machine, so that a search ends at the same place.

The clock only kills. A search that it ends says so.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from nanlint.confirm.worker.bench import Bench

Json = dict[str, Any]
_PER_OPERATION, _PER_ELEMENT = 20e-6, 5e-9
"""About what an operation and an element of its result take, forward and backward, in seconds of an ordinary core."""
_PER_RUN = 300e-6
_WORTH = 8.0
"""Such seconds that one search may take."""
_FEWEST = 60


def affordable(bench: Bench, case: Json, most: int) -> int:
    """How many evaluations of a case like this one a search may make, at most `most`."""
    tracer = bench.run(case, traced=True).tracer
    events = tracer.events if tracer is not None else []
    elements = sum(made.numel() for event in events for made in event.kept)
    cost = _PER_RUN + _PER_OPERATION * len(events) + _PER_ELEMENT * elements
    return min(most, max(_FEWEST, int(_WORTH / cost)))
