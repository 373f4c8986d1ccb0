"""Small projects for confirm, and the answers, verdicts and findings that tests ask of them."""

from __future__ import annotations

import atexit
import importlib.util
import textwrap
from dataclasses import replace
from functools import cache
from typing import TYPE_CHECKING, Any

from nanlint.api import check_source
from nanlint.cli.checking.verdicts import fixed_text
from nanlint.confirm.confirming import Confirmer
from nanlint.confirm.harness import Harness
from nanlint.confirm.options import Options
from nanlint.confirm.target import target_of
from nanlint.model import Direction, Finding, Hazard, Severity, Span
from nanlint.settings import Settings

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from pathlib import Path
    from types import ModuleType

    from nanlint.model.verdict import Verdict

MEAN = """
import torch


def masked_mean(values: torch.Tensor, mask: torch.Tensor) -> torch.Tensor:
    return (values * mask).sum() / mask.sum()  # here
"""
LEARNED = """
import torch


class Contrast(torch.nn.Module):
    def __init__(self, dim: int) -> None:
        super().__init__()
        self.project = torch.nn.Linear(dim, 4)
        self.temperature = torch.nn.Parameter(torch.ones(()))

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        return self.project(x) / self.temperature  # here
"""


def written(folder: Path, text: str, name: str = "model.py") -> Path:
    """A file of a project, with the indent of the test taken away."""
    path = folder / name
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(textwrap.dedent(text).lstrip("\n"), encoding="utf-8")
    return path


def imported(path: Path) -> ModuleType:
    """The module of a file, in this process."""
    spec = importlib.util.spec_from_file_location(path.stem, path)
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def finding_at(path: Path, *, operation: str = "torch.div", operand: str = "", zone: str = "0", **more: Any) -> Finding:
    """A finding on the line that is marked with `# here`, as a rule would make it."""
    lines = path.read_text(encoding="utf-8").splitlines()
    number = next(number for number, line in enumerate(lines, 1) if "# here" in line)
    span = Span(number, 1, number, len(lines[number - 1]) + 1)
    hazard = Hazard(operation, operand, zone)
    options = {
        "severity": Severity.WARNING,
        "dtypes": ("float32",),
        "direction": Direction.BOTH,
        "code": "NAN101",
        **more,
    }
    return Finding(name="test", span=span, message="it breaks", path=str(path), hazard=hazard, **options)


def found_in(path: Path, code: str) -> list[Finding]:
    """What the rule itself finds in a file."""
    settings = Settings(select=(code,), preview=True, severity="info")
    return [replace(finding, path=str(path)) for finding in check_source(path.read_text("utf-8"), settings=settings)]


@cache
def shared_harness() -> Harness:
    """One child process for all tests of a run: importing torch is most of what they take."""
    harness = Harness()
    atexit.register(harness.stop)
    return harness


def verdicts_on(
    findings: Sequence[Finding],
    *,
    inputs: Mapping[str, Any] | None = None,
    save_to: str = "",
    uses_half: bool = True,
    **options: Any,
) -> list[Verdict]:
    """The verdicts of a whole run of confirm on the CPU."""
    stated = {"device": "cpu", "timeout": 60.0, **options}
    confirmer = Confirmer(
        Options(**stated),
        jobs=2,
        inputs_for=lambda _: inputs or {},
        fixed=fixed_text,
        uses_half=lambda _: uses_half,
        save_to=save_to,
        harness=shared_harness(),
    )
    done = confirmer.confirm(findings)
    return [finding.verdict for finding in done if finding.verdict is not None]


def answer_about(path: Path, *, timeout: float = 60.0, **more: Any) -> dict[str, Any]:
    """The child's answer to a search on the marked line."""
    finding = finding_at(path, **more)
    target = target_of(finding, path.read_text("utf-8"), str(path))
    return shared_harness().ask(Options(device="cpu", timeout=timeout).job("search", target, finding))
