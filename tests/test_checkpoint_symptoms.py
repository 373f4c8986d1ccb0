"""What is wrong with a checkpoint is told by name; what is normal is not mentioned."""

from __future__ import annotations

import pickle
from typing import TYPE_CHECKING, Any

import pytest

torch = pytest.importorskip("torch", reason="torch is not installed")

from nanlint.checkpoint.diagnosis import BAD, CLEAN  # noqa: E402 - after the skip
from tests.checkpoints import Run, diagnosis, message, saved, told  # noqa: E402

if TYPE_CHECKING:
    from pathlib import Path

NAN, INF = float("nan"), float("inf")


def layers(count: int = 5, **more: Any) -> dict[str, Any]:
    """A model's state: `count` layers of ordinary weights, and what is given besides."""
    torch.manual_seed(0)
    return {**{f"layers.{index}.weight": torch.randn(16, 16) * 0.05 for index in range(count)}, **more}


def test_a_healthy_run_has_no_symptoms(tmp_path: Path) -> None:
    found = diagnosis(saved(tmp_path, Run().train().state()))
    assert (found.verdict, told(found), found.step) == (CLEAN, [], 3)


@pytest.mark.parametrize(
    "state",
    [
        pytest.param({"attn.mask": torch.full((4, 4), -INF).triu(1)}, id="a causal mask"),
        pytest.param({"h.0.weird": torch.full((4, 4), -INF).triu(1)}, id="-inf and 0, whatever its name"),
        pytest.param({"attn.alibi_mask": torch.tensor([-INF, -1.0, -0.5])}, id="a mask with slopes"),
        pytest.param({"best_loss": torch.tensor(INF), "best_score": torch.tensor(-INF)}, id="the best of nothing"),
        pytest.param({"act.min_val": torch.tensor(INF), "act.max_val": torch.tensor(-INF)}, id="a fresh observer"),
        pytest.param({"best_loss": INF, "patience": -INF, "w": torch.ones(2)}, id="numbers that start at inf"),
        pytest.param(layers(**{"layers.9.bias": torch.zeros(16)}), id="a bias of zeros"),
        pytest.param(layers(**{"q.lora_B.weight": torch.zeros(16, 16)}), id="a LoRA that has not begun"),
        pytest.param(layers(**{"zero_conv.weight": torch.zeros(16, 16)}), id="a convolution that starts at zero"),
        pytest.param(layers(**{"adaLN_modulation.weight": torch.zeros(16, 16)}), id="a modulation that starts at zero"),
        pytest.param(layers(**{"layers.9.pos_embed": torch.zeros(1, 16)}), id="position embeddings of zeros"),
        pytest.param({"running_var": torch.tensor([0.0, 1e5])}, id="a large running variance"),
        pytest.param(layers(**{"layers.9.weight": torch.full((16, 16), 3.0)}), id="a large layer"),
        pytest.param(
            {"mask": torch.full((4,), torch.finfo(torch.float32).min), "w": torch.ones(2).half()}, id="finfo.min"
        ),
        pytest.param({"empty": torch.zeros(0, 3), "count": torch.tensor(7)}, id="no values at all"),
    ],
)
def test_what_is_normal_is_silent(tmp_path: Path, state: dict[str, Any]) -> None:
    found = diagnosis(saved(tmp_path, {"model": state, "epoch": 3}))
    assert (found.verdict, told(found)) == (CLEAN, [])


def test_a_nan_is_told_by_name_number_and_place(tmp_path: Path) -> None:
    weight = torch.tensor([[1.0, 2.0], [NAN, -4.0]])
    found = diagnosis(saved(tmp_path, {"model": {"head.weight": weight}}))
    (symptom,) = found.symptoms
    assert (found.verdict, symptom.level, symptom.kind, symptom.name, symptom.role) == (
        BAD,
        "error",
        "nan",
        "model.head.weight",
        "parameter",
    )
    assert symptom.message == "1 of 4 values is NaN, first at [1, 0]; the finite ones lie in [-4, 2]"


def test_infinities_are_told_with_their_sign(tmp_path: Path) -> None:
    state = {"up": torch.tensor([INF, 1.0]), "down": torch.tensor([-INF, 1.0]), "both": torch.tensor([INF, -INF, 1.0])}
    texts = {each.name: each.message for each in diagnosis(saved(tmp_path, state)).symptoms}
    assert texts == {
        "up": "1 of 2 values is inf, first at [0]; the finite ones lie in [1, 1]",
        "down": "1 of 2 values is -inf, first at [0]; the finite ones lie in [1, 1]",
        "both": "2 of 3 values are inf, first at [0]; the finite ones lie in [1, 1] (1 of them -inf)",
    }


def test_a_mask_with_nan_or_plus_inf_is_no_mask(tmp_path: Path) -> None:
    state = {"mask": torch.tensor([-INF, NAN]), "causal_mask": torch.tensor([INF, 0.0])}
    assert told(diagnosis(saved(tmp_path, state)), "error") == [
        ("nan", "mask"),
        ("inf", "mask"),
        ("inf", "causal_mask"),
    ]


@pytest.mark.parametrize("name", ["mask_decoder.weight", "mask_token", "max_pool.weight", "minimizer.w", "best.weight"])
def test_a_parameter_whose_name_only_resembles_a_mask_or_a_minimum_is_told(tmp_path: Path, name: str) -> None:
    found = diagnosis(saved(tmp_path, {name: torch.full((2, 2), -INF)}))
    assert told(found) == [("inf", name)]


@pytest.mark.parametrize(
    ("name", "role"),
    [
        ("ema.w", "ema"),
        ("model_ema.w", "ema"),
        ("swap.w", "parameter"),
        ("schema.w", "parameter"),
        ("bn.running_mean", "buffer"),
    ],
)
def test_a_name_tells_the_role(tmp_path: Path, name: str, role: str) -> None:
    (symptom,) = diagnosis(saved(tmp_path, {name: torch.tensor([NAN])})).symptoms
    assert symptom.role == role


def test_the_steps_of_a_config_are_not_those_of_the_run(tmp_path: Path) -> None:
    assert diagnosis(saved(tmp_path, {"w": torch.ones(1), "args": {"steps": 100_000, "epochs": 300}})).step is None


@pytest.mark.parametrize(
    ("name", "data", "first"),
    [
        ("x.json", b'{"embedding": [1.0, NaN, Infinity]}', "embedding.1"),
        ("x.json", b"[[1.0], [-Infinity]]", "1.0"),
        ("x.pkl", pickle.dumps({"weights": [[1.0, NAN], [INF]]}), "weights.0.1"),
        ("x.pkl", pickle.dumps({"weights": [1.0, NAN]}, protocol=0), "weights.1"),
        ("x.pkl", pickle.dumps({"weights": (1.0, NAN)}, protocol=1), "weights.1"),
    ],
)
def test_where_lists_are_all_there_is_a_nan_in_them_is_an_error(
    tmp_path: Path, name: str, data: bytes, first: str
) -> None:
    (tmp_path / name).write_bytes(data)
    found = diagnosis(tmp_path / name)
    assert (found.verdict, told(found)) == (BAD, [("number", first)])


def test_a_json_of_finite_numbers_is_clean(tmp_path: Path) -> None:
    (tmp_path / "x.json").write_bytes(b'{"embedding": [1.0, 2.0], "loss": NaN}')
    found = diagnosis(tmp_path / "x.json")
    assert (found.verdict, told(found)) == (CLEAN, [("number", "loss")])


def test_the_place_in_a_complex_tensor_is_that_of_the_number(tmp_path: Path) -> None:
    values = torch.zeros(3, 50, dtype=torch.complex64)
    values[1, 7] = complex(0, NAN)
    found = diagnosis(saved(tmp_path, {"w": values}))
    assert message(found, "nan").startswith("1 of 300 real and imaginary parts is NaN, first at [1, 7]")


def test_a_number_that_is_nan_is_a_note(tmp_path: Path) -> None:
    found = diagnosis(saved(tmp_path, {"w": torch.ones(2), "history": {"loss": [1.0, NAN, NAN]}}))
    assert (found.verdict, told(found, "note")) == (CLEAN, [("number", "history.loss.1")])


class TestOptimizerState:
    def test_it_is_told_with_the_name_of_its_parameter(self, tmp_path: Path) -> None:
        run = Run().train()
        run.optimizer.state[run.last.bias]["exp_avg"][0] = NAN
        run.optimizer.state[run.last.weight]["exp_avg_sq"][0, 0] = INF
        assert told(diagnosis(saved(tmp_path, run.state()))) == [
            ("inf", "exp_avg_sq of model.2.weight"),
            ("nan", "exp_avg of model.2.bias"),
        ]

    def test_groups_with_and_without_decay_are_told_apart(self, tmp_path: Path) -> None:
        run = Run()
        matrices = [each for each in run.model.parameters() if each.dim() > 1]
        others = [each for each in run.model.parameters() if each.dim() < 2]
        run.optimizer = torch.optim.AdamW([{"params": matrices}, {"params": others, "weight_decay": 0.0}])
        run.train()
        run.optimizer.state[run.last.weight]["exp_avg"][0] = NAN
        run.optimizer.state[run.last.bias]["exp_avg"][0] = NAN
        assert told(diagnosis(saved(tmp_path, run.state()))) == [
            ("nan", "exp_avg of model.2.weight"),
            ("nan", "exp_avg of model.2.bias"),
        ]

    def test_names_that_the_optimizer_saves_are_believed(self, tmp_path: Path) -> None:
        run = Run()
        run.optimizer = torch.optim.AdamW([*run.model.named_parameters()])
        run.train()
        run.optimizer.state[run.last.bias]["exp_avg"][0] = NAN
        path = saved(tmp_path, {"optimizer": run.optimizer.state_dict()})
        assert told(diagnosis(path)) == [("nan", "exp_avg of 2.bias")]

    def test_without_a_model_the_number_and_the_shape_are_told(self, tmp_path: Path) -> None:
        run = Run().train()
        run.optimizer.state[run.last.weight]["exp_avg"][0] = NAN
        path = saved(tmp_path, run.optimizer.state_dict())
        assert told(diagnosis(path)) == [("nan", "exp_avg of parameter 4 (2x8)")]

    def test_a_naming_that_does_not_fit_every_shape_is_not_believed(self, tmp_path: Path) -> None:
        run = Run().train()
        run.optimizer.state[run.last.weight]["exp_avg"][0] = NAN
        state = run.state()
        state["model"] = dict(reversed(state["model"].items()))
        assert told(diagnosis(saved(tmp_path, state))) == [("nan", "exp_avg of parameter 4 (2x8)")]

    def test_a_negative_average_of_squares_is_an_error(self, tmp_path: Path) -> None:
        run = Run().train()
        run.optimizer.state[run.last.bias]["exp_avg_sq"][0] = -1.0
        found = diagnosis(saved(tmp_path, run.state()))
        assert (found.verdict, told(found, "error")) == (BAD, [("negative-square", "exp_avg_sq of model.2.bias")])
        run.train(1)
        assert run.last.bias.isnan().any(), "the next step is NaN"

    def test_a_negative_running_variance_is_an_error(self, tmp_path: Path) -> None:
        path = saved(tmp_path, {"bn.running_var": torch.tensor([1.0, -0.5])})
        assert told(diagnosis(path)) == [("negative-square", "bn.running_var")]

    def test_a_gradient_that_was_always_zero_is_a_note(self, tmp_path: Path) -> None:
        run = Run()
        run.model.append(torch.nn.Hardtanh(100.0, 101.0))  # flat at every output that there is
        found = diagnosis(saved(tmp_path, run.train().state()))
        assert told(found)[-2:] == [
            ("no-gradient", "exp_avg_sq of model.2.weight"),
            ("no-gradient", "exp_avg_sq of model.2.bias"),
        ]

    def test_steps_are_counted_by_the_optimizer_if_nobody_else_does(self, tmp_path: Path) -> None:
        run = Run().train(7)
        path = saved(tmp_path, {"model": run.model.state_dict(), "optimizer": run.optimizer.state_dict()})
        assert diagnosis(path).step == 7


def test_an_ema_is_told_as_one(tmp_path: Path) -> None:
    run = Run()
    average = torch.optim.swa_utils.AveragedModel(run.model)
    average.module[0].weight.data[0] = NAN
    found = diagnosis(saved(tmp_path, {"model": run.model.state_dict(), "ema": average.state_dict()}))
    assert [(each.name, each.role) for each in found.symptoms] == [("ema.module.0.weight", "ema")]


@pytest.mark.parametrize(
    ("scale", "level"),
    [(0.0, "error"), (NAN, "error"), (INF, "error"), (2.0**-20, "warning"), (1.0, None), (65536.0, None)],
)
@pytest.mark.parametrize("as_tensor", [True, False], ids=["a tensor", "a number"])
def test_the_loss_scale_is_judged(tmp_path: Path, scale: float, level: str | None, as_tensor: bool) -> None:  # noqa: FBT001 - a parameter of the test
    state = torch.amp.GradScaler("cpu").state_dict()
    state["scale"] = torch.tensor(scale) if as_tensor else scale
    found = diagnosis(saved(tmp_path, {"w": torch.ones(2), "scaler": state}))
    levels = [each.level for each in found.symptoms if each.kind == "loss-scale"]
    assert (levels, found.formats) == ([level] if level else [], ("float16",))


def test_the_loss_scaler_of_deepspeed_is_judged_without_its_class(tmp_path: Path) -> None:
    class Scaler:
        def __init__(self) -> None:
            self.cur_scale, self.cur_iter, self.scale_window = 0.0, 10, 1000

    Scaler.__qualname__ = "Scaler"
    globals()["Scaler"] = Scaler
    path = saved(tmp_path, {"optimizer_state_dict": {"loss_scaler": Scaler()}})
    assert told(diagnosis(path)) == [("loss-scale", "optimizer_state_dict.loss_scaler")]


@pytest.mark.parametrize(
    ("more", "expected"),
    [
        pytest.param({}, [], id="a run in float32"),
        pytest.param({"scaler": torch.amp.GradScaler("cpu").state_dict()}, [("beyond-format", "model.w")], id="a run with a loss scaler"),
        pytest.param({"other": torch.ones(2).half()}, [("beyond-format", "model.w")], id="a run with halves"),
        pytest.param({"other": torch.ones(2).bfloat16()}, [], id="a run in bfloat16, which reaches further"),
    ],
)  # fmt: skip
def test_values_beyond_float16_matter_when_the_run_uses_it(
    tmp_path: Path, more: dict[str, Any], expected: list[Any]
) -> None:
    assert told(diagnosis(saved(tmp_path, {"model": {"w": torch.tensor([7e4, 1.0])}, **more}))) == expected


def test_values_beyond_bfloat16_are_told(tmp_path: Path) -> None:
    state = {"w": torch.tensor([3.4e38, 1.0]), "other": torch.ones(2).bfloat16()}
    assert message(diagnosis(saved(tmp_path, state)), "beyond-format").startswith(
        "reaches 3.4e+38, which is inf in bfloat16"
    )


def test_a_layer_that_exploded_is_told_against_its_kind(tmp_path: Path) -> None:
    found = diagnosis(saved(tmp_path, layers(**{"layers.9.weight": torch.full((16, 16), 5e3)})))
    assert (found.verdict, told(found, "warning")) == (CLEAN, [("exploded", "layers.9.weight")])
    assert message(found, "exploded").startswith(
        "reaches 5e+03 (rms 5e+03); the median rms of the 6 of its kind is 0.0"
    )


@pytest.mark.parametrize(("epoch", "level"), [(0, "note"), (5, "warning")], ids=["untrained", "trained"])
def test_a_matrix_of_zeros_among_others_is_dead(tmp_path: Path, epoch: int, level: str) -> None:
    state = {"model": layers(**{"layers.9.weight": torch.zeros(16, 16)}), "epoch": epoch}
    assert told(diagnosis(saved(tmp_path, state)), level) == [("dead", "model.layers.9.weight")]


def test_many_subnormals_are_a_note(tmp_path: Path) -> None:
    found = diagnosis(saved(tmp_path, {"w": torch.full((100,), 1e-7).half(), "v": torch.full((100,), 1e-3).half()}))
    assert told(found) == [("subnormal", "w")]
    assert message(found, "subnormal").startswith("about 100% of its values are subnormal in float16")
