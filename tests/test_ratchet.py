"""What is found by default stays found, what is silent stays silent, and what is found at last is written down."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from tests.ratcheting import FILES, Mark, Moved, found_in, marks_in, moved_in, rewritten

if TYPE_CHECKING:
    from pathlib import Path
    from types import ModuleType

FEWEST_BUGS = 80


@pytest.fixture
def proofs() -> ModuleType:
    """The inputs that break the functions; without torch these tests are skipped."""
    pytest.importorskip("torch")
    from tests import ratchet_proofs  # noqa: PLC0415 - it imports torch

    return ratchet_proofs


@pytest.mark.parametrize("path", FILES, ids=lambda path: path.stem)
def test_every_bug_and_every_cure_is_told_as_it_is_marked(path: Path) -> None:
    text = path.read_text(encoding="utf-8")
    assert [str(moved) for moved in moved_in(text, found_in(text))] == []


def test_the_bugs_are_many() -> None:
    bugs = [mark for path in FILES for mark in marks_in(path.read_text(encoding="utf-8")) if not mark.is_cured]
    assert len(bugs) >= FEWEST_BUGS


@pytest.mark.filterwarnings("ignore:.*degrees of freedom is <= 0")  # that is the bug
def test_marked_bugs_break_under_torch(proofs: ModuleType) -> None:
    whole = [name for name, arguments in proofs.ARGUMENTS.items() if not proofs.breaks_on(name, arguments)]
    assert whole == []


def test_cures_stay_finite_on_what_breaks_the_bug(proofs: ModuleType) -> None:
    broken = [
        cure
        for name, arguments in proofs.ARGUMENTS.items()
        if (cure := proofs.cure_of(name)) and proofs.breaks_on(cure, proofs.CURED_ARGUMENTS.get(name, arguments))
    ]
    assert broken == []


TEXT = """\
def share(x, n):
    return x / n  # expect: NAN101(info)

def missed(x):
    return x.log()  # not yet: NAN102

def share_cured(x, n):
    return x / n
"""


@pytest.mark.parametrize(
    ("found", "said"),
    [
        pytest.param({(2, "NAN101"): "info"}, [], id="as marked"),
        pytest.param({}, ["was info and is silent (a ratchet does not go back)"], id="a bug that is lost"),
        pytest.param({(2, "NAN101"): "warning"}, ["was info and is warning (better"], id="a bug that is raised"),
        pytest.param(
            {(2, "NAN101"): "info", (5, "NAN102"): "error"},
            ["was silent and is error (better"],
            id="a bug found at last",
        ),
        pytest.param(
            {(2, "NAN101"): "info", (8, "NAN101"): "info"},
            ["on the cure was silent and is info (a ratchet does not go back)"],
            id="a cure that is no longer silent",
        ),
    ],
)
def test_what_moved_is_told_with_its_direction(found: dict[tuple[int, str], str], said: list[str]) -> None:
    moved = [str(one) for one in moved_in(TEXT, found)]
    assert [part in text for part, text in zip(said, moved, strict=True)] == [True] * len(said)


def test_a_rewritten_file_is_as_marked() -> None:
    found = {(5, "NAN102"): "error", (8, "NAN101"): "info"}
    text = rewritten(TEXT, list(moved_in(TEXT, found)))
    assert (list(moved_in(text, found)), text.count("# noise: NAN101(info)")) == ([], 1)


def test_a_cure_that_falls_silent_is_better_and_loses_its_mark() -> None:
    silent = Moved(Mark(8, "NAN101", "info", is_cured=True), "")
    noisy = TEXT.replace("    return x / n\n", "    return x / n  # noise: NAN101(info)\n")
    assert (silent.is_worse, rewritten(noisy, [silent])) == (False, TEXT)


@pytest.mark.parametrize(
    "line",
    [
        pytest.param("    return x / n  # expect: NAN101", id="a finding without a level"),
        pytest.param("    return x / n  # not yet: NAN101(info)", id="silence with a level"),
        pytest.param("    return x / n  # noise: NAN101(info)", id="noise on a bug"),
        pytest.param("    return x / n  # expect: division", id="no code"),
    ],
)
def test_a_mark_that_does_not_fit_is_refused_with_its_line(line: str) -> None:
    with pytest.raises(ValueError, match="line 2: "):
        marks_in(f"def f(x, n):\n{line}\n")
