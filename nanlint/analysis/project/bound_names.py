"""Which names a file may give to those who import all of it, by its text: there can be thousands of such files, and few are asked for."""

from __future__ import annotations

import re

_COMMENT = re.compile(rb"#[^\n]*")
_BINDING = re.compile(
    rb"^(\w[\w, \t]*)(?::[^=\n]+)?=(?!=)|(?:^|[;:])[ \t]*(?:async[ \t]+)?(?:(?:def|class)[ \t\\\n]+(\w+)"
    rb"|(?:from\b[^;\n]*?\bimport\b|import\b)[ \t\\\n]*(\([^)]*\)|(?:[^\n\\;]|\\\n|\\.)*))",
    re.MULTILINE,
)
_NAME = re.compile(rb"\w+|\*")


def bound_names(data: bytes) -> frozenset[str]:
    """The names of functions, classes, imports and what is assigned, some more among them; `*` if it imports all of another."""
    found: set[bytes] = set()
    for assigned, defined, imported in _BINDING.findall(_COMMENT.sub(b"", data)):
        found.update((defined,) if defined else _NAME.findall(assigned or imported))
    return frozenset(name.decode("utf-8", "replace") for name in found)
