"""Fixes of generated training loops: they parse, are final, leave nothing to find, keep what is around them, and train alike."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from tests.fixing import fixed

pytest.importorskip("torch", reason="torch is not installed, so no loop can be run")

from tests.loop_driver import INF_LOSS, NAN_LOSS, drive

if TYPE_CHECKING:
    from tests.loop_driver import Fault, Run

pytestmark = pytest.mark.slow


@dataclass(frozen=True)
class Mistake:
    """The lines of a round. `{opt}` is the optimizer, `{clip}` the function that clips, `{torch}` the module."""

    code: str
    lines: tuple[str, ...]
    trains_alike: bool = True
    """Whether the old code trains at all, and finite rounds of the new one are the same."""
    ends: bool = False
    """Whether the old code ends in an error."""


BEGIN = ("{opt}.zero_grad()", "loss = model(batch).mean()")
CLIPPED = (*BEGIN, "loss.backward()", "norm = {clip}(model.parameters(), 1.0)")
SCALED = (*BEGIN, "scaler.scale(loss).backward()")
MISTAKES = [
    Mistake("NAN402", (*SCALED, "{clip}(model.parameters(), 1.0)", "scaler.step({opt})", "scaler.update()"), trains_alike=False),
    Mistake("NAN403", (*BEGIN, "if not {torch}.isfinite(loss):", "    continue", "loss.backward()", "{clip}(model.parameters(), 1.0)", "{opt}.step()")),
    Mistake("NAN405", (*CLIPPED, "if not {torch}.isfinite(norm):", "    print('bad')", "{opt}.step()")),
    Mistake("NAN406", (*CLIPPED[1:], "if not {torch}.isfinite(norm):", "    continue", "{opt}.step()", "{opt}.zero_grad()")),
    Mistake("NAN408", (*SCALED, "scaler.step({opt})"), ends=True),
    Mistake("NAN408", (*SCALED, "{opt}.step()", "scaler.update()"), ends=True),
    Mistake("NAN408", (*SCALED, "scaler.unscale_({opt})", "scaler.unscale_({opt})", "scaler.step({opt})", "scaler.update()"), ends=True),
    Mistake("NAN411", (*BEGIN, "loss.backward()", "{opt}.step()")),
    Mistake("NAN411", (*BEGIN, "loss.backward()", "{clip}(model.parameters(), 1.0)", "{opt}.step()")),
    Mistake("NAN502", (*BEGIN, "loss.backward()", "{opt}.step()", "{torch}.save(model.state_dict(), 'last.pt')")),
    Mistake("NAN502", (*BEGIN, "loss.backward()", "{opt}.step()", "{torch}.save(", "    {{'model': model.state_dict()}},", "    'last.pt',", ")")),
]  # fmt: skip
IMPORTS = {
    "import torch\nfrom torch.nn.utils import clip_grad_norm_\n": ("torch", "clip_grad_norm_"),
    "import torch\n": ("torch", "torch.nn.utils.clip_grad_norm_"),
    "import torch as th\nfrom torch import nn\n": ("th", "nn.utils.clip_grad_norm_"),
    '"""Längen."""\n\nimport torch\nfrom torch.nn import utils\n': ("torch", "utils.clip_grad_norm_"),
}
TAKES = "model, optimizer, scaler, batches"
PLACES = {
    "function": (f"def train({TAKES}):\n", "    for batch in batches:\n", 2),
    "epochs": (f"def train({TAKES}):\n    for epoch in range(1):\n", "        for batch in batches:\n", 3),
    "method": (f"class train:\n    def fit(self, {TAKES}):\n", "        for batch in batches:\n", 3),
    "counted": (f"def train({TAKES}):\n", "    for index, batch in enumerate(batches):\n", 2),
}


@st.composite
def loops(draw: st.DrawFn) -> tuple[Mistake, str]:
    """A mistake, and a module that makes it."""
    mistake = draw(st.sampled_from(MISTAKES))
    preamble = draw(st.sampled_from(sorted(IMPORTS)))
    torch, clip = IMPORTS[preamble]
    head, loop, depth = PLACES[draw(st.sampled_from(sorted(PLACES)))]
    opt = draw(st.sampled_from(["optimizer", "opt"]))
    renamed = f"{'    ' * (depth - 1)}opt = optimizer\n" if opt == "opt" else ""
    comment = draw(st.sampled_from(["", "  # why: ü"]))
    lines = [line.format(opt=opt, torch=torch, clip=clip) for line in mistake.lines]
    body = "".join(f"{'    ' * depth}{line}{comment if line.endswith(')') else ''}\n" for line in lines)
    above = draw(st.sampled_from(["", f"{'    ' * depth}# One round.\n"]))
    text = f"{preamble}\n\n{head}{renamed}{loop}{above}{body}"
    text = text.replace("    ", draw(st.sampled_from(["    ", "\t", "  "])))
    return mistake, text.replace("\n", draw(st.sampled_from(["\n", "\r\n"])))


def driven(text: str, *faults: Fault) -> Run:
    names: dict[str, Any] = {"__name__": "generated"}
    exec(compile(text, "generated", "exec"), names)  # noqa: S102 - our own text
    return drive(names["train"], *faults, decay=0.0)


@given(loops())
@settings(max_examples=120, deadline=None, suppress_health_check=[HealthCheck.too_slow])
def test_a_fix_of_a_loop_holds(case: tuple[Mistake, str]) -> None:
    mistake, text = case
    outcome = fixed(text, mistake.code)
    assert outcome.applied, text
    assert (outcome.withdrawn, outcome.remaining) == ([], []), outcome.text
    assert fixed(outcome.text, mistake.code).text == outcome.text
    assert text.count("#") == outcome.text.count("#")
    assert ("\r\n" in outcome.text) == ("\r\n" in text)
    assert "\n" not in outcome.text.replace("\r\n", "") or "\r\n" not in text
    before, after = driven(text), driven(outcome.text)
    assert after.error is None, outcome.text
    assert (before.error is not None) == mistake.ends
    if mistake.trains_alike and not mistake.ends:
        assert after.slopes == before.slopes, outcome.text
    # Stopped, skipped or not saved: nothing that is not finite is left behind by a loss that was not.
    runs = [driven(outcome.text, fault) for fault in (NAN_LOSS, INF_LOSS)]
    assert all(all(run.saved.values()) for run in runs)
    assert mistake.code == "NAN502" or all(run.is_finite for run in runs), outcome.text
