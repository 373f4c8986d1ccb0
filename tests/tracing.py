"""Runs `nanlint trace` in this process, and reads what it found."""

from __future__ import annotations

import gc
import io
import json
import re
from contextlib import redirect_stderr, redirect_stdout
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

from nanlint.cli.main import main

if TYPE_CHECKING:
    from nanlint.trace import Diagnosis

SCRIPTS = Path(__file__).parent / "data" / "trace"


class Traced(NamedTuple):
    """How a traced run ended."""

    code: int
    out: str
    err: str
    found: Diagnosis | None


def trace(folder: Path, *words: str) -> Traced:
    """`nanlint trace`, with its files in `folder`."""
    from nanlint.trace import Diagnosis  # noqa: PLC0415 - it imports torch

    # The tracer asks the collector for modules; what is there before the script is none of its business, and much.
    gc.collect()
    gc.freeze()
    report = folder / "report.json"
    out, err = io.StringIO(), io.StringIO()
    with redirect_stdout(out), redirect_stderr(err):
        code = main(["trace", "--folder", str(folder), "--report", str(report), *words])
    found = Diagnosis.from_json(json.loads(report.read_text("utf-8"))) if report.exists() else None
    return Traced(code, out.getvalue(), err.getvalue(), found)


def origin_in(script: Path) -> tuple[int, str]:
    """The line that the script marks as the origin, and the operation."""
    for number, line in enumerate(script.read_text("utf-8").splitlines(), 1):
        mark = re.search(r"# origin: (.*)", line)
        if mark:
            return number, mark[1]
    raise AssertionError(f"{script} marks no origin")


def told_origin(found: Diagnosis | None) -> tuple[int, str]:
    """The same as it was found."""
    assert found is not None
    assert found.place is not None
    return found.place.line, f"{found.operation}{' backward' if found.is_backward else ''}"


def write(folder: Path, name: str, text: str) -> Path:
    """A script in `folder`."""
    path = folder / name
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text, encoding="utf-8")
    return path
