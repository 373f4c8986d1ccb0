"""Bytes of a source file to text and back, to the byte.

The text keeps the file's own newlines, so that lines and columns are the file's and what a fix did not touch is
written back as it was. This module knows no Python beyond the encoding declaration of PEP 263. It runs once per
checked file: the usual case, UTF-8 without declaration, imports nothing and scans the bytes four times in C.
"""

# pathlib is not imported on a clean run.
# ruff: noqa: PTH114, PTH116, PTH123

from __future__ import annotations

import os
import stat

from nanlint.errors import NanlintError
from nanlint.source.lines import line_end, split_lines

# A source file above this is data with a misleading name; reading it would break the memory limit of the run.
LARGEST_FILE = 50_000_000

UTF8_BOM = b"\xef\xbb\xbf"
UTF16_BOMS = (b"\xff\xfe", b"\xfe\xff")  # the little-endian UTF-32 mark begins with the first of them

# Formats that fix their own encoding: a comment that looks like an encoding declaration means nothing in them.
ALWAYS_UTF8 = (".ipynb", ".json", ".toml", ".yaml", ".yml")


class UnreadableSource(NanlintError):  # noqa: N818 - named for what is wrong; the engine turns it into a FileError
    """One file cannot be read as source: why, on which line if that is known, and the next step."""

    def __init__(self, message: str, line: int | None = None) -> None:
        super().__init__(message)
        self.message = message
        self.line = line

    def __reduce__(self) -> tuple[type[UnreadableSource], tuple[str, int | None]]:
        return type(self), (self.message, self.line)


class UnwritableSource(NanlintError):  # noqa: N818 - the twin of UnreadableSource
    """One file cannot be written: why, and the next step. The file is as it was."""


class SourceFile:
    """A decoded file; immutable by convention.

    No dataclass, because one run holds thousands of these and importing dataclasses alone takes longer than reading
    a hundred of them.
    """

    __slots__ = ("bom", "encoding", "exact", "text")

    def __init__(self, text: str, encoding: str = "utf-8", *, bom: bool = False, exact: bool = True) -> None:
        self.text = text
        self.encoding = encoding
        self.bom = bom
        self.exact = exact
        """False if encoding `text` again gives other bytes, as escape sequences of ISO-2022 can."""

    @property
    def newline(self) -> str:
        r"""The newline that ends the first line; \n in a file of one line."""
        first = split_lines(self.text)[:1]
        return line_end(first[0]) or "\n" if first else "\n"

    def encode(self, text: str) -> bytes:
        """The bytes that decode to `text` in this file's encoding, with its byte order mark."""
        if not self.exact:
            raise UnwritableSource(f"its {self.encoding} bytes cannot be kept exactly; save it as UTF-8 first")
        try:
            data = text.encode(self.encoding)
        except UnicodeEncodeError as error:
            stranger = text[error.start]
            raise UnwritableSource(f"{self.encoding} has no {stranger!r}; save it as UTF-8 first") from None
        return UTF8_BOM + data if self.bom else data


def read_source(path: str | os.PathLike[str]) -> SourceFile:
    """The decoded file at `path`; every way in which that can fail is an `UnreadableSource`."""
    return decode(read_bytes(path), path)


def read_bytes(path: str | os.PathLike[str]) -> bytes:
    """The bytes of a regular file of at most `LARGEST_FILE` bytes; anything else is an `UnreadableSource`."""
    try:
        status = os.stat(path)
        if not stat.S_ISREG(status.st_mode):  # before open, which waits for ever on a pipe without a writer
            kind = "a folder" if stat.S_ISDIR(status.st_mode) else "a device or pipe"
            raise UnreadableSource(f"{kind}, not a file; exclude it or pass source with `nanlint check -`")
        if status.st_size > LARGEST_FILE:
            size, limit = status.st_size / 1e6, LARGEST_FILE / 1e6
            raise UnreadableSource(f"{size:.1f} MB, and files above {limit:.0f} MB are not read; exclude it")
        with open(path, "rb", buffering=0) as file:
            return file.readall()
    except OSError as error:
        raise UnreadableSource(_why_unreadable(path, error)) from None


def decode(data: bytes, path: str | os.PathLike[str]) -> SourceFile:
    """The text of `data` as Python reads it: UTF-8 unless a byte order mark or a declaration says otherwise."""
    if data.startswith((UTF8_BOM, *UTF16_BOMS)) or b"\0" in data or b"coding" in _first_two_lines(data):
        return _decode_with_care(data, str(path))
    try:
        return SourceFile(data.decode())
    except UnicodeDecodeError as error:
        raise _undecodable(data, error.start, str(path)) from None


def _first_two_lines(data: bytes) -> bytes:
    """At least the first two lines; all of `data` if it has fewer line feeds."""
    end = data.find(b"\n", data.find(b"\n") + 1)
    return data if end < 0 else data[:end]


def _decode_with_care(data: bytes, path: str) -> SourceFile:
    if data.startswith(UTF16_BOMS):
        raise UnreadableSource("UTF-16 or UTF-32, which Python does not read; save it as UTF-8", 1)
    null = data.find(b"\0")
    if null >= 0:
        line = _line_of(data, null)
        raise UnreadableSource(f"null byte at byte {null} (line {line}); remove it or exclude the file", line)
    bom = data.startswith(UTF8_BOM)
    body = data[len(UTF8_BOM) :] if bom else data
    declared, line = (None, 1) if path.endswith(ALWAYS_UTF8) else _declared_encoding(body)
    if declared is not None and not _is_utf8(declared):
        if bom:
            raise UnreadableSource(f"declares {declared} but starts with the mark of UTF-8; drop one of them", line)
        return _decode_declared(data, declared, line)
    try:
        return SourceFile(body.decode(), bom=bom)
    except UnicodeDecodeError as error:
        raise _undecodable(data, error.start + len(data) - len(body), path) from None


def _declared_encoding(body: bytes) -> tuple[str | None, int]:
    """The encoding that PEP 263 finds in the first two lines, and the line it stands on."""
    import re  # noqa: PLC0415 - only files that hold the word "coding" in their first lines pay for it

    for number, line in enumerate(re.split(rb"\r\n?|\n", _first_two_lines(body))[:2], start=1):
        declaration = re.match(rb"[ \t\f]*#.*?coding[:=][ \t]*([-\w.]+)", line)
        if declaration:
            return declaration[1].decode("ascii"), number
        if line.strip(b" \t\f") and not line.lstrip(b" \t\f").startswith(b"#"):
            break  # code on the first line: the second one declares nothing
    return None, 1


def _is_utf8(name: str) -> bool:
    plain = name.lower().replace("_", "-")
    return plain in {"utf8", "utf-8"} or plain.startswith("utf-8-")


def _decode_declared(data: bytes, declared: str, line: int) -> SourceFile:
    try:
        text = data.decode(declared)
    except LookupError:
        raise UnreadableSource(f"declares {declared}, which is no text encoding that Python knows", line) from None
    except UnicodeError as error:
        at = error.start if isinstance(error, UnicodeDecodeError) else 0  # some codecs do not say where
        why = f"declares {declared}, but is not valid {declared} from byte {at} on; save it as UTF-8"
        raise UnreadableSource(why, _line_of(data, at)) from None
    if declared not in "".join(split_lines(text)[:2]):
        raise UnreadableSource(f"declares {declared}, in which the declaration itself cannot be read", line)
    # Escapes of UTF-7 and its like can hide what plain bytes cannot hold.
    if "\0" in text or _encoded(text, "utf-8") is None:
        raise UnreadableSource(f"its {declared} holds a null or half a surrogate pair; save it as UTF-8", line)
    return SourceFile(text, declared, exact=_encoded(text, declared) == data)


def _encoded(text: str, encoding: str) -> bytes | None:
    try:
        return text.encode(encoding)
    except UnicodeError:
        return None


def _line_of(data: bytes, offset: int) -> int:
    before = data[:offset]
    return 1 + before.count(b"\n") + before.count(b"\r") - before.count(b"\r\n")


def _undecodable(data: bytes, offset: int, path: str) -> UnreadableSource:
    line = _line_of(data, offset)
    declare = "" if path.endswith(ALWAYS_UTF8) else "declare its encoding in the first line or "
    return UnreadableSource(f"not valid UTF-8 at byte {offset} (line {line}); {declare}save it as UTF-8", line)


def _why_unreadable(path: str | os.PathLike[str], error: OSError) -> str:
    if isinstance(error, FileNotFoundError):
        link = os.path.islink(path)
        return "a symbolic link to nothing; exclude it" if link else "no such file; was it moved or deleted?"
    if isinstance(error, PermissionError):
        return "permission denied; make it readable or exclude it"
    return f"cannot be read: {error.strerror or error}"
