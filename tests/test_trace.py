"""`nanlint trace` on whole scripts: where it began is named, and what is normal is left alone."""

from __future__ import annotations

import subprocess
import sys
from typing import TYPE_CHECKING

import pytest

if TYPE_CHECKING:
    from pathlib import Path

pytest.importorskip("torch", reason="torch is not installed, so no script can be traced")

from tests.tracing import SCRIPTS, origin_in, told_origin, trace, write

BAD = sorted((SCRIPTS / "bad").glob("*.py"))
pytestmark = [
    pytest.mark.filterwarnings("default"),
    pytest.mark.slow,
]  # the scripts are users' scripts: their warnings are their own

SETUP = """
import torch
from torch import nn

torch.manual_seed(0)
model = nn.Linear(4, 3)
optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
"""
TRAINING = """
for number in range(4):
    inputs = torch.randn(8, 4) * (1e6 if number == 2 else 1)
    loss = -model(inputs).sigmoid().log().mean()
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
"""


@pytest.mark.parametrize("script", BAD, ids=lambda script: script.stem)
def test_the_origin_is_named(script: Path, tmp_path: Path) -> None:
    traced = trace(tmp_path, str(script))
    assert (traced.code, told_origin(traced.found)) == (1, origin_in(script)), traced.err


@pytest.mark.parametrize(
    ("name", "code", "last"),
    [("masks", 0, "done 3"), ("scaler", 0, "done True"), ("ends", 7, "[0, 2, 3, 0, 2, 3, 0, 2, 3]")],
)
def test_what_is_normal_is_left_alone(name: str, code: int, last: str, tmp_path: Path) -> None:
    traced = trace(tmp_path, str(SCRIPTS / "good" / f"{name}.py"))
    assert (traced.code, traced.out.splitlines()[-1], traced.err) == (code, last, "")


class TestModes:
    def test_live_names_the_same_line(self, tmp_path: Path) -> None:
        script = SCRIPTS / "bad" / "root_slope.py"
        assert told_origin(trace(tmp_path, "--mode", "live", str(script)).found) == origin_in(script)

    def test_hooks_name_the_module(self, tmp_path: Path) -> None:
        traced = trace(tmp_path, "--mode", "hooks", str(SCRIPTS / "bad" / "masked_row.py"))
        assert traced.found is not None
        assert (traced.found.kind, traced.found.module) == ("module", "attention")

    def test_hooks_name_the_module_where_a_gradient_turns_bad(self, tmp_path: Path) -> None:
        text = "class Root(nn.Module):\n    def forward(self, x):\n        return x.mul(0).pow(2).sum().sqrt()\n"
        script = write(tmp_path, "hooked.py", SETUP + text + "net = nn.ModuleDict({'l': model, 'root': Root()})\n"
                       "loss = net['root'](net['l'](torch.ones(1, 4)))\nloss.backward()\noptimizer.step()\n")  # fmt: skip
        traced = trace(tmp_path, "--mode", "hooks", str(script))
        assert traced.found is not None
        assert (traced.found.module, traced.found.is_backward) == ("root", True)

    def test_strict_lists_what_does_no_harm(self, tmp_path: Path) -> None:
        traced = trace(tmp_path, "--strict", str(SCRIPTS / "good" / "masks.py"))
        assert traced.code == 1
        assert "masks.py:12: masked_fill made -inf (asked for, 5 times)" in traced.err
        assert "masks.py:20: div made NaN (computed, 5 times)" in traced.err


@pytest.fixture(scope="module")
def told(tmp_path_factory: pytest.TempPathFactory) -> str:
    return trace(tmp_path_factory.mktemp("told"), str(SCRIPTS / "bad" / "index_data.py")).err


class TestWhatIsTold:
    @pytest.mark.parametrize(
        "part",
        [
            "nanlint: step 6: `log` made -inf of finite values\n",
            "-probs.log()[torch.arange(16), labels].mean()  # origin: log\n",
            "seen: the loss is inf\n",
            "why: 27 of 48 values of `self` are 0, whose logarithm is -inf\n",
            "self: (16, 3) float32, [0, 1], mean 0.3333, 27 zeros\n",
            "step 5: loss 1.14, gradient norm 0.4199, lr 0.01\n    step 6: loss inf, gradient norm -, lr 0.01\n",
            "AdamW(lr=0.01, betas=(0.9, 0.999), eps=1e-08, weight_decay=0.01)",
            "rule: NAN110 log-of-softmax: log of `probs` is -inf once the softmax rounds to 0\n",
            "+    return -logits.log_softmax(-1)[torch.arange(16), labels].mean()  # origin: log\n",
        ],
    )
    def test_the_text_says(self, told: str, part: str) -> None:
        assert part in told

    def test_the_nearest_parameters_are_shown(self, tmp_path: Path) -> None:
        found = trace(tmp_path, str(SCRIPTS / "bad" / "masked_row.py")).found
        assert found is not None
        assert [state.values.name for state in found.parameters][:2] == [
            "attention.query.weight",
            "attention.query.bias",
        ]
        assert found.module == "attention"

    def test_the_loss_scale_is_in_the_history(self, tmp_path: Path) -> None:
        found = trace(tmp_path, str(SCRIPTS / "bad" / "scaler.py")).found
        assert found is not None
        assert found.history[-1].scale == 1024.0

    def test_a_spoiling_optimizer_is_told_with_its_state(self, tmp_path: Path) -> None:
        found = trace(tmp_path, str(SCRIPTS / "bad" / "spoiling_optimizer.py")).found
        assert found is not None
        assert (found.kind, found.step, [stats.name for stats in found.inputs]) == (
            "optimizer",
            1,
            ["exp_avg", "exp_avg_sq"],
        )

    def test_a_parameter_that_is_bad_from_the_start_is_no_operation(self, tmp_path: Path) -> None:
        text = f"{SETUP}with torch.no_grad():\n    model.bias[1] = float('nan')\n{TRAINING}"
        found = trace(tmp_path, str(write(tmp_path, "loaded.py", text))).found
        assert found is not None
        assert (found.kind, found.reason) == (
            "parameter",
            "`bias` held NaN before the first step: from initialisation or from a checkpoint",
        )

    def test_a_bad_batch_is_told_as_input(self, tmp_path: Path) -> None:
        found = trace(tmp_path, str(SCRIPTS / "bad" / "bad_batch.py")).found
        assert found is not None
        assert (found.kind, found.inputs[0].nan, found.inputs[0].shape) == ("input", 1, (8, 4))

    def test_a_bad_batch_is_called_so_with_its_column(self, tmp_path: Path) -> None:
        found = trace(tmp_path, str(SCRIPTS / "bad" / "bad_batch.py")).found
        assert found is not None
        assert found.reason == "the batch held NaN: `x` in column 1 (row 6 of 8)"

    def test_the_gradient_norm_is_the_one_before_clipping(self, tmp_path: Path) -> None:
        text = TRAINING.replace(
            "    optimizer.step()", "    torch.nn.utils.clip_grad_norm_(model.parameters(), 1e-3)\n    optimizer.step()"
        )
        plain = trace(tmp_path, str(write(tmp_path, "plain.py", SETUP + TRAINING))).found
        clipped = trace(tmp_path, str(write(tmp_path, "clipped.py", SETUP + text))).found
        assert plain is not None
        assert clipped is not None
        assert clipped.history[0].gradient_norm == pytest.approx(plain.history[0].gradient_norm)

    @pytest.mark.parametrize(
        ("name", "step"),
        [("own_update", 4), ("own_optimizer", 5), ("functional_step", 4), ("func_grad", 3), ("own_generator", 4)],
    )
    def test_the_step_is_right_without_an_optimizer_of_torch(self, name: str, step: int, tmp_path: Path) -> None:
        found = trace(tmp_path, str(SCRIPTS / "bad" / f"{name}.py")).found
        assert found is not None
        assert found.step == step

    def test_an_update_by_hand_that_spoils_a_weight_is_told_as_such(self, tmp_path: Path) -> None:
        text = f"""{SETUP.rpartition("optimizer")[0]}
for number in range(4):
    model(torch.randn(8, 4)).pow(2).mean().backward()
    for parameter in model.parameters():
        parameter.data.sub_(parameter.grad / (0 if number == 2 else 10))
        parameter.grad = None
"""
        found = trace(tmp_path, str(write(tmp_path, "by_hand.py", text))).found
        assert found is not None
        assert (found.kind, found.step, found.reason) == (
            "optimizer",
            3,
            "the gradients of step 3 were finite, and the script's own update made inf and -inf of `weight`",
        )

    def test_what_an_optimizer_cannot_have_done_is_not_blamed_on_it(self, tmp_path: Path) -> None:
        text = (
            f"{SETUP}{TRAINING.replace('1e6', '1')}    if number == 1:\n        model.weight.data[0] = float('nan')\n"
        )
        found = trace(tmp_path, str(write(tmp_path, "overwritten.py", text))).found
        assert found is not None
        assert (found.kind, found.reason.endswith("are finite: something else wrote it")) == ("elsewhere", True)

    @pytest.mark.parametrize(
        ("name", "code"),
        [
            ("spoiling_optimizer", "NAN209"),
            ("half_overflow", "NAN207"),
            ("masked_row", "NAN107"),
            ("where_trap", "NAN302"),
            ("root_slope", "NAN301"),
            ("raises_bce", "NAN103"),
            ("raises_linalg", "NAN101"),
            ("divergence", ""),
            ("bad_batch", ""),
        ],
    )
    def test_the_rule_is_about_the_operation_and_its_reason(self, name: str, code: str, tmp_path: Path) -> None:
        found = trace(tmp_path, str(SCRIPTS / "bad" / f"{name}.py")).found
        assert found is not None
        assert found.code.partition(" ")[0] == code

    def test_an_exception_that_no_loop_can_repeat_is_explained_too(self, tmp_path: Path) -> None:
        text = f"""{SETUP}
class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.model = model

    def forward(self, x):
        return torch.distributions.Categorical(logits=self.model(x.sqrt()), validate_args=True)  # origin: sqrt

net = Net()

def once(inputs):
    loss = -net(inputs).log_prob(torch.tensor(0)).mean()
    loss.backward()
    optimizer.step()

once(torch.ones(2, 4))
once(-torch.ones(2, 4))
"""
        script = write(tmp_path, "no_loop.py", text)
        traced = trace(tmp_path, str(script))
        assert traced.found is not None
        assert (told_origin(traced.found), "ValueError" in traced.err) == (origin_in(script), True)

    def test_the_repro_fails_by_itself(self, tmp_path: Path) -> None:
        found = trace(tmp_path, str(SCRIPTS / "bad" / "root_slope.py")).found
        assert found is not None
        done = subprocess.run([sys.executable, found.repro], capture_output=True, text=True, check=False)
        assert done.returncode == 1
        assert "AssertionError" in done.stderr
        assert "are not finite" in done.stderr


class TestRunningAScript:
    def test_a_module_gets_its_arguments(self, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
        write(tmp_path, "pkg_run/__init__.py", "")
        write(
            tmp_path,
            "pkg_run/__main__.py",
            "import sys\nfrom pkg_run.part import there\nprint(there, sys.argv[1:], __name__)\n",
        )
        write(tmp_path, "pkg_run/part.py", "there = 1\n")
        monkeypatch.chdir(tmp_path)
        assert trace(tmp_path, "-m", "pkg_run", "--lr", "3").out == "1 ['--lr', '3'] __main__\n"

    def test_a_trainer_in_another_module_is_run_again(self, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
        trainer = """
class Trainer:
    def __init__(self, model, optimizer):
        self.model, self.optimizer = model, optimizer

    def fit(self, batches):
        for inputs in batches:
            loss = -self.model(inputs).sigmoid().log().mean()  # origin: log
            self.optimizer.zero_grad()
            loss.backward()
            self.optimizer.step()
"""
        path = write(tmp_path, "some_trainer.py", trainer)
        script = write(tmp_path, "start.py", f"from some_trainer import Trainer\n{SETUP}"
                       "Trainer(model, optimizer).fit([torch.ones(2, 4), torch.full((2, 4), -1e6), torch.ones(2, 4)])\n")  # fmt: skip
        monkeypatch.chdir(tmp_path)
        traced = trace(tmp_path, str(script))
        assert told_origin(traced.found) == origin_in(path)

    def test_an_exception_passes_through(self, tmp_path: Path) -> None:
        script = write(tmp_path, "fails.py", f"{SETUP}{TRAINING.replace('1e6', '1')}\nraise KeyError('mine')\n")
        traced = trace(tmp_path, str(script))
        assert traced.code == 1
        assert traced.found is None
        assert traced.err.endswith("KeyError: 'mine'\n")
        assert "nanlint/trace" not in traced.err

    def test_an_exception_in_a_training_loop_passes_through(self, tmp_path: Path) -> None:
        text = TRAINING.replace("1e6", "1") + "    if number == 2:\n        raise ValueError('mine')\n"
        traced = trace(tmp_path, str(write(tmp_path, "fails_inside.py", SETUP + text)))
        assert (traced.code, traced.found, traced.err.splitlines()[-1]) == (1, None, "ValueError: mine")

    def test_a_message_in_sys_exit_is_printed(self, tmp_path: Path) -> None:
        traced = trace(tmp_path, str(write(tmp_path, "says.py", "import sys\nsys.exit('so')\n")))
        assert (traced.code, traced.err) == (1, "so\n")

    def test_a_syntax_error_is_told_as_python_tells_it(self, tmp_path: Path) -> None:
        traced = trace(tmp_path, str(write(tmp_path, "wrong.py", "def f(:\n    pass\n")))
        assert (traced.code, traced.err.splitlines()[-1]) == (1, "SyntaxError: invalid syntax")

    def test_ctrl_c_passes_through(self, tmp_path: Path) -> None:
        text = f"{SETUP}{TRAINING.replace('1e6', '1')}    if number == 1:\n        raise KeyboardInterrupt\n"
        traced = trace(tmp_path, str(write(tmp_path, "stopped.py", text)))
        assert (traced.code, traced.err.splitlines()[-1]) == (130, "KeyboardInterrupt")

    def test_afterwards_torch_is_as_it_was(self, tmp_path: Path) -> None:
        import torch  # noqa: PLC0415 - skipped without it
        from torch.utils.data.dataloader import _BaseDataLoaderIter  # noqa: PLC0415 - same

        before = (
            torch.autograd.backward,
            torch.amp.GradScaler.scale,
            _BaseDataLoaderIter.__next__,
            sys.argv,
            sys.path[:],
        )
        trace(tmp_path, str(SCRIPTS / "bad" / "root_slope.py"))
        assert (
            torch.autograd.backward,
            torch.amp.GradScaler.scale,
            _BaseDataLoaderIter.__next__,
            sys.argv,
            sys.path,
        ) == before


def test_no_training_is_said(tmp_path: Path) -> None:
    traced = trace(tmp_path, str(write(tmp_path, "idle.py", "print('done')\n")))
    assert (traced.code, traced.out) == (0, "done\n")
    assert traced.err.startswith("nanlint: no training step was observed")


def test_tensors_of_the_last_turn_are_let_go_as_in_a_plain_run(tmp_path: Path) -> None:
    text = f"""{SETUP}
import weakref

def train():
    before = []
    for number in range(4):
        hidden = model(torch.randn(8, 4)).sigmoid()
        loss = hidden.mean()
        optimizer.zero_grad()
        alive = [reference() is not None for reference in before]
        loss.backward()
        print(number, alive)
        before = [weakref.ref(hidden), weakref.ref(loss)]
        optimizer.step()

train()
"""
    script = write(tmp_path, "holding.py", text)
    plain = subprocess.run([sys.executable, str(script)], capture_output=True, text=True, check=True)
    assert trace(tmp_path, str(script)).out == plain.stdout


class TestMistakes:
    def test_a_script_is_needed(self, tmp_path: Path) -> None:
        traced = trace(tmp_path)
        assert (traced.code, traced.err) == (
            2,
            "nanlint: trace needs a script: nanlint trace train.py, or nanlint trace -m MODULE\n",
        )

    def test_the_script_has_to_be_there(self, tmp_path: Path) -> None:
        traced = trace(tmp_path, "gone.py")
        assert (traced.code, traced.err) == (
            2,
            "nanlint: there is no script gone.py; to run a module, write: nanlint trace -m MODULE\n",
        )

    def test_the_module_has_to_be_there(self, tmp_path: Path) -> None:
        assert trace(tmp_path, "-m", "no_such_module_here").code == 2

    def test_a_launcher_has_to_start_us(self, tmp_path: Path) -> None:
        traced = trace(tmp_path, "-m", "torch.distributed.run", "train.py")
        assert (traced.code, "let it start nanlint: torchrun [OPTIONS] -m nanlint trace" in traced.err) == (2, True)

    def test_without_torch_it_says_how_to_get_it(self, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
        monkeypatch.setattr("importlib.util.find_spec", lambda _name: None)
        traced = trace(tmp_path, "train.py")
        assert (traced.code, traced.err) == (
            2,
            "nanlint: trace runs your script with torch, which is not installed; pip install 'nanlint[torch]'\n",
        )

    def test_an_old_torch_is_refused(self, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
        monkeypatch.setattr("importlib.metadata.version", lambda _name: "2.2.1+cu118")
        traced = trace(tmp_path, "train.py")
        assert (traced.code, traced.err) == (
            2,
            "nanlint: trace needs torch 2.4 or newer, and this is 2.2.1+cu118; pip install -U torch\n",
        )

    def test_a_report_that_cannot_be_written_is_told(self, tmp_path: Path) -> None:
        write(tmp_path, "file", "")
        traced = trace(tmp_path, "--report", str(tmp_path / "file" / "x.html"), str(SCRIPTS / "bad" / "root_slope.py"))
        assert "nanlint: cannot write" in traced.err


def test_a_step_that_cannot_be_repeated_is_told_at_the_end(tmp_path: Path) -> None:
    text = f"""{SETUP}
class Once:
    left = 1

def step():
    loss = model(torch.ones(2, 4)).sum() * (float("nan") if Once.left else 1.0)
    Once.left = 0
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()

step()
step()
"""
    found = trace(tmp_path, str(write(tmp_path, "once.py", text))).found
    assert found is not None
    assert (found.kind, found.step, found.symptom) == ("elsewhere", 1, "the loss is NaN")


@pytest.mark.gpu
def test_a_run_on_a_gpu_is_traced(tmp_path: Path) -> None:
    import torch  # noqa: PLC0415 - skipped without it

    if not torch.cuda.is_available():
        pytest.skip("there is no CUDA device")
    text = (
        (SETUP + TRAINING)
        .replace("nn.Linear(4, 3)", "nn.Linear(4, 3).cuda()")
        .replace("torch.randn(8, 4)", "torch.randn(8, 4).cuda()")
    )
    script = write(tmp_path, "on_gpu.py", text)
    found = trace(tmp_path, str(script)).found
    assert found is not None
    assert (found.operation, found.inputs[0].device) == ("log", "cuda:0")
