"""Which half formats a file switches on, and where: casts, autocast, GradScaler, the settings of trainers and launchers.

Lines alone, but for docstrings, which say how something could be used. A comparison with `torch.float16` switches nothing on.
"""

from __future__ import annotations

import ast
import re
from typing import TYPE_CHECKING, NamedTuple

from nanlint.source.syntax.below import walk

if TYPE_CHECKING:
    from collections.abc import Iterator

FLOAT16, BFLOAT16 = "float16", "bfloat16"
_LONGEST = 1000
_PICTURE = re.compile(rb"[A-Za-z0-9+/]{200,}")


class Switch(NamedTuple):
    """A place that switches a half format on."""

    dtype: str
    path: str
    line: int
    is_whole: bool
    """The tensors themselves are half; under autocast many operations run in float32."""


_SET, _DEFAULT = rb"(true|True)\b", rb"[\"'],.*\bdefault\s*=\s*[\"']?(?:torch\.)?"
_ON = rb"(?:[\"']?\s*[:=]\s*[\"']?|" + _DEFAULT + rb")"
_FLAG = rb"[\"']?\s*(?::\s*bool\s*)?[:=]\s*[\"']?" + _SET
_DTYPE = rb"dtype(?:[\"']?\s*(?::[^=,)]*)?[:=]\s*[\"']?(?:torch\.)?|" + _DEFAULT + rb")"
_PRECISION = rb"(?:precision" + _ON + rb"|--(?:mixed[_-])?precision[= ][\"']?)"
_ENABLED_INSIDE = rb"[\"']\s*:\s*\{[^}]*[\"']enabled[\"']\s*:\s*" + _SET
# What stands on a line -> the format, and whether the tensors themselves are in it.
_WHOLE, _CAST = True, False
_SAYS = [
    (re.compile(pattern), dtype, is_whole)
    for pattern, dtype, is_whole in (
        (rb"\.half\(\)|\.(?:to|type)\([^()=]*torch\.(?:float16|half)\b|HalfTensor\b", FLOAT16, _WHOLE),
        (rb"\.bfloat16\(\)|\.(?:to|type)\([^()=]*torch\.bfloat16\b|BFloat16Tensor\b", BFLOAT16, _WHOLE),
        (rb"set_default_dtype\(torch\.(?:float16|half)\b", FLOAT16, _WHOLE),
        (rb"set_default_dtype\(torch\.bfloat16\b", BFLOAT16, _WHOLE),
        (_DTYPE + rb"(?:float16|half|fp16)\b", FLOAT16, _WHOLE),
        (_DTYPE + rb"(?:bfloat16|bf16)\b", BFLOAT16, _WHOLE),
        (rb"[\"']fp16" + _ENABLED_INSIDE, FLOAT16, _WHOLE),
        (rb"[\"']bf16" + _ENABLED_INSIDE, BFLOAT16, _WHOLE),
        (_PRECISION + rb"16-true\b", FLOAT16, _WHOLE),
        (_PRECISION + rb"bf16-true\b", BFLOAT16, _WHOLE),
        (_PRECISION + rb"(?:fp16|16|16-mixed)\b(?!-)", FLOAT16, _CAST),
        (_PRECISION + rb"bf16(?!-true)", BFLOAT16, _CAST),
        (rb"\b(?:use_|enable_)?fp16" + _FLAG + rb"|--fp16\b(?![-_])", FLOAT16, _CAST),
        (rb"\b(?:use_|enable_)?bf16" + _FLAG + rb"|--bf16\b(?![-_])", BFLOAT16, _CAST),
        (rb"\bGradScaler\((?!.*enabled\s*=\s*False)|\bamp\.initialize\(", FLOAT16, _CAST),
        (rb"\b(?:autocast|set_autocast(?:_gpu)?_dtype)\([^)]*bfloat16", BFLOAT16, _CAST),
        (
            rb"\bautocast\((?!\s*False|.*(?:enabled\s*=\s*False|bfloat16|[\"']cpu[\"']|dtype\s*=))(?<!cpu\.amp\.autocast\()",
            FLOAT16,
            _CAST,
        ),
    )
]
_AUTOCAST = re.compile(rb"\bautocast\(")
_WORDS = re.compile(
    rb"fp16|bf16|float16|[Hh]alf\b|HalfTensor|BFloat16|autocast|GradScaler|amp\.initialize|precision|\"enabled\""
)
# DeepSpeed keeps the switch on a line of its own.
_SECTION, _ENABLED = re.compile(rb"[\"'](fp16|bf16)[\"']\s*:\s*\{\s*$"), re.compile(rb"[\"']enabled[\"']\s*:\s*true")


def switches(path: str, data: bytes) -> Iterator[Switch]:
    """Every line of a file that switches a half format on."""
    found = list(_found(path, data))
    told = _texts(data) if found and path.endswith(".py") else frozenset()
    yield from (switch for switch in found if switch.line not in told)


def _found(path: str, data: bytes) -> Iterator[Switch]:
    section, is_python = b"", path.endswith(".py")
    for number, line in _lines(data):
        code = line.split(b"#")[0] if is_python else line
        begun = _SECTION.search(code)
        if section and _ENABLED.search(code):
            yield Switch(FLOAT16 if section == b"fp16" else BFLOAT16, path, number, is_whole=True)
        section = begun.group(1) if begun else b""
        if code.lstrip().startswith((b"def ", b"import ", b"from ", b"class ")):
            continue
        for pattern, dtype, is_whole in _SAYS:
            if pattern.search(code):
                yield Switch(dtype, path, number, is_whole=is_whole and _AUTOCAST.search(code) is None)


def _lines(data: bytes) -> list[tuple[int, bytes]]:
    """The lines that may say something, by number; a line of thousands of characters is data."""
    found: dict[int, bytes] = {}
    number = end = 0
    for word in _WORDS.finditer(data):
        start = data.rfind(b"\n", 0, word.start()) + 1
        number, end = number + data.count(b"\n", end, start), start
        stop = data.find(b"\n", start)
        line = data[start : stop if stop >= 0 else len(data)]
        if len(line) < _LONGEST:
            found[number + 1] = line
    return list(found.items())


def without_texts(path: str, data: bytes) -> bytes:
    """A file that may say something of half formats without its docstrings, other texts of several lines, and pictures."""
    if path.endswith(".ipynb"):
        return _PICTURE.sub(b"", data)
    if not path.endswith(".py") or _WORDS.search(data) is None:
        return data
    told = _texts(data)
    lines = data.split(b"\n")
    return b"\n".join(b"" if number in told else line for number, line in enumerate(lines, 1)) if told else data


def _texts(data: bytes) -> frozenset[int]:
    """The lines of a Python file that are docstrings and other texts of several lines; all of them if Python cannot read it."""
    try:
        tree = ast.parse(data)
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        return frozenset(range(1, data.count(b"\n") + 2))
    nodes = list(walk(tree))
    alone = {id(node.value) for node in nodes if isinstance(node, ast.Expr)}
    return frozenset(
        line
        for node in nodes
        if isinstance(node, ast.Constant) and isinstance(node.value, str)
        if (end := node.end_lineno or node.lineno) > node.lineno or id(node) in alone
        for line in range(node.lineno, end + 1)
    )
