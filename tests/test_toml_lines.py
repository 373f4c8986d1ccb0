"""Lines of TOML keys: right for every way to write TOML, and none rather than a wrong one."""

from __future__ import annotations

import string
import sys
from importlib import import_module
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from nanlint.settings.toml import decode_toml, parse_toml
from nanlint.settings.toml_lines import lines_of

Lines = dict[tuple[str | int, ...], int]


def lines(text: str) -> Lines:
    return lines_of(text, parse_toml(text))


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        pytest.param("# one\n\na = 1 # b = 2\nc = 3", {("a",): 3, ("c",): 4}, id="comments"),
        pytest.param("[t]\na = 1\n[t.u]\nb = 2", {("t",): 1, ("t", "a"): 2, ("t", "u"): 3, ("t", "u", "b"): 4}, id="tables"),
        pytest.param("[a.b.c]\nx = 1\n[a]\ny = 2", {
            ("a",): 1, ("a", "b"): 1, ("a", "b", "c"): 1, ("a", "b", "c", "x"): 2, ("a", "y"): 4,
        }, id="table above its parent"),
        pytest.param("a.b = 1\na . c = 2", {("a",): 1, ("a", "b"): 1, ("a", "c"): 2}, id="dotted keys"),
        pytest.param('"a.b" = 1\n\'c "d"\'.e = 2\n"\\u0066" = 3', {
            ("a.b",): 1, ('c "d"',): 2, ('c "d"', "e"): 2, ("f",): 3,
        }, id="quoted keys"),
        pytest.param('a = [\n "x", # y\n\n "z",\n]\nb = 1', {("a",): 1, ("a", 0): 2, ("a", 1): 4, ("b",): 6}, id="arrays"),
        pytest.param("a = [[1,\n2],\n[]]", {
            ("a",): 1, ("a", 0): 1, ("a", 0, 0): 1, ("a", 0, 1): 2, ("a", 1): 3,
        }, id="arrays of arrays"),
        pytest.param("a = {b = 1, c.d = [2]}\ne = {}", {
            ("a",): 1, ("a", "b"): 1, ("a", "c"): 1, ("a", "c", "d"): 1, ("a", "c", "d", 0): 1, ("e",): 2,
        }, id="inline tables"),
        pytest.param("[[a]]\nx = 1\n[[a]]\ny = 2\n[a.b]\nz = 3\n[[a.c]]", {
            ("a",): 1, ("a", 0): 1, ("a", 0, "x"): 2, ("a", 1): 3, ("a", 1, "y"): 4,
            ("a", 1, "b"): 5, ("a", 1, "b", "z"): 6, ("a", 1, "c"): 7, ("a", 1, "c", 0): 7,
        }, id="arrays of tables"),
        pytest.param('a = """\nb = 1\n\\"""c = 2"""""\nd = 3', {("a",): 1, ("d",): 4}, id="long basic string"),
        pytest.param("a = '''\nb = 1\n\\'''\nd = 3", {("a",): 1, ("d",): 4}, id="long literal string"),
        pytest.param("a = \"x # \\\" y\"\nb = '\\'\nc = 1", {("a",): 1, ("b",): 2, ("c",): 3}, id="strings"),
        pytest.param("a = 1979-05-27 07:32:00Z\nb = 07:32:00\nc = [1979-05-27 07:32:00, 1.5]", {
            ("a",): 1, ("b",): 2, ("c",): 3, ("c", 0): 3, ("c", 1): 3,
        }, id="dates"),
        pytest.param("a = -inf\nb = 1_000\nc = true", {("a",): 1, ("b",): 2, ("c",): 3}, id="scalars"),
        pytest.param("", {}, id="empty file"),
    ],
)  # fmt: skip
def test_every_key_and_item_has_the_line_it_begins_on(text: str, expected: Lines) -> None:
    assert lines(text) == expected


def test_windows_line_ends_count_once() -> None:
    assert lines(decode_toml(b'a = """\r\nx\r\n"""\r\nb = 1\r\n')) == {("a",): 1, ("b",): 4}


@pytest.mark.parametrize(
    ("text", "document"),
    [
        pytest.param("a = 1", {"a": 1, "b": 2}, id="a key we did not see"),
        pytest.param("a = 1\nb = 2", {"a": 1}, id="a key that is not there"),
        pytest.param("a = 1\n]", {"a": 1}, id="no TOML"),
        pytest.param("a", {"a": 1}, id="no value"),
    ],
)
def test_a_text_that_is_misread_has_no_lines(text: str, document: dict[str, Any]) -> None:
    assert lines_of(text, document) == {}


def test_before_python_3_11_tomli_reads_toml(monkeypatch: pytest.MonkeyPatch) -> None:
    reader = import_module("tomllib" if sys.version_info >= (3, 11) else "tomli")
    monkeypatch.setitem(sys.modules, "tomllib", None)
    monkeypatch.setitem(sys.modules, "tomli", reader)
    assert parse_toml("a = 1") == {"a": 1}


KEYS = st.text(string.ascii_lowercase + '."# =[', min_size=1, max_size=4)
SCALARS = st.one_of(st.text("ab\"'#[]{}=\\,\n", max_size=6), st.integers(), st.booleans())
VALUES = st.recursive(SCALARS, lambda inner: st.lists(inner, max_size=3), max_leaves=6)


def quoted(text: str) -> str:
    escaped = text.replace("\\", "\\\\").replace('"', '\\"').replace("\n", "\\n")
    return f'"{escaped}"'


def written(value: object) -> str:
    """A value over several lines, with a comment that looks like TOML in it."""
    if isinstance(value, list):
        return "[ # x = [\n" + "".join(f"{written(inner)}\n,\n" for inner in value) + "]"
    if isinstance(value, bool):
        return str(value).lower()
    return quoted(value) if isinstance(value, str) else str(value)


@given(st.dictionaries(KEYS, st.dictionaries(KEYS, VALUES, max_size=3), max_size=3))
def test_keys_are_found_where_they_were_written(tables: dict[str, dict[str, Any]]) -> None:
    text = ""
    expected: Lines = {}
    for table, options in tables.items():
        expected[(table,)] = text.count("\n") + 1
        text += f"[{quoted(table)}]\n\n"
        for key, value in options.items():
            expected[table, key] = text.count("\n") + 1
            text += f"{quoted(key)} = {written(value)}\n"
    found = {place: line for place, line in lines(text).items() if len(place) <= 2}
    assert found == expected
