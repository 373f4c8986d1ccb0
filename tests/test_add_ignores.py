"""Suppressions for what is found today."""

from __future__ import annotations

import ast
import sysconfig
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from nanlint.engine.fixing.add_ignores import add_ignores
from nanlint.engine.suppressing.suppress import apply
from nanlint.model import Finding, Severity, Span

LIBRARY = Path(sysconfig.get_paths()["stdlib"])
KNOWN = {"NAN001": "unused-suppression", "NAN101": "division-by-zero", "NAN102": "log-of-zero"}


def found(line: int, code: str = "NAN102", end_line: int = 0) -> Finding:
    return Finding(code, KNOWN[code], Span(line, 1, end_line or line, 2), "m", Severity.ERROR)


@pytest.mark.parametrize(
    ("before", "line", "after"),
    [
        pytest.param("y = x.log()\n", 1, "y = x.log()  # nanlint: ignore[NAN102]\n", id="one line"),
        pytest.param("y = x.log()", 1, "y = x.log()  # nanlint: ignore[NAN102]", id="no final newline"),
        pytest.param("a\r\nb\r\n", 1, "a  # nanlint: ignore[NAN102]\r\nb\r\n", id="CRLF"),
        pytest.param("a\rb\r", 2, "a\rb  # nanlint: ignore[NAN102]\r", id="CR"),
        pytest.param("if a:\n\tb \t\n", 2, "if a:\n\tb  # nanlint: ignore[NAN102]\n", id="tabs"),
        pytest.param("f(\n  a,\n  b,\n)\n", 2, "f(\n  a,\n  b,\n)  # nanlint: ignore[NAN102]\n", id="several lines"),
        pytest.param("a = 1 + \\\n  b\n", 1, "a = 1 + \\\n  b  # nanlint: ignore[NAN102]\n", id="backslash"),
        pytest.param("a = 1 \\\n\nb\n", 1, "a = 1 \\\n# nanlint: ignore[NAN102]\nb\n", id="backslash before nothing"),
        pytest.param('a = """\n\n"""\n', 1, 'a = """\n\n"""  # nanlint: ignore[NAN102]\n', id="triple quotes"),
        pytest.param("if (\n  a\n):\n  b\n", 1, "if (\n  a\n):  # nanlint: ignore[NAN102]\n  b\n", id="header"),
        pytest.param("a  # type: ignore\n", 1, "a  # type: ignore  # nanlint: ignore[NAN102]\n", id="other comment"),
        pytest.param("a  # noqa: E501\n", 1, "a  # noqa: E501  # nanlint: ignore[NAN102]\n", id="noqa"),
        pytest.param(
            "a  # nanlint: ignore[NAN101] why # x\n", 1, "a  # nanlint: ignore[NAN101,NAN102] why # x\n", id="merged"
        ),
        pytest.param(
            "a  # nanlint: ignore[no-op-clip, NAN401]\n",
            1,
            "a  # nanlint: ignore[NAN102, NAN401, no-op-clip]\n",
            id="merged and sorted as it is written",
        ),
        pytest.param(
            "f(  # nanlint: ignore[NAN101]\n  a)\n", 2, "f(  # nanlint: ignore[NAN101,NAN102]\n  a)\n", id="first line"
        ),
        pytest.param("# nanlint: ignore[NAN101]\na\n", 2, "# nanlint: ignore[NAN101,NAN102]\na\n", id="line above"),
        pytest.param(
            "f(\n  a,  # nanlint: ignore[NAN101]\n  b,\n)\n",
            3,
            "f(\n  a,  # nanlint: ignore[NAN101]\n  b,\n)  # nanlint: ignore[NAN102]\n",
            id="an inner line stays about itself",
        ),
        pytest.param("# c\na\n", 1, "# c  # nanlint: ignore[NAN102]\na\n", id="comment line"),
        pytest.param("\na\n", 1, "# nanlint: ignore[NAN102]\na\n", id="blank line"),
        pytest.param("", 1, "# nanlint: ignore[NAN102]", id="empty file"),
        pytest.param(
            "a  # nanlint: ignroe\n", 1, "a  # nanlint: ignroe  # nanlint: ignore[NAN102]\n", id="beside a wrong one"
        ),
    ],
)
def test_the_suppression_is_written(before: str, line: int, after: str) -> None:
    assert add_ignores(before, [found(line)]) == after


@pytest.mark.parametrize(
    "text",
    [
        pytest.param("a  # nanlint: ignore\n", id="blanket suppression"),
        pytest.param("a  # nanlint: ignore[NAN1]\n", id="prefix"),
        pytest.param("a  # noqa\n", id="noqa"),
        pytest.param("# nanlint: ignore-file[NAN102]\na\n", id="whole file"),
    ],
)
def test_what_is_quiet_already_gets_no_second_suppression(text: str) -> None:
    assert add_ignores(text, [found(text.count("\n"))]) == text


def test_text_that_is_no_python_stays_as_it_is() -> None:
    assert add_ignores("loss: [1, 2\n", [found(1)]) == "loss: [1, 2\n"


def test_codes_of_one_statement_share_a_sorted_list() -> None:
    assert add_ignores("f(\n  a,\n  b)\n", [found(3), found(2, "NAN101"), found(1)]) == (
        "f(\n  a,\n  b)  # nanlint: ignore[NAN101,NAN102]\n"
    )


def test_two_headers_below_one_comment_share_its_list() -> None:
    text = "# nanlint: ignore[NAN401]\n@a\ndef f(): pass\n"
    assert add_ignores(text, [found(2, "NAN101"), found(3)]) == (
        "# nanlint: ignore[NAN101,NAN102,NAN401]\n@a\ndef f(): pass\n"
    )


def test_the_reason_is_one_line() -> None:
    assert add_ignores("a\n", [found(1)], reason=" old\n code ") == "a  # nanlint: ignore[NAN102] old code\n"


def test_a_suppression_in_the_way_gets_one_for_itself() -> None:
    text = "# nanlint: ignore-file[NAN102]\na\n"
    (unused,) = apply([], text, active=KNOWN, known=KNOWN).unused
    after = add_ignores(text, [unused])
    assert after == "# nanlint: ignore-file[NAN102]  # nanlint: ignore[NAN001]\na\n"
    assert apply([], after, active=KNOWN, known=KNOWN).unused == []


LINES = st.sampled_from(
    [
        "y = x.log()",
        "y = x.log()  # type: ignore",
        "y = x.log()  # nanlint: ignore[NAN101] why",
        "# nanlint: ignore[NAN101,NAN102]",
        "# prose",
        "",
        "y = f(\n    a,  # inner\n    # nanlint: ignore[NAN101]\n    x.log(),\n)",
        "y = f(  # nanlint: ignore\n    x.log())",
        "y = 1 + \\\n    x.log()",
        "y = 1 \\\n",
        "y = '''\n# nanlint: ignore\n'''",
        'y = f\'{x}\', \'é漢\', """#\\""""',
        "if (\n    x.log()\n):\n\ty = 1; z = 2\nelse:\n\tpass",
        "@a(\n    x)\n@b\ndef f(\n    y=x.log(),\n) -> None:\n    '''doc'''\n    return [\n        1,\n    ]",
        "class A:\n    # nanlint: ignore[NAN102]\n    @b\n    def f(self): ...",
        "\x0cy = 1",
    ]
)


@st.composite
def programs(draw: st.DrawFn) -> tuple[str, list[Finding]]:
    """A program that parses, and findings at nodes of it."""
    text = "\n".join(draw(st.lists(LINES, min_size=1, max_size=8)))
    text += draw(st.sampled_from(["", "\n"]))
    if text.endswith("\\\n"):
        text += "\n"
    findings = draw(findings_in(text))
    return text.replace("\n", draw(st.sampled_from(["\n", "\r\n", "\r"]))), findings


def findings_in(text: str) -> st.SearchStrategy[list[Finding]]:
    nodes = [node for node in ast.walk(ast.parse(text)) if isinstance(node, (ast.expr, ast.stmt))]
    spans = [Span(node.lineno, 1, node.end_lineno or node.lineno, 80) for node in nodes] or [Span(1, 1, 1, 1)]
    one = st.builds(
        lambda code, span: Finding(code, KNOWN[code], span, "m", Severity.ERROR),
        st.sampled_from(["NAN101", "NAN102"]),
        st.sampled_from(spans),
    )
    return st.lists(one, max_size=6)


@given(programs(), st.sampled_from(["", "old code, see #12"]))
def test_the_code_stays_the_findings_are_quiet_and_a_second_run_changes_nothing(
    program: tuple[str, list[Finding]], reason: str
) -> None:
    text, findings = program
    after = add_ignores(text, findings, reason=reason)
    assert ast.dump(ast.parse(after), include_attributes=True) == ast.dump(ast.parse(text), include_attributes=True)
    assert apply(findings, after, active=(), known=KNOWN).kept == []
    assert add_ignores(after, findings, reason=reason) == after


@pytest.mark.parametrize("name", ["argparse.py", "dataclasses.py", "tarfile.py", "json/decoder.py"])
def test_every_statement_of_a_real_file_can_be_suppressed(name: str) -> None:
    text = (LIBRARY / name).read_text(encoding="utf-8")
    tree = ast.parse(text)
    lines = {node.lineno for node in ast.walk(tree) if isinstance(node, (ast.expr, ast.stmt))}
    findings = [found(line) for line in sorted(lines)]
    after = add_ignores(text, findings)
    assert ast.dump(ast.parse(after), include_attributes=True) == ast.dump(tree, include_attributes=True)
    assert apply(findings, after, active=(), known=KNOWN).kept == []
