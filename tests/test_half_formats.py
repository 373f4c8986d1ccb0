"""Which lines of a project switch a half format on."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from nanlint.api import check_paths
from nanlint.source.projects.half_formats import switches

if TYPE_CHECKING:
    from pathlib import Path


def said(line: str, path: str = "train.py") -> list[tuple[str, bool]]:
    return sorted({(found.dtype, found.is_whole) for found in switches(path, f"{line}\n".encode())})


@pytest.mark.parametrize(
    ("line", "found"),
    [
        ("model.half()", [("float16", True)]),
        ("model = model.to(device, torch.float16)", [("float16", True)]),
        ("x = load(name, torch_dtype=torch.bfloat16)", [("bfloat16", True)]),
        ("scaler = torch.cuda.amp.GradScaler()", [("float16", False)]),
        ("with torch.autocast('cuda'):\n    pass", [("float16", False)]),
        ("with torch.autocast('cuda', dtype=torch.bfloat16):\n    pass", [("bfloat16", False)]),
        ("args = TrainingArguments(fp16=True)", [("float16", False)]),
        ("parser.add_argument('--fp16', action='store_true')", [("float16", False)]),
        ("with torch.autocast('cuda', torch.bfloat16):\n    pass", [("bfloat16", False)]),
        ("torch.set_autocast_dtype('cuda', torch.bfloat16)", [("bfloat16", False)]),
        ("torch.set_default_dtype(torch.float16)", [("float16", True)]),
        ("x = x.type(torch.float16)", [("float16", True)]),
        ("trainer = Trainer(precision='bf16-true')", [("bfloat16", True)]),
        ("trainer = Trainer(precision='16-mixed')", [("float16", False)]),
        ("accelerator = Accelerator(mixed_precision='bf16')", [("bfloat16", False)]),
        ("parser.add_argument('--mixed_precision', type=str, default='fp16')", [("float16", False)]),
        ("parser.add_argument('--dtype', default='bfloat16')", [("bfloat16", True)]),
        ("use_fp16: bool = True", [("float16", False)]),
        ("config = {'fp16': {'enabled': True}}", [("float16", True)]),
        ("disable_fp16 = True", []),
        ("trainer = Trainer(precision=32)", []),
        ("with torch.cuda.amp.autocast(False):\n    pass", []),
        ("if x.dtype == torch.float16: pass", []),
        ("scaler = GradScaler(enabled=False)", []),
        ("with torch.autocast('cuda', enabled = False):\n    pass", []),
        ("# model.half()", []),
        ('"""Use it so.\n\nmodel.half()\n"""', []),
        ("TrainingArguments(fp16=False)", []),
    ],
)
def test_a_line_of_code_switches_a_format_on(line: str, found: list[tuple[str, bool]]) -> None:
    assert said(line) == found


@pytest.mark.parametrize(
    ("text", "found"),
    [
        ("fp16: true", [("float16", False)]),
        ("mixed_precision: bf16", [("bfloat16", False)]),
        ('{\n  "fp16": {\n    "enabled": true\n  }\n}', [("float16", True)]),
        ('{\n  "fp16": {\n    "enabled": false\n  }\n}', []),
        ("precision: 32", []),
        ('mixed_precision: "no"', []),
        ('{"bf16": {"enabled": true}}', [("bfloat16", True)]),
        ('"torch_dtype": "float16",', [("float16", True)]),
    ],
)
def test_so_does_a_setting(text: str, found: list[tuple[str, bool]]) -> None:
    assert said(text, "config.yaml") == found


@pytest.mark.parametrize(
    ("command", "found"),
    [
        ("accelerate launch --mixed_precision bf16 train.py", [("bfloat16", False)]),
        ("python train.py --precision 16", [("float16", False)]),
        ("python train.py --precision 32", []),
        ("python train.py --fp16", [("float16", False)]),
    ],
)
def test_so_does_a_command(command: str, found: list[tuple[str, bool]]) -> None:
    assert said(command, "run.sh") == found


LOSS = "import torch\ndef share_loss(x):\n    size = x.abs()\n    return (size / (size + 1e-8)).mean()\n"


@pytest.mark.parametrize(
    ("beside", "formats", "level"),
    [
        ("model.half()\n", "", "warning"),
        ("x = 1\n", "", "info"),
        ("x = 1\n", "float16", "warning"),
    ],
    ids=["the code says so", "nothing says so", "the settings say so"],
)
def test_what_breaks_in_half_alone_is_shown_where_the_project_uses_it(
    tmp_path: Path, beside: str, formats: str, level: str
) -> None:
    (tmp_path / ".git").mkdir()
    (tmp_path / "train.py").write_text(beside, encoding="utf-8")
    (tmp_path / "loss.py").write_text(LOSS, encoding="utf-8")
    (tmp_path / "nanlint.toml").write_text(f'severity = "info"\nformats = [{formats and repr(formats)}]\n')
    (found,) = check_paths([tmp_path]).findings
    assert (found.code, found.severity.value) == ("NAN203", level)


@pytest.mark.parametrize(
    ("beside", "count"),
    [
        ("loss.backward()\n", 0),
        ("loss.backward()\n# model.half() saves memory\n", 0),
        ('def f():\n    """Of any format (torch.bfloat16)."""\nloss.backward()\n', 0),
        ("loss.backward()\nif x.dtype == torch.float16: pass\nnp.save(path, x.astype(np.float16))\n", 0),
        ("loss.backward()\nwindow = getattr(torch, name)(400)\n", 0),
        ("loss.backward()\nmodel.half()\n", 3),
        ("loss.backward()\nfrom transformers import Trainer\n", 3),
        ("loss.backward()\nmodel.to(getattr(torch, args.dtype))\n", 3),
        ("loss.backward()\nUSE_FP16 = False\n", 3),
        ("x = 1\n", 3),
    ],
    ids=[
        "none",
        "a comment",
        "a docstring",
        "a comparison, and arrays that are stored",
        "a function by its name",
        "it runs in half",
        "a framework decides",
        "any dtype",
        "a switch that is off",
        "nothing trains",
    ],
)
def test_what_breaks_in_half_alone_is_silent_where_nothing_can_switch_it_on(
    tmp_path: Path, beside: str, count: int
) -> None:
    (tmp_path / "nanlint.toml").write_text('severity = "info"\n', encoding="utf-8")
    (tmp_path / "train.py").write_text(beside, encoding="utf-8")
    for name in ("a", "b", "c"):
        (tmp_path / f"{name}.py").write_text(LOSS, encoding="utf-8")
    assert len(check_paths([tmp_path]).findings) == count


def test_what_breaks_in_half_alone_is_silent_where_the_settings_name_other_formats(tmp_path: Path) -> None:
    (tmp_path / "nanlint.toml").write_text('severity = "info"\nformats = ["float32"]\n', encoding="utf-8")
    (tmp_path / "loss.py").write_text(f"{LOSS}model.half()\n", encoding="utf-8")
    assert check_paths([tmp_path]).findings == ()


def test_an_installed_package_is_run_in_formats_of_others(tmp_path: Path) -> None:
    (tmp_path / "pyproject.toml").write_text(
        '[build-system]\nrequires = []\n[tool.nanlint]\nseverity = "info"\n', encoding="utf-8"
    )
    for name in ("a", "b"):
        (tmp_path / f"{name}.py").write_text(f"{LOSS}loss.backward()\n", encoding="utf-8")
    assert len(check_paths([tmp_path]).findings) == 2


CAST = "import torch\nwith torch.autocast('cuda'):\n    loss.backward()\n"


@pytest.mark.parametrize(
    ("size", "levels"),
    [("x.pow(2).sum()", []), ("x.softmax(-1)", []), ("(x @ x).abs()", ["warning"]), ("(x * 2).abs()", ["warning"])],
)
def test_what_autocast_runs_in_float32_breaks_only_where_the_tensors_are_half(
    tmp_path: Path, size: str, levels: list[str]
) -> None:
    (tmp_path / "nanlint.toml").write_text('severity = "info"\nselect = ["NAN203"]\n', encoding="utf-8")
    (tmp_path / "train.py").write_text(CAST, encoding="utf-8")
    (tmp_path / "loss.py").write_text(LOSS.replace("x.abs()", size), encoding="utf-8")
    assert [found.severity.value for found in check_paths([tmp_path]).findings] == levels


def test_tensors_that_are_half_in_another_script_are_not_those_of_a_run_under_autocast(tmp_path: Path) -> None:
    (tmp_path / "nanlint.toml").write_text('severity = "info"\nselect = ["NAN203"]\n', encoding="utf-8")
    (tmp_path / "train.py").write_text(CAST, encoding="utf-8")
    (tmp_path / "convert.py").write_text("model.half()\n", encoding="utf-8")
    (tmp_path / "loss.py").write_text(LOSS.replace("x.abs()", "x.pow(2).sum()"), encoding="utf-8")
    (found,) = check_paths([tmp_path]).findings
    assert found.severity.value == "info"
