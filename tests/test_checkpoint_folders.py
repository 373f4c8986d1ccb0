"""Which files make one checkpoint, and in a folder of them, the last clean one and the first bad one."""

from __future__ import annotations

import json
import os
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

torch = pytest.importorskip("torch", reason="torch is not installed")

from nanlint.checkpoint.diagnosis import BAD, CLEAN, UNREADABLE, Request, diagnose  # noqa: E402 - after the skip
from nanlint.checkpoint.layout import checkpoints, number_in  # noqa: E402
from nanlint.checkpoint.reading import UnreadableCheckpoint  # noqa: E402
from nanlint.checkpoint.series import Series, in_order  # noqa: E402
from nanlint.errors import UsageError  # noqa: E402
from tests.checkpoints import Run, diagnosis, saved, told, write_safetensors  # noqa: E402

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

NAN = float("nan")


def found_in(folder: Path) -> dict[str, tuple[str, list[str]]]:
    """Path, layout and files of what a folder holds."""
    return {
        each.path.relative_to(folder).as_posix(): (
            each.layout,
            sorted(
                file.relative_to(each.path if each.path.is_dir() else each.path.parent).as_posix()
                for file in each.files
            ),
        )
        for each in checkpoints([folder])
    }


def touch(folder: Path, names: Iterable[str]) -> None:
    for name in names:
        path = folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.touch()


def test_files_of_a_run_are_checkpoints_in_natural_order(tmp_path: Path) -> None:
    touch(tmp_path, ["epoch_10.pt", "epoch_9.pt", "log.txt", ".hidden.pt", "wandb/x.pt", "deep/er/last.ckpt"])
    assert list(found_in(tmp_path)) == ["epoch_9.pt", "epoch_10.pt", "deep/er/last.ckpt"]


def test_the_folders_of_the_hugging_face_trainer_are_one_checkpoint_each(tmp_path: Path) -> None:
    parts = [
        "model.safetensors",
        "optimizer.pt",
        "rng_state.pth",
        "scheduler.pt",
        "trainer_state.json",
        "training_args.bin",
    ]
    touch(
        tmp_path, [f"checkpoint-{step}/{part}" for step in (500, 1000) for part in [*parts, "config.json", "vocab.txt"]]
    )
    assert found_in(tmp_path) == {f"checkpoint-{step}": ("Hugging Face Trainer", parts) for step in (500, 1000)}


def test_a_folder_of_accelerate_is_one_checkpoint(tmp_path: Path) -> None:
    parts = ["model.safetensors", "optimizer.bin", "random_states_0.pkl", "scaler.pt", "scheduler.bin"]
    touch(tmp_path, [f"checkpoint_3/{part}" for part in parts])
    assert found_in(tmp_path) == {"checkpoint_3": ("Accelerate", parts)}


def test_numbered_models_are_a_run_and_with_accelerate_one_checkpoint(tmp_path: Path) -> None:
    touch(tmp_path, ["run/model_1.pt", "run/model_2.pt"])
    touch(tmp_path, ["both/model.safetensors", "both/model_1.safetensors", "both/random_states_0.pkl"])
    assert list(found_in(tmp_path)) == ["both", "run/model_1.pt", "run/model_2.pt"]


def test_a_folder_of_deepspeed_is_one_checkpoint(tmp_path: Path) -> None:
    parts = ["bf16_zero_pp_rank_0_mp_rank_00_optim_states.pt", "mp_rank_00_model_states.pt"]
    touch(tmp_path, ["latest", "zero_to_fp32.py", *(f"global_step20/{part}" for part in parts)])
    assert found_in(tmp_path) == {"global_step20": ("DeepSpeed", parts)}


def test_what_deepspeed_keeps_in_a_trainers_folder_belongs_to_it(tmp_path: Path) -> None:
    touch(tmp_path, ["checkpoint-5/model.safetensors", "checkpoint-5/global_step5/mp_rank_00_model_states.pt"])
    assert found_in(tmp_path) == {
        "checkpoint-5": ("DeepSpeed", ["global_step5/mp_rank_00_model_states.pt", "model.safetensors"])
    }


def test_an_index_stands_for_its_shards(tmp_path: Path) -> None:
    touch(tmp_path, [f"model-0000{shard}-of-00002.safetensors" for shard in (1, 2)])
    touch(tmp_path, ["model.safetensors.index.json", "optimizer.pt"])
    assert found_in(tmp_path) == {".": ("folder", ["model.safetensors.index.json", "optimizer.pt"])}


def test_a_path_that_is_named_twice_is_read_once(tmp_path: Path) -> None:
    touch(tmp_path, ["a.pt"])
    assert len(checkpoints([tmp_path, tmp_path / "a.pt"])) == 1


def test_a_folder_without_checkpoints_is_told(tmp_path: Path) -> None:
    with pytest.raises(UsageError, match="holds no checkpoint"):
        checkpoints([tmp_path])


def test_a_folder_that_cannot_be_read_does_not_end_the_scan(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    torch.save({"weight": torch.ones(2)}, tmp_path / "good.pt")
    locked, listed = tmp_path / "locked", Path.iterdir
    locked.mkdir()

    def refused(folder: Path) -> Iterator[Path]:  # root may read everything, so the refusal is played
        if folder == locked:
            raise PermissionError(13, "Permission denied", str(folder))
        return listed(folder)

    monkeypatch.setattr(Path, "iterdir", refused)
    assert {each.path.name: diagnose(each, Request()).verdict for each in checkpoints([tmp_path])} == {
        "good.pt": CLEAN,
        "locked": UNREADABLE,
    }


def test_a_path_that_is_not_there_is_told(tmp_path: Path) -> None:
    with pytest.raises(UsageError, match="is not there"):
        checkpoints([tmp_path / "x.pt"])


@pytest.mark.parametrize(
    ("name", "number"),
    [
        ("epoch=3-step=1200.ckpt", 1200),
        ("checkpoint-500", 500),
        ("model_0029.pth", 29),
        ("resnet50_epoch7.pt", 7),
        ("iter_100_loss_0.5.pt", 100),
        ("best.pt", None),
    ],
)
def test_a_name_tells_a_number(name: str, number: int | None) -> None:
    assert number_in(Path(name)) == number


class TestDistributed:
    """Folders of torch.distributed.checkpoint."""

    @pytest.fixture
    def folder(self, tmp_path: Path) -> Path:
        from torch.distributed.checkpoint.state_dict_saver import save  # noqa: PLC0415 - takes long, and for these tests only

        run = Run().train(4)
        run.optimizer.state[run.last.bias]["exp_avg"][0] = NAN
        save(run.state(), checkpoint_id=tmp_path / "dcp", no_dist=True)
        return tmp_path / "dcp"

    @pytest.mark.filterwarnings("ignore")
    def test_it_is_read_as_the_run_had_it(self, folder: Path) -> None:
        found = diagnosis(folder)
        assert (found.verdict, found.checkpoint.layout, found.step) == (BAD, "torch.distributed.checkpoint", 4)
        assert (told(found), found.failures) == ([("nan", "exp_avg of model.2.bias")], ())
        assert found.learning_rate is not None
        assert found.learning_rate.resumes_with == (1e-3,)

    @pytest.mark.filterwarnings("ignore")
    def test_a_shard_that_is_missing_is_told(self, folder: Path) -> None:
        (folder / "__0_0.distcp").rename(folder / "elsewhere.distcp")
        (failure,) = diagnosis(folder).failures
        assert str(failure[1]) == "names the file __0_0.distcp, which is not there; copy it beside the index"

    @pytest.mark.filterwarnings("ignore")
    def test_a_shard_that_is_truncated_is_told(self, folder: Path) -> None:
        shard = folder / "__0_0.distcp"
        shard.write_bytes(shard.read_bytes()[:5000])
        (failure,) = diagnosis(folder).failures
        assert "is truncated or damaged" in str(failure[1])

    def test_without_its_index_it_is_told(self, tmp_path: Path) -> None:
        touch(tmp_path, ["__0_0.distcp"])
        found = diagnosis(tmp_path)
        assert found.verdict == UNREADABLE
        assert "with the index .metadata in it, which is written last" in str(found.failures[0][1])

    def test_an_index_cannot_point_out_of_its_folder(self, tmp_path: Path) -> None:
        from nanlint.checkpoint.distributed import _inside  # noqa: PLC0415 - the guard itself

        with pytest.raises(UnreadableCheckpoint, match="not in its own folder"):
            _inside(tmp_path, "../secret.pt")


def trainer_folder(folder: Path, run: Run) -> Path:
    """What the Hugging Face Trainer leaves behind after some steps."""
    path = folder / f"checkpoint-{run.steps}"
    path.mkdir()
    write_safetensors(path / "model.safetensors", run.model.state_dict())
    torch.save(run.optimizer.state_dict(), path / "optimizer.pt")
    torch.save(torch.optim.lr_scheduler.LambdaLR(run.optimizer, lambda _: 1.0).state_dict(), path / "scheduler.pt")
    logged = [{"loss": 1.0, "step": 1}] + [{"loss": NAN, "step": 2}] * bool(run.last.weight.isnan().any())
    (path / "trainer_state.json").write_text(
        json.dumps({"global_step": run.steps, "epoch": 1.5, "log_history": logged})
    )
    return path


def test_the_parts_of_a_folder_are_judged_together(tmp_path: Path) -> None:
    run = Run().train(4)
    run.spoil()
    run.optimizer.state[run.last.weight]["exp_avg"][0] = NAN
    found = diagnosis(trainer_folder(tmp_path, run))
    assert (found.verdict, found.step, found.epoch) == (BAD, 4, 1)
    assert [(each.file, each.name) for each in found.symptoms] == [
        ("model.safetensors", "2.weight"),
        ("optimizer.pt", "exp_avg of 2.weight"),
        ("", "log_history.1.loss"),
    ]
    assert found.learning_rate is not None
    assert found.learning_rate.reason.endswith("and LambdaLR goes on at step 0")


def test_a_part_that_cannot_be_read_does_not_hide_the_others(tmp_path: Path) -> None:
    run = Run().train(1)
    path = trainer_folder(tmp_path, run)
    (path / "optimizer.pt").write_bytes(b"PK\x03\x04 half of it")
    assert diagnosis(path).verdict == UNREADABLE
    run.spoil()
    write_safetensors(path / "model.safetensors", run.model.state_dict())
    found = diagnosis(path)
    assert (found.verdict, [file.name for file, _ in found.failures], told(found, "error")) == (
        BAD,
        ["optimizer.pt"],
        [("nan", "2.weight")],
    )


def test_a_lightning_checkpoint_is_known_by_its_parts(tmp_path: Path) -> None:
    run = Run().train(2)
    run.spoil()
    state = {
        "epoch": 3,
        "global_step": 900,
        "pytorch-lightning_version": "2.5.0",
        "state_dict": {f"model.{name}": value for name, value in run.model.state_dict().items()},
        "optimizer_states": [run.optimizer.state_dict()],
        "lr_schedulers": [torch.optim.lr_scheduler.StepLR(run.optimizer, 10).state_dict()],
        "MixedPrecision": torch.amp.GradScaler("cpu").state_dict(),
        "callbacks": {"ModelCheckpoint": {"best_model_score": torch.tensor(float("inf"))}},
        "hyper_parameters": {"lr": 1e-3},
    }
    found = diagnosis(saved(tmp_path, state, name="last.ckpt"))
    assert (found.step, found.epoch, found.formats, told(found, "error")) == (
        900,
        3,
        ("float16",),
        [("nan", "state_dict.model.2.weight")],
    )
    assert found.learning_rate is not None
    assert "StepLR" in found.learning_rate.reason


def series(folder: Path) -> Series:
    return in_order([diagnose(each, Request()) for each in checkpoints([folder])])


def verdicts(found: Series) -> list[tuple[str, str]]:
    return [(each.checkpoint.path.name, each.verdict) for each in found.diagnoses]


def a_run(folder: Path, names: Iterable[str], *, spoilt_at: int, key: str = "global_step") -> None:
    run = Run()
    for number, name in enumerate(names):
        run.train(1)
        if number == spoilt_at:
            run.spoil()
        saved(folder, {"model": run.model.state_dict(), key: run.steps}, name=name)


def test_by_step_the_last_clean_and_the_first_bad_are_found(tmp_path: Path) -> None:
    a_run(tmp_path, ["d.pt", "c.pt", "b.pt", "a.pt"], spoilt_at=2)
    found = series(tmp_path)
    assert verdicts(found) == [("d.pt", CLEAN), ("c.pt", CLEAN), ("b.pt", BAD), ("a.pt", BAD)]
    assert found.order == "step"
    assert (found.last_clean, found.first_bad) == (found.diagnoses[1], found.diagnoses[2])


def test_without_steps_epochs_decide(tmp_path: Path) -> None:
    a_run(tmp_path, ["z.pt", "y.pt"], spoilt_at=1, key="epoch")
    assert (series(tmp_path).order, verdicts(series(tmp_path))) == ("epoch", [("z.pt", CLEAN), ("y.pt", BAD)])


def test_without_counters_the_names_decide(tmp_path: Path) -> None:
    a_run(tmp_path, ["m_9.pt", "m_10.pt"], spoilt_at=1, key="nothing")
    assert (series(tmp_path).order, verdicts(series(tmp_path))) == (
        "number in the name",
        [("m_9.pt", CLEAN), ("m_10.pt", BAD)],
    )


def test_without_numbers_the_time_decides(tmp_path: Path) -> None:
    a_run(tmp_path, ["last.pt", "best.pt"], spoilt_at=5, key="nothing")
    os.utime(tmp_path / "best.pt", (1, 1))
    assert (series(tmp_path).order, verdicts(series(tmp_path))) == (
        "time of saving",
        [("best.pt", CLEAN), ("last.pt", CLEAN)],
    )


def test_what_is_no_checkpoint_is_passed_over_in_a_folder_and_told_when_named(tmp_path: Path) -> None:
    a_run(tmp_path, ["a.pt"], spoilt_at=5)
    (tmp_path / "tokens.bin").write_bytes(b"just bytes")
    assert verdicts(series(tmp_path)) == [("a.pt", CLEAN)]
    assert diagnosis(tmp_path / "tokens.bin").verdict == UNREADABLE


def test_a_truncated_checkpoint_comes_with_the_others(tmp_path: Path) -> None:
    a_run(tmp_path, ["m_1.pt", "m_2.pt", "m_3.pt"], spoilt_at=9)
    last = tmp_path / "m_3.pt"
    last.write_bytes(last.read_bytes()[:1000])
    found = series(tmp_path)
    assert (verdicts(found)[-1], found.last_clean) == (("m_3.pt", UNREADABLE), found.diagnoses[1])
