"""Every line of tests/ranges states a fact: nanlint knows it, and torch, where it can run the file, agrees."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any

import pytest

from nanlint.ops.interval import COUNT, NONNEGATIVE, POSITIVE, UNIT, Interval
from tests.reveal_files import (
    FILES,
    NOT_RUN,
    QUESTIONS,
    Fact,
    Stated,
    computed_in,
    known_in,
    revealing_lines,
    stated_in,
    written,
)

if TYPE_CHECKING:
    from pathlib import Path
    from types import ModuleType

LINES = [stated for path in FILES for stated in stated_in(path)]
RUN = [path for path in FILES if path.name not in NOT_RUN]
FEWEST_LINES = 300


@pytest.fixture
def truth() -> ModuleType:
    """What a fact excludes, by torch's own values; without torch these tests are skipped."""
    pytest.importorskip("torch")
    from tests import stated_facts  # noqa: PLC0415 - it imports torch

    return stated_facts


@pytest.mark.parametrize("stated", LINES, ids=lambda stated: f"{stated.place} {stated.fact}")
def test_nanlint_knows_what_the_line_states(stated: Stated) -> None:
    known = written(known_in(stated.path).get((stated.line, stated.fact), "never reached"))
    assert (stated.place, stated.fact, known) == (stated.place, stated.fact, stated.answer)


@pytest.mark.parametrize("path", RUN, ids=lambda path: path.name)
def test_torch_computes_nothing_else(path: Path, truth: ModuleType) -> None:
    known, computed = known_in(path), computed_in(path)
    found = [
        f"{stated.place} states {stated.fact} {stated.answer}, torch gives {odd}"
        for stated in stated_in(path)
        for value in computed[stated.line]
        if (odd := truth.disagreement(stated.fact, known[stated.line, stated.fact], value)) is not None
    ]
    assert found == []


@pytest.mark.parametrize("path", RUN, ids=lambda path: path.name)
@pytest.mark.usefixtures("truth")
def test_torch_reaches_every_line(path: Path) -> None:
    computed = computed_in(path)
    assert [f"{path.name}:{line}" for line in revealing_lines(path) if not computed[line]] == []


@pytest.mark.parametrize("path", FILES, ids=lambda path: path.name)
def test_every_line_that_reveals_states_what(path: Path) -> None:
    stated = {each.line for each in stated_in(path) if each.fact in QUESTIONS and each.answer}
    assert revealing_lines(path) == sorted(stated)


def test_there_are_lines_enough_to_be_called_a_specification() -> None:
    assert len({(each.path, each.line) for each in LINES}) >= FEWEST_LINES


@pytest.mark.parametrize(
    ("name", "fact", "value"),
    [
        pytest.param("range", UNIT, 1.5, id="above"),
        pytest.param("range", POSITIVE, 0.0, id="the open end"),
        pytest.param("range", COUNT, 0.5, id="no integer"),
        pytest.param("range", NONNEGATIVE, math.nan, id="nan"),
        pytest.param("range", Interval(0.0, 1.0, plus_inf=True), -math.inf, id="the other infinity"),
        pytest.param("range", UNIT, "text", id="no number"),
        pytest.param("kind", "tensor", 1.0, id="kind"),
    ],
)
def test_a_value_that_a_fact_excludes_is_noticed(name: str, fact: Fact, value: Any, truth: ModuleType) -> None:
    assert truth.disagreement(name, fact, value) is not None
