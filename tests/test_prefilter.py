"""The prefilter: which files and functions the words of the rules let through."""

from __future__ import annotations

import ast
import gc
from textwrap import dedent
from typing import TYPE_CHECKING

import pytest

from nanlint.engine.check_file import check_text
from nanlint.engine.checker import Checker
from nanlint.engine.collector import without_collector
from nanlint.engine.rules.rulebook import rulebook
from nanlint.ops.names import SIGNATURES, spellings
from nanlint.prefilter.of_rules import trigger_of
from nanlint.prefilter.triggers import Prefilter, Trigger
from nanlint.settings import Settings
from nanlint.source.syntax.outline import MODULE, outline

if TYPE_CHECKING:
    from pathlib import Path

LOGS = Trigger(frozenset({"log", "log2"}), frozenset({"softmax", "Softmax"}))
CLIPS = Trigger(frozenset({"clip_grad_norm_"}))


@pytest.mark.parametrize(
    ("text", "admitted"),
    [
        pytest.param("x.log() + softmax(y)", True, id="word and companion"),
        pytest.param("x.log()", False, id="no companion"),
        pytest.param("softmax(y)", False, id="no word"),
        pytest.param("catalog softmax", False, id="part of a word"),
        pytest.param("clip_grad_norm_(p, 1)", True, id="no companion needed"),
        pytest.param("from torch import *\nx.log()", True, id="a star may bring the companion"),
    ],
)
def test_a_file_is_admitted_for_its_words(text: str, admitted: bool) -> None:  # noqa: FBT001 - a parameter of the test
    assert Prefilter([LOGS, CLIPS]).admits(text.encode()) is admitted


def test_a_prefilter_without_rules_admits_nothing() -> None:
    assert not Prefilter([]).admits(b"log softmax")


def test_an_operator_is_in_every_file() -> None:
    assert Prefilter([Trigger(frozenset({"/"}))]).admits(b"nothing")


@pytest.mark.parametrize(
    ("text", "chunks"),
    [
        pytest.param("def f(x): x.log()\ndef g(x): softmax(x)\n", ["f"], id="the chunk with the word"),
        pytest.param("def f(x): x.log()\n", [], id="the companion is missing"),
        pytest.param(
            "from torch import log as ln\ndef f(x): ln(softmax(x))\n", ["f"], id="imported under another name"
        ),
        pytest.param("ln = torch.log\ndef f(x): ln(softmax(x))\n", [MODULE, "f"], id="assigned to another name"),
        pytest.param(
            "class A:\n    def __init__(self): self.f = torch.log\n    def g(self, x): self.f(softmax(x))\n",
            ["A.__init__", "A.g"],
            id="assigned to an attribute",
        ),
        pytest.param("def f(m): clip_grad_norm_(m, 1)\nx.log()\n", ["f"], id="another rule's word"),
    ],
)
def test_chunks_are_kept_for_their_words(text: str, chunks: list[str]) -> None:
    assert Prefilter([LOGS, CLIPS]).chunks(outline(text)) == chunks


def test_a_constant_of_another_file_may_be_any_number(tmp_path: Path) -> None:
    code = """
        import torch
        from constants import NEG

        def masked(scores, mask):
            return torch.softmax(scores.half().masked_fill(mask, NEG), dim=-1)
    """
    for number, codes in (("-1e9", ["NAN205"]), ("-1e4", [])):
        folder = tmp_path / number
        folder.mkdir()
        (folder / "constants.py").write_text(f"NEG = {number}\n")
        (folder / "model.py").write_text(dedent(code))
        for gated in (True, False):
            ruleset = Checker(gated=gated).ruleset(Settings(severity="info"))
            found = check_text(dedent(code), str(folder / "model.py"), ruleset).findings
            assert [finding.code for finding in found] == codes


def test_no_tree_outlives_the_check_of_its_file() -> None:
    code = """
        import torch
        from torch import nn

        class Gate(nn.Module):
            def __init__(self):
                super().__init__()
                self.net = nn.Sequential(nn.Linear(2, 2), nn.Sigmoid())

            def forward(self, x):
                return self.net(x)

        class Model(nn.Module):
            def __init__(self):
                super().__init__()
                self.gate = Gate()

            def forward(self, x):
                return torch.log(self.gate(x)).sum()
    """
    ruleset = Checker(gated=True).ruleset(Settings())

    def trees_left() -> int:
        assert [finding.code for finding in check_text(dedent(code), "model.py", ruleset).findings] == ["NAN110"]
        return sum(type(thing) is ast.Module for thing in gc.get_objects())

    with without_collector():
        assert trees_left() == trees_left()


def test_setting_elements_by_an_index_is_an_operation() -> None:
    plan = outline("def f(x, mask): x[mask] = 0\ndef g(x): x[0] = 0\ndef h(x): return x[mask]\n")
    assert Prefilter([Trigger(spellings("torch.masked_fill"))]).chunks(plan) == ["f"]


@pytest.mark.parametrize("code", rulebook().rules)
def test_every_operation_that_a_rule_is_shown_is_a_trigger(code: str) -> None:
    rule = rulebook().rules[code]
    known = (name for name in rule.operations() if name in SIGNATURES)
    assert trigger_of(rule).words >= frozenset[str]().union(*map(spellings, known))


def test_a_function_is_kept_whatever_its_names_say() -> None:
    code = "import torch\ndef test_it(count, batch): return count / batch\ndef plot_it(n): return n.sqrt()\ndef f(n): return n\n"
    assert Checker(gated=True).ruleset(Settings()).prefilter.chunks(outline(code)) == ["test_it", "plot_it"]
