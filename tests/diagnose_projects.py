"""Fifteen projects with one planted cause each: five after the field notes, ten others (`tests/data/diagnose`).

A line that is to blame ends in `# planted`. What is too large for a repository (checkpoints, cached tensors) is made here.
"""

from __future__ import annotations

import csv
import json
import os
import random
import shutil
import subprocess
import sys
import tempfile
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
import torch

if TYPE_CHECKING:
    from collections.abc import Callable

SOURCES = Path(__file__).parent / "data" / "diagnose"


@dataclass(frozen=True)
class Planted:
    """A project, and the cause that its answer must begin with."""

    name: str
    kind: str
    """The kind of cause, as the answer names it."""
    files: tuple[str, ...]
    """Where it is: files, or beginnings of paths."""
    run: str = ""
    """The command that `--run` gets; empty where no run is needed to see the cause."""
    resume: str = ""
    """What is to be resumed from."""
    rate: float | None = None
    """The learning rate that it is to be resumed with."""
    note: int | None = None
    """The number of the field note that it was written after."""


PROJECTS = (
    Planted("restran_mhc", "checkpoint", ("results/",), resume="results/epoch_27.pth", rate=1e-4, note=0),
    Planted("beta_mi", "code", ("losses.py",), note=1),
    Planted("ctc_teacher", "code", ("src/training/train_teacher.py",), note=2),
    Planted("latent_dlm", "code", ("latentDLM_mmdit/train_mmdit.py",), note=3),
    Planted("radio_diff", "config", ("configs/radio_train_m.yaml", "accelerate.yaml"), note=4),
    Planted("nan_embeddings", "data", ("cache/train_embeddings.pt",)),
    Planted("csv_missing", "data", ("data/train.csv",)),
    Planted("adam_eps", "config", ("conf/train.yaml",)),
    Planted(
        "lr_restored",
        "learning-rate",
        ("checkpoints/", "train.py", "config.yaml"),
        resume="checkpoints/step_900.pt",
        rate=1e-4,
    ),
    Planted("optimizer_state", "checkpoint", ("runs/step-400.pt",), resume="runs/step-300.pt", rate=1e-3),
    Planted("loss_scale", "checkpoint", ("ckpt/latest.pt",), resume="ckpt/best.pt", rate=3e-4),
    Planted("rate_too_high", "explosion", ("train.py", "config.yaml"), run="python train.py"),
    Planted("empty_mask", "code", ("mlm.py",)),
    Planted("masked_attention", "code", ("attention.py",)),
    Planted("vae_logvar", "code", ("vae.py",)),
)

HARDER = (
    Planted("old_run_bad", "code", ("features.py",), resume="runs/new/step_199.pt", rate=5e-4),
    Planted("filled_table", "code", ("loss.py",)),
    Planted("half_mask", "code", ("encoder.py",)),
    Planted("runaway_layer", "checkpoint", ("ckpt/latest.pt",), resume="ckpt/step_1000.pt", rate=3e-4),
    Planted("bad_shard", "data", ("shards/shard_03.npz",)),
    Planted(
        "finetune_rate",
        "learning-rate",
        ("weights/", "finetune.py", "configs/finetune.yaml"),
        resume="weights/pretrained.pt",
        rate=5e-5,
    ),
    Planted("zero_distance", "code", ("triplet.py",), run="python train.py"),
    Planted("trainer_folders", "checkpoint", ("out/checkpoint-1000",), resume="out/checkpoint-500", rate=2e-5),
)
"""With other things about that look bad: an old run, filled gaps, a loop that checks nothing, a second config."""

NOTHING = Planted("nothing_wrong", "", ())
"""Where there is nothing to find."""


def make(planted: Planted, folder: Path) -> Path:
    """The project in a folder of its own, with what its scripts have written."""
    target = folder / planted.name
    shutil.copytree(SOURCES / planted.name, target)
    torch.manual_seed(0)
    if planted.name in _WRITTEN:
        _WRITTEN[planted.name](target)
    return target


def planted_lines(project: Path, file: str) -> set[int]:
    """The lines that are to blame."""
    lines = (project / file).read_text("utf-8").splitlines()
    return {number for number, line in enumerate(lines, 1) if line.rstrip().endswith("# planted")}


def is_first(planted: Planted, project: Path, cause: dict[str, Any] | None) -> bool:
    """Whether the first cause of an answer is the planted one."""
    if cause is None or cause["kind"] != planted.kind:
        return False
    path = str(cause["path"])
    if not path.startswith(planted.files):
        return False
    return planted.kind != "code" or cause["line"] in planted_lines(project, path)


def _restran(project: Path) -> None:
    mixing, head = torch.nn.Linear(6, 4), torch.nn.Linear(3, 37)
    model = torch.nn.ModuleDict({"mixing": mixing, "head": head})
    optimizer = torch.optim.AdamW(model.parameters(), lr=5e-4)
    scheduler = torch.optim.lr_scheduler.OneCycleLR(optimizer, max_lr=5e-4, total_steps=320)
    results = project / "results"
    results.mkdir()
    for epoch in range(1, 30):
        for _ in range(4):
            optimizer.zero_grad()
            loss = mixing(torch.rand(8, 6)).square().mean() + head(torch.rand(8, 3)).square().mean()
            loss.backward()
            optimizer.step()
            scheduler.step()
        if epoch >= 28:
            with torch.no_grad():
                mixing.weight.fill_(torch.nan)
        if epoch >= 25:
            state = _state(model, optimizer, scheduler=scheduler.state_dict(), epoch=epoch)
            torch.save(state, results / f"epoch_{epoch}.pth")
            torch.save(state, results / "last.pth")


def _beta_mi(project: Path) -> None:
    (project / "data/embeddings").mkdir(parents=True)
    torch.save({"embeddings": torch.randn(256, 32)}, project / "data/embeddings/embeddings_train.pt")


def _ctc(project: Path) -> None:
    folder = project / "data/teacher_features"
    folder.mkdir(parents=True)
    numbers = np.random.default_rng(0)
    np.save(folder / "features.npy", numbers.standard_normal((40, 12, 16)).astype("float32"))
    np.save(folder / "labels.npy", numbers.integers(1, 12, (40, 8)))
    frames = np.full(40, 12)
    frames[36] = 5
    np.save(folder / "frames.npy", frames)
    np.save(folder / "words.npy", np.full(40, 6))


def _embeddings(project: Path) -> None:
    (project / "cache").mkdir()
    for name, count in (("train", 400), ("valid", 80)):
        embeddings = torch.randn(count, 24)
        if name == "train":
            embeddings[137] = torch.nan
            embeddings[301] = torch.nan
        torch.save(
            {"embeddings": embeddings, "labels": torch.randint(5, (count,))}, project / f"cache/{name}_embeddings.pt"
        )


def _csv(project: Path) -> None:
    (project / "data").mkdir()
    numbers = random.Random(0)  # noqa: S311 - a table for a test
    with (project / "data/train.csv").open("w", newline="", encoding="utf-8") as file:
        table = csv.writer(file)
        table.writerow(["rooms", "area", "year", "price"])
        for row in range(300):
            area = "nan" if row in {41, 207} else f"{numbers.uniform(30, 200):.1f}"
            table.writerow([numbers.randint(1, 8), area, numbers.randint(1900, 2020), numbers.randint(50_000, 900_000)])


def _lr_restored(project: Path) -> None:
    model = torch.nn.GRU(4, 4)
    optimizer = torch.optim.AdamW(model.parameters(), lr=3e-3)
    scheduler = torch.optim.lr_scheduler.CosineAnnealingLR(optimizer, T_max=2000)
    (project / "checkpoints").mkdir()
    for step in range(1, 901):
        if step % 300 == 1:
            optimizer.zero_grad()
            model(torch.rand(3, 2, 4))[0].square().mean().backward()
        optimizer.step()
        scheduler.step()
        if step % 300 == 0:
            state = _state(model, optimizer, scheduler=scheduler.state_dict(), step=step)
            torch.save(state, project / f"checkpoints/step_{step}.pt")


def _optimizer_state(project: Path) -> None:
    first = torch.nn.Conv2d(3, 8, 3)
    model = torch.nn.Sequential(first, torch.nn.ReLU(), torch.nn.Conv2d(8, 2, 1))
    optimizer = torch.optim.Adam(model.parameters(), lr=1e-3)
    (project / "runs").mkdir()
    for step in (100, 200, 300, 400):
        optimizer.zero_grad()
        model(torch.rand(2, 3, 8, 8)).square().mean().backward()
        optimizer.step()
        if step == 400:
            optimizer.state[first.weight]["exp_avg_sq"][3, 1] = torch.inf
        torch.save(_state(model, optimizer, step=step), project / f"runs/step-{step}.pt")


def _loss_scale(project: Path) -> None:
    model = torch.nn.Sequential(torch.nn.Linear(8, 16), torch.nn.GELU(), torch.nn.Linear(16, 1))
    optimizer = torch.optim.AdamW(model.parameters(), lr=3e-4, weight_decay=0.05)
    (project / "ckpt").mkdir()
    for step, name, scale in ((1000, "best", 65536.0), (2600, "latest", 2.0**-40)):
        optimizer.zero_grad()
        model(torch.rand(4, 8)).square().mean().backward()
        optimizer.step()
        scaler = {
            "scale": scale,
            "growth_factor": 2.0,
            "backoff_factor": 0.5,
            "growth_interval": 2000,
            "_growth_tracker": 0,
        }
        torch.save(_state(model, optimizer, scaler=scaler, step=step), project / f"ckpt/{name}.pt")


def _old_run(project: Path) -> None:
    model = torch.nn.Linear(4, 4)
    optimizer = torch.optim.AdamW(model.parameters(), lr=5e-4)
    for run, steps in (("old", (99, 199)), ("new", (99, 199))):
        (project / "runs" / run).mkdir(parents=True)
        for step in steps:
            path = project / "runs" / run / f"step_{step}.pt"
            state = _state(model, optimizer, step=step)
            if run == "old" and step == 199:
                state["model"] = {name: value * torch.nan for name, value in state["model"].items()}
            torch.save(state, path)
            if run == "old":
                os.utime(path, (1_700_000_000, 1_700_000_000))


def _filled_table(project: Path) -> None:
    (project / "data").mkdir()
    rows = [f"{'' if row % 9 == 0 else 20 + row % 60},{row * 7 % 900},{row % 2}" for row in range(200)]
    (project / "data/customers.csv").write_text("\n".join(["age,spent,left", *rows]) + "\n", encoding="utf-8")


def _runaway(project: Path) -> None:
    layers = [layer for _ in range(6) for layer in (torch.nn.Linear(16, 16), torch.nn.Tanh())]
    model = torch.nn.Sequential(*layers, torch.nn.Linear(16, 1))
    optimizer = torch.optim.AdamW(model.parameters(), lr=3e-4)
    model(torch.rand(4, 16)).square().mean().backward()
    optimizer.step()
    (project / "ckpt").mkdir()
    torch.save(_state(model, optimizer, step=1000), project / "ckpt/step_1000.pt")
    state = _state(model, optimizer, step=2000)
    state["model"] = {name: value * 3e6 if name == "4.weight" else value for name, value in state["model"].items()}
    torch.save(state, project / "ckpt/latest.pt")


def _shards(project: Path) -> None:
    (project / "shards").mkdir()
    numbers = np.random.default_rng(0)
    for shard in range(6):
        mel = numbers.standard_normal((64, 20)).astype("float32")
        if shard == 3:
            mel[17, 4] = -np.inf
        np.savez(project / f"shards/shard_{shard:02}.npz", mel=mel, label=numbers.integers(0, 4, 64))


def _pretrained(project: Path) -> None:
    model = torch.nn.Sequential(torch.nn.Linear(8, 8), torch.nn.ReLU(), torch.nn.Linear(8, 1))
    optimizer = torch.optim.AdamW(model.parameters(), lr=3e-3)
    model(torch.rand(4, 8)).square().mean().backward()
    optimizer.step()
    (project / "weights").mkdir()
    torch.save(_state(model, optimizer, step=10_000), project / "weights/pretrained.pt")


def _trainer_folders(project: Path) -> None:
    model = torch.nn.Sequential(torch.nn.Linear(8, 8), torch.nn.Linear(8, 2))
    optimizer = torch.optim.AdamW(model.parameters(), lr=2e-5)
    for step in (500, 1000):
        folder = project / f"out/checkpoint-{step}"
        folder.mkdir(parents=True)
        model(torch.rand(4, 8)).square().mean().backward()
        optimizer.step()
        weights = model.state_dict()
        if step == 1000:
            weights = {name: value * torch.nan if name == "1.bias" else value for name, value in weights.items()}
        torch.save(weights, folder / "pytorch_model.bin")
        torch.save(optimizer.state_dict(), folder / "optimizer.pt")
        (folder / "trainer_state.json").write_text(json.dumps({"global_step": step, "epoch": step / 500}))


def _points(project: Path) -> None:
    (project / "data").mkdir()
    np.save(project / "data/points.npy", np.random.default_rng(0).standard_normal((500, 5)).astype("float32"))


def _state(model: torch.nn.Module, optimizer: torch.optim.Optimizer, **more: Any) -> dict[str, Any]:
    return {"model": model.state_dict(), "optimizer": optimizer.state_dict(), **more}


_WRITTEN: dict[str, Callable[[Path], None]] = {
    "restran_mhc": _restran,
    "beta_mi": _beta_mi,
    "ctc_teacher": _ctc,
    "nan_embeddings": _embeddings,
    "csv_missing": _csv,
    "lr_restored": _lr_restored,
    "optimizer_state": _optimizer_state,
    "loss_scale": _loss_scale,
    "old_run_bad": _old_run,
    "filled_table": _filled_table,
    "runaway_layer": _runaway,
    "bad_shard": _shards,
    "finetune_rate": _pretrained,
    "trainer_folders": _trainer_folders,
    "nothing_wrong": _points,
}


def answer_of(planted: Planted, project: Path) -> dict[str, Any]:
    """What `nanlint diagnose` says of the project, as its json has it."""
    command = [sys.executable, "-m", "nanlint", "diagnose", "--format", "json", "--quiet"]
    command += ["--run", planted.run] if planted.run else []
    environment = {**os.environ, "PYTHONPATH": str(Path(__file__).parent.parent)}
    done = subprocess.run(
        command, cwd=project, env=environment, capture_output=True, text=True, check=False, timeout=600
    )
    assert done.returncode in {0, 1}, done.stderr
    answer: dict[str, Any] = json.loads(done.stdout)
    return answer


def main() -> None:
    """Print what comes first in each project, and in how many that is the planted cause."""
    with tempfile.TemporaryDirectory() as name:
        for title, projects in (("one planted cause", PROJECTS), ("and other things about", HARDER)):
            right = sum([_told(planted, Path(name)) for planted in projects])
            print(f"{title}: {right} of {len(projects)}")
        print("nothing is wrong:")
        _told(NOTHING, Path(name))


def _told(planted: Planted, folder: Path) -> bool:
    project = make(planted, folder)
    causes = answer_of(planted, project)["causes"]
    first = causes[0] if causes else None
    is_right = is_first(planted, project, first) if planted is not NOTHING else first is None
    shown = f"{first['kind']}, {first['path']}:{first['line']}, {first['points']}" if first else "nothing"
    print(f"{'ok  ' if is_right else 'MISS'} {planted.name:18} {shown}", flush=True)
    return is_right


if __name__ == "__main__":
    main()
