"""What a child says, in two lines of JSON: its walls, before any code of the user has run, and its answer.

The answer may have been written by the user's code, so it is not believed to be one.
"""

from __future__ import annotations

import json
from typing import Any

Json = dict[str, Any]

LONGEST = 16 << 20
"""Bytes; the largest witness is far smaller."""
TOO_LONG = f"it was stopped: it wrote more than {LONGEST >> 20} MB where its answer goes"


def is_complete(said: bytes | bytearray) -> bool:
    """Whether both lines have come."""
    return said.count(b"\n") > 1


def walls_in(said: bytes | bytearray) -> list[str]:
    """The walls that stood around the child; none if it did not come so far."""
    return list(read(bytes(said).partition(b"\n")[0]).get("walls", ()))


def answer_in(said: bytes | bytearray) -> Json:
    """The answer and the walls; `died` tells what is wrong with an answer that is none."""
    return {**read(bytes(said).split(b"\n", 2)[1]), "walls": walls_in(said)}


def read(line: bytes) -> Json:
    """An object of JSON; `died` tells why it is none."""
    try:
        answer = json.loads(line)
    except (ValueError, RecursionError) as error:
        return {"died": f"what it wrote where its answer goes is not JSON: {error}"}
    return answer if isinstance(answer, dict) else {"died": "what it wrote where its answer goes is no answer"}
