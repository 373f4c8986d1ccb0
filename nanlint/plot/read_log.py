"""A log of steps, one JSON object per line, as curves: ours, or anybody's that has a `loss`.

Every number of a line is a point of the curve by that name; objects inside a line give curves named `outer.inner`.
"""

from __future__ import annotations

import json
import math
from typing import TYPE_CHECKING, Any

from nanlint.errors import NanlintError

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

STEP_KEYS = ("step", "global_step", "iteration", "iter")
NOT_FINITE = {"NaN": math.nan, "Infinity": math.inf, "-Infinity": -math.inf}
LONGEST_LINE = 1 << 20
MOST_CURVES = 64

Curve = list[tuple[float, float]]
"""Steps and values, in the order of the log."""


def read_curves(lines: Iterable[str], path: str) -> dict[str, Curve]:
    """Every curve of a log, `loss` among them; NanlintError says which line is none of a log."""
    curves: dict[str, Curve] = {}
    count = 0
    for number, line in enumerate(lines, 1):
        if not line.strip():
            continue
        entry = _entry(line, number, path)
        if "schema" in entry:
            continue
        count += 1
        step = next((float(entry[key]) for key in STEP_KEYS if _is_number(entry.get(key))), float(count))
        for name, value in _numbers(entry):
            if name not in STEP_KEYS and (name in curves or len(curves) < MOST_CURVES):
                curves.setdefault(name, []).append((step, value))
    if "loss" not in curves:
        raise NanlintError(f'{path}: no line has a "loss"; plot reads JSONL with one object per step, such as {{"step": 1, "loss": 0.7}}')  # fmt: skip
    return curves


def _entry(line: str, number: int, path: str) -> dict[str, Any]:
    if len(line) > LONGEST_LINE:
        raise NanlintError(f"{path}:{number}: a line of {len(line):,} characters is none of a log of steps")
    try:
        entry = json.loads(line)
    except (ValueError, RecursionError):
        raise NanlintError(f"{path}:{number}: this line is no JSON; plot reads one object per line") from None
    if not isinstance(entry, dict):
        raise NanlintError(f"{path}:{number}: this line is no JSON object; plot reads one object per line")
    return entry


def _numbers(entry: dict[str, Any]) -> Iterator[tuple[str, float]]:
    for name, value in entry.items():
        if isinstance(value, dict):
            yield from ((f"{name}.{inner}", _value(each)) for inner, each in value.items() if _is_number(each))
        elif _is_number(value):
            yield name, _value(value)


def _is_number(value: object) -> bool:
    return (isinstance(value, (int, float)) and not isinstance(value, bool)) or value in NOT_FINITE


def _value(value: Any) -> float:
    try:
        return NOT_FINITE[value] if isinstance(value, str) else float(value)
    except OverflowError:
        return math.inf
