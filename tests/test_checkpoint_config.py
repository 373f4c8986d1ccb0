"""What a training config states: its learning rates and schedules, in the four ways people write them."""

from __future__ import annotations

import json
import sys
from typing import TYPE_CHECKING

import pytest

from nanlint.checkpoint.stated import Config, Stated, read_config
from nanlint.errors import NanlintError

if TYPE_CHECKING:
    from pathlib import Path


def stated(folder: Path, name: str, text: str) -> Config:
    path = folder / name
    path.write_text(text, encoding="utf-8")
    return read_config(path)


def rates(config: Config) -> list[tuple[float, str]]:
    return [(each.value, each.where) for each in config.numbers if each.is_learning_rate]


@pytest.mark.parametrize(
    "key",
    ["lr", "LR", "learning_rate", "LEARNING_RATE", "learningRate", "base_lr", "max_lr", "peak_lr", "lr_g", "init-lr"],
)
def test_these_are_learning_rates(key: str) -> None:
    assert Stated(key, 1.0, "").is_learning_rate


@pytest.mark.parametrize(
    "key", ["min_lr", "lr_decay", "warmup_lr", "lr_scheduler", "final_lr", "lr_warmup_steps", "color", "blr_mode"]
)
def test_these_are_not(key: str) -> None:
    assert not Stated(key, 1.0, "").is_learning_rate


def test_names_are_compared_in_any_spelling() -> None:
    assert Stated("T_MAX", 1.0, "").is_called("T_max")
    assert not Stated("max", 1.0, "").is_called("T_max")


def test_yaml_is_read_with_numbers_that_yaml_takes_for_text(tmp_path: Path) -> None:
    pytest.importorskip("yaml", reason="pyyaml is not installed")
    text = "trainer:\n  lr: 1e-5  # text to PyYAML\n  min_lr: 1.0e-6\n  amp: true\nmodel: !Own {depth: 3}\noptim:\n- {max_lr: 0.1}\n"
    config = stated(tmp_path, "config.yaml", text)
    assert rates(config) == [(1e-5, "config.yaml trainer.lr"), (0.1, "config.yaml optim.0.max_lr")]


def test_toml_is_read(tmp_path: Path) -> None:
    config = stated(tmp_path, "config.toml", '[optimizer]\nlr = 3e-4\n[trainer]\nprecision = "bf16-mixed"\n')
    assert (rates(config), config.formats) == ([(3e-4, "config.toml optimizer.lr")], ("bfloat16",))


def test_json_is_read(tmp_path: Path) -> None:
    config = stated(tmp_path, "args.json", json.dumps({"learning_rate": 5e-5, "fp16": True, "bf16": False}))
    assert (rates(config), config.formats) == ([(5e-5, "args.json learning_rate")], ("float16",))


PYTHON = """
import missing_module
LEARNING_RATE = 1e-4  # halved
class Config:
    lr: float = 5e-4 / 2
    base_lr = compute()
    min_lr = 1e-6
defaults = {"max_lr": 2e-3}
parser.add_argument("--peak-lr", type=float, default=3e-3)
train(lr=-1.0)
raise SystemExit("not run")
"""


def test_python_is_read_and_not_run(tmp_path: Path) -> None:
    assert sorted(rates(stated(tmp_path, "config.py", PYTHON))) == [
        (-1.0, "config.py:10 lr"),
        (1e-4, "config.py:3 LEARNING_RATE"),
        (5e-4 / 2, "config.py:5 lr"),
        (2e-3, "config.py:8 max_lr"),
        (3e-3, "config.py:9 peak-lr"),
    ]


@pytest.mark.parametrize(
    ("name", "text", "complaint"),
    [
        pytest.param("c.ini", "", "a config is .yaml, .toml, .json or .py", id="another format"),
        pytest.param(
            "c.json", "{", "c.json:1: not valid JSON: the bracket that opens here is never closed", id="no JSON"
        ),
        pytest.param("c.toml", "a = 1\nlr =\n", "c.toml:2: ", id="no TOML"),
        pytest.param("c.py", "a = 1\nlr = (\n", "c.py:2: ", id="no Python"),
    ],
)
def test_a_config_that_cannot_be_read_is_told(tmp_path: Path, name: str, text: str, complaint: str) -> None:
    with pytest.raises(NanlintError) as raised:
        stated(tmp_path, name, text)
    assert str(raised.value).startswith(f"--config {tmp_path / name}")
    assert complaint in str(raised.value)


def test_yaml_that_is_broken_is_told_with_its_line(tmp_path: Path) -> None:
    pytest.importorskip("yaml", reason="pyyaml is not installed")
    with pytest.raises(NanlintError, match=r"c\.yaml:2: not valid YAML"):
        stated(tmp_path, "c.yaml", "a: 1\n  b: - [\n")


def test_a_config_that_is_not_there_is_told(tmp_path: Path) -> None:
    with pytest.raises(NanlintError, match="No such file"):
        read_config(tmp_path / "c.yaml")


def test_without_pyyaml_it_says_what_to_install(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "yaml", None)
    monkeypatch.delitem(sys.modules, "nanlint.source.configs.from_yaml", raising=False)
    with pytest.raises(NanlintError, match="pip install pyyaml"):
        stated(tmp_path, "c.yaml", "lr: 1\n")
