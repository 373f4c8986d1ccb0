"""Bytes to text and back: what is kept, what is refused, and what a refusal says."""

from __future__ import annotations

import contextlib
import os
import pickle
import subprocess
import sys
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from nanlint.source import read
from nanlint.source.lines import line_end, split_lines, without_end
from nanlint.source.read import UnreadableSource, UnwritableSource, decode, read_source

REPOSITORY = Path(__file__).parents[1]
BOM = b"\xef\xbb\xbf"


@pytest.mark.parametrize(
    ("data", "text", "encoding"),
    [
        pytest.param(b"", "", "utf-8", id="empty"),
        pytest.param(b"x = 1\n", "x = 1\n", "utf-8", id="line feeds"),
        pytest.param(b"x = 1\r\ny = 2\r\n", "x = 1\r\ny = 2\r\n", "utf-8", id="carriage return and line feed"),
        pytest.param(b"x = 1\ry = 2\r", "x = 1\ry = 2\r", "utf-8", id="lone carriage returns"),
        pytest.param(b"a\r\nb\nc\rd", "a\r\nb\nc\rd", "utf-8", id="mixed newlines, none at the end"),
        pytest.param(b"a\n\x0c\nb\n", "a\n\x0c\nb\n", "utf-8", id="form feed"),
        pytest.param(BOM + b"x = 1\n", "x = 1\n", "utf-8", id="byte order mark"),
        pytest.param(BOM + b"# coding: utf8\n", "# coding: utf8\n", "utf-8", id="byte order mark and declaration"),
        pytest.param("é = 'λ'\n".encode(), "é = 'λ'\n", "utf-8", id="letters beyond ASCII"),
        pytest.param(
            b"# -*- coding: latin-1 -*-\n'\xe9'\n", "# -*- coding: latin-1 -*-\n'é'\n", "latin-1", id="latin-1"
        ),
        pytest.param(
            b"#!x\r# vim: fileencoding=cp1252\r'\x80'",
            "#!x\r# vim: fileencoding=cp1252\r'€'",
            "cp1252",
            id="second line",
        ),
        pytest.param(
            b"# coding=euc-jp\r\n'\xa4\xa2'\r\n", "# coding=euc-jp\r\n'あ'\r\n", "euc-jp", id="two bytes a letter"
        ),
        pytest.param(b"# coding: UTF-8-sig\nx\n", "# coding: UTF-8-sig\nx\n", "utf-8", id="a spelling of UTF-8"),
        pytest.param(b"x = 1\n# coding: latin-1\n", "x = 1\n# coding: latin-1\n", "utf-8", id="declaration after code"),
        pytest.param(b"#\n#\n# coding: latin-1\n", "#\n#\n# coding: latin-1\n", "utf-8", id="declaration on line 3"),
        pytest.param(b"encoding = 'latin-1'\n", "encoding = 'latin-1'\n", "utf-8", id="the word outside a comment"),
    ],
)
def test_decoding_keeps_the_text_and_encoding_returns_the_bytes(data: bytes, text: str, encoding: str) -> None:
    file = decode(data, "a.py")
    assert (file.text, file.encoding, file.bom, file.encode(file.text)) == (text, encoding, data[:3] == BOM, data)


@given(st.text(st.characters(exclude_characters="\0", exclude_categories=["Cs"])), st.booleans())
def test_any_unicode_text_survives_the_round_trip(text: str, bom: bool) -> None:  # noqa: FBT001 - drawn, not passed
    data = (BOM if bom else b"") + b"#\n#\n" + text.encode()
    file = decode(data, "a.py")
    assert (file.text, file.encode(file.text)) == ("#\n#\n" + text, data)


@given(st.binary().filter(lambda data: b"\0" not in data))
def test_any_bytes_survive_the_round_trip_in_latin_1(tail: bytes) -> None:
    data = b"# coding: latin-1\n" + tail
    file = decode(data, "a.py")
    assert file.encode(file.text) == data


@given(st.sampled_from([b"", BOM, b"# coding: shift-jis\n", b"# coding: utf-7\n"]), st.binary())
def test_whatever_can_be_written_back_unchanged_is_written_to_the_byte(head: bytes, tail: bytes) -> None:
    data = head + tail
    with contextlib.suppress(UnreadableSource, UnwritableSource):
        file = decode(data, "a.py")
        assert file.encode(file.text) == data


@pytest.mark.parametrize(
    ("data", "path", "message", "line"),
    [
        pytest.param(
            b"a\r\nb\rc\n'\xe9'",
            "a.py",
            "not valid UTF-8 at byte 8 (line 4); declare its encoding in the first line or save it as UTF-8",
            4,
            id="latin-1 without declaration",
        ),
        pytest.param(
            BOM + b"'\xe9'",
            "a.py",
            "not valid UTF-8 at byte 4 (line 1); declare its encoding in the first line or save it as UTF-8",
            1,
            id="invalid after a byte order mark",
        ),
        pytest.param(b"a: \xe9", "a.yaml", "not valid UTF-8 at byte 3 (line 1); save it as UTF-8", 1, id="no Python"),
        pytest.param(
            b"# coding: latin-1\na: \xe9",
            "a.toml",
            "not valid UTF-8 at byte 21 (line 2); save it as UTF-8",
            2,
            id="declaration in a format without declarations",
        ),
        pytest.param(
            b"x\n\0", "a.py", "null byte at byte 2 (line 2); remove it or exclude the file", 2, id="null byte"
        ),
        pytest.param(
            "x = 1".encode("utf-16"),
            "a.py",
            "UTF-16 or UTF-32, which Python does not read; save it as UTF-8",
            1,
            id="UTF-16",
        ),
        pytest.param(
            b"# coding: utf-16\nxx\n",
            "a.py",
            "declares utf-16, in which the declaration itself cannot be read",
            1,
            id="declares UTF-16",
        ),
        pytest.param(
            b"#\n# coding: klingon\n",
            "a.py",
            "declares klingon, which is no text encoding that Python knows",
            2,
            id="unknown encoding",
        ),
        pytest.param(
            b"# coding: rot13\n",
            "a.py",
            "declares rot13, which is no text encoding that Python knows",
            1,
            id="codec that is no encoding",
        ),
        pytest.param(
            b"# coding: ascii\n'\xe9'\n",
            "a.py",
            "declares ascii, but is not valid ascii from byte 17 on; save it as UTF-8",
            2,
            id="not what it declares",
        ),
        pytest.param(
            b"# coding: undefined\n",
            "a.py",
            "declares undefined, but is not valid undefined from byte 0 on; save it as UTF-8",
            1,
            id="codec that always fails",
        ),
        pytest.param(
            b"# coding: utf-7\n+2AA-\n",
            "a.py",
            "its utf-7 holds a null or half a surrogate pair; save it as UTF-8",
            1,
            id="half a character in UTF-7",
        ),
        pytest.param(
            b"# coding: unicode_escape\n\\x00\n",
            "a.py",
            "its unicode_escape holds a null or half a surrogate pair; save it as UTF-8",
            1,
            id="escaped null",
        ),
        pytest.param(
            BOM + b"# coding: latin-1\n",
            "a.py",
            "declares latin-1 but starts with the mark of UTF-8; drop one of them",
            1,
            id="byte order mark against declaration",
        ),
    ],
)
def test_a_refusal_names_the_reason_the_line_and_the_next_step(data: bytes, path: str, message: str, line: int) -> None:
    with pytest.raises(UnreadableSource) as caught:
        decode(data, path)
    assert (caught.value.message, caught.value.line) == (message, line)


@pytest.mark.parametrize(
    ("encoding", "tail"),
    [("iso-2022-jp", b"'\x1b$B$\"\x1b(B\x1b$B$\"\x1b(B'\n"), ("idna", b"x" * 99)],
    ids=["needless escapes", "a codec that decodes more than it encodes"],
)
def test_bytes_that_cannot_be_reproduced_are_read_but_not_written(encoding: str, tail: bytes) -> None:
    file = decode(f"# coding: {encoding}\n".encode() + tail, "a.py")
    with pytest.raises(
        UnwritableSource, match=f"^its {encoding} bytes cannot be kept exactly; save it as UTF-8 first$"
    ):
        file.encode(file.text)


def test_a_letter_that_the_encoding_lacks_is_named() -> None:
    file = decode(b"# coding: latin-1\n", "a.py")
    with pytest.raises(UnwritableSource, match="latin-1 has no 'λ'; save it as UTF-8 first"):
        file.encode("x = 'λ'")


@pytest.mark.parametrize(
    ("text", "newline"),
    [("", "\n"), ("x", "\n"), ("x\ny\r\n", "\n"), ("x\r\ny\n", "\r\n"), ("x\ry\n", "\r")],
    ids=["empty", "one line", "line feed", "both", "carriage return"],
)
def test_newline_is_the_one_that_ends_the_first_line(text: str, newline: str) -> None:
    assert decode(text.encode(), "a.py").newline == newline


@given(st.text("ab\n\r\x0b\x0c\x1c\x1e\x85\u2028\u2029"))
def test_lines_end_at_newlines_only_and_join_to_the_text(text: str) -> None:
    lines = split_lines(text)
    normal = text.replace("\r\n", "\n").replace("\r", "\n")
    expected = normal.removesuffix("\n").split("\n") if text else []
    assert ("".join(lines), [without_end(line) for line in lines]) == (text, expected)


@given(st.text("ab\n\r\x0c"))
def test_every_line_but_the_last_has_an_end(text: str) -> None:
    assert all(line_end(line) for line in split_lines(text)[:-1])


def test_a_file_is_read_from_its_path(tmp_path: Path) -> None:
    (tmp_path / "a.py").write_bytes(b"x = 1\r\n")
    assert read_source(tmp_path / "a.py").text == read_source(str(tmp_path / "a.py")).text == "x = 1\r\n"


def test_a_folder_is_refused(tmp_path: Path) -> None:
    with pytest.raises(UnreadableSource, match=r"^a folder, not a file; "):
        read_source(tmp_path)


def test_a_vanished_file_is_refused(tmp_path: Path) -> None:
    with pytest.raises(UnreadableSource, match=r"^no such file; was it moved or deleted"):
        read_source(tmp_path / "gone.py")


def test_a_link_to_nothing_is_refused(tmp_path: Path) -> None:
    (tmp_path / "a.py").symlink_to("gone.py")
    with pytest.raises(UnreadableSource, match=r"^a symbolic link to nothing; exclude it$"):
        read_source(tmp_path / "a.py")


def test_a_circle_of_links_is_refused(tmp_path: Path) -> None:
    (tmp_path / "a.py").symlink_to("a.py")
    with pytest.raises(UnreadableSource, match=r"^cannot be read: "):
        read_source(tmp_path / "a.py")


@pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="named pipes are a POSIX thing")
def test_a_pipe_is_refused_without_waiting_for_a_writer(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "a.py")
    with pytest.raises(UnreadableSource, match=r"^a device or pipe, not a file; "):
        read_source(tmp_path / "a.py")


def test_a_file_above_the_limit_is_refused_unread(tmp_path: Path) -> None:
    with (tmp_path / "a.py").open("wb") as file:
        file.truncate(read.LARGEST_FILE + 1_234_567)
    with pytest.raises(UnreadableSource, match=r"^51\.2 MB, and files above 50 MB are not read; exclude it$"):
        read_source(tmp_path / "a.py")


def test_a_file_without_permission_is_refused(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def denied(path: object) -> os.stat_result:
        raise PermissionError(13, "Permission denied", path)

    monkeypatch.setattr("nanlint.source.read.os.stat", denied)
    with pytest.raises(UnreadableSource, match=r"^permission denied; make it readable or exclude it$"):
        read_source(tmp_path / "a.py")


def test_a_refusal_travels_between_processes() -> None:
    error = pickle.loads(pickle.dumps(UnreadableSource("null byte", 3)))  # noqa: S301 - our own bytes
    assert (error.message, error.line, str(error)) == ("null byte", 3, "null byte")


def test_reading_plain_utf_8_imports_next_to_nothing() -> None:
    program = (
        "import sys, nanlint.errors; before = set(sys.modules)\n"
        "sys.modules.pop('re', None)\n"
        "from nanlint.source.read import read_source; read_source(sys.argv[1])\n"
        "print(sorted(set(sys.modules) - before), 're' in sys.modules)"
    )
    command = [sys.executable, "-c", program, str(REPOSITORY / "nanlint" / "errors.py")]
    result = subprocess.run(command, cwd=REPOSITORY, capture_output=True, text=True, check=True)
    assert result.stdout == "['nanlint.source', 'nanlint.source.lines', 'nanlint.source.read'] False\n"
