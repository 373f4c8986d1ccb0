"""Which findings comments keep quiet, and what is said about comments that keep nothing quiet."""

from __future__ import annotations

import ast
import subprocess
import sys

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from nanlint.engine.fixing.apply_fixes import apply_edits
from nanlint.engine.suppressing.suppress import Suppressed, apply, codes_of
from nanlint.model import Applicability, Finding, Severity, Span
from nanlint.source.comments.mentions import mentions_suppression

KNOWN = {
    "NAN001": "unused-suppression",
    "NAN101": "division-by-zero",
    "NAN102": "log-of-zero",
    "NAN401": "no-op-clip",
}


def found(text: str, *needles: str, code: str = "NAN102") -> list[Finding]:
    """A finding for every needle, at the first place where it stands."""
    return [Finding(code, KNOWN[code], span_of(text, needle), "m", Severity.ERROR) for needle in needles]


def span_of(text: str, needle: str) -> Span:
    start = text.index(needle)
    end = start + len(needle)
    return Span(*place(text, start), *place(text, end))


def place(text: str, offset: int) -> tuple[int, int]:
    before = text[:offset]
    return before.count("\n") + 1, offset - (before.rfind("\n") + 1) + 1


def judge(text: str, *needles: str, code: str = "NAN102") -> Suppressed:
    return apply(found(text, *needles, code=code), text, active=KNOWN, known=KNOWN)


def quiet(text: str, *needles: str, code: str = "NAN102") -> bool:
    """Whether all is quiet: every finding, and every comment."""
    return judge(text, *needles, code=code) == Suppressed([], len(needles), [])


def complaints(text: str, *needles: str) -> list[str]:
    return [finding.message for finding in judge(text, *needles).unused]


def without_unused(text: str, *needles: str) -> str:
    """The text after all fixes for unused suppressions, pass by pass, as `--fix` applies them."""
    for _ in range(5):
        fixes = [finding.fix for finding in judge(text, *needles).unused if finding.fix]
        text = apply_edits(text, fixes)[0]
    return text


@pytest.mark.parametrize(
    "text",
    [
        pytest.param("y = x.log()\n", id="no comment"),
        pytest.param("y = x.log()  # a word about nanlint\n", id="prose"),
        pytest.param("y = x.log()  # nanlint ignore comments are documented\n", id="more prose"),
        pytest.param('s = "# nanlint: ignore"\ny = x.log()\n', id="string above"),
        pytest.param('y = x.log(), "# nanlint: ignore[NAN102]"\n', id="string on the line"),
        pytest.param('y = x.log(), """\n# nanlint: ignore[NAN102]\n"""\n', id="triple-quoted string"),
        pytest.param("y = x.log()  # noqa: E501\n", id="noqa of other tools"),
        pytest.param("y = x.log()  # noqa:E501,F401 nan is fine\n", id="noqa of other tools with a reason"),
        pytest.param("y = x.log()  # flake8: noqa\n", id="directive of flake8"),
        pytest.param("y = x.log()  # write `# nanlint: ignore` to silence it\n", id="quoted in prose"),
    ],
)
def test_what_is_no_suppression_suppresses_nothing_and_is_not_reported(text: str) -> None:
    findings = found(text, "x.log()")
    assert judge(text, "x.log()") == Suppressed(findings, 0, [])


@pytest.mark.parametrize(
    "comment",
    [
        "# nanlint: ignore",
        "#nanlint:ignore",
        "# NanLint: Ignore",
        "# nanlint : ignore",
        "# nanlint: ignore because it is never 0",
        "# nanlint: ignore[NAN102]",
        "# nanlint: ignore[nan102]",
        "# nanlint: ignore [NAN102] never 0, see #12",
        "# nanlint: ignore[NAN1]",
        "# nanlint: ignore[NAN]",
        "# nanlint: ignore[log-of-zero]",
        "# nanlint: ignore[Log_Of_Zero]",
        "# nanlint: ignore-file",
        "# nanlint: ignore-file[NAN102] generated",
        "# noqa",
        "# NoQA",
        "#noqa:NAN102",
        "# noqa: NAN102",
        "# noqa : nan102",
        "# noqa: E501,NAN102",
        "# noqa: E501 NAN102 why not",
        "# noqa: NAN1",
        "# noqa: because flake8 reads it as a blanket one",
        "# type: ignore # nanlint: ignore[NAN102] reason # pylint: disable=x",
        "# type: ignore[arg-type]  # noqa: NAN102",
        "# fine # nanlint: ignore",
        "## nanlint: ignore",
    ],
)
def test_a_comment_at_the_end_of_the_line_quiets_the_finding(comment: str) -> None:
    assert quiet(f"y = x.log()  {comment}\n", "x.log()")


@pytest.mark.parametrize(
    "comment",
    ["# nanlint: ignore[NAN101]", "# noqa: NAN101", "# nanlint: ignore[no-op-clip]", "# nanlint: ignore[NAN4]"],
)
def test_a_suppression_of_another_rule_leaves_the_finding(comment: str) -> None:
    text = f"y = x.log()  {comment}\n"
    assert judge(text, "x.log()").kept == found(text, "x.log()")


@pytest.mark.parametrize(
    ("text", "needle"),
    [
        pytest.param("y = f(  # nanlint: ignore\n  a,\n  x.log(),\n)\n", "x.log()", id="first line"),
        pytest.param("y = f(\n  x.log(),\n  a,\n)  # nanlint: ignore\n", "x.log()", id="last line"),
        pytest.param("y = f(\n  a,\n  x.log(),  # nanlint: ignore\n)\n", "x.log()", id="its inner line"),
        pytest.param("y = f(\n  # nanlint: ignore\n\n  # why\n  x.log(),\n)\n", "x.log()", id="above its inner line"),
        pytest.param("y = f(\n  a,  # nanlint: ignore\n  b)\n", "f(\n  a,  # nanlint: ignore\n  b)", id="in the span"),
        pytest.param("y = 1 + \\\n  x.log() + \\\n  2  # nanlint: ignore\n", "x.log()", id="backslashes"),
        pytest.param('y = x.log(), """\n\n"""  # nanlint: ignore\n', "x.log()", id="behind triple quotes"),
        pytest.param("y = x.log(); z = 1  # nanlint: ignore\n", "x.log()", id="semicolon"),
        pytest.param("if (  # nanlint: ignore\n  x.log()\n):\n  pass\n", "x.log()", id="first line of a header"),
        pytest.param("if (\n  x.log()\n):  # nanlint: ignore\n  pass\n", "x.log()", id="last line of a header"),
        pytest.param("for a in b:  # nanlint: ignore\n  c\n", "for a in b:  # nanlint: ignore\n  c", id="block"),
        pytest.param("for a in b:\n  c  # nanlint: ignore\n", "for a in b:\n  c", id="any line of a block"),
        pytest.param("# nanlint: ignore\ny = f(\n  x.log()\n)\n", "x.log()", id="above the statement"),
        pytest.param("# nanlint: ignore\n\ny = x.log()\n", "x.log()", id="above a blank line"),
        pytest.param("# nanlint: ignore\n# why\ny = x.log()\n", "x.log()", id="above another comment"),
        pytest.param("if a:\n  pass\n# nanlint: ignore\nelif x.log():\n  b\n", "x.log()", id="above elif"),
        pytest.param("# nanlint: ignore\n@a\n@b(\n 1)\ndef f(y=x.log()):\n  pass\n", "x.log()", id="above decorators"),
        pytest.param("@a\n# nanlint: ignore\ndef f(y=x.log()):\n  pass\n", "x.log()", id="below decorators"),
        pytest.param("@a(x.log())\ndef f():  # nanlint: ignore\n  pass\n", "@a(x.log())\ndef f", id="decorated span"),
        pytest.param("@a(x.log())  # nanlint: ignore\ndef f():\n  pass\n", "x.log()", id="at a decorator"),
        pytest.param("y = x.log()\r\n# nanlint: ignore\r\nz = y.log()\r\n", "y.log()", id="CRLF"),
        pytest.param("y = x.log()\n\n\n# nanlint: ignore-file\n", "x.log()", id="file, from its end"),
    ],
)
def test_a_suppression_covers(text: str, needle: str) -> None:
    assert quiet(text, needle)


@pytest.mark.parametrize(
    ("text", "needle"),
    [
        pytest.param("a = 1  # nanlint: ignore\ny = x.log()\n", "x.log()", id="the line below"),
        pytest.param("y = x.log()\n# nanlint: ignore\n", "x.log()", id="the line above"),
        pytest.param("y = f(\n  a,  # nanlint: ignore\n  x.log(),\n)\n", "x.log()", id="another inner line"),
        pytest.param("y = f(\n  # nanlint: ignore\n  a,\n  x.log(),\n)\n", "x.log()", id="the line after the next"),
        pytest.param("if a:  # nanlint: ignore\n  y = x.log()\n", "x.log()", id="the body of a header"),
        pytest.param("# nanlint: ignore\nif a:\n  y = x.log()\n", "x.log()", id="the body below a comment"),
        pytest.param("# nanlint: ignore\ndef f():\n  y = x.log()\n", "x.log()", id="the body of a function"),
        pytest.param(
            "for a in b:\n  # nanlint: ignore\n  c\n", "for a in b:\n  # nanlint: ignore\n  c", id="a block around"
        ),
        pytest.param("@a  # nanlint: ignore\ndef f(y=x.log()):\n  pass\n", "x.log()", id="below a decorator"),
        pytest.param("a\nb  # nanlint: ignore\n", "a\n", id="the line where a span ends before its first column"),
        pytest.param("# noqa: NAN102\ny = x.log()\n", "x.log()", id="the line below a noqa"),
    ],
)
def test_a_suppression_does_not_cover(text: str, needle: str) -> None:
    result = judge(text, needle)
    assert (result.kept, len(result.unused)) == (found(text, needle), 1)


def test_several_comments_of_their_own_line_stack() -> None:
    text = "# nanlint: ignore[NAN101] why\n# nanlint: ignore[NAN102] why\ny = x.log()\n"
    findings = found(text, "x.log()", code="NAN101") + found(text, "x.log()")
    assert apply(findings, text, active=KNOWN, known=KNOWN) == Suppressed([], 2, [])


def test_text_that_is_no_python_is_suppressed_by_line() -> None:
    text = "loss: [1, 2  # nanlint: ignore[NAN102]\nscale: 0\n"
    assert (quiet(text, "loss"), judge(text, "loss", "scale").kept) == (True, found(text, "scale"))


@pytest.mark.parametrize(
    ("comment", "message"),
    [
        ("# nanlint: ignroe", "`nanlint: ignroe` means nothing; did you mean `ignore`?"),
        ("# nanlint: ignore_file", "`nanlint: ignore_file` means nothing; did you mean `ignore-file`?"),
        ("# nanlint: off", "`nanlint: off` means nothing; write `nanlint: ignore[CODE]`"),
        ("# nanlint: ignore[NAN1O2]", "there is no rule `NAN1O2`; did you mean NAN102?"),
        ("# nanlint: ignore[log-of-zeros]", "there is no rule `log-of-zeros`; did you mean log-of-zero?"),
        ("# nanlint: ignore[E501]", "there is no rule `E501`; `nanlint rules` lists them"),
        ("# nanlint: ignore[NAN9]", "there is no rule `NAN9`; `nanlint rules` lists them"),
        ("# nanlint: ignore[]", "`nanlint: ignore[]` names no rule, so it ignores nothing"),
        ("# nanlint: ignore[NAN102", "the bracket of `nanlint: ignore[` is not closed, so it ignores nothing"),
        ("# nanlint: ignore NAN102", "the rules to ignore go in brackets: write `nanlint: ignore[NAN102]`"),
        ("# nanlint: ignore-file: nan102", "the rules to ignore go in brackets: write `nanlint: ignore-file[NAN102]`"),
        ("# nanlint ignore[NAN102]", "`nanlint ignore` lacks its colon: write `nanlint: ignore`"),
        ("# noqa: NAN402", "there is no rule `NAN402`; did you mean NAN401?"),
    ],
)
def test_a_marker_written_wrong_suppresses_nothing_and_is_reported(comment: str, message: str) -> None:
    text = f"y = x.log()  {comment}\n"
    result = judge(text, "x.log()")
    assert (result.kept, [finding.message for finding in result.unused]) == (found(text, "x.log()"), [message])


def test_a_wrong_code_does_not_spoil_the_right_one_beside_it() -> None:
    text = "y = x.log()  # nanlint: ignore[NAN102,NAN1O1]\n"
    unknown = Finding(
        "NAN001",
        "unused-suppression",
        span_of(text, "NAN1O1"),
        "there is no rule `NAN1O1`; did you mean NAN101?",
        Severity.WARNING,
    )
    assert judge(text, "x.log()") == Suppressed([], 1, [unknown])


@pytest.mark.parametrize(
    ("before", "after"),
    [
        pytest.param("y = 1  # nanlint: ignore\n", "y = 1\n", id="comment"),
        pytest.param("y = 1\t # nanlint: ignore[NAN102] why not  \n", "y = 1\n", id="comment with reason and blanks"),
        pytest.param("a\n  # nanlint: ignore[NAN102] why\nb\n", "a\nb\n", id="line"),
        pytest.param("# nanlint: ignore-file\na\n", "a\n", id="first line"),
        pytest.param("a\n# nanlint: ignore-file", "a", id="last line without newline"),
        pytest.param("# nanlint: ignore-file", "", id="only line"),
        pytest.param("a\r\n# nanlint: ignore\r\nb\r\n", "a\r\nb\r\n", id="line of a CRLF file"),
        pytest.param("y = 1  # nanlint: ignore[NAN102,NAN401,NAN101]\n", "y = 1\n", id="all codes"),
        pytest.param("y = 1  # type: ignore # nanlint: ignore see #3\n", "y = 1  # type: ignore\n", id="last marker"),
        pytest.param("y = 1  # nanlint: ignore why  # noqa: E501\n", "y = 1  # noqa: E501\n", id="first marker"),
        pytest.param(
            "y = 1  # type: ignore # nanlint: ignore[NAN102] why # pylint: disable=x\n",
            "y = 1  # type: ignore # pylint: disable=x\n",
            id="marker in the middle",
        ),
        pytest.param("y = 1  # nanlint: ignore  # noqa: NAN102\n", "y = 1\n", id="two markers"),
        pytest.param("y = 1  # noqa: NAN102\n", "y = 1\n", id="noqa"),
        pytest.param("y = 1  # noqa: E501, NAN102 why\n", "y = 1  # noqa: E501 why\n", id="noqa of other tools"),
        pytest.param("y = 1  # noqa: NAN102,E501,F401\n", "y = 1  # noqa: E501,F401\n", id="noqa of more tools"),
        pytest.param("y = f(\n  # nanlint: ignore\n  a,\n)\n", "y = f(\n  a,\n)\n", id="line in brackets"),
    ],
)
def test_the_fix_removes_an_unused_suppression_and_nothing_else(before: str, after: str) -> None:
    assert without_unused(before) == after


@pytest.mark.parametrize(
    ("before", "after"),
    [
        ("# nanlint: ignore[NAN101,NAN102] why", "# nanlint: ignore[NAN102] why"),
        ("# nanlint: ignore[NAN102, no-op-clip, NAN1]", "# nanlint: ignore[NAN102, NAN1]"),
        ("# nanlint: ignore[ NAN401 NAN102 ]", "# nanlint: ignore[ NAN102 ]"),
        ("# noqa: NAN101,E501,NAN102", "# noqa: E501,NAN102"),
    ],
)
def test_the_fix_removes_unused_codes_and_keeps_the_used_ones(before: str, after: str) -> None:
    assert without_unused(f"y = x.log()  {before}\n", "x.log()") == f"y = x.log()  {after}\n"


def test_an_unused_suppression_is_a_warning_with_a_safe_fix_at_the_marker() -> None:
    text = "y = 1  # fine # nanlint: ignore[NAN102] why # noqa\n"
    (finding,) = judge(text).unused
    assert (finding.code, finding.name, finding.severity) == ("NAN001", "unused-suppression", Severity.WARNING)
    assert finding.message == "`# nanlint: ignore[NAN102] why` suppresses nothing here"
    assert finding.span == span_of(text, "# nanlint: ignore[NAN102] why")
    assert finding.fix is not None
    assert finding.fix.applicability is Applicability.SAFE


def test_unused_codes_beside_used_ones_are_named() -> None:
    text = "y = x.log()  # nanlint: ignore[NAN101,NAN102,NAN401]\n"
    assert complaints(text, "x.log()") == ["ignoring NAN101, NAN401 suppresses nothing here"]


def test_a_long_marker_leaves_the_message_short() -> None:
    (message,) = complaints(f"y = 1  # nanlint: ignore[NAN102] {'why ' * 50}\n")
    assert len(message) < 100


@pytest.mark.parametrize(
    ("comment", "active"),
    [
        pytest.param("# nanlint: ignore[NAN102]", {"NAN001", "NAN101"}, id="its rule did not run"),
        pytest.param("# nanlint: ignore[NAN4]", {"NAN001", "NAN101"}, id="none of its prefix ran"),
        pytest.param("# nanlint: ignore", {"NAN001"}, id="no rule ran"),
        pytest.param("# nanlint: ignore[NAN102]", {"NAN102"}, id="NAN001 did not run"),
        pytest.param("# nanlint: ignroe", {"NAN102"}, id="written wrong, but NAN001 did not run"),
        pytest.param("# noqa", set(KNOWN), id="blanket noqa"),
        pytest.param("# nanlint: ignore[NAN001]", set(KNOWN), id="NAN001 itself"),
        pytest.param("# nanlint: ignore[unused-suppression]", set(KNOWN), id="NAN001 by name"),
        pytest.param("# nanlint: ignore[NAN102,NAN001]", set(KNOWN), id="beside NAN001"),
        pytest.param("# nanlint: ignore[NAN1O1] # nanlint: ignore[NAN001]", set(KNOWN), id="wrong beside NAN001"),
    ],
)
@pytest.mark.parametrize("form", ["y = 1  {}\n", "{}\ny = 1\n"], ids=["end of line", "own line"])
def test_no_suppression_is_called_unused_when(comment: str, active: set[str], form: str) -> None:
    assert apply([], form.format(comment), active=active, known=KNOWN) == Suppressed([], 0, [])


def test_an_ignore_file_of_nan001_quiets_all_that_is_said_about_comments() -> None:
    assert complaints("# nanlint: ignore-file[NAN001]\na  # nanlint: ignore\nb  # nanlint: ignroe\n") == []


def test_a_blanket_suppression_does_not_hide_that_it_is_unused() -> None:
    assert complaints("a  # nanlint: ignore\n") == ["`# nanlint: ignore` suppresses nothing here"]


def test_two_suppressions_of_one_finding_are_both_used() -> None:
    assert quiet(
        "# nanlint: ignore-file[NAN1]\ny = x.log()  # nanlint: ignore[NAN102,log-of-zero] # noqa: NAN102\n", "x.log()"
    )


@pytest.mark.parametrize(
    ("selector", "codes"),
    [
        ("nan102", {"NAN102"}),
        ("NAN1", {"NAN101", "NAN102"}),
        ("NAN", {"NAN101", "NAN102", "NAN401"}),
        ("NAN0", {"NAN001"}),
        ("NA", set()),
        ("102", set()),
        ("", set()),
        ("no_op_clip", {"NAN401"}),
    ],
)
def test_a_selector_is_a_code_a_prefix_or_a_name(selector: str, codes: set[str]) -> None:
    assert codes_of(selector, KNOWN) == codes


@pytest.mark.parametrize(
    ("source", "blanket", "answer"),
    [
        ("x = 1\n", True, False),
        ("x = 1  # noqa: F401\n", False, False),
        ("x = 1  # noqa\ny = nan\n", False, False),
        ("x = 1  # noqa\n", True, True),
        ("x = 1  # noqa: F401\ny  # NOQA: nan101", False, True),
        ("# NANLINT: ignore\n", False, True),
        ("# é nanlint: ignore\n".encode(), False, True),
        (b"\xff\xfe", False, False),
    ],
)
def test_most_files_are_told_by_substrings_to_hold_no_suppression(
    source: str | bytes,
    blanket: bool,  # noqa: FBT001 - a column of the table
    answer: bool,  # noqa: FBT001 - same
) -> None:
    assert mentions_suppression(source, blanket_noqa=blanket) is answer


def test_a_file_without_suppressions_loads_nothing_to_read_them() -> None:
    program = (
        "import sys; from nanlint.engine.suppressing.suppress import apply; apply([], 'x = 1  # noqa: F401', active={'NAN001'}, known={});"
        "print([name for name in ('nanlint.source.comments.suppressions', 'nanlint.model', 'dataclasses', 'difflib') if name in sys.modules])"
    )
    run = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True)
    assert run.stdout == "[]\n"


COMMENTS = st.lists(
    st.sampled_from(
        [
            "# nanlint: ignore",
            "# nanlint: ignore[NAN102] why, see #3",
            "# nanlint: ignore[NAN101, NAN102]",
            "# nanlint: ignore[NAN1O1]",
            "# nanlint: ignroe",
            "# nanlint: ignore-file[NAN401]",
            "# noqa: E501,NAN102",
            "# noqa",
            "# type: ignore",
            "# prose",
        ]
    ),
    max_size=3,
).map("  ".join)
STATEMENTS = st.sampled_from(
    [
        "y = x.log()",
        "y = f(",
        "  a,",
        "  x.log(),",
        ")",
        "if x.log():",
        "  pass",
        "@d",
        "s = '''",
        "'''",
        "y = 1 + \\",
        "",
    ]
)


def written(lines: list[tuple[str, str]]) -> str:
    """The lines as text; a comment goes neither behind a backslash nor alone below one, where Python allows none."""
    found: list[str] = []
    for code, comment in lines:
        is_continued = bool(found) and found[-1].endswith("\\")
        allowed = "" if code.endswith("\\") or (is_continued and not code) else comment
        found.append(f"{code}  {allowed}" if code and allowed else code or allowed)
    return "\n".join(found)


def test_no_comment_is_written_where_python_allows_none() -> None:
    broken = "y = 1 + \\"
    assert written([(broken, "# noqa"), ("", "# prose"), ("y", "# noqa")]) == f"{broken}\n\ny  # noqa"


@pytest.mark.slow
@given(lines=st.lists(st.tuples(STATEMENTS, COMMENTS), max_size=8), newline=st.sampled_from(["\n", "\r\n", "\r"]))
@example(lines=[("y = 1 + \\", "# nanlint: ignore"), ("y = x.log()", "")], newline="\n")
@example(lines=[("y = 1 + \\", ""), ("", "# nanlint: ignore"), ("  x.log(),", "")], newline="\n")
def test_after_the_fixes_nothing_is_unused_and_the_same_is_quiet(lines: list[tuple[str, str]], newline: str) -> None:
    text = written(lines)
    needles = ["x.log()"] if "x.log()" in text else []
    spanned = found(text, *needles)
    text = text.replace("\n", newline)
    before = apply(spanned, text, active=KNOWN, known=KNOWN)
    fixed = text
    for _ in range(30):
        spanned_now = found(fixed.replace("\r\n", "\n").replace("\r", "\n"), *needles)
        fixes = [finding.fix for finding in apply(spanned_now, fixed, active=KNOWN, known=KNOWN).unused if finding.fix]
        fixed = apply_edits(fixed, fixes[:1])[0]
    after = apply(found(fixed.replace("\r\n", "\n").replace("\r", "\n"), *needles), fixed, active=KNOWN, known=KNOWN)
    assert after.quiet == before.quiet
    assert [finding for finding in after.unused if finding.fix] == []
    assert tree_of(fixed) == tree_of(text)


def tree_of(text: str) -> str | None:
    try:
        return ast.dump(ast.parse(text))
    except SyntaxError:
        return None
