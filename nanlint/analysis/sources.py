"""What the name of something from outside suggests about it. A name proves nothing: it may add a finding at the lowest level."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from nanlint.analysis.op_graph import ATTRIBUTE, PARAMETER, made_from
from nanlint.analysis.relations import root
from nanlint.source.telling_names import NUMBERED, NUMBERING, SEEN

if TYPE_CHECKING:
    from nanlint.analysis.op_graph import Value


def suggests_count(value: Value) -> bool:
    """`num_boxes`, `n_pos`: how many there are of something that a batch may lack, counted elsewhere."""
    op = made_from(root(value))
    if op is None or op.function not in {PARAMETER, ATTRIBUTE}:
        return False
    words = set(re.findall(r"[a-z]+", op.where.rpartition(".")[2].lower()))
    return not words.isdisjoint(NUMBERING) and not words.isdisjoint(NUMBERED | SEEN) and "classes" not in words
