"""Every rule against its fixtures, its documentation against itself, and all of it under one name."""

from __future__ import annotations

import re
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from nanlint.api import check_source
from nanlint.engine.rules.rulebook import rulebook
from nanlint.settings import Settings
from nanlint.testing import check_folder, expectations, findings_in
from tests.checkout import ROOT

if TYPE_CHECKING:
    from nanlint.rule import Rule

FOLDERS = sorted((ROOT / "fixtures").glob("NAN*"))
RULES = list(rulebook().rules.values())
FIXTURES = sorted(path for folder in FOLDERS for path in folder.glob("*.py"))

LONGEST_MESSAGE = 100
SECTIONS = ("Why it hurts", "Flagged", "Instead", "Silent when", "Fix")
# What the examples in the documentation take for granted: they stand in a training loop.
PREAMBLE = """\
import math
import torch
import torch.nn.functional as F
from torch import nn


def train(model, optimizer, logits, target, config, loader, x, y, mask, total, loss, p, q, t, scores, labels):
"""
LOOP = "    for batch in loader:\n"


def code_of(rule: type[Rule]) -> str:
    return rule.code


def folder_of(rule: type[Rule]) -> str:
    return f"{rule.code}_{rule.name.replace('-', '_')}"


def example(rule: type[Rule], section: str) -> str:
    """The code of one section as a function of its own, inside a loop."""
    code = rule.section(section)  # type: ignore[arg-type] # the sections are those of SECTIONS
    assert code.strip(), f"{rule.code} has no section {section}"
    lines = [f"    {line}" if line.strip() else line for line in code.splitlines()]
    return PREAMBLE + LOOP + "\n".join(lines) + "\n"


@pytest.mark.parametrize("folder", FOLDERS, ids=lambda folder: folder.name)
def test_a_folder_holds_what_it_announces(folder: Path) -> None:
    assert check_folder(folder) == []


def test_every_rule_has_a_folder_and_every_folder_a_rule() -> None:
    assert [folder.name for folder in FOLDERS] == sorted(folder_of(rule) for rule in RULES)


@pytest.mark.parametrize("rule", RULES, ids=code_of)
def test_a_folder_shows_the_bad_and_the_good(rule: type[Rule]) -> None:
    names = {path.name for path in (ROOT / "fixtures" / folder_of(rule)).glob("*.py")}
    assert {"bad.py", "good.py"} <= names


@pytest.mark.parametrize("rule", RULES, ids=code_of)
def test_file_class_and_name_are_the_same_words(rule: type[Rule]) -> None:
    words = rule.name.split("-")
    path = Path(rulebook().sources[rule.code])
    assert path.stem == f"{rule.code.lower()}_{'_'.join(words)}"
    assert rule.__name__.lower() == "".join(words)


@pytest.mark.parametrize("rule", RULES, ids=code_of)
def test_the_documentation_has_all_sections_in_order(rule: type[Rule]) -> None:
    assert tuple(re.findall(r"^ *## (.+)$", rule.__doc__ or "", re.MULTILINE)) == SECTIONS


@pytest.mark.parametrize("rule", RULES, ids=code_of)
def test_what_the_documentation_calls_flagged_is_shown_by_default(rule: type[Rule]) -> None:
    settings = Settings(select=("ALL",), preview=True)
    text = example(rule, "Flagged")
    shown = [finding for finding in check_source(text, settings=settings) if finding.code == rule.code]
    assert shown == findings_in(text, rule.code) != []


@pytest.mark.parametrize("rule", RULES, ids=code_of)
def test_what_the_documentation_recommends_is_silent_at_every_level(rule: type[Rule]) -> None:
    assert findings_in(example(rule, "Instead"), rule.code) == []


@pytest.mark.parametrize("path", FIXTURES, ids=lambda path: f"{path.parent.name}/{path.name}")
def test_messages_fit_on_a_line_and_give_no_advice(path: Path) -> None:
    found = findings_in(path.read_text(encoding="utf-8"), path.parent.name.partition("_")[0])
    advice = re.compile(r"\b(use|should|consider|please|potential(ly)?|avoid)\b|!$", re.IGNORECASE)
    messages = [finding.message for finding in found]
    assert [message for message in messages if len(message) > LONGEST_MESSAGE] == []
    assert [message for message in messages if advice.search(re.sub(r"`[^`]*`", "", message))] == []


def test_a_marker_that_cannot_be_read_is_named_with_its_line() -> None:
    with pytest.raises(ValueError, match="line 2"):
        expectations('x = 1\ny = 2  # expect: nan110 "no code"\n')


def test_a_marker_may_announce_several_findings_and_their_severity() -> None:
    first, second = expectations('a + b  # expect: NAN110 "`a`" NAN401(info) "`b`"\n')
    assert (first.code, first.message, first.severity) == ("NAN110", "`a`", "")
    assert (second.code, second.message, second.severity) == ("NAN401", "`b`", "info")


def announced(folder: Path, **files: str) -> list[str]:
    """The problems of a folder for NAN110 with these fixtures."""
    target = folder / "NAN110_log_of_softmax"
    target.mkdir()
    for name, text in files.items():
        (target / f"{name.replace('_', '.')}.py").write_text(f'"""Why."""\nimport torch\ndef f(x):\n    {text}\n')
    return check_folder(target)


def test_a_finding_that_nobody_announced_is_a_problem(tmp_path: Path) -> None:
    (problem,) = announced(tmp_path, good="return torch.log2(x.softmax(-1))")
    assert problem.startswith("good.py:4: NAN110 is not announced")


def test_an_announced_finding_that_is_not_there_is_a_problem(tmp_path: Path) -> None:
    (problem,) = announced(tmp_path, bad='return x  # expect: NAN110 "can be 0"')
    assert problem == 'bad.py:4: NAN110 "can be 0" is announced, found is nothing'


def test_a_finding_with_another_message_is_a_problem(tmp_path: Path) -> None:
    problems = announced(tmp_path, bad='return torch.log2(x.softmax(-1))  # expect: NAN110 "purple"')
    assert "found is NAN110(warning) log2 of `x.softmax(-1)` is -inf" in problems[0]


def test_a_fix_without_its_twin_is_a_problem(tmp_path: Path) -> None:
    (problem,) = announced(tmp_path, bad='return torch.log(x.softmax(-1))  # expect: NAN110 "softmax"')
    assert problem == "bad.py: has fixes, so bad.fixed.py must show what they give"


def test_a_twin_that_differs_from_what_the_fixes_give_is_a_problem(tmp_path: Path) -> None:
    bad = 'return torch.log(x.softmax(-1))  # expect: NAN110 "softmax"'
    (problem,) = announced(tmp_path, bad=bad, bad_fixed="return x")
    assert "the fixes of bad.py give something else" in problem
    assert "+    return x.log_softmax(-1)" in problem


def test_a_twin_without_a_source_is_a_problem(tmp_path: Path) -> None:
    (problem,) = announced(tmp_path, bad_fixed="return x")
    assert problem == "bad.fixed.py: there is no bad.py that it could be made of"


def test_a_bad_file_that_announces_nothing_is_a_problem(tmp_path: Path) -> None:
    assert announced(tmp_path, bad="return x") == ["bad.py: announces no finding"]


def test_a_config_is_held_to_what_it_announces(tmp_path: Path) -> None:
    folder = tmp_path / "NAN603_risky_config_value"
    folder.mkdir()
    (folder / "bad.yaml").write_text('# Why.\nlr: 1e-3\ngrad_clip: 1e6  # expect: NAN603 "clipping"\n')
    (folder / "good.toml").write_text("lr = 1e-3\ngrad_clip = 1e6\n")
    assert [problem.partition(": ")[2] for problem in check_folder(folder)] == [
        "the first line must say why it goes wrong",
        "NAN603 is not announced: `grad_clip = 1e6` effectively disables clipping; typical values are 0.1-10",
    ]


def test_an_empty_folder_is_a_problem(tmp_path: Path) -> None:
    assert announced(tmp_path) == [f"{tmp_path / 'NAN110_log_of_softmax'}: no fixtures"]


LOCAL_RULE = '''
"""ABC001 no-seven."""

from nanlint.rule import Finding, Iterator, OpHazard, Rule, Severity, every


class NoSeven(Rule):
    """Seven is not liked here."""

    code = "ABC001"
    name = "no-seven"
    severity = Severity.WARNING
    hazards = (every("torch.full"),)

    def check(self, hazard: OpHazard) -> Iterator[Finding]:
        if hazard.op.operands["fill_value"].number == 7:
            yield self.told(hazard, f"`{hazard.text}` is full of 7")
'''


def test_a_rule_of_ones_own_is_tested_the_same_way(tmp_path: Path) -> None:
    rules, fixtures = tmp_path / "rules", tmp_path / "ABC001_no_seven"
    rules.mkdir()
    fixtures.mkdir()
    (rules / "abc001_no_seven.py").write_text(LOCAL_RULE.lstrip())
    (fixtures / "bad.py").write_text(
        '"""Seven."""\nimport torch\nx = torch.full((2,), 7)  # expect: ABC001(warning) "is full of 7"\n'
    )
    (fixtures / "good.py").write_text('"""Six."""\nimport torch\nx = torch.full((2,), 6)\n')
    assert check_folder(fixtures, local_rules=[rules]) == []
