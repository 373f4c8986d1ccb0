"""Config files on the command line: found, remembered, suppressed, fixed and reported as any other file is."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

import pytest

from tests.project import Project

if TYPE_CHECKING:
    from pathlib import Path

RISKY = "trainer:\n  lr: 3e-4\n  grad_clip: 1e6\n"
CLEAN = RISKY.replace("1e6", "1.0")
FOUND = "train.yaml:3:3: NAN603 `grad_clip: 1e6` effectively disables clipping; typical values are 0.1-10 [risky-config-value]\n"
BROKEN = "trainer:\n  lr: 3e-4\n  grad_clip: [1\n"
LAUNCHER = "compute_environment: LOCAL_MACHINE\ndistributed_type: MULTI_GPU\nmixed_precision: bf16\n"
TRAINER = "lr: 3e-4\nfp16: true\n"


@pytest.fixture
def project(tmp_path: Path) -> Project:
    made = Project.make(tmp_path)
    made.configure(select='["NAN0", "NAN6"]')
    return made


def found(project: Project, *words: str, stdin: bytes = b"") -> str:
    return project.check("-q", *words, stdin=stdin).out


# -- which files -----------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("name", "text", "place"),
    [
        pytest.param("train.yaml", RISKY, "3:3", id="yaml"),
        pytest.param("train.yml", RISKY, "3:3", id="yml"),
        pytest.param("conf/train.toml", "lr = 3e-4\ngrad-clip = 1e6\n", "2:1", id="toml"),
        pytest.param("train.json", '{"lr": 3e-4,\n "grad_clip": 1e6}\n', "2:2", id="json"),
        pytest.param("config.py", "LEARNING_RATE = 3e-4\nGRAD_CLIP = 1e6\nBATCH_SIZE = 4\n", "2:1", id="python"),
    ],
)
def test_a_training_config_is_checked_named_or_not(project: Project, name: str, text: str, place: str) -> None:
    project.write(name, text)
    assert found(project).startswith(f"{name}:{place}: NAN603")
    assert found(project, name).startswith(f"{name}:{place}: NAN603")


def test_a_config_of_something_else_is_not_checked(project: Project) -> None:
    project.write("app.yaml", "grad_clip: 1e6\n")
    assert project.check() == (0, "No files were checked.\n", "")
    assert project.check("app.yaml") == (0, "All clear: 1 file checked.\n", "")


def test_no_rule_about_settings_means_that_no_config_is_read(project: Project) -> None:
    project.configure(select='["NAN1"]')
    project.write("train.yaml", BROKEN)
    assert found(project) == ""


def test_stdin_is_read_as_its_name_says(project: Project) -> None:
    assert found(project, "-", "--stdin-filename", "train.yaml", stdin=RISKY.encode()) == FOUND


# -- what is broken --------------------------------------------------------------------------------------------


def test_a_broken_training_config_is_an_error_with_its_line(project: Project) -> None:
    project.write("train.yaml", BROKEN)
    assert "train.yaml:4: error: not valid YAML: " in project.check().out


def test_another_broken_config_is_an_error_if_it_is_named(project: Project) -> None:
    project.write("app.json", '{"a": 1\n "b": 2}')
    assert found(project) == ""
    message = "app.json:2: error: not valid JSON: a comma is missing before this; it was not checked\n"
    assert found(project, "app.json") == message


def test_a_broken_file_that_was_met_before_is_still_an_error_when_it_is_named(project: Project) -> None:
    project.write("app.json", "{")
    assert project.run("check", "-q").out == ""
    assert "never closed" in project.run("check", "-q", "app.json").out


def test_a_template_is_nobodys_yaml(project: Project) -> None:
    project.write("train.yaml", "lr: {{ rate }}\n{% if fp16 %}\nfp16: true\n{% endif %}\n")
    assert found(project) == ""
    assert found(project, "train.yaml") == ""


def test_a_config_that_is_no_utf8_is_an_error_if_it_is_about_training(project: Project) -> None:
    project.write("train.yaml", RISKY.encode() + b"# \xff\n")
    assert "train.yaml:4: error: not valid UTF-8" in project.check().out


# -- as any other file -----------------------------------------------------------------------------------------


def test_windows_line_ends_change_nothing(project: Project) -> None:
    project.write("train.yaml", RISKY.replace("\n", "\r\n"))
    assert found(project) == FOUND


@pytest.mark.parametrize(
    "comment",
    ["# nanlint: ignore[NAN603] measured", "# nanlint: ignore", "# noqa: NAN603"],
    ids=["by code", "all", "noqa"],
)
def test_a_comment_quiets_a_finding(project: Project, comment: str) -> None:
    project.write("train.yaml", RISKY.replace("1e6", f"1e6  {comment}"))
    outcome = project.check()
    assert (outcome.code, "1 suppressed" in outcome.out) == (0, True)


def test_a_comment_above_a_key_quiets_it(project: Project) -> None:
    project.write(
        "train.yaml",
        "# it's apostrophes that YAML is full of\n" + RISKY.replace("  grad", "  # nanlint: ignore[NAN603]\n  grad"),
    )
    assert found(project) == ""


def test_a_comment_that_quiets_nothing_is_told_and_removed(project: Project) -> None:
    project.write("train.yaml", CLEAN.replace("1.0", "1.0  # nanlint: ignore[NAN603]"))
    assert "NAN001" in found(project)
    project.check("--fix")
    assert project.read("train.yaml") == CLEAN


def test_suppressions_are_written_into_yaml(project: Project) -> None:
    project.write("train.yaml", RISKY)
    project.check("--add-ignores")
    assert "grad_clip: 1e6  # nanlint: ignore[NAN603]" in project.read("train.yaml")
    assert found(project) == ""


def test_findings_are_remembered_and_forgotten_with_the_file(project: Project) -> None:
    path = project.write("train.yaml", RISKY)
    first, second = project.run("check", "-q"), project.run("check", "-q")
    assert (first.out, second.out) == (FOUND, FOUND)
    path.write_text(CLEAN)
    assert project.run("check", "-q").out == ""


def test_a_baseline_keeps_a_known_finding_quiet(project: Project) -> None:
    project.write("train.yaml", RISKY)
    project.check("--write-baseline")
    assert project.check("--baseline", "nanlint-baseline.json").code == 0


def test_per_file_ignores_hold_for_configs(project: Project) -> None:
    project.write("train.yaml", RISKY)
    project.configure('[per-file-ignores]\n"*.yaml" = ["NAN603"]\n', select='["NAN6"]')
    assert found(project) == ""


@pytest.mark.parametrize("form", ["full", "concise", "json", "jsonl", "sarif", "github", "gitlab", "junit", "rdjson"])
def test_every_format_reports_a_config(project: Project, form: str) -> None:
    project.write("train.yaml", RISKY)
    outcome = project.check("--output-format", form)
    assert outcome.code == 1
    assert "train.yaml" in outcome.out
    assert "NAN603" in outcome.out or "risky-config-value" in outcome.out


def test_json_names_line_and_column_of_the_key(project: Project) -> None:
    project.write("train.yaml", RISKY)
    (finding,) = json.loads(project.check("--output-format", "json").out)["findings"]
    assert [finding[key] for key in ("line", "column", "end_line", "end_column")] == [3, 3, 3, 17]
    assert finding["direction"] == "loop"


def test_configs_go_to_several_processes_as_well(project: Project) -> None:
    for number in range(4):
        project.write(f"{number}.yaml", RISKY)
    assert found(project, "--jobs", "2").count("NAN603") == 4


# -- files of one run ------------------------------------------------------------------------------------------


def test_a_launcher_that_contradicts_its_trainer_is_told(project: Project) -> None:
    project.write("accelerate.yaml", LAUNCHER)
    project.write("configs/train.yaml", TRAINER)
    message = "`mixed_precision: bf16` conflicts with `fp16: true` in configs/train.yaml:2"
    assert found(project) == f"accelerate.yaml:3:1: NAN602 {message} [precision-config-conflict]\n"


def test_a_launcher_is_told_of_a_trainer_that_changed_since(project: Project) -> None:
    project.write("accelerate.yaml", LAUNCHER)
    path = project.write("train.yaml", TRAINER.replace("true", "false"))
    assert project.run("check", "-q").out == ""
    path.write_text(TRAINER)
    assert "NAN602" in project.run("check", "-q").out


@pytest.mark.parametrize(
    ("launcher", "trainers"),
    [
        pytest.param(LAUNCHER, {"train.yaml": "lr: 1\nbf16: true\n"}, id="they agree"),
        pytest.param(LAUNCHER.replace("bf16", "'no'"), {"train.yaml": TRAINER}, id="the launcher leaves it open"),
        pytest.param(LAUNCHER, {"a.yaml": TRAINER, "b.yaml": "lr: 1\nbf16: true\n"}, id="two trainers"),
        pytest.param(LAUNCHER, {"train.yaml": TRAINER, "other.yaml": LAUNCHER}, id="two launchers"),
        pytest.param(LAUNCHER, {"train.yaml": "lr: ${x\nfp16: [\n  {{"}, id="a trainer that cannot be read"),
        pytest.param(LAUNCHER, {f"{n}.yaml": TRAINER for n in range(70)}, id="too many to be of one run"),
    ],
)
def test_a_launcher_is_left_alone_where_nobody_can_tell(
    project: Project, launcher: str, trainers: dict[str, str]
) -> None:
    project.write("accelerate.yaml", launcher)
    for name, text in trainers.items():
        project.write(name, text)
    assert "accelerate.yaml:" not in found(project, "accelerate.yaml")


# -- a rule that fails -----------------------------------------------------------------------------------------

CRASHING = '''
"""ABC001 crashing."""

from nanlint.rule import Config, Finding, Iterator, Rule, Setting, Severity


class Crashing(Rule):
    """It fails."""

    code = "ABC001"
    name = "crashing"
    severity = Severity.WARNING
    settings = frozenset({"lr"})

    def check_setting(self, setting: Setting, config: Config) -> Iterator[Finding]:
        raise KeyError(setting.key)
'''


def test_a_rule_that_fails_on_a_setting_is_named_and_the_others_go_on(project: Project) -> None:
    project.write("rules/abc001_crashing.py", CRASHING.lstrip())
    project.write("nanlint.toml", 'local-rules = ["rules"]\nselect = ["ABC", "NAN6"]\nexclude = ["rules"]\n')
    project.write("train.yaml", RISKY)
    failed = "train.yaml:2: error: rule ABC001 crashing failed here (KeyError: 'lr'); the other rules went on\n"
    assert found(project) == FOUND + failed


CLIPPING = """import torch

LEARNING_RATE = 1e-3
GRAD_CLIP = 1e6


def step(model, optimizer, loss):
    loss.backward()
    torch.nn.utils.clip_grad_norm_(model.parameters(), GRAD_CLIP)
    optimizer.step()
"""


def test_a_setting_that_is_told_of_where_it_is_used_is_told_of_once(project: Project) -> None:
    project.write("train.py", CLIPPING)
    assert "train.py:4:1: NAN603" in found(project)
    project.configure(select='["NAN401", "NAN603"]')
    assert [line.split()[1] for line in found(project).splitlines()] == ["NAN401"]
