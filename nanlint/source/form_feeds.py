"""Form feeds before indentation: Python starts to count anew behind one, libcst does not read or keep them everywhere."""

from __future__ import annotations

import re

import libcst as cst

from nanlint.source.lines import split_lines

# Whatever stands before a form feed at the beginning of a line is no indentation.
_FEED = re.compile(r"^[ \t]*\f[ \t\f]*\f|^[ \t]*\f", re.MULTILINE)


def parsed(text: str) -> cst.Module:
    """The module that `text` is, without the form feeds before indentation, which libcst does not read everywhere."""
    try:
        return cst.parse_module(text)
    except cst.ParserSyntaxError:
        bare = _FEED.sub("", text)
        if bare == text:
            raise
        return cst.parse_module(bare)


def lost_feeds(text: str, module: cst.Module) -> dict[int, int]:
    """Line -> how many characters at its beginning the module does not keep."""
    if "\f" not in text:
        return {}
    pairs = zip(split_lines(text), split_lines(module.code), strict=True)
    return {number: len(line) - len(kept) for number, (line, kept) in enumerate(pairs, 1) if line != kept}


def indentation(line: str) -> str:
    """What Python counts as the indentation of the line."""
    # A form feed moves the tokenizer back to the line's beginning.
    return line[: len(line) - len(line.lstrip(" \t\f"))].rpartition("\f")[2]
