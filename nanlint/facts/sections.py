"""A chunk of very many operations, looked at in parts: what is asked of one operation is asked of those around it.

Many questions look through all operations of a chunk. That is quick in code written by hand; in generated code of thousands of
lines it would take hours. Values were worked out for the chunk as a whole; in a part of it, what stands far away is unknown.
"""

from __future__ import annotations

from copy import copy
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    import libcst as cst

    from nanlint.facts.flow import Flow

# The longest functions written by hand that we know have 1,200 expressions, scripts 3,000.
WHOLE, SECTION = 4000, 2000
_MARGIN = (WHOLE - SECTION) // 2


class Sections:
    """The parts of one chunk; the last one that was asked for is kept."""

    def __init__(self, flow: Flow) -> None:
        self._flow = flow
        self._nodes = list(flow.values)
        is_long = len(self._nodes) > WHOLE
        self._places = {node: place for place, node in enumerate(self._nodes)} if is_long else {}
        self._number = -1
        self._section = flow

    @property
    def is_long(self) -> bool:
        """Whether the chunk is looked at in parts."""
        return bool(self._places)

    def is_inside(self, node: cst.CSTNode) -> bool:
        """Whether `node` is in the part at hand itself, and not only near it."""
        return not self._places or self._places.get(node, 0) // SECTION == self._number

    def around(self, node: cst.CSTNode) -> Flow:
        """The chunk as far as it is near `node`; all of it if it is not long."""
        if not self._places:
            return self._flow
        number = self._places.get(node, 0) // SECTION
        if number != self._number:
            self._number, self._section = number, self._cut(number * SECTION)
        return self._section

    def _cut(self, start: int) -> Flow:
        flow, section = self._flow, copy(self._flow)
        near = self._nodes[max(0, start - _MARGIN) : start + SECTION + _MARGIN]
        section.values = {node: flow.values[node] for node in near}
        section.calls = {node: flow.calls[node] for node in near if node in flow.calls}
        section.targets = {node for node in near if node in flow.targets}
        section.targets_sorted = 0
        section.comparisons = [test for test in flow.comparisons if test in section.values]
        for name in ("reads", "names_read"):
            section.__dict__.pop(name, None)
        return section
