"""What is 0 for some input by its making alone: totals, sizes, differences and products of vectors that nothing keeps from it.

No name and no setting tells that it happens; but nobody asked for it either, and the day on which it does is not announced.
Worth a word at `info`.
"""

from __future__ import annotations

_DEEPEST = 8
