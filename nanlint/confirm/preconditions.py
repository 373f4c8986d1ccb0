"""Whether a witness breaks what the documentation of the function asks for: a failure then is no surprise, and is told so.

Sentences of docstrings that name an argument and a demand (`must be positive`, `non-empty`, `probabilities`), compared
with the values that the argument has in the witness. Only what values can show is looked at.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping

    from nanlint.confirm.composites import Spec

_DEMANDING = re.compile(
    r"\b(must|should|has to|have to|need(s)? to|expect(s|ed)?|assum(es|ed)|require(s|d)?|in the range|:math:)\b"
)
_LONGEST = 160


def _numbers(spec: Spec) -> list[float]:
    if spec["kind"] == "value":
        return [float(spec["value"])] if isinstance(spec["value"], (int, float)) else []
    return [float(one) for one in spec.get("values", [])]


_BROKEN: tuple[tuple[str, Callable[[list[float]], bool]], ...] = (
    (r"\bnon-?empty\b|\bat least one\b|\bnot be empty\b", lambda values: not any(values)),
    (r"\bnon-?zero\b|\bdifferent from (zero|0)\b|\bnot be (zero|0)\b", lambda values: 0.0 in values),
    (r"\bnon-?negative\b|(>=|≥|\\geq?) ?0\b", lambda values: any(value < 0 for value in values)),
    (
        r"\bpositive\b|\b(greater|larger) than (zero|0)\b|> ?0\b",
        lambda values: any(value <= 0 for value in values),
    ),
    (
        r"(?<!log)(?<!log[- ])\bprobabilit(y|ies)\b|\bbetween (zero|0)(\.0)? and (one|1)\b|\[0(\.0*)?, ?1(\.0*)?\]",
        lambda values: any(not 0 <= value <= 1 for value in values),
    ),
)
"""What a sentence may demand, and when values do not meet it; the special ones first."""


def broken_by(documented: str, arguments: Mapping[str, Any]) -> str:
    """The sentence that the arguments break; empty if there is none."""
    for sentence in _sentences(documented):
        for name, spec in arguments.items():
            if not re.search(rf"\b{re.escape(name.rpartition('.')[2])}\b", sentence):
                continue
            values = _numbers(spec)
            if values and _is_broken(re.sub(rf"\b{re.escape(name)}\b", "it", sentence), values):
                return sentence if len(sentence) <= _LONGEST else f"{sentence[:_LONGEST]}…"
    return ""


def _is_broken(sentence: str, values: list[float]) -> bool:
    demand = next((is_broken for pattern, is_broken in _BROKEN if re.search(pattern, sentence, re.IGNORECASE)), None)
    return demand is not None and demand(values)


def _sentences(documented: str) -> Iterator[str]:
    """The entries on single arguments, and sentences that demand something."""
    for paragraph in re.split(r"\n\s*\n|\n(?=\s*(?::param )?\*{0,2}\w+\*{0,2}(?: ?\([^)]*\))?:)", documented):
        text = " ".join(paragraph.split())
        is_entry = re.match(r"(:param )?\*{0,2}\w+\*{0,2} ?(\([^)]*\))?:", text)
        for sentence in re.split(r"(?<=[.;])\s+(?=[A-Z])", text):
            if is_entry or _DEMANDING.search(sentence):
                yield sentence
