"""The settings that Python code states, in the ways people write a config in Python."""

from __future__ import annotations

import ast

import pytest

from nanlint.analysis.config.python_settings import python_configs
from nanlint.analysis.config.settings import Config, Setting


def configs(text: str) -> list[Config]:
    return python_configs(ast.parse(text), text)


def stated(text: str) -> list[dict[str, object]]:
    """Dotted path -> value, config by config."""
    return [{".".join(setting.path): setting.value for setting in config.settings} for config in configs(text)]


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        pytest.param("LEARNING_RATE = 1e-4\nFP16 = True\n", {"learning_rate": 1e-4, "fp16": True}, id="constants"),
        pytest.param("lr: float = -1.0\n", {"lr": -1.0}, id="an annotated constant"),
        pytest.param('parser.add_argument("-c", "--grad-clip", default=1e6)\n', {"grad_clip": 1e6}, id="an argument"),
        pytest.param('@click.option("--lr", default=1.0)\ndef main(lr): ...\n', {"lr": 1.0}, id="an option of click"),
        pytest.param('flags.DEFINE_float("lr", 1e-3, "rate")\n', {"lr": 1e-3}, id="a flag of absl"),
        pytest.param("@dataclass\nclass A:\n    lr: float = 1e-3\n    n: int\n", {"lr": 1e-3}, id="a dataclass"),
        pytest.param(
            "@dataclass\nclass A:\n    lr: float = field(default=1e-3)\n", {"lr": 1e-3}, id="a field with a default"
        ),
        pytest.param("class TrainConfig:\n    lr = 1e-3\n", {"lr": 1e-3}, id="a config class"),
        pytest.param("TrainingArguments(fp16=True, **more)\n", {"fp16": True}, id="keyword arguments"),
        pytest.param("torch.optim.AdamW(p, lr=2, betas=(0.9, 1))\n", {"lr": 2, "betas": (0.9, 1)}, id="an optimizer"),
        pytest.param('f({"optim": {"lr": 1, "n": len(x)}, **y})\n', {"optim.lr": 1}, id="a dict within a dict"),
        pytest.param("def f(cfg):\n    cfg.optim.lr = 3\n", {"optim.lr": 3}, id="an attribute of a config"),
        pytest.param('config["lr"] = 3\n', {"lr": 3}, id="an entry of a config"),
        pytest.param("CLIP = float('inf')\n", {"clip": float("inf")}, id="infinity by name"),
        pytest.param("CLIP = math.inf\nDTYPE = torch.bfloat16\n", {"clip": float("inf"), "dtype": "bfloat16"}, id="members"),
    ],
)  # fmt: skip
def test_a_setting_is_read(text: str, expected: dict[str, object]) -> None:
    assert stated(text) == [expected]


@pytest.mark.parametrize(
    "text",
    [
        pytest.param("lr = compute()\n", id="computed"),
        pytest.param("class Model:\n    lr = 1\n", id="a class that is no config"),
        pytest.param("def f():\n    lr = 1\n", id="a local variable"),
        pytest.param('parser.add_argument("data", default=1)\n', id="a positional argument"),
        pytest.param('parser.add_argument("--lr")\n', id="no default"),
        pytest.param("thing.lr = 1\n", id="an attribute of something else"),
        pytest.param("if x:\n    config.fp16 = True\nelse:\n    config.bf16 = True\n", id="one of two branches"),
        pytest.param("f(lr=1)\n", id="a call of something else"),
        pytest.param("def test_conflict():\n    TrainingArguments(fp16=True, bf16=True)\n", id="a test"),
        pytest.param("class TestConfig:\n    lr = 1\n    def f(self):\n        Config(lr=1)\n", id="a class of tests"),
        pytest.param("x[0] = 1\na, b = 1, 2\n", id="other assignments"),
    ],
)
def test_what_is_no_setting_is_left_out(text: str) -> None:
    assert stated(text) == []


def test_each_call_class_and_scope_is_a_config_of_its_own() -> None:
    text = "TrainingArguments(fp16=True)\nTrainingArguments(bf16=True)\nFP16 = False\n"
    assert stated(text) == [{"fp16": True}, {"bf16": True}, {"fp16": False}]


def test_a_setting_stands_where_it_is_written_in_characters() -> None:
    (config,) = configs('print("é"); x = TrainingArguments(fp16=True)\n')
    (setting,) = config.settings
    assert (setting.span.line, setting.span.column, setting.text) == (1, 35, "fp16=True")


def test_an_argument_is_quoted_with_its_flag() -> None:
    ((setting,),) = [config.settings for config in configs('p.add_argument("--grad-clip", default=1e6)\n')]
    assert setting.text == "--grad-clip 1000000.0"


def setting(path: str, value: object) -> Setting:
    from nanlint.model import Span  # noqa: PLC0415 - for this helper only

    return Setting(tuple(path.split(".")), value, Span(1, 1, 1, 1), "")  # type: ignore[arg-type] # any scalar


@pytest.mark.parametrize(
    ("first", "second", "one_run"),
    [
        pytest.param("fp16", "bf16", True, id="side by side"),
        pytest.param("fp16", "trainer.bf16", True, id="one in a section"),
        pytest.param("model.fp16", "trainer.bf16", True, id="parts of one run"),
        pytest.param("small.fp16", "large.bf16", False, id="two runs"),
        pytest.param("small.fp16", "small.trainer.bf16", True, id="a part of the run"),
    ],
)
def test_two_settings_are_of_one_run_unless_their_sections_part(first: str, second: str, *, one_run: bool) -> None:
    here, there = setting(first, value=True), setting(second, value=True)
    assert Config((here, there)).beside(here, "bf16") == ([there] if one_run else [])


@pytest.mark.parametrize(
    ("value", "number", "numbers"),
    [
        pytest.param(3, 3.0, (), id="a number"),
        pytest.param("1e-5", 1e-5, (), id="a number in quotes"),
        pytest.param(True, None, (), id="a switch"),
        pytest.param("(0.9, 0.98)", None, (0.9, 0.98), id="a list in quotes"),
        pytest.param((0.9, "${x}"), None, (), id="a list with something else"),
        pytest.param(10**400, None, (), id="a number beyond floats"),
    ],
)
def test_a_number_is_read_from_what_is_written(value: object, number: float | None, numbers: tuple[float, ...]) -> None:
    assert (setting("x", value).number, setting("x", value).numbers) == (number, numbers)
