"""What a linter of this tree cannot avoid, or could not afford: the floors beside which nanlint's own time is read.

Run by benchmarks/speed.py as `python floors.py FOLDER [RULES]` with the interpreter that holds nanlint; prints one JSON object,
floor -> CPU seconds. libcst is tried on a sample and scaled by lines.
"""

from __future__ import annotations

import ast
import gc
import json
import os
import sys
import time
from typing import TYPE_CHECKING, TypeVar

if TYPE_CHECKING:
    from collections.abc import Callable

T = TypeVar("T")

# Every so many files of those that name torch: a few seconds of libcst instead of two minutes.
_SAMPLE = 40


class Floors:
    """Seconds of CPU by what was done."""

    def __init__(self) -> None:
        self.seconds: dict[str, float] = {}

    def time(self, name: str, work: Callable[[], T]) -> T:
        """Do `work` and note what it took."""
        start = time.process_time()
        result = work()
        self.seconds[name] = time.process_time() - start
        return result


def _walk(folder: str) -> list[str]:
    found = []
    for top, _, names in os.walk(folder):
        for name in names:
            if name.endswith(".py"):
                path = f"{top}/{name}"
                os.stat(path)  # noqa: PTH116 - the cheapest way there is
                found.append(path)
    return sorted(found)


def _read(paths: list[str]) -> list[bytes]:
    contents = []
    for path in paths:
        with open(path, "rb") as source:  # noqa: PTH123 - the cheapest way there is
            contents.append(source.read())
    return contents


def _lines(contents: list[bytes]) -> int:
    return sum(data.count(b"\n") for data in contents)


def _parse(contents: list[bytes], parse: Callable[[str], object]) -> None:
    for data in contents:
        parse(data.decode())


def measure(folder: str, rules: str = "") -> dict[str, float]:
    """Each floor in turn, over the Python files of `folder`; `rules` are those whose words are looked for."""
    import libcst  # noqa: PLC0415 - not part of any floor

    from nanlint.engine.check_paths import Checker  # noqa: PLC0415 - same
    from nanlint.settings import Settings  # noqa: PLC0415 - same

    gc.disable()
    floors = Floors()
    paths = floors.time("walk and stat", lambda: _walk(folder))
    contents = floors.time("read", lambda: _read(paths))
    torch = floors.time('`b"torch" in data`', lambda: [data for data in contents if b"torch" in data])
    prefilter = Checker(gated=True).ruleset(Settings(select=tuple(rules.split(",")) if rules else ())).prefilter
    admitted = floors.time(
        f"words of the rules in {len(torch):,} torch files", lambda: [*filter(prefilter.admits, torch)]
    )
    floors.time(f"ast.parse of the {len(admitted):,} files with such words", lambda: _parse(admitted, ast.parse))
    floors.time(f"ast.parse of all {len(torch):,} torch files", lambda: _parse(torch, ast.parse))
    sample = torch[::_SAMPLE]
    scaled = f"libcst.parse_module of all torch files ({len(sample)} tried, scaled by lines)"
    floors.time(scaled, lambda: _parse(sample, libcst.parse_module))
    floors.seconds[scaled] *= _lines(torch) / _lines(sample)
    return floors.seconds


if __name__ == "__main__":
    print(json.dumps(measure(*sys.argv[1:])))
