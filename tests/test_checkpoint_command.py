"""`nanlint checkpoint`: what it prints, its JSON, its exit codes."""

from __future__ import annotations

import io
import json
import re
import sys
from pathlib import Path
from typing import Any

import jsonschema  # type: ignore[import-untyped]  # it ships no types
import pytest

from nanlint.cli.main import main

torch = pytest.importorskip("torch", reason="torch is not installed")

from nanlint import checkpoint as package  # noqa: E402 - after the skip
from tests.checkpoints import Run, saved  # noqa: E402

SCHEMA = json.loads(Path(package.__file__).with_name("schema_v1.json").read_text(encoding="utf-8"))


class Terminal(io.StringIO):
    """A stream that is a terminal."""

    def isatty(self) -> bool:
        return True


@pytest.fixture
def run(tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch) -> Any:
    """The command in a folder of its own: exit code, stdout, stderr."""
    monkeypatch.chdir(tmp_path)

    def command(*words: str) -> tuple[int, str, str]:
        code = main(["checkpoint", *words])
        return (code, *capsys.readouterr())

    return command


@pytest.fixture
def runs(tmp_path: Path) -> Path:
    """A run that is lost at its third checkpoint."""
    folder = tmp_path / "runs"
    folder.mkdir()
    training = Run(lr=5e-4)
    scheduler = torch.optim.lr_scheduler.OneCycleLR(training.optimizer, max_lr=5e-4, total_steps=100)
    for epoch in range(3):
        training.train(2)
        scheduler.step()
        if epoch == 2:
            training.spoil()
        state = {**training.state(), "scheduler": scheduler.state_dict(), "epoch": epoch}
        saved(folder, state, name=f"epoch_{epoch}.pt")
    return folder


def lr_in(path: Path) -> float:
    """The learning rate by torch's own reading."""
    state = torch.load(path, weights_only=False)
    return float(state["optimizer"]["param_groups"][0]["lr"])


@pytest.mark.slow
def test_a_clean_file_is_one_line_and_the_lr(run: Any, runs: Path) -> None:
    lr = lr_in(runs / "epoch_0.pt")
    code, out, err = run("runs/epoch_0.pt")
    assert (code, err) == (0, "")
    assert out.splitlines() == [
        "runs/epoch_0.pt: clean (step 2, epoch 0, 27 tensors, 984 bytes)",
        f"  note     learning rate: training resumes with {lr:.4g}: optimizer.load_state_dict puts the saved lr back, and OneCycleLR goes on at step 1 of 100",
        "1 checkpoint: 1 clean, 0 bad.",
    ]


def test_a_folder_ends_with_what_to_resume_from(run: Any, runs: Path) -> None:
    del runs
    code, out, err = run("runs")
    assert (code, err) == (1, "")
    assert "  error    model.2.weight: 1 of 16 values is NaN, first at [1, 3]; the finite ones lie in " in out
    assert out.splitlines()[-4:] == [
        "3 checkpoints: 2 clean, 1 bad.",
        "First bad, by step: runs/epoch_2.pt (step 6, epoch 2)",
        "Last clean, by step: runs/epoch_1.pt (step 4, epoch 1)",
        "Resume from runs/epoch_1.pt.",
    ]


@pytest.mark.slow
def test_the_trap_is_told_where_one_would_resume(run: Any, runs: Path, tmp_path: Path) -> None:
    lr = lr_in(runs / "epoch_1.pt")
    (tmp_path / "config.py").write_text("LEARNING_RATE = 1e-4\ntotal_steps = 300\n")
    out = run("runs", "--config", "config.py")[1]
    (warning,) = (line for line in out.splitlines() if "not with the 0.0001" in line)
    assert f"resumes with {lr:.4g}, not with the 0.0001 of config.py:1 LEARNING_RATE" in warning
    assert "with the saved max_lr 0.0005" in warning
    assert "OneCycleLR resumes with total_steps 100, not with the 300 of config.py:2 total_steps" in out


def test_strict_makes_the_trap_an_exit_code(run: Any, runs: Path, tmp_path: Path) -> None:
    del runs
    (tmp_path / "same.toml").write_text("lr = 5e-4\n")
    (tmp_path / "other.toml").write_text("lr = 1e-4\n")
    name = "runs/epoch_1.pt"
    assert [run(name, "--config", config)[0] for config in ("same.toml", "other.toml")] == [0, 0]
    assert [run(name, "--strict", "--config", config)[0] for config in ("same.toml", "other.toml")] == [0, 1]


def test_strict_looks_only_where_one_would_resume(run: Any, tmp_path: Path) -> None:
    for epoch, lr in enumerate((1e-3, 5e-4)):
        saved(tmp_path, {**Run(lr).train(epoch + 1).state(), "epoch": epoch}, name=f"epoch_{epoch}.pt")
    assert run(".", "--strict", "--lr", "5e-4")[0] == 0
    assert run(".", "--strict", "--lr", "1e-3")[0] == 1


@pytest.mark.parametrize(
    ("name", "text", "reason"),
    [
        ("config.json", '{"optim": {"lr": "${base}"}}', " (config.json optim.lr is '${base}')"),
        ("config.toml", "lr = nan\n", " (config.toml lr is nan)"),
        ("config.toml", "epochs = 3\n", ""),
        ("config.py", "lr = compute()\n", ""),
    ],
)
@pytest.mark.usefixtures("runs")
def test_a_config_without_a_usable_lr_is_said(run: Any, tmp_path: Path, name: str, text: str, reason: str) -> None:
    (tmp_path / name).write_text(text)
    code, out, _ = run("runs/epoch_1.pt", "--config", name)
    assert f"{name} states no learning rate as a number{reason}: nothing was compared" in out
    assert "give the learning rate with --lr" in out
    assert (code, run("runs/epoch_1.pt", "--strict", "--config", name)[0]) == (0, 1)
    assert "nothing was compared" not in run("runs/epoch_1.pt", "--config", name, "--lr", "5e-4")[1]


def test_many_failures_are_cut_short_unless_all_are_asked_for(run: Any, tmp_path: Path) -> None:
    folder = tmp_path / "checkpoint-1"
    folder.mkdir()
    for number in range(9):
        (folder / f"rng_state_{number}.pth").write_bytes(b"")
    assert run("checkpoint-1")[1].count("is empty") == 5
    assert "and 4 more (--all shows them)" in run("checkpoint-1")[1]
    assert run("checkpoint-1", "--all")[1].count("is empty") == 9


def test_lr_is_heard_before_the_config(run: Any, runs: Path, tmp_path: Path) -> None:
    del runs
    (tmp_path / "config.toml").write_text("lr = 1e-4\n")
    assert "not with" not in run("runs/epoch_0.pt", "--config", "config.toml", "--lr", "5e-4")[1]


def test_many_tensors_are_cut_short_unless_all_are_asked_for(run: Any, tmp_path: Path) -> None:
    saved(tmp_path, {f"layers.{index}.weight": torch.full((2, 2), torch.nan) for index in range(20)})
    short, whole = run("state.pt")[1], run("state.pt", "--all")[1]
    assert (short.count(" error "), whole.count(" error ")) == (5, 20)
    assert "and 15 more tensors (nan; --all shows them)" in short


def test_if_none_is_clean_it_says_so(run: Any, tmp_path: Path) -> None:
    for number in range(2):
        saved(tmp_path, torch.tensor([torch.nan]), name=f"{number}.pt")
    assert run(".")[1].splitlines()[-1] == "None is clean: start anew, or from an older checkpoint that is not here."


def test_a_clean_one_after_a_bad_one_is_told_as_such(run: Any, tmp_path: Path) -> None:
    for number, value in enumerate([1.0, torch.nan, 1.0]):
        saved(tmp_path, torch.tensor([value]), name=f"{number}.pt")
    assert run(".")[1].splitlines()[-1] == "Resume from 2.pt, although a bad one comes before it."


@pytest.mark.parametrize("words", [["runs"], ["runs/epoch_0.pt", "--lr", "1e-4"], ["broken.pt", "runs"]], ids=" ".join)
def test_the_json_is_as_its_schema_says(run: Any, runs: Path, tmp_path: Path, words: list[str]) -> None:
    del runs
    (tmp_path / "broken.pt").write_bytes(b"PK\x03\x04")
    document = json.loads(run(*words, "--json")[1])
    jsonschema.Draft202012Validator(SCHEMA).validate(document)
    assert document["schema"] == 1


def test_the_schema_is_a_schema() -> None:
    jsonschema.Draft202012Validator.check_schema(SCHEMA)


def test_the_json_tells_what_the_text_tells(run: Any, runs: Path) -> None:
    del runs
    code, out, _ = run("runs", "--json", "--lr", "1e-4")
    document = json.loads(out)
    first, _, third = document["checkpoints"]
    assert (code, document["last_clean"], document["first_bad"]) == (1, "runs/epoch_1.pt", "runs/epoch_2.pt")
    assert (first["verdict"], first["step"], first["learning_rate"]["given"]) == ("clean", 2, [5e-4])
    assert first["learning_rate"]["config"] == {"value": 1e-4, "where": "--lr"}
    assert [(each["kind"], each["name"]) for each in third["symptoms"] if each["level"] == "error"] == [
        ("nan", "model.2.weight")
    ]


def test_an_unreadable_file_is_told_and_is_no_clean_run(run: Any, runs: Path, tmp_path: Path) -> None:
    del runs
    (tmp_path / "broken.pt").write_bytes(b"PK\x03\x04")
    code, out, _ = run("broken.pt", "runs/epoch_0.pt")
    assert code == 2
    assert "  unreadable  broken.pt is truncated or damaged: File is not a zip file" in out
    assert "Resume from runs/epoch_0.pt." in out
    assert run("broken.pt", "runs/epoch_2.pt")[0] == 1


def test_files_that_are_all_something_else_are_a_failed_run(run: Any, tmp_path: Path) -> None:
    (tmp_path / "tokens.bin").write_bytes(b"just bytes")
    assert run(".") == (
        2,
        "",
        "nanlint: none of the 1 files is a checkpoint (torch, safetensors and numpy files are read)\n",
    )


def test_a_missing_path_is_a_failed_run(run: Any) -> None:
    assert run("nowhere.pt") == (2, "", "nanlint: nowhere.pt is not there\n")


def test_without_torch_it_says_how_to_get_it(run: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("importlib.util.find_spec", lambda _: None)
    assert run("x.pt") == (
        2,
        "",
        "nanlint: checkpoint needs torch, which is not installed here; pip install 'nanlint[torch]'\n",
    )


def test_the_parser_of_the_command_needs_no_torch(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    for name in [name for name in sys.modules if name == "torch" or name.startswith("nanlint.checkpoint")]:
        monkeypatch.setitem(sys.modules, name, None)
    assert main(["checkpoint", "--help"]) == 0
    assert "nanlint checkpoint runs/" in capsys.readouterr().out


def test_colours_change_no_word(run: Any, runs: Path) -> None:
    del runs
    plain, painted = run("runs", "--color", "never")[1], run("runs", "--color", "always")[1]
    assert "\x1b[" in painted
    assert re.sub(r"\x1b\[[0-9;]*m", "", painted) == plain


def test_a_bar_is_shown_to_those_who_wait(runs: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    from nanlint.cli import checkpoint  # noqa: PLC0415 - for this test only
    from nanlint.cli.main import parser  # noqa: PLC0415 - as above

    monkeypatch.setattr("nanlint.cli.terminal._PATIENCE", 0.0)
    monkeypatch.setenv("TERM", "xterm")
    err = Terminal()
    checkpoint.run(parser("checkpoint").parse_args(["checkpoint", str(runs)]), io.StringIO(), err)
    assert "checking" in err.getvalue()
