"""Training loops are driven as people write them: other names, batches in parts, scripts without functions."""

from __future__ import annotations

import textwrap
from typing import TYPE_CHECKING

import pytest

pytest.importorskip("torch", reason="torch is not installed, so no loop can be driven")

import torch

from nanlint.confirm.worker.training.harms import harm_of
from nanlint.model.verdict import VerdictKind
from tests.confirm_projects import finding_at, verdicts_on, written
from tests.loop_driver import ENOUGH, NAN_LOSS, drive

if TYPE_CHECKING:
    from pathlib import Path

    from nanlint.model.verdict import Verdict

IMPORTS = "import torch\nimport torch.nn.functional as F\n\n\n"
MNIST = """
def train(args, model, device, train_loader, optimizer, epoch):
    for index, (data, target) in enumerate(train_loader):
        data, target = data.to(device), target.to(device)
        optimizer.zero_grad()
        loss = F.mse_loss(model(data), target)
        loss.backward()
        optimizer.step()  # here
"""
SHORT = """
def fit(net, opt, train_dl, loss_fn, epochs):
    for _ in range(epochs):
        for batch in train_dl:
            x, y = batch
            opt.zero_grad()
            loss_fn(net(x), y).backward()
            opt.step()  # here
"""
SCRIPT = """
EPOCHS = 100
model = torch.nn.Linear(2, 1)
opt = torch.optim.SGD(model.parameters(), lr=0.1)
loader = open("/no/such/data")
for epoch in range(EPOCHS):
    for x, mask in loader:
        loss = (model(x) * mask).sum() / mask.sum()
        opt.zero_grad()
        loss.backward()
        opt.step()  # here
"""
ENDLESS = """
def train(model, optimizer, device):
    while True:
        try:
            optimizer.zero_grad()
            model(torch.ones(1, 2, device=device)).sum().backward()
            optimizer.step()  # here
        except Exception:
            pass
"""


def verdict_on(folder: Path, text: str, code: str = "NAN411") -> Verdict:
    path = written(folder, IMPORTS + textwrap.dedent(text).lstrip("\n"))
    return verdicts_on([finding_at(path, code=code)])[0]


@pytest.mark.parametrize("text", [MNIST, SHORT, ENDLESS], ids=["as in MNIST", "with short names", "without an end"])
def test_a_loop_is_driven_by_the_names_that_people_use(tmp_path: Path, text: str) -> None:
    verdict = verdict_on(tmp_path, text)
    assert (verdict.kind, verdict.level) == (VerdictKind.CONFIRMED, "function")
    assert "driven with a fault: a NaN loss is in the weights after step 2" in (verdict.reason or "")


def test_the_loop_of_a_script_is_driven_and_reachable(tmp_path: Path) -> None:
    verdict = verdict_on(tmp_path, SCRIPT)
    assert (verdict.kind, verdict.level) == (VerdictKind.REACHABLE, "slice")
    assert (verdict.reason or "").startswith("the loop, driven with a fault: a NaN loss is in the weights")


def test_a_loop_that_calls_what_nobody_knows_is_reachable(tmp_path: Path) -> None:
    text = MNIST.replace("epoch)", "tokenizer)").replace("data.to(device)", "tokenizer.encode(data)")
    assert verdict_on(tmp_path, text).kind is VerdictKind.REACHABLE


def test_a_loop_that_goes_on_to_the_next_batch_is_not_reproduced(tmp_path: Path) -> None:
    check = "        if not torch.isfinite(loss):  # here\n            continue\n        loss.backward()"
    checked = MNIST.replace("  # here", "").replace("        loss.backward()", check)
    assert verdict_on(tmp_path, checked, "NAN405").kind is VerdictKind.NOT_REPRODUCED


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        pytest.param(MNIST.replace("data.to(device)", "data.missing()"), "AttributeError", id="an error"),
        pytest.param(
            MNIST.replace("F.mse_loss(model(data), target)", "model(data).sum() * float('nan')"),
            "not finite even without a fault",
            id="a loss that is never finite",
        ),
        pytest.param("x = torch.ones(1)\ny = x  # here\n", "in no function and in no loop", id="no loop"),
    ],
)
def test_what_cannot_be_driven_says_why(tmp_path: Path, text: str, reason: str) -> None:
    verdict = verdict_on(tmp_path, text)
    assert (verdict.kind, reason in (verdict.reason or "")) == (VerdictKind.NOT_RUNNABLE, True)


def test_a_loop_is_ended_after_enough_rounds() -> None:
    def loop(model: torch.nn.Module) -> None:
        while True:
            model(torch.ones(1, 2))

    run = drive(loop, NAN_LOSS)
    assert (run.error, run.model.rounds) == (None, ENOUGH)


@pytest.mark.parametrize(
    ("check", "name"),
    [("torch.isfinite(loss)", "NAN405"), ("torch.isfinite(norm)", "NAN405 gradients")],
    ids=["of the loss", "of the norm"],
)
def test_a_step_after_a_check_is_proved_by_what_the_check_asks_about(check: str, name: str) -> None:
    lines = ["def train(model):", "    loss.backward()", f"    if not {check}:", "        log()", "    step()"]
    target = {"function_lines": [1], "first": 3, "last": 3}
    assert harm_of("NAN405", lines, target) == name


TWO_RANKS = """
def train(model, optimizer, batches):
    for batch in batches:
        optimizer.zero_grad()
        loss = model(batch).mean()
        bad = (~torch.isfinite(loss)).float()
        torch.distributed.all_reduce(bad)
        if bad > 0:  # here
            continue
        loss.backward()
        optimizer.step()
"""


@pytest.mark.parametrize(
    ("text", "kind"),
    [
        pytest.param(TWO_RANKS, VerdictKind.NOT_REPRODUCED, id="both skip"),
        pytest.param(TWO_RANKS.replace("all_reduce", "is_available(); str"), VerdictKind.CONFIRMED, id="one skips"),
    ],
)
def test_a_process_that_skips_alone_leaves_the_other_one_waiting(tmp_path: Path, text: str, kind: VerdictKind) -> None:
    assert verdict_on(tmp_path, text, "NAN409").kind is kind


def test_a_schedule_that_a_script_makes_is_no_step_of_it(tmp_path: Path) -> None:
    made = "    sched = torch.optim.lr_scheduler.StepLR(optimizer, 1)\n    for batch in batches:"
    text = TWO_RANKS.replace("    for batch in batches:", made).replace("step()", "step()\n        sched.step()")
    assert verdict_on(tmp_path, text, "NAN410").kind is VerdictKind.NOT_REPRODUCED


def test_the_step_of_another_optimizer_is_no_step_behind_the_fault(tmp_path: Path) -> None:
    text = """
    def train(model, optimizer, batches):
        level = torch.nn.Parameter(torch.ones(1))
        other = torch.optim.SGD([level], lr=0.1)
        for batch in batches:
            optimizer.zero_grad()
            loss = model(batch).mean()
            if torch.isfinite(loss):  # here
                loss.backward()
                optimizer.step()
            level.square().sum().backward()
            other.step()
    """
    assert verdict_on(tmp_path, text, "NAN405").kind is VerdictKind.NOT_REPRODUCED


def test_a_default_that_leads_past_the_flagged_line_is_replaced(tmp_path: Path) -> None:
    text = """
    def train(model, optimizer, batches, clip=None):
        for batch in batches:
            optimizer.zero_grad()
            model(batch).mean().backward()
            if clip is not None:
                torch.nn.utils.clip_grad_norm_(model.parameters(), clip)  # here
            optimizer.step()
    """
    assert verdict_on(tmp_path, text, "NAN403").kind is VerdictKind.CONFIRMED
