"""Fixes on text: single edits against a naive reference, then whole runs with toy rules."""

from __future__ import annotations

import ast
import json
import re
import subprocess
from collections.abc import Callable
from typing import TYPE_CHECKING

import pytest
from hypothesis import given
from hypothesis import strategies as st

from nanlint.engine.fixing.apply_fixes import Fixed, apply_edits, fix_text, notebook_diff, unified_diff
from nanlint.model import Applicability, Edit, Finding, Fix, Severity, Span
from nanlint.source.lines import split_lines
from nanlint.source.notebooks.notebook import Notebook

if TYPE_CHECKING:
    from pathlib import Path

Rule = Callable[[str], list[Finding]]


def fix(*edits: tuple[int, int, int, int, str]) -> Fix:
    return Fix("mend it", Applicability.SAFE, tuple(Edit(Span(*edit[:4]), edit[4]) for edit in edits))


def span_of(text: str, start: int, end: int) -> Span:
    """Line and column of two offsets, counted the slow way."""

    def place(offset: int) -> tuple[int, int]:
        before = text[:offset].replace("\r\n", "\n").replace("\r", "\n")
        return before.count("\n") + 1, len(before) - before.rfind("\n")

    return Span(*place(start), *place(end))


def fix_at(text: str, *changes: tuple[int, int, str]) -> Fix:
    return Fix("", Applicability.SAFE, tuple(Edit(span_of(text, start, end), new) for start, end, new in changes))


def finding(code: str, text: str, place: tuple[int, int], message: str, mend: Fix | None = None) -> Finding:
    return Finding(code, "toy", span_of(text, *place), message, Severity.ERROR, mend)


def words(code: str, bad: str, good: str, message: str = "`{0}` is bad") -> Rule:
    r"""A toy rule: every match of the expression `bad` is a finding; its fix is `good`, a template with \1."""

    def check(text: str) -> list[Finding]:
        return [
            finding(
                code, text, match.span(), message.format(match[0]), fix_at(text, (*match.span(), match.expand(good)))
            )
            for match in re.finditer(bad, text)
        ]

    return check


def run(text: str, *rules: Rule, parses: Callable[[str], bool] = lambda _: True, **options: int) -> Fixed:
    return fix_text(
        text, lambda now: [each for rule in rules for each in rule(now)], lambda _: True, parses=parses, **options
    )


@pytest.mark.parametrize(
    ("text", "fixes", "expected"),
    [
        pytest.param("a = 1\n", [fix((1, 5, 1, 6, "2"))], "a = 2\n", id="replacement"),
        pytest.param("a\n", [fix((1, 1, 1, 1, "b"))], "ba\n", id="insertion"),
        pytest.param("a\nb\nc\n", [fix((2, 1, 3, 1, ""))], "a\nc\n", id="a whole line deleted"),
        pytest.param("a\r\nb\rc\n", [fix((2, 1, 3, 1, ""))], "a\r\nc\n", id="a whole line among mixed newlines"),
        pytest.param("a\n", [fix((2, 1, 2, 1, "b\n"))], "a\nb\n", id="insertion after the last newline"),
        pytest.param("a", [fix((1, 2, 1, 2, "\nb"))], "a\nb", id="insertion without a last newline"),
        pytest.param("", [fix((1, 1, 1, 1, "a\n"))], "a\n", id="insertion into nothing"),
        pytest.param(
            "a\x0cb\u2028c\n", [fix((1, 5, 1, 6, "d"))], "a\x0cb\u2028d\n", id="form feed and U+2028 end no line"
        ),
        pytest.param("é = λ\n", [fix((1, 5, 1, 6, "x"))], "é = x\n", id="columns are characters"),
        pytest.param("f(x)", [fix((1, 1, 1, 1, "("), (1, 5, 1, 5, ")"))], "(f(x))", id="two edits"),
        pytest.param("x", [fix((1, 1, 1, 2, "y"), (1, 1, 1, 1, "a\n"))], "a\ny", id="insertion before a replacement"),
        pytest.param("ab", [fix((1, 2, 1, 3, "y")), fix((1, 1, 1, 2, "x"))], "xy", id="neighbours"),
        pytest.param("a\r\nb\r\n", [fix((2, 1, 2, 1, "x\ny\n"))], "a\r\nx\r\ny\r\nb\r\n", id="CRLF here"),
        pytest.param("a\nb\r", [fix((3, 1, 3, 1, "x\n"))], "a\nb\rx\r", id="newline of the line before"),
        pytest.param("a\r\n", [fix((1, 1, 1, 1, "x\r"))], "x\ra\r\n", id="newlines that the rule chose"),
    ],
)
def test_edits_change_their_span_and_nothing_else(text: str, fixes: list[Fix], expected: str) -> None:
    assert (apply_edits(text, fixes)[0], apply_edits(text, fixes)[2]) == (expected, [])


@pytest.mark.parametrize(
    "wrong",
    [
        pytest.param(fix((3, 1, 3, 1, "x")), id="line beyond the end"),
        pytest.param(fix((1, 4, 1, 4, "x")), id="column in the newline"),
        pytest.param(fix((0, 1, 1, 1, "x")), id="line 0"),
        pytest.param(fix((1, 0, 1, 1, "x")), id="column 0"),
        pytest.param(fix((1, 2, 1, 1, "x")), id="ends before it starts"),
        pytest.param(fix((1, 1, 1, 2, "x"), (9, 1, 9, 1, "y")), id="one edit right, one wrong"),
        pytest.param(fix((1, 1, 1, 3, "x"), (1, 2, 1, 3, "y")), id="overlaps itself"),
        pytest.param(fix((1, 1, 1, 1, "x"), (1, 1, 1, 1, "y")), id="inserts twice at one place"),
        pytest.param(fix(), id="no edits"),
    ],
)
def test_a_fix_that_cannot_be_placed_is_left_out_whole(wrong: Fix) -> None:
    right = fix((1, 2, 1, 3, "z"))
    assert apply_edits("ab\r\n", [wrong, right]) == ("az\r\n", [right], [wrong])


def test_of_overlapping_fixes_the_first_in_reading_order_wins() -> None:
    inner, outer, behind = fix((1, 3, 1, 4, "y")), fix((1, 1, 1, 5, "g(x)")), fix((1, 6, 1, 7, "2"))
    assert apply_edits("f(x)+1", [behind, inner, outer]) == ("g(x)+2", [outer, behind], [inner])


def test_the_same_import_is_inserted_once_and_counts_for_both() -> None:
    line = (1, 1, 1, 1, "import torch\n")
    first, second = fix(line, (2, 1, 2, 2, "x")), fix(line, (3, 1, 3, 2, "y"))
    assert apply_edits("\na\nb\n", [first, second]) == ("import torch\n\nx\ny\n", [first, second], [])


def test_the_same_replacement_is_made_once_and_counts_for_both() -> None:
    first, second = fix((1, 1, 1, 2, "x")), fix((1, 1, 1, 2, "x"), (1, 3, 1, 4, "y"))
    assert apply_edits("a b", [first, second]) == ("x y", [first, second], [])


def test_the_same_fix_of_two_findings_is_applied_once_and_counts_for_both() -> None:
    wrap = fix((1, 1, 1, 1, "f("), (1, 2, 1, 2, ")"))
    assert apply_edits("x", [wrap, wrap]) == ("f(x)", [wrap, wrap], [])


def test_two_brackets_to_be_closed_at_one_place_are_two() -> None:
    outer = fix((1, 1, 1, 1, "f("), (1, 6, 1, 6, ")"))
    inner = fix((1, 5, 1, 5, "f("), (1, 6, 1, 6, ")"))
    assert apply_edits("a + b", [outer, inner]) == ("f(a + b)", [outer], [inner])


def test_a_fix_of_which_one_edit_overlaps_is_left_out_whole() -> None:
    first, second = fix((1, 1, 1, 2, "x")), fix((1, 1, 1, 2, "y"), (1, 3, 1, 4, "z"))
    assert apply_edits("a b", [first, second]) == ("x b", [first], [second])


@st.composite
def texts(draw: st.DrawFn) -> str:
    pieces = st.sampled_from(["a", "bc", "é", " ", "\n", "\r\n", "\r", "\x0c", "\u2028", "\x1c"])
    return "".join(draw(st.lists(pieces, max_size=30)))


def cuts(text: str) -> st.SearchStrategy[int]:
    """Offsets that a line and a column can name: not between the two halves of a newline."""
    return st.sampled_from([at for at in range(len(text) + 1) if text[at - 1 : at + 1] != "\r\n" or at == 0])


@given(st.data())
def test_edits_that_do_not_overlap_give_what_a_naive_reference_gives(data: st.DataObject) -> None:
    text = data.draw(texts())
    ends = sorted(data.draw(st.lists(cuts(text), max_size=8, unique=True)))
    pairs = list(zip(ends[::2], ends[1::2], strict=False))
    changes = [(start, end, data.draw(st.text("xyz", max_size=3))) for start, end in pairs]
    expected = text
    for start, end, new in reversed(changes):
        expected = expected[:start] + new + expected[end:]
    fixes = data.draw(st.permutations([fix_at(text, change) for change in changes]))
    assert (apply_edits(text, fixes)[0], apply_edits(text, fixes)[2]) == (expected, [])


@given(st.data())
def test_every_fix_is_applied_whole_or_left_out_and_the_first_is_applied(data: st.DataObject) -> None:
    text = data.draw(texts())
    ranges = st.tuples(cuts(text), cuts(text)).map(sorted)
    drawn = [(start, end, f"<{number}>") for number, (start, end) in enumerate(data.draw(st.lists(ranges, min_size=1)))]
    fixes = [fix_at(text, change) for change in drawn]
    new, applied, skipped = apply_edits(text, fixes)
    marks = sorted(int(mark) for mark in re.findall(r"<(\d+)>", new))
    assert marks == sorted(fixes.index(each) for each in applied)
    assert sorted(map(fixes.index, [*applied, *skipped])) == list(range(len(fixes)))
    assert fixes.index(applied[0]) == drawn.index(min(drawn))


def test_a_run_without_findings_changes_nothing() -> None:
    assert run("x\n", words("T1", "bad", "good")) == Fixed("x\n", [], [], [])


def nested(text: str) -> list[Finding]:
    """A toy rule that finds each call of `bad` in a one-line text and rewrites it whole, with what stands inside."""
    calls = [
        node for node in ast.walk(ast.parse(text)) if isinstance(node, ast.Call) and ast.unparse(node.func) == "bad"
    ]
    places = [(call.col_offset, call.end_col_offset or 0) for call in calls]
    return [
        finding("T1", text, (start, end), text[start:end], fix_at(text, (start, end, f"good{text[start + 3 : end]}")))
        for start, end in places
    ]


def test_nested_findings_are_fixed_in_passes_from_the_outside() -> None:
    fixed = run("bad(bad(bad(x)))", nested)
    assert (fixed.text, len(fixed.applied), fixed.remaining) == ("good(good(good(x)))", 3, [])


def test_the_number_of_passes_is_bounded() -> None:
    fixed = run("bad(bad(bad(x)))", nested, max_passes=2)
    assert (fixed.text, len(fixed.applied), len(fixed.remaining)) == ("good(good(bad(x)))", 2, 1)


def test_fixes_that_are_not_wanted_are_not_applied() -> None:
    rule = words("T1", "bad", "good")
    fixed = fix_text("bad\n", rule, lambda each: each.applicability is Applicability.UNSAFE, parses=lambda _: True)
    assert fixed == Fixed("bad\n", [], [], rule("bad\n"))


def parses_as_python(text: str) -> bool:
    try:
        ast.parse(text)
    except SyntaxError:
        return False
    return True


def test_a_fix_that_would_not_parse_is_withdrawn_and_the_others_go_on() -> None:
    rules = words("T1", "bad", "good"), words("T2", "worse", "((")
    fixed = run("a = bad\nb = worse\nc = bad\n", *rules, parses=parses_as_python)
    messages = [each.message for each in fixed.applied], [each.message for each in fixed.withdrawn]
    assert (fixed.text, *messages) == ("a = good\nb = worse\nc = good\n", ["`bad` is bad"] * 2, ["`worse` is bad"])
    assert fixed.remaining == fixed.withdrawn


def test_a_fix_that_wakes_a_finding_of_its_kind_is_withdrawn() -> None:
    fixed = run("bad x\nugly\n", words("T1", "bad|(?<=worse) y", "worse y"), words("T2", "ugly", "fine"))
    assert (fixed.text, [each.code for each in fixed.withdrawn]) == ("bad x\nfine\n", ["T1"])


def test_a_fix_that_does_not_cure_its_own_finding_is_withdrawn() -> None:
    fixed = run("bad\n", words("T1", "bad", "(bad)", "it is bad"))
    assert (fixed.text, len(fixed.withdrawn), fixed.applied) == ("bad\n", 1, [])


def test_a_fix_that_changes_nothing_is_withdrawn() -> None:
    fixed = run("bad\n", words("T1", "bad", "bad"))
    assert (fixed.text, len(fixed.withdrawn), fixed.applied) == ("bad\n", 1, [])


def test_a_fix_that_cannot_be_placed_is_withdrawn() -> None:
    def rule(text: str) -> list[Finding]:
        return [finding("T1", text, (0, 1), "odd", fix((9, 1, 9, 1, "x")))]

    fixed = run("bad\n", rule, words("T2", "bad", "good"))
    assert (fixed.text, [each.code for each in fixed.withdrawn]) == ("good\n", ["T1"])


def test_a_finding_of_another_kind_may_wake_and_is_fixed_in_its_turn() -> None:
    fixed = run("bad\n", words("T1", "bad", "so-so"), words("T2", "so-so", "good"))
    assert (fixed.text, [each.code for each in fixed.applied], fixed.withdrawn) == ("good\n", ["T1", "T2"], [])


def test_fixes_that_undo_each_other_come_to_rest() -> None:
    rules = words("T1", "black", "white"), words("T2", "white", "black"), words("T3", "bad", "good")
    fixed = run("black\nbad\n", *rules)
    assert ([each.code for each in fixed.applied], [each.code for each in fixed.withdrawn]) == (["T1", "T3"], ["T2"])
    assert fixed.text == run(fixed.text, *rules).text == "white\ngood\n"


def test_findings_that_an_inserted_line_moves_are_not_new() -> None:
    def rule(text: str) -> list[Finding]:
        mend = None if "import" in text else fix((1, 1, 1, 1, "import torch\n"))
        return [finding("T1", text, match.span(), "no import", mend) for match in re.finditer("use", text)][
            : 2 if mend else 1
        ]

    assert run("use\nother use\n", rule).text == "import torch\nuse\nother use\n"


def test_a_finding_whose_message_a_fix_changes_is_not_new() -> None:
    def rule(text: str) -> list[Finding]:
        low = "0" if "bad" in text else "1"
        mended = [
            finding("T1", text, match.span(), "bad", fix_at(text, (*match.span(), "good")))
            for match in re.finditer("bad", text)
        ]
        return [*mended, finding("T1", text, (text.index("y"), text.index("y") + 1), f"range [{low}, 2]")]

    fixed = run("x = bad\ny\n", rule)
    assert (fixed.text, [each.message for each in fixed.remaining]) == ("x = good\ny\n", ["range [1, 2]"])


def test_a_batch_that_holds_is_checked_once() -> None:
    asked: list[str] = []

    def nothing(text: str) -> list[Finding]:
        asked.append(text)
        return []

    run("bad\n" * 500, words("T1", r"bad", "good"), nothing)
    assert asked == ["bad\n" * 500, "good\n" * 500]


def test_the_one_to_blame_among_many_is_found_by_halving() -> None:
    asked: list[str] = []

    def parses(text: str) -> bool:
        asked.append(text)
        return "broken" not in text

    text = "bad\n" * 300 + "worse\n" + "bad\n" * 211
    fixed = run(text, words("T1", "bad", "good"), words("T2", "worse", "broken"), parses=parses)
    assert (fixed.text, len(fixed.withdrawn)) == ("good\n" * 300 + "worse\n" + "good\n" * 211, 1)
    assert len(asked) < 25


def test_crlf_files_get_crlf_lines() -> None:
    def rule(text: str) -> list[Finding]:
        changes = [
            (0, 0, "import good\n"),
            *((match.start(), match.end(), "good") for match in re.finditer("bad", text)),
        ]
        return [finding("T1", text, (0, 1), "bad", fix_at(text, *changes))] if "bad" in text else []

    assert run("x = bad\r\ny = bad\r\n", rule).text == "import good\r\nx = good\r\ny = good\r\n"


def test_a_fix_is_not_blamed_for_what_another_one_wakes() -> None:
    rules = words("T1", r"bad", "good"), words("T6", r"worse", "(bad)")
    fixed = run("worse\nbad\n", *rules)
    assert (fixed.text, fixed.withdrawn) == ("(good)\ngood\n", [])


TOYS = (
    words("T1", r"bad(\([a-z()]*\))?", r"good\1"),
    words("T2", r"cycle", "elcyc"),
    words("T3", r"elcyc", "cycle"),
    words("T4", r"grow", "grown"),
    words("T5", r"open", "("),
    words("T6", r"good\(\)", "(bad)"),
    words("T1", r"wake", "bad"),
)


def balanced(text: str) -> bool:
    return text.count("(") == text.count(")")


@given(
    st.lists(
        st.sampled_from(["bad", "cycle", "grow", "open", "wake", "(", ")", "\n", "\r\n", "good", " "]), max_size=25
    )
)
def test_runs_are_repeatable_end_in_rest_and_never_break_what_parsed(pieces: list[str]) -> None:
    text = "".join(pieces)
    text = text if balanced(text) else text.replace("(", "").replace(")", "")
    once = run(text, *TOYS, parses=balanced, max_passes=50)
    again = run(once.text, *TOYS, parses=balanced, max_passes=50)
    assert run(text, *TOYS, parses=balanced, max_passes=50) == once
    assert (again.text, again.applied, balanced(once.text)) == (once.text, [], True)


def test_equal_texts_have_no_diff() -> None:
    assert unified_diff("a.py", "x\n", "x\n") == ""


def test_a_diff_names_the_path_and_keeps_newlines_as_they_are() -> None:
    expected = "--- a.py\n+++ a.py\n@@ -1,2 +1,2 @@\n-x\r\n+z\r\n y\r\n"
    assert unified_diff("a.py", "x\r\ny\r\n", "z\r\ny\r\n") == expected


def test_a_diff_says_where_the_last_newline_is_missing() -> None:
    end = "\\ No newline at end of file\n"
    assert unified_diff("a.py", "x", "y") == f"--- a.py\n+++ a.py\n@@ -1 +1 @@\n-x\n{end}+y\n{end}"


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ("a\nb\n", "a\nc\n"),
        ("a\r\nb\r\n", "a\r\nimport x\r\nb\r\n"),
        ("a\rb\r", "a\rc\r"),
        ("a\nb", "a\nc"),
        ("a\nb", "a\nb\n"),
        ("é\x0c\u2028\n" * 20, "é\x0c\u2028\n" * 9 + "x\n" + "é\x0c\u2028\n" * 11),
    ],
    ids=["line feeds", "CRLF", "carriage returns", "no last newline", "last newline added", "odd characters"],
)
def test_git_applies_the_diff_to_the_byte(tmp_path: Path, old: str, new: str) -> None:
    (tmp_path / "a.py").write_bytes(old.encode())
    command = ["git", "-c", "core.autocrlf=false", "apply", "-p0", "--unsafe-paths", "-"]
    subprocess.run(command, cwd=tmp_path, input=unified_diff("a.py", old, new).encode(), check=True)
    assert (tmp_path / "a.py").read_bytes() == new.encode()


def test_the_diff_of_a_notebook_goes_by_cells_and_shows_magics() -> None:
    sources = ["%m\nx = 1\n", "y = 2", "x = 1"]
    cells = [{"cell_type": "code", "source": source} for source in sources]
    notebook = Notebook.parse(json.dumps({"cells": cells}).encode(), "n.ipynb")
    diff = notebook_diff("n.ipynb", notebook, notebook.text.replace("x = 1", "x = 9"))
    end = "\\ No newline at end of file\n"
    first = "--- n.ipynb:cell 1\n+++ n.ipynb:cell 1\n@@ -1,2 +1,2 @@\n %m\n-x = 1\n+x = 9\n"
    last = f"--- n.ipynb:cell 3\n+++ n.ipynb:cell 3\n@@ -1 +1 @@\n-x = 1\n{end}+x = 9\n{end}"
    assert diff == first + last


def test_a_fix_above_a_cell_magic_is_withdrawn_when_the_notebook_is_asked() -> None:
    cells = [{"cell_type": "code", "source": "%%time\nx = bad"}, {"cell_type": "code", "source": "y = worse"}]
    notebook = Notebook.parse(json.dumps({"cells": cells}).encode(), "n.ipynb")

    def needs_import(text: str) -> list[Finding]:
        at = text.find("bad")
        mend = fix_at(text, (0, 0, "import good\n"), (at, at + 3, "good"))
        return [finding("T1", text, (at, at + 3), "bad", mend)] if at >= 0 else []

    fixed = run(notebook.text, needs_import, words("T2", "worse", "good"), parses=notebook.accepts)
    written = json.loads(notebook.with_text(fixed.text))
    assert [cell["source"] for cell in written["cells"]] == ["%%time\nx = bad", "y = good"]


def test_every_line_of_a_text_can_be_addressed() -> None:
    text = "a\r\nb\n\x0cc\rd"
    fixes = [fix((line, 1, line, 1, str(line))) for line in range(1, 5)]
    assert split_lines(apply_edits(text, fixes)[0]) == ["1a\r\n", "2b\n", "3\x0cc\r", "4d"]
