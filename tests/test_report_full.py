"""The full format: whole blocks, as a reader sees them."""

from __future__ import annotations

import dataclasses
import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from nanlint.model import FORMATS, Applicability, Direction, Edit, Fix, Label, Report, Span
from tests.report_samples import (
    ERRORS,
    IN_NOTEBOOK,
    MULTI_LINE,
    NAN110,
    ODD_MESSAGE,
    ODD_PATH,
    WITH_FIX,
    WITH_PARTS,
    rendered,
    report_of,
)


def block(report: Report) -> str:
    """The report without its closing line."""
    return rendered(report, "full").rpartition("\n\n")[0]


def test_a_clean_run_is_its_closing_line() -> None:
    assert rendered(report_of(), "full") == "All clear: 41 files checked.\n"


def test_a_finding_has_message_place_frame_reason_fix_and_help() -> None:
    assert (
        rendered(report_of(WITH_FIX), "full")
        == """\
error NAN110 log-of-softmax: `probs` can be 0 (range [0, 1]), so its logarithm can be -inf
 --> src/train.py:6:23
  |
4 | def cross_entropy(logits: torch.Tensor, target: torch.Tensor) -> torch.Tensor:
5 |     probs = logits.softmax(dim=-1)
6 |     return -(target * probs.log()).sum()
  |                       ^^^^^^^^^^^
  |
  = why: `log(0)` is -inf and its slope is inf: the whole gradient becomes NaN. One step is enough.
  = breaks: in float32 and float16
  = fix (safe): use log_softmax
6 -     return -(target * probs.log()).sum()
6 +     return -(target * logits.log_softmax(dim=-1)).sum()
  = help: nanlint explain NAN110  https://nanlint.example/rules/NAN110

Found 1 problem (1 error) in 1 of 41 files; 1 fixable with --fix.
"""
    )


def test_labels_a_reason_and_help_of_its_own_come_with_the_finding() -> None:
    assert (
        block(report_of(WITH_PARTS))
        == """\
error NAN110 log-of-softmax: log of a softmax is -inf once a probability rounds to 0
 --> src/train.py:6:23
  |
1 | import torch
  |        ----- no part of the frame
  | ...
4 | def cross_entropy(logits: torch.Tensor, target: torch.Tensor) -> torch.Tensor:
5 |     probs = logits.softmax(dim=-1)
  |             ---------------------- the softmax is made here
6 |     return -(target * probs.log()).sum()
  |                       ^^^^^^^^^^^
  |
  = why: a logit 104 below the largest has a probability of exactly 0
  = help: logits.log_softmax(dim=-1)
  = help: nanlint explain NAN110  https://nanlint.example/rules/NAN110"""
    )


def test_a_reason_of_its_own_is_never_cut() -> None:
    reason = " ".join(f"Sentence {number} says more." for number in range(20))
    text = block(report_of(dataclasses.replace(WITH_PARTS, why=reason)))
    assert reason in " ".join(text.split())


def test_a_span_of_several_lines_is_held_by_a_bracket() -> None:
    assert (
        block(report_of(MULTI_LINE))
        == """\
warning NAN201 exp-overflow: `new - old.detach()` is unbounded, so its exponential can be inf
  --> src/train.py:10:13
   |
 9 |   def policy_ratio(new, old, mask):
10 |       ratio = torch.exp(
   |  _____________^
11 | |         new
12 | |         - old.detach(),
13 | |     ) / mask.sum()
   | |_____^
   |
   = fix (unsafe): clamp the exponent
11 -         new
12 -         - old.detach(),
11 +         (new
12 +         - old.detach()).clamp(max=20.0),
   = help: nanlint explain NAN201"""
    )


def test_a_notebook_names_its_cell() -> None:
    assert (
        block(report_of(IN_NOTEBOOK))
        == """\
info NAN404 nan-check-misses-inf: `torch.isnan(loss)` lets inf pass
 --> notebook.ipynb:cell 3:2:4
  |
1 | loss = model(batch)
2 | if torch.isnan(loss): break
  |    ^^^^^^^^^^^^^^^^^
  |
  = fix (safe): use isfinite
2 - if torch.isnan(loss): break
2 + if not torch.isfinite(loss): break
  = help: nanlint explain NAN404"""
    )


def test_wide_characters_are_underlined_where_they_stand() -> None:
    assert (
        block(report_of(ODD_PATH))
        == """\
warning NAN101 unguarded-division: `名前` can be 0 (range [0, inf))
 --> a b/100%,x:y/modèle.py:1:24
  |
1 | 名前 = x.norm(); y = x / 名前
  |                          ^^^^
  |
  = fix (unsafe): divide by at least eps
1 - 名前 = x.norm(); y = x / 名前
1 + 名前 = x.norm(); y = x / 名前.clamp_min(1e-12)
  = help: nanlint explain NAN101"""
    )


def test_a_message_stays_on_its_line_and_drives_no_terminal() -> None:
    first_line = block(report_of(ODD_MESSAGE)).split("\n")[0]
    assert first_line == "warning NAN101 unguarded-division: 50% of \"a\" and 'b' <&> ]]> \\x1b[31m[red]"


def test_errors_have_a_block_of_their_own_at_the_end() -> None:
    assert (
        rendered(report_of(errors=ERRORS), "full")
        == """\
error: 2 files could not be fully checked
  broken.py:3: invalid syntax
  gone.py: the file is gone

Found nothing in 41 files. 2 files could not be fully checked.
"""
    )


def test_blocks_are_set_apart_by_an_empty_line() -> None:
    blocks = rendered(report_of(WITH_FIX, MULTI_LINE, errors=ERRORS), "full").split("\n\n")
    assert [text.split()[0] for text in blocks] == ["error", "warning", "error:", "Found"]


def test_without_source_and_rule_there_is_neither_frame_nor_reason() -> None:
    assert (
        block(Report((WITH_FIX,)))
        == """\
error NAN110 log-of-softmax: `probs` can be 0 (range [0, 1]), so its logarithm can be -inf
 --> src/train.py:6:23
  = breaks: in float32 and float16
  = fix (safe): use log_softmax
6 + logits.log_softmax(dim=-1)
  = help: nanlint explain NAN110"""
    )


def test_a_file_that_has_shrunk_since_gives_no_frame() -> None:
    report = Report((dataclasses.replace(WITH_FIX, fix=None),), source_lines=lambda _path, _cell: ["import torch"])
    assert "|" not in block(report)


def test_a_sketch_without_edits_is_its_title() -> None:
    finding = dataclasses.replace(IN_NOTEBOOK, fix=Fix("check the norm that clip returns", Applicability.SHOW, ()))
    assert block(report_of(finding)).split("\n")[-2:] == [
        "  = fix (sketch): check the norm that clip returns",
        "  = help: nanlint explain NAN404",
    ]


def reason_of(why: str) -> list[str]:
    report = Report((WITH_FIX,), rules={"NAN110": dataclasses.replace(NAN110, why=why)})
    return [line for line in block(report).split("\n")[2:] if not line.startswith("  = ") or "why" in line][:-1]


REASONS = {
    "one sentence": ("It is inf.", ["  = why: It is inf."]),
    "short sentences": ("It is inf. `x` too.\nAll of it.", ["  = why: It is inf. `x` too. All of it."]),
    "the first paragraph": ("It is inf.\n\nAnd more.", ["  = why: It is inf."]),
    "no end inside a sentence": ("A slope, e.g. of 1.5 inf.", ["  = why: A slope, e.g. of 1.5 inf."]),
    "a long sentence is folded": (
        f"{'very ' * 30}long. Dropped.",
        ["  = why: " + ("very " * 20).strip(), "         " + "very " * 10 + "long."],
    ),
    "no reason": ("", []),
}


@pytest.mark.parametrize("case", REASONS)
def test_the_reason_is_the_beginning_of_why(case: str) -> None:
    why, lines = REASONS[case]
    assert reason_of(why) == lines


CIRCUMSTANCES = {
    "the default": (Direction.FORWARD, (), []),
    "a dtype": (Direction.FORWARD, ("float16",), ["  = breaks: in float16"]),
    "three dtypes": (Direction.LOOP, ("a", "b", "c"), ["  = breaks: in a, b and c"]),
    "every dtype": (Direction.LOOP, FORMATS, []),
    "forward and backward": (Direction.BOTH, (), []),
    "backward": (Direction.BACKWARD, (), ["  = breaks: in the backward pass"]),
    "a dtype, backward": (Direction.BACKWARD, ("float16",), ["  = breaks: in the backward pass, in float16"]),
}


@pytest.mark.parametrize("case", CIRCUMSTANCES)
def test_pass_and_dtypes_are_told_when_they_matter(case: str) -> None:
    direction, dtypes, expected = CIRCUMSTANCES[case]
    finding = dataclasses.replace(WITH_FIX, direction=direction, dtypes=dtypes)
    assert [line for line in block(report_of(finding)).split("\n") if "breaks" in line] == expected


def test_the_gutter_is_wide_enough_for_the_lines_of_the_fix() -> None:
    lines = ["x = 1"] * 120
    fix = Fix("elsewhere", Applicability.SAFE, (Edit(Span(120, 1, 120, 2), "y"),))
    finding = dataclasses.replace(WITH_FIX, span=Span(2, 1, 2, 2), fix=fix, dtypes=(), direction=Direction.FORWARD)
    assert block(Report((finding,), source_lines=lambda _path, _cell: lines)).split("\n")[1:] == [
        "   --> src/train.py:2:1",
        "    |",
        "  1 | x = 1",
        "  2 | x = 1",
        "    | ^",
        "  3 | x = 1",
        "    |",
        "    = fix (safe): elsewhere",
        "120 - x = 1",
        "120 + y = 1",
        "    = help: nanlint explain NAN110",
    ]


def test_no_line_ends_in_a_blank() -> None:
    text = rendered(report_of(WITH_FIX, MULTI_LINE, IN_NOTEBOOK, ODD_PATH, ODD_MESSAGE, errors=ERRORS), "full")
    assert [line for line in text.split("\n") if line != line.rstrip()] == []


numbers = st.integers(1, 40)
spans = st.builds(Span, numbers, numbers, numbers, numbers)


@pytest.mark.slow
@given(lines=st.lists(st.text(max_size=200), max_size=20), span=spans, other=spans, text=st.text(max_size=30))
def test_no_source_and_no_span_breaks_the_frame(lines: list[str], span: Span, other: Span, text: str) -> None:
    fix = Fix(text, Applicability.SAFE, (Edit(other, text),))
    finding = dataclasses.replace(WITH_FIX, span=span, fix=fix, message=text, labels=(Label(other, text),))
    report = Report((finding,), source_lines=lambda _path, _cell: lines)
    assert block(report).startswith("error NAN110 log-of-softmax: ")
    assert re.findall(r"[\x00-\x09\x0b-\x1f\x7f-\x9f\u202a-\u202e]", block(report)) == []
