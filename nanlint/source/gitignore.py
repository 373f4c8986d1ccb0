"""What .gitignore, .ignore and .git/info/exclude leave out, decided as git decides it.

The library (pathspec) says what a pattern matches; this module says which patterns are asked, and in which order: the
last match in the nearest file wins, a folder that is left out is never entered, so nothing in it can come back. A
pattern is handed to the library when the name of an entry fits its last component, which for most entries none does:
a repository of thousands of files asks about a handful, and often pathspec is not even imported.

As in ruff, .ignore comes before .gitignore and counts outside git repositories too; .gitignore counts up to the
repository's top; the user's own excludes file (`core.excludesFile`) counts last.
"""

# pathlib is not imported on a clean run.
# ruff: noqa: PTH110, PTH111, PTH113, PTH118, PTH120

from __future__ import annotations

import os
import re
from typing import TYPE_CHECKING, NamedTuple

from nanlint.settings.paths import with_slashes
from nanlint.source.read import UnreadableSource, read_bytes

if TYPE_CHECKING:
    from collections.abc import Collection, Iterator

GIT_FOLDER = ".git"
GIT_IGNORE = ".gitignore"
ANY_IGNORE = ".ignore"

_MAGIC = frozenset("*?[\\")
_PLAIN_CLASS = re.compile(r"\[[\w.-]+\]", re.ASCII)


class IgnoreFile:
    """The patterns of one file; they are relative to `folder`."""

    def __init__(self, folder: str, text: str) -> None:
        self._start = len(os.path.join(folder, ""))
        lines = (line.removesuffix("\r") for line in text.split("\n"))
        self._lines = [line for line in lines if line.strip() and not line.startswith("#")]
        self._compiled: dict[int, tuple[re.Pattern[str], bool] | None] = {}
        self._by_name: dict[str, list[int]] = {}
        self._by_tail: list[tuple[str, int]] = []
        self._by_shape: list[tuple[str, int]] = []
        self._by_head: list[tuple[str, int]] = []
        for index, line in enumerate(self._lines):
            self._sort_in(index, line)
        self._tails = tuple(tail for tail, _ in self._by_tail)
        self._shapes = re.compile("|".join(shape for shape, _ in self._by_shape) or r"(?!)", re.DOTALL)
        # A walk asks about one folder's entries in a row: what they have in common is worked out once.
        self._folder = self._inside = ""
        self._any_name: list[int] = []

    def __bool__(self) -> bool:
        return bool(self._lines)

    def _sort_in(self, index: int, line: str) -> None:
        """Note which name an entry must have for the pattern to matter or, where any name will do, in which folder."""
        pattern = line.rstrip().removeprefix("!").rstrip("/")
        head, _, last = pattern.rpartition("/")
        shape = _PLAIN_CLASS.sub("?", last)
        if "\\" in line or "[" in shape or not last.strip("*"):
            plain = _MAGIC.isdisjoint(head) and "\\" not in line
            self._by_head.append((f"{head.removeprefix('/')}/" if head.strip("/") and plain else "", index))
        elif _MAGIC.isdisjoint(shape):
            self._by_name.setdefault(last, []).append(index)
        elif shape.startswith("*") and _MAGIC.isdisjoint(shape[1:]):
            self._by_tail.append((shape[1:], index))
        else:
            regex = "".join({"*": ".*", "?": "."}.get(char) or re.escape(char) for char in shape)
            self._by_shape.append((regex, index))

    def _enter(self, folder: str) -> None:
        self._folder = folder
        self._inside = with_slashes(os.path.join(folder, ""))[self._start :]
        self._any_name = [index for head, index in self._by_head if self._inside.startswith(head)]

    def _candidates(self, name: str) -> list[int]:
        """The patterns that may match an entry of this name, last first."""
        found = [*self._any_name, *self._by_name.get(name, ())]
        if name.endswith(self._tails):
            found += (index for tail, index in self._by_tail if name.endswith(tail))
        if self._shapes.fullmatch(name):
            found += (index for shape, index in self._by_shape if re.fullmatch(shape, name, re.DOTALL))
        return sorted(found, reverse=True)

    def verdict(self, folder: str, name: str, *, is_folder: bool) -> bool | None:
        """Whether the entry `name` of `folder` is ignored; None when no pattern speaks of it."""
        if folder != self._folder:
            self._enter(folder)
        for index in self._candidates(name):
            if self._lines[index].rstrip().endswith("/") and not is_folder:
                continue
            compiled = self._compile(index)
            if compiled is not None and _matches(compiled[0], self._inside + name):
                return compiled[1]
        return None

    def _compile(self, index: int) -> tuple[re.Pattern[str], bool] | None:
        """The library's regular expression of a pattern, and whether it ignores or brings back."""
        if index not in self._compiled:
            self._compiled[index] = _library_pattern(self._lines[index])
        return self._compiled[index]


def _library_pattern(line: str) -> tuple[re.Pattern[str], bool] | None:
    """A pattern without its closing slash, which `verdict` has looked at; None for one that git discards, too."""
    from pathspec import GitIgnoreSpec  # noqa: PLC0415 - costs as much as a small run, and most runs never get here

    try:
        pattern = GitIgnoreSpec.from_lines(
            [line.rstrip().rstrip("/") if line.rstrip().endswith("/") else line]
        ).patterns[0]
    except (ValueError, IndexError):
        return None
    if pattern.include is None or pattern.regex is None:
        return None
    return pattern.regex, pattern.include


def _matches(regex: re.Pattern[str], path: str) -> bool:
    """Whether the pattern means this entry itself and not a folder above it.

    The library marks the latter with a group. Were it to count, a pattern that brings back a folder would bring back
    everything in it.
    """
    match = regex.search(path)
    return match is not None and match.groupdict().get("ps_d") is None


class Ignores(NamedTuple):
    """The ignore files that hold in a folder, each kind nearest first."""

    any_ignores: tuple[IgnoreFile, ...] = ()
    git_ignores: tuple[IgnoreFile, ...] = ()
    repository: tuple[IgnoreFile, ...] = ()
    """.git/info/exclude and the user's own excludes file."""
    in_repository: bool = False

    def below(self, folder: str, names: Collection[str]) -> Ignores:
        """What holds in `folder`, a folder of this one with the entries `names`."""
        inner = self
        if GIT_FOLDER in names:
            # A repository in a repository starts afresh: the outer one has no say in it.
            inner = inner._replace(git_ignores=(), repository=_repository_ignores(folder), in_repository=True)
        if GIT_IGNORE in names and inner.in_repository and (found := _read(folder, GIT_IGNORE)):
            inner = inner._replace(git_ignores=(found, *inner.git_ignores))
        if ANY_IGNORE in names and (found := _read(folder, ANY_IGNORE)):
            inner = inner._replace(any_ignores=(found, *inner.any_ignores))
        return inner

    def in_order(self) -> tuple[IgnoreFile, ...]:
        """All files; the first that speaks of an entry decides."""
        return (*self.any_ignores, *self.git_ignores, *self.repository)


def ignored(files: tuple[IgnoreFile, ...], folder: str, name: str, *, is_folder: bool) -> bool:
    """Whether the entry `name` of `folder` is left out by these files."""
    for file in files:
        verdict = file.verdict(folder, name, is_folder=is_folder)
        if verdict is not None:
            return verdict
    return False


def ignores_above(folder: str) -> Ignores:
    """What the folders above `folder` say; it itself is still to be looked at."""
    ignores = Ignores()
    for parent in reversed(list(_parents(folder))):
        present = [name for name in (GIT_FOLDER, GIT_IGNORE, ANY_IGNORE) if os.path.exists(os.path.join(parent, name))]
        if present:
            ignores = ignores.below(parent, present)
    return ignores


def _parents(folder: str) -> Iterator[str]:
    parent = os.path.dirname(folder)
    while parent != folder:
        yield parent
        folder, parent = parent, os.path.dirname(parent)


def _read(folder: str, name: str, base: str | None = None) -> IgnoreFile | None:
    """An ignore file whose patterns are relative to `base`, or to the folder it is in; None if it says nothing."""
    try:
        data = read_bytes(os.path.join(folder, name))
    except UnreadableSource:
        return None
    # git compares bytes; so do we, with names as the system gives them.
    text = os.fsdecode(data.removeprefix(b"\xef\xbb\xbf"))
    return IgnoreFile(base or folder, text) or None


def _repository_ignores(top: str) -> tuple[IgnoreFile, ...]:
    """What holds in the whole repository without being part of it."""
    own = _read(_git_directory(top), os.path.join("info", "exclude"), top)
    users = _read(*os.path.split(_users_excludes_file()), top)
    return tuple(file for file in (own, users) if file)


def _git_directory(top: str) -> str:
    """The folder with info/exclude: .git, or where a .git file (submodule, worktree) says it is."""
    path = os.path.join(top, GIT_FOLDER)
    if os.path.isfile(path):
        path = os.path.join(top, _one_line(path).removeprefix("gitdir:").strip())
        path = os.path.join(path, _one_line(os.path.join(path, "commondir")))
    return path


def _one_line(path: str) -> str:
    try:
        return os.fsdecode(read_bytes(path).split(b"\n", 1)[0]).strip()
    except UnreadableSource:
        return ""


def _users_excludes_file() -> str:
    """`core.excludesFile` where the user's git config sets it, else git's own default for it."""
    home = os.path.expanduser("~")
    config = os.path.join(os.environ.get("XDG_CONFIG_HOME") or os.path.join(home, ".config"), "git")
    chosen = os.environ.get("GIT_CONFIG_GLOBAL")
    places = [chosen] if chosen is not None else [os.path.join(home, ".gitconfig"), os.path.join(config, "config")]
    for place in filter(None, places):
        if stated := _stated_excludes_file(place):
            return os.path.expanduser(stated)
    return os.path.join(config, "ignore")


_EXCLUDES_FILE = re.compile(rb'^\s*excludesfile\s*=\s*"?([^"\n]*?)"?\s*$', re.IGNORECASE | re.MULTILINE)


def _stated_excludes_file(config: str) -> str:
    try:
        stated = _EXCLUDES_FILE.search(read_bytes(config))
    except UnreadableSource:
        return ""
    return os.fsdecode(stated.group(1)) if stated else ""
