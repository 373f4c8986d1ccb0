"""The reports that every format is tested on, and how a test gets at the text of one."""

from __future__ import annotations

import io
from typing import TYPE_CHECKING

from nanlint.model import (
    Applicability,
    Direction,
    Edit,
    FileError,
    Finding,
    Fix,
    Hazard,
    Label,
    Report,
    RuleInfo,
    Severity,
    Span,
    Summary,
)
from nanlint.report import render

if TYPE_CHECKING:
    from collections.abc import Sequence

SOURCES = {
    "src/train.py": """\
import torch


def cross_entropy(logits: torch.Tensor, target: torch.Tensor) -> torch.Tensor:
    probs = logits.softmax(dim=-1)
    return -(target * probs.log()).sum()


def policy_ratio(new, old, mask):
    ratio = torch.exp(
        new
        - old.detach(),
    ) / mask.sum()

    return ratio
""".splitlines(),
    "notebook.ipynb": ["loss = model(batch)", "if torch.isnan(loss): break"],
    "a b/100%,x:y/modèle.py": ["名前 = x.norm(); y = x / 名前"],
}

NAN110 = RuleInfo(
    code="NAN110",
    name="log-of-softmax",
    severity=Severity.ERROR,
    summary="The logarithm of a softmax or a sigmoid.",
    why="`log(0)` is -inf and its slope is inf: the whole\ngradient becomes NaN. One step is enough.\n\nMore follows.",
    docs="# NAN110 log-of-softmax\n\nThe logarithm of a softmax or a sigmoid.",
    url="https://nanlint.example/rules/NAN110",
    fix="Safe.",
    preview=False,
)

WITH_FIX = Finding(
    code="NAN110",
    name="log-of-softmax",
    span=Span(6, 23, 6, 34),
    message="`probs` can be 0 (range [0, 1]), so its logarithm can be -inf",
    severity=Severity.ERROR,
    fix=Fix(
        "use log_softmax",
        Applicability.SAFE,
        (Edit(Span(6, 23, 6, 34), "logits.log_softmax(dim=-1)"),),
    ),
    path="src/train.py",
    function="cross_entropy",
    dtypes=("float32", "float16"),
    direction=Direction.BOTH,
    hazard=Hazard("torch.log", "probs", "[0, 0]"),
)

WITH_PARTS = Finding(
    code="NAN110",
    name="log-of-softmax",
    span=Span(6, 23, 6, 34),
    message="log of a softmax is -inf once a probability rounds to 0",
    severity=Severity.ERROR,
    path="src/train.py",
    labels=(Label(Span(1, 8, 1, 13), "no part of the frame"), Label(Span(5, 13, 5, 35), "the softmax is made here")),
    why="a logit 104 below the largest has a probability of exactly 0",
    help="logits.log_softmax(dim=-1)",
)

MULTI_LINE = Finding(
    code="NAN201",
    name="exp-overflow",
    span=Span(10, 13, 13, 6),
    message="`new - old.detach()` is unbounded, so its exponential can be inf",
    severity=Severity.WARNING,
    fix=Fix(
        "clamp the exponent",
        Applicability.UNSAFE,
        (Edit(Span(11, 9, 11, 9), "("), Edit(Span(12, 23, 12, 23), ").clamp(max=20.0)")),
    ),
    path="src/train.py",
    function="policy_ratio",
)

IN_NOTEBOOK = Finding(
    code="NAN404",
    name="nan-check-misses-inf",
    span=Span(2, 4, 2, 21),
    message="`torch.isnan(loss)` lets inf pass",
    severity=Severity.INFO,
    fix=Fix("use isfinite", Applicability.SAFE, (Edit(Span(2, 4, 2, 21), "not torch.isfinite(loss)"),)),
    path="notebook.ipynb",
    cell=3,
    direction=Direction.LOOP,
)

ODD_PATH = Finding(
    code="NAN101",
    name="unguarded-division",
    span=Span(1, 24, 1, 26),
    message="`名前` can be 0 (range [0, inf))",
    severity=Severity.WARNING,
    fix=Fix("divide by at least eps", Applicability.UNSAFE, (Edit(Span(1, 26, 1, 26), ".clamp_min(1e-12)"),)),
    path="a b/100%,x:y/modèle.py",
)

ODD_MESSAGE = Finding(
    code="NAN101",
    name="unguarded-division",
    span=Span(5, 5, 5, 10),
    message="50% of\r\n\"a\" and 'b'\u2028<&> ]]> \x1b[31m[red]",
    severity=Severity.WARNING,
    path="src/train.py",
)

ERRORS = (FileError("broken.py", 3, "invalid syntax"), FileError("gone.py", None, "the file is gone"))


def source_lines(path: str, _cell: int | None) -> Sequence[str]:
    return SOURCES.get(path, ())


def report_of(*findings: Finding, errors: tuple[FileError, ...] = (), files: int = 41) -> Report:
    return Report(findings, errors, Summary(files=files), {"NAN110": NAN110}, source_lines)


SAMPLES = {
    "nothing found": report_of(),
    "a fix": report_of(WITH_FIX),
    "labels": report_of(WITH_PARTS),
    "several lines": report_of(MULTI_LINE),
    "a notebook": report_of(IN_NOTEBOOK),
    "an odd path": report_of(ODD_PATH),
    "an odd message": report_of(ODD_MESSAGE),
    "errors only": report_of(errors=ERRORS),
    "everything": report_of(ODD_PATH, IN_NOTEBOOK, ODD_MESSAGE, WITH_FIX, MULTI_LINE, errors=ERRORS),
}


def rendered(report: Report, format_name: str, *, colour: bool = False) -> str:
    out = io.StringIO()
    render(report, format_name, out, colour=colour)
    return out.getvalue()
