"""Fixes of training loops: what they write, in whose words, where there is none, and that finite rounds train as before."""

from __future__ import annotations

import json
from types import SimpleNamespace
from typing import Any

import pytest

from nanlint.engine.checker import Checker
from nanlint.engine.fixing.fix_paths import Document
from nanlint.engine.fixing.fix_paths import fixed as fixed_document
from nanlint.settings import Settings
from nanlint.testing import findings_in
from tests.fixing import fixed

HEAD = "import torch\nfrom torch.nn.utils import clip_grad_norm_\n\n\n"


def added(text: str, code: str) -> list[str]:
    """The lines that the fixes bring in."""
    old = text.splitlines()
    return [line.strip() for line in fixed(text, code).text.splitlines() if line not in old]


def offered(text: str, code: str) -> list[str]:
    """What is offered for each finding: safe, unsafe or none."""
    return [finding.fix.applicability.value if finding.fix else "none" for finding in findings_in(text, code)]


def loop(*lines: str, takes: str = "model, optimizer, scaler, batches") -> str:
    return f"{HEAD}def train({takes}):\n    for batch in batches:\n" + "".join(f"        {line}\n" for line in lines)


# -- in the words of the function that is edited -----------------------------------------------------------------------

HELPER = HEAD + (
    "def train(model, optimizer, scaler, batches):\n"
    "    for batch in batches:\n"
    "        optimizer.zero_grad()\n"
    "        make_step(model, optimizer, scaler, batch)\n"
    "\n\n"
    "def make_step(net, opt, amp_scaler, batch):\n"
)


def test_nan402_unscales_by_the_names_of_the_helper() -> None:
    text = HELPER + (
        "    amp_scaler.scale(net(batch).mean()).backward()\n"
        "    clip_grad_norm_(net.parameters(), 1.0)\n"
        "    amp_scaler.step(opt)\n"
        "    amp_scaler.update()\n"
    )
    assert added(text, "NAN402") == ["amp_scaler.unscale_(opt)"]


def test_nan406_zeroes_by_the_names_of_the_helper() -> None:
    text = HELPER.replace("        optimizer.zero_grad()\n", "") + (
        "    net(batch).mean().backward()\n"
        "    norm = clip_grad_norm_(net.parameters(), 1.0)\n"
        "    if not torch.isfinite(norm):\n"
        "        return\n"
        "    opt.step()\n"
        "    opt.zero_grad()\n"
    )
    assert set(added(text, "NAN406")) <= {"opt.zero_grad(set_to_none=True)"}


def test_nan408_updates_by_the_names_of_the_helper() -> None:
    text = HELPER + "    amp_scaler.scale(net(batch).mean()).backward()\n    amp_scaler.step(opt)\n"
    assert added(text, "NAN408") == ["amp_scaler.update()"]


# -- NAN405 ------------------------------------------------------------------------------------------------------------

CHECKED = (
    "optimizer.zero_grad()",
    "loss = model(batch).mean()",
    "loss.backward()",
    "norm = clip_grad_norm_(model.parameters(), 1.0)",
)


@pytest.mark.parametrize(
    ("test", "opposite"),
    [
        pytest.param("not torch.isfinite(norm)", "torch.isfinite(norm)", id="a denial is taken back"),
        pytest.param("norm.isnan()", "not norm.isnan()", id="a method"),
        pytest.param("not (torch.isfinite(norm))", "torch.isfinite(norm)", id="in brackets"),
        pytest.param("norm != norm", "not (norm != norm)", id="a comparison"),
        pytest.param("norm.isnan() or norm.isinf()", "not (norm.isnan() or norm.isinf())", id="two questions"),
    ],
)
def test_nan405_puts_the_step_under_the_opposite_of_the_check(test: str, opposite: str) -> None:
    text = loop(*CHECKED, f"if {test}:", "    print('bad')", "optimizer.step()")
    outcome = fixed(text, "NAN405")
    assert outcome.text == text.replace(
        "        optimizer.step()\n", f"        if {opposite}:\n            optimizer.step()\n"
    )
    assert outcome.remaining == []


@pytest.mark.parametrize(
    "lines",
    [
        pytest.param(("if norm.isnan():", "    norm = norm * 0", "optimizer.step()"), id="checked and replaced"),
        pytest.param(("if norm.isnan():", "    print(1)", "optimizer.step(); print(2)"), id="a step that shares its line"),
        pytest.param(("if norm.isnan():", "    print(1)", "if batch.sum() > 0: optimizer.step()"), id="a step on one line with its if"),
        pytest.param(("if norm.isnan():", "    print(1)", "if batch.sum() > 0:", "    optimizer.step()"), id="another block"),
        pytest.param(("if norm.isnan():", "    print(1)", "optimizer.step(lambda: loss)"), id="a closure"),
        pytest.param(("if norm.isnan():", "    print(1)", "optimizer.step()", "other_optimizer.step()"), id="two steps"),
    ],
)  # fmt: skip
def test_nan405_has_no_fix_where_the_answer_may_be_another_or_one_line_is_not_enough(lines: tuple[str, ...]) -> None:
    assert offered(loop(*CHECKED, *lines), "NAN405") == ["none"]


def test_nan405_has_no_fix_where_the_bad_gradients_would_stay() -> None:
    text = loop(*CHECKED[1:], "if norm.isnan():", "    print('bad')", "optimizer.step()")
    assert offered(text, "NAN405") == ["none"]


# -- NAN408 ------------------------------------------------------------------------------------------------------------

SCALED = ("optimizer.zero_grad()", "loss = model(batch).mean()", "scaler.scale(loss).backward()")


@pytest.mark.parametrize(
    ("lines", "applicability"),
    [
        pytest.param(("optimizer.step()", "scaler.update()"), "safe", id="a plain step, after which update raises"),
        pytest.param(("optimizer.step()",), "unsafe", id="a plain step that makes its way"),
        pytest.param(("scaler.step(optimizer)",), "safe", id="no update, so that the next step raises"),
        pytest.param(("scaler.update()", "optimizer.step()"), "none", id="an update that comes too early"),
        pytest.param(("scaler.unscale_(optimizer)", "scaler.unscale_(optimizer)", "scaler.step(optimizer)", "scaler.update()"), "safe", id="unscaled twice, which raises"),
    ],
)  # fmt: skip
def test_nan408_is_safe_where_the_old_code_ends_in_an_error(lines: tuple[str, ...], applicability: str) -> None:
    assert offered(loop(*SCALED, *lines), "NAN408") == [applicability]


def test_nan408_updates_before_every_continue_that_went_without() -> None:
    text = loop(
        *SCALED,
        "scaler.unscale_(optimizer)",
        "norm = clip_grad_norm_(model.parameters(), 1.0)",
        "if torch.isnan(norm):",
        "    continue",
        "if torch.isinf(norm):",
        "    continue",
        "scaler.step(optimizer)",
        "scaler.update()",
    )
    assert fixed(text, "NAN408").text == text.replace("continue", "scaler.update()\n            continue")


# -- layout ------------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("newline", ["\n", "\r\n"], ids=["line feeds", "Windows line ends"])
@pytest.mark.parametrize("indent", ["    ", "\t", "  "], ids=["four spaces", "tabs", "two spaces"])
def test_new_lines_are_indented_and_ended_as_the_others(indent: str, newline: str) -> None:
    lines = (*CHECKED, "if norm.isnan():", "    print('bad')", "optimizer.step()")
    text = loop(*lines).replace("    ", indent).replace("\n", newline)
    step = f"{2 * indent}optimizer.step(){newline}"
    guarded = f"{2 * indent}if not norm.isnan():{newline}{3 * indent}optimizer.step(){newline}"
    assert fixed(text, "NAN405").text == text.replace(step, guarded)


def test_a_line_below_the_last_one_needs_no_line_end_there() -> None:
    text = loop(*SCALED, "scaler.step(optimizer)").rstrip("\n")
    assert fixed(text, "NAN408").text == f"{text}\n        scaler.update()"


# -- NAN411 and NAN502 -------------------------------------------------------------------------------------------------


def test_nan411_measures_with_the_function_that_the_file_has() -> None:
    text = loop("optimizer.zero_grad()", "model(batch).mean().backward()", "optimizer.step()")
    assert added(text.replace(HEAD, "import torch as th\n\n\n"), "NAN411") == [
        'params = [p for group in optimizer.param_groups for p in group["params"]]',
        'th.nn.utils.clip_grad_norm_(params, float("inf"), error_if_nonfinite=True)',
    ]


def test_nan411_takes_no_name_that_is_in_use() -> None:
    text = loop("params = 3", "optimizer.zero_grad()", "model(batch).mean().backward()", "optimizer.step()")
    assert offered(text, "NAN411") == ["none"]


def test_nan411_leaves_nothing_for_nan401_to_say() -> None:
    text = loop("optimizer.zero_grad()", "model(batch).mean().backward()", "optimizer.step()")
    assert findings_in(fixed(text, "NAN411").text, "NAN401") == []


def test_nan502_looks_at_the_model_and_not_at_the_optimizer() -> None:
    text = loop(
        "optimizer.zero_grad()",
        "model(batch).mean().backward()",
        "optimizer.step()",
        "torch.save((model.module.state_dict(), optimizer.state_dict()), 'last.pt')",
    )
    assert "if all(torch.isfinite(p).all() for p in model.module.parameters()):" in added(text, "NAN502")


# -- run ---------------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("code", ["NAN403", "NAN405", "NAN406", "NAN411", "NAN502"])
def test_finite_rounds_train_as_they_did(code: str) -> None:
    pytest.importorskip("torch", reason="torch is not installed, so no loop can be run")
    from tests.checkout import ROOT  # noqa: PLC0415 - beside it
    from tests.loop_driver import drive  # noqa: PLC0415 - it imports torch
    from tests.truth_running import load, marked_in  # noqa: PLC0415 - it imports torch

    (folder,) = (ROOT / "fixtures").glob(f"{code}_*")
    old, new = load(folder / "bad.py"), load(folder / "bad.fixed.py")
    names = marked_in((folder / "bad.py").read_text("utf-8"))
    runs = [[drive(getattr(module, name)) for module in (old, new)] for name in names]
    assert runs
    assert [before.slopes for before, _ in runs] == [after.slopes for _, after in runs]


RESUMED = """\
import torch


def resume(model, config, checkpoint):
    optimizer = torch.optim.SGD(model.parameters(), lr=config.lr)
    scheduler = torch.optim.lr_scheduler.{kind}
    optimizer.load_state_dict(checkpoint["optimizer"])
    scheduler.load_state_dict(checkpoint["scheduler"])
    return optimizer, scheduler
"""
SCHEDULERS = [
    "StepLR(optimizer, step_size=2)",
    "MultiStepLR(optimizer, milestones=[2, 5])",
    "ExponentialLR(optimizer, gamma=0.9)",
    "CosineAnnealingLR(optimizer, T_max=10)",
    "CosineAnnealingWarmRestarts(optimizer, T_0=4)",
    "LambdaLR(optimizer, lambda step: 1 / (1 + step))",
    "MultiplicativeLR(optimizer, lambda step: 0.8)",
    "LinearLR(optimizer, total_iters=6)",
    "ConstantLR(optimizer, total_iters=5)",
    "PolynomialLR(optimizer, total_iters=10)",
    "OneCycleLR(optimizer, max_lr=config.lr, total_steps=20)",
]


@pytest.mark.parametrize("kind", SCHEDULERS, ids=lambda kind: kind.partition("(")[0])
def test_nan501_goes_on_as_if_the_new_rate_had_been_there_from_the_start(kind: str) -> None:
    torch = pytest.importorskip("torch", reason="torch is not installed, so no schedule can be run")
    source = RESUMED.format(kind=kind)
    names: dict[str, Any] = {}
    exec(compile(fixed(source, "NAN501").text, "resumed", "exec"), names)  # noqa: S102 - our own text

    def begun(rate: float) -> tuple[Any, Any]:
        model = torch.nn.Linear(1, 1)
        optimizer = torch.optim.SGD(model.parameters(), lr=rate)
        made = {"optimizer": optimizer, "config": SimpleNamespace(lr=rate)}
        scheduler = eval(f"lr_scheduler.{kind}", {"lr_scheduler": torch.optim.lr_scheduler, **made})  # noqa: S307 - our own text
        return optimizer, scheduler

    def rates(parts: tuple[Any, Any], steps: int) -> list[float]:
        optimizer, scheduler = parts
        found = []
        for _ in range(steps):
            optimizer.step()
            scheduler.step()
            found.append(optimizer.param_groups[0]["lr"])
        return found

    old = begun(5e-4)
    rates(old, 3)
    checkpoint = {"optimizer": old[0].state_dict(), "scheduler": old[1].state_dict()}
    resumed = names["resume"](torch.nn.Linear(1, 1), SimpleNamespace(lr=1e-4), checkpoint)
    assert rates(resumed, 5) == pytest.approx(rates(begun(1e-4), 8)[3:])


def test_nan501_takes_groups_that_have_no_rates_of_their_own() -> None:
    plain = RESUMED.format(kind=SCHEDULERS[0]).replace(
        "model.parameters()", '[{"params": model.parameters(), "weight_decay": 0.1}]'
    )
    assert offered(plain, "NAN501") == ["unsafe"]
    assert offered(plain.replace('"weight_decay"', '"lr"'), "NAN501") == ["none"]


def test_nan501_takes_a_scheduler_that_is_chosen_among_several() -> None:
    one, other = (f"scheduler = torch.optim.lr_scheduler.{kind}" for kind in SCHEDULERS[:2])
    text = RESUMED.format(kind=SCHEDULERS[0]).replace(
        f"    {one}\n", f"    if config.long:\n        {one}\n    else:\n        {other}\n"
    )
    assert offered(text, "NAN501") == ["unsafe"]


@pytest.mark.parametrize(
    "kind",
    [
        "ReduceLROnPlateau(optimizer)",
        "CosineAnnealingLR(optimizer, T_max=10, eta_min=1e-6)",
        "CyclicLR(optimizer, base_lr=config.lr, max_lr=0.1)",
    ],
)
def test_nan501_has_no_fix_where_the_schedule_is_no_factor_of_the_rate(kind: str) -> None:
    assert set(offered(RESUMED.format(kind=kind), "NAN501")) <= {"none"}


def test_nan501_has_no_fix_where_the_rate_was_set_anew() -> None:
    text = RESUMED.format(kind=SCHEDULERS[0]).replace("    scheduler =", "    config.lr = 1.0\n    scheduler =")
    assert offered(text, "NAN501") == ["none"]


# -- notebooks and scripts ---------------------------------------------------------------------------------------------


def cells(code: str, *sources: str) -> list[str]:
    """The cells of a notebook after all fixes of a rule."""
    made: list[dict[str, object]] = [
        {"cell_type": "code", "source": source, "metadata": {}, "outputs": [], "execution_count": None}
        for source in sources
    ]
    notebook = {"cells": made, "metadata": {}, "nbformat": 4, "nbformat_minor": 5}
    ruleset = Checker(gated=True).ruleset(Settings(select=(code,), severity="info", preview=True))
    document = Document("a.ipynb", json.dumps(notebook).encode())
    written = json.loads(fixed_document(document, ruleset, unsafe=True).data)
    return ["".join(cell["source"]) for cell in written["cells"]]


def test_a_line_below_the_last_one_of_a_cell_stays_in_the_cell() -> None:
    training = "for batch in batches:\n" + "".join(f"    {line}\n" for line in (*SCALED, "scaler.step(optimizer)"))
    found = cells("NAN408", "import torch", "%time\n" + training.rstrip("\n"), "print(model)")
    assert found == ["import torch", f"%time\n{training}    scaler.update()", "print(model)"]


def test_a_loop_in_a_cell_is_fixed_as_one_in_a_function() -> None:
    lines = (*CHECKED, "if not torch.isfinite(norm):", "    print(norm)", "optimizer.step()")
    training = "for batch in batches:\n" + "\n".join(f"    {line}" for line in lines)
    found = cells("NAN405", HEAD.strip(), training, "x = 1")
    guarded = "    if torch.isfinite(norm):\n        optimizer.step()"
    assert found == [HEAD.strip(), training.replace("    optimizer.step()", guarded), "x = 1"]
