"""Every line of tests/ranges states a fact: nanlint knows it or something more precise, and torch, where it can run the file, agrees."""

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
    known_of,
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
# Lines of which the analysis knows more than they state, with what it knows.
KNOWN_BETTER: dict[str, str] = {
    # After `nn.ReLU(inplace=True)(x)` x itself is not negative.
    "activations.py:51 range": "[0.693147, inf)",
    "activations.py:52 range": "[0, inf)",
    "activations.py:53 range": "[0, inf)",
    "activations.py:54 range": "[0, 3]",
    "activations.py:55 range": "[0.5, 1]",
    "activations.py:56 range": "[-0.693148, 0]",
    # What each of the others adds can be read from its line.
    "float_arithmetic.py:20 range": "[0, 0] or nan",
    "loops.py:168 range": "[0, inf)",
    # The largest of shares that add up to 1 is not 0.
    "reductions.py:35 range": "(0, 1]",
    "reductions.py:36 range": "(0, 1]",
    "reductions.py:37 range": "(0, 1]",
    "reductions.py:47 range": "(0, inf)",
    "bindings.py:61 range": "[0, 1]",
    "bindings.py:71 range": "[3, 3]",
    "bindings.py:93 range": "[1, 2]",
    "bindings.py:114 range": "[0, inf)",
    "bindings.py:123 range": "[0, 0]",
    "bindings.py:132 range": "(-inf, 1]",
    "bindings.py:135 range": "[0, 1] of integers",
    "bindings.py:204 range": "[0, 1]",
    "bindings.py:224 range": "[-1, 1]",
    "bindings.py:226 range": "[0, 1]",
    "guards.py:185 range": "[4, inf) of integers",
    "guards.py:216 range": "[0, 0]",
    "guards.py:234 range": "(-inf, inf) except 0",
    "guards.py:241 range": "(-inf, inf) except 0",
    "guards.py:242 range": "(-inf, inf) except 0",
    "guards.py:243 range": "[-inf, inf] except 0",
    "guards.py:254 range": "[1, inf) of integers",
    "guards.py:262 range": "(0, inf)",
    "kinds.py:81 kind": "dict",
    "loops.py:20 range": "[1, inf)",
    "loops.py:69 range": "[-1, inf)",
    "loops.py:79 range": "[1, inf)",
    "loops.py:80 range": "[1, inf)",
    "loops.py:130 range": "[-2, inf) of integers",
    "loops.py:133 range": "[0, inf) of integers",
    "loops.py:134 range": "[0, 1]",
    "loops.py:136 range": "[0, 1]",
    "loops.py:143 range": "[0, inf)",
    "loops.py:152 range": "[0, inf)",
    "loops.py:167 range": "[0, 1]",
    "loops.py:178 range": "[0, 30]",
    "loops.py:202 range": "[0, 20]",
    "reach.py:97 range": "[0, inf)",
    "reach.py:98 range": "[-1, inf)",
    "reach.py:100 range": "[0, 30]",
    "reach.py:144 range": "[1, 1]",
    "reach.py:214 range": "[0, 0]",
    "reach.py:224 range": "[0, 1]",
    "reductions.py:75 range": "[1, inf) of integers",
    "reductions.py:76 range": "[1, inf) of integers",
    "reductions.py:77 range": "[1, inf) of integers",
    "reductions.py:78 range": "[1, inf) of integers",
    "reductions.py:79 range": "[0, inf) of integers",
    "reductions.py:82 range": "[1, inf) of integers",
    "reductions.py:83 range": "[1, inf) of integers",
    "reductions.py:84 range": "[2, inf) of integers",
    "unknown.py:26 range": "[0, inf]",
    "unknown.py:27 kind": "tensor",
    "unknown.py:67 range": "[0, 1]",
    "unknown.py:86 range": "[2, 2]",
}


@pytest.fixture
def truth() -> ModuleType:
    """What a fact excludes, by torch's own values; without torch these tests are skipped."""
    pytest.importorskip("torch")
    from tests import stated_facts  # noqa: PLC0415 - it imports torch

    return stated_facts


@pytest.mark.parametrize("stated", LINES, ids=lambda stated: f"{stated.place} {stated.fact}")
def test_nanlint_knows_what_the_line_states(stated: Stated) -> None:
    expected = KNOWN_BETTER.get(f"{stated.place} {stated.fact}", stated.answer)
    assert (stated.place, stated.fact, written(known_of(stated))) == (stated.place, stated.fact, expected)


def test_what_is_known_better_is_stated_otherwise() -> None:
    lines = {f"{stated.place} {stated.fact}": stated.answer for stated in LINES}
    assert [place for place, known in KNOWN_BETTER.items() if lines.get(place) in {None, known}] == []


def _elements(values: list[Any], known: Fact) -> list[Any]:
    """The values; of a list of which a range is known, its elements."""
    if not isinstance(known, Interval):
        return values
    return [each for value in values for each in (value if isinstance(value, list) else [value])]


@pytest.mark.parametrize("path", RUN, ids=lambda path: path.name)
def test_torch_computes_nothing_else(path: Path, truth: ModuleType) -> None:
    computed = computed_in(path)
    found = [
        f"{stated.place}: {stated.fact} {known} is known, torch gives {odd}"
        for stated in stated_in(path)
        for known in [known_of(stated)]
        for value in _elements(computed[stated.line], known)
        if (odd := truth.disagreement(stated.fact, known, value)) is not None
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
