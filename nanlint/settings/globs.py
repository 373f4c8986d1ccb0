"""Globs of the settings (include, exclude, per-file-ignores), read as ruff reads them.

`*` and `?` cross folders, `**/` means any number of folders, `[ab]`, `[!ab]` and `{a,b}` are choices, a backslash
takes the next character as it is. A glob is tried on the path below the settings' root, one without a slash on the
name as well, an absolute one on the whole path. Paths come in with the separators of the system.
"""

# pathlib is not imported on a clean run.
# ruff: noqa: PTH117, PTH118, PTH120

from __future__ import annotations

import os
import re
from functools import cache
from typing import TYPE_CHECKING

from nanlint.settings.paths import with_slashes

if TYPE_CHECKING:
    from collections.abc import Iterable

SPECIAL = frozenset("*?[]{}\\")

_TOKEN = re.compile(
    r"""
      (?P<folders> (?:^|(?<=/)) (?:\*\*/)+ )
    | (?P<rest> (?:^|(?<=/)) \*\*$ )
    | \[ (?P<negated>[!^]?) (?P<choice>\]?[^\]]*) \]   # a bracket that comes first is one of the choices
    | \\ (?P<escaped>.)
    | .
    """,
    re.VERBOSE | re.DOTALL,
)


@cache
def compile_glob(glob: str, *, crossing: bool = True) -> re.Pattern[str]:
    """The regular expression of `glob`, for `fullmatch`; ValueError says what is wrong with the glob.

    Without `crossing`, `*` and `?` stay inside one folder, as they do in a shell.
    """
    wild = {"*": ".*", "?": "."} if crossing else {"*": "[^/]*", "?": "[^/]"}
    out: list[str] = []
    depth = 0
    for token in _TOKEN.finditer(glob):
        text = token.group()
        if text in ("{", "}", ","):
            piece, depth = _alternative(text, depth)
        else:
            piece = wild.get(text) or _piece(token)
        out.append(piece)
    if depth:
        raise ValueError(f"the glob {glob!r} opens a {{ that it does not close")
    return re.compile("".join(out), re.DOTALL)


def _alternative(text: str, depth: int) -> tuple[str, int]:
    """The regular expression of a brace or comma at a depth of open braces, and the depth behind it."""
    if text == "{":
        return "(?:", depth + 1
    if not depth:
        return re.escape(text), 0
    return (")", depth - 1) if text == "}" else ("|", depth)


def _piece(token: re.Match[str]) -> str:
    """The regular expression of a token that means the same in every glob."""
    if token["folders"]:
        return "(?:.*/)?"
    if token["rest"]:
        return ".*"
    if token["escaped"]:
        return re.escape(token["escaped"])
    if token["choice"] is not None:
        return _choice(token)
    if token.group() in ("[", "\\"):
        raise ValueError(f"the glob {token.string!r} has a {token.group()} that nothing closes")
    return re.escape(token.group())


def _choice(token: re.Match[str]) -> str:
    body = re.sub(r"([\\\[\]^&~|])", r"\\\1", token["choice"])
    regex = f"[{'^' if token['negated'] else ''}{body}]"
    try:
        re.compile(regex)
    except re.error as error:
        raise ValueError(f"the glob {token.string!r} has a bad range in {token.group()}") from error
    return regex


def escape_glob(text: str) -> str:
    """A glob that matches `text` and nothing else."""
    return "".join(f"\\{char}" if char in SPECIAL else char for char in text)


def anchored(glob: str, folder: str, root: str) -> str:
    """A glob stated in `folder`, as it must read to mean the same below `root`."""
    if glob.startswith("!"):
        return "!" + anchored(glob[1:], folder, root)
    if os.path.isabs(glob) or "/" not in glob or (folder == root and not glob.startswith("../")):
        return glob
    while glob.startswith(("./", "../")):
        step, _, glob = glob.partition("/")
        folder = os.path.dirname(folder) if step == ".." else folder
    return f"{escape_glob(with_slashes(folder)).rstrip('/')}/{glob}"


class GlobSet:
    """Many globs asked as one question. Plain names and suffixes, which most are, cost two look-ups and no regex."""

    __slots__ = ("_names", "_prefix", "_regexes", "_tails")

    def __init__(self, globs: Iterable[str], root: str) -> None:
        names: list[str] = []
        tails: list[str] = []
        slow: dict[str, list[str]] = {"name": [], "below": [], "absolute": []}
        for glob in globs:
            if "/" in glob:
                slow["absolute" if os.path.isabs(glob) else "below"].append(glob.removeprefix("./").rstrip("/"))
            elif not SPECIAL.intersection(glob):
                names.append(glob)
            elif glob.startswith("*") and not SPECIAL.intersection(glob[1:]):
                tails.append(glob[1:])
            else:
                slow["name"].append(glob)
                slow["below"].append(glob)
        self._names = frozenset(names)
        self._tails = tuple(tails)
        self._prefix = with_slashes(root).rstrip("/") + "/"
        self._regexes = {kind: _one_of(kind_globs) for kind, kind_globs in slow.items() if kind_globs}

    def match(self, name: str, folder: str) -> bool:
        """Whether the entry `name` of the absolute folder `folder` is meant by one of the globs."""
        if name in self._names or name.endswith(self._tails):
            return True
        return bool(self._regexes) and self._match_slowly(name, folder)

    def _match_slowly(self, name: str, folder: str) -> bool:
        path = with_slashes(os.path.join(folder, name))
        subjects = {"name": name, "absolute": path}
        if path.startswith(self._prefix):
            subjects["below"] = path[len(self._prefix) :]
        return any(
            kind in subjects and regex.fullmatch(subjects[kind]) is not None for kind, regex in self._regexes.items()
        )


def _one_of(globs: Iterable[str]) -> re.Pattern[str]:
    return re.compile("|".join(f"(?:{compile_glob(glob).pattern})" for glob in globs), re.DOTALL)


def matches_file(glob: str, path: str, root: str) -> bool:
    """Whether one glob of per-file-ignores means the absolute `path`; a leading `!` turns the answer round."""
    if glob.startswith("!"):
        return not matches_file(glob[1:], path, root)
    folder, name = os.path.split(path)
    return _single(glob, root).match(name, folder)


@cache
def _single(glob: str, root: str) -> GlobSet:
    return GlobSet((glob,), root)
