"""The six patterns: each bad spelling breaks and is found by default, each guarded twin holds and is silent at every level."""

from __future__ import annotations

import re
from collections import Counter
from typing import TYPE_CHECKING, cast

import pytest
import torch

from tests.six_patterns.material import CODES, EXPECTED, SPELLINGS, Spelling, listed
from tests.six_patterns.scoring import found_by_default, noise_in_the_twin, score
from tests.six_patterns.witnesses import observe

if TYPE_CHECKING:
    from pathlib import Path

NOT_FOUND_YET = listed("not_found_yet.txt")
NOT_SILENT_YET = listed("not_silent_yet.txt")

# A gradient of 1 that a norm multiplies by more than this overflows after four or five such norms.
BLOWN_UP = 1e8
SAVED_LR, CONFIGURED_LR = 5e-4, 1e-4
# The gradient that the witnesses of no_op_clip send has a norm of 500.
UNCLIPPED, CLIPPED = 499.0, 10.0
NOT_INSTALLED = re.compile(r"^(?:import|from) (?:accelerate|lightning\.pytorch|transformers)\b", re.MULTILINE)

every_spelling = pytest.mark.parametrize("spelling", SPELLINGS, ids=lambda spelling: spelling.name)


def witnessed(*patterns: str) -> pytest.MarkDecorator:
    chosen = [s for s in SPELLINGS if s.pattern in patterns and (s.folder / "witness.py").exists()]
    return pytest.mark.parametrize("spelling", chosen, ids=lambda spelling: spelling.name)


def largest(spelling: Spelling, variant: str) -> float:
    """The largest magnitude the witness sees; inf if a value is NaN or Inf, 0 if nothing was computed."""
    tensors = cast("list[torch.Tensor]", observe(spelling, variant))
    magnitudes = [
        tensor.detach().double().abs().nan_to_num(nan=torch.inf, posinf=torch.inf).max().item() for tensor in tensors
    ]
    return max(magnitudes, default=0.0)


def test_there_are_twelve_spellings_of_each_pattern() -> None:
    assert Counter(spelling.pattern for spelling in SPELLINGS) == dict.fromkeys(CODES, 12)


@every_spelling
def test_only_the_bad_spelling_is_marked_and_with_codes_of_its_pattern(spelling: Spelling) -> None:
    codes = [mark.codes <= CODES[spelling.pattern] for mark in spelling.marks()]
    twin_marks = [text for text in spelling.files("guarded").values() if EXPECTED.search(text)]
    assert (any(codes), all(codes), twin_marks) == (True, True, [])


@every_spelling
def test_a_spelling_without_a_witness_needs_a_library_that_is_not_installed(spelling: Spelling) -> None:
    has_witness = (spelling.folder / "witness.py").exists()
    assert has_witness != any(NOT_INSTALLED.search(text) for text in spelling.files("bad").values())


@witnessed("division", "log_without_eps", "clip_after_nan_check")
def test_the_bad_spelling_gives_nan_or_inf_and_the_twin_does_not(spelling: Spelling) -> None:
    assert largest(spelling, "guarded") < largest(spelling, "bad") == torch.inf


@witnessed("tiny_rmsnorm_eps")
def test_a_tiny_eps_blows_the_gradient_up_and_the_twin_does_not(spelling: Spelling) -> None:
    assert largest(spelling, "guarded") < BLOWN_UP < largest(spelling, "bad")


@witnessed("no_op_clip")
def test_a_huge_gradient_passes_the_clip_and_not_that_of_the_twin(spelling: Spelling) -> None:
    passed, of_the_twin = (cast("float", observe(spelling, variant)) for variant in ("bad", "guarded"))
    assert of_the_twin < CLIPPED < UNCLIPPED < passed


@witnessed("scheduler_overrides_config")
def test_the_saved_lr_wins_and_with_the_twin_the_configured_one(spelling: Spelling, tmp_path: Path) -> None:
    after_resume = observe(spelling, "bad", tmp_path, SAVED_LR, CONFIGURED_LR)
    of_the_twin = observe(spelling, "guarded", tmp_path, SAVED_LR, CONFIGURED_LR)
    assert after_resume == pytest.approx(SAVED_LR)
    assert of_the_twin in (None, pytest.approx(CONFIGURED_LR))  # None: the run refused to start


@every_spelling
def test_the_bad_spelling_is_found_by_default_unless_it_is_listed(spelling: Spelling) -> None:
    listed_as_missed = spelling.name in NOT_FOUND_YET
    assert found_by_default(spelling) != listed_as_missed, (
        f"{spelling.name} is found now: take it off not_found_yet.txt"
        if listed_as_missed
        else f"{spelling.name} is not found by default: python -m tests.six_patterns shows what is"
    )


@every_spelling
def test_the_twin_is_silent_at_every_level_unless_it_is_listed(spelling: Spelling) -> None:
    noise = noise_in_the_twin(spelling)
    if spelling.name in NOT_SILENT_YET:
        assert noise, f"{spelling.name} is silent now: take it off not_silent_yet.txt"
    else:
        assert noise == ()


def test_the_lists_name_spellings_that_exist_and_give_reasons() -> None:
    names = {spelling.name for spelling in SPELLINGS}
    entries = {**NOT_FOUND_YET, **NOT_SILENT_YET}
    assert [name for name, reason in entries.items() if name not in names or not reason] == []


def test_the_score_is_what_the_lists_leave() -> None:
    text = score()
    print(text)
    found, silent = len(SPELLINGS) - len(NOT_FOUND_YET), len(SPELLINGS) - len(NOT_SILENT_YET)
    assert text.splitlines()[-1] == f"{found} of {len(SPELLINGS)} by default, {silent} twins silent"
