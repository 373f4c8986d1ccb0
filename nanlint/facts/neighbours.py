"""The files that a file's imports lead to, as far as they lie in the same project: their constants, functions and classes.

A relative import is followed from the file's own folder; an absolute one from each folder above it, up to where the
project begins. The way ends there: what those files import themselves is unknown to them, so that what is known of a
file depends on nothing but its text, and is worked out once however many files import it. What was looked at is noted
with its hash, so that a remembered result is known to be stale when such a file has changed or has gone.
"""

# ruff: noqa: PTH100, PTH110, PTH112, PTH113, PTH116, PTH118, PTH120 - asked thousands of times; pathlib costs ten times as much

from __future__ import annotations

import os
from dataclasses import dataclass
from typing import TYPE_CHECKING, NamedTuple

from nanlint.digest import digest_of
from nanlint.source.cache import settled
from nanlint.source.outline import MODULE, Outline, outline
from nanlint.source.read import UnreadableSource, decode, read_bytes

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from nanlint.facts.reach import Reach
    from nanlint.facts.values import Value

# What marks the folder above which nothing belongs to the project.
_TOPS = (".git", "pyproject.toml", "setup.py", "setup.cfg", ".hg")
_HIGHEST = 8
# `from .a import x` in a package's __init__, where a has it from b.
_MOST_HOPS = 5
# A module with more bytes than this is generated, or data.
_LARGEST = 1_000_000
_MOST_MODULES = 64


@dataclass(frozen=True, slots=True, eq=False)
class Module:
    """A file of the project that was read."""

    path: str
    text: str
    outline: Outline
    digest: str


class Symbol(NamedTuple):
    """A name at the top of another file."""

    path: str
    name: str


class Neighbours:
    """What can be imported from one file. `facts` are made of another one."""

    def __init__(self, path: str, facts: type[Reach]) -> None:
        self._folder = os.path.dirname(os.path.abspath(path))
        self._facts = facts
        self._found: dict[str, Symbol | None] = {}
        self.consulted: dict[str, str] = {}
        """Each file that was looked for -> the hash of its bytes; "" if there is none."""

    def ask(self, dotted: str, question: Callable[[Reach, str], Value | None]) -> Value | None:
        """The answer of the file in which `dotted` (`pkg.helpers.EPS`, `..helpers.EPS`) is defined; None if there is none."""
        if dotted not in self._found:
            self._found[dotted] = self._resolve(dotted, self._folder, _MOST_HOPS)
        symbol = self._found[dotted]
        module = _module(symbol.path) if symbol is not None else None
        if symbol is None or module is None:
            return None
        if module not in _reaches:
            _reaches[module] = self._facts(module.text, module.outline, exact=False)
        try:
            return question(_reaches[module], symbol.name)
        except SyntaxError:  # in a function that was not read before
            return None

    def _resolve(self, dotted: str, folder: str, hops: int) -> Symbol | None:
        for path, rest in self._candidates(dotted, folder):
            if "." in rest:  # a part of what is there, which is unknown whatever that is
                self._note(path)
                return None
            module = self._load(path)
            if module is None:
                return None
            if rest in module.outline.chunks or rest in module.outline.chunks[MODULE].bound:
                return Symbol(path, rest)
            imported = module.outline.imports.get(rest)
            return self._resolve(imported, os.path.dirname(path), hops - 1) if imported and hops else None
        return None

    def _candidates(self, dotted: str, folder: str) -> Iterator[tuple[str, str]]:
        """Each file that `dotted` may lead to, longest module name first, and what is then looked for in it."""
        names = dotted.lstrip(".")
        level = len(dotted) - len(names)
        parts = names.split(".")
        for base in [_up(folder, level - 1)] if level else _bases(folder, parts[0]):
            for count in range(len(parts) - 1, -1 if level else 0, -1):
                path = self._file(os.path.join(base, *parts[:count]))
                if path is not None:
                    yield path, ".".join(parts[count:])

    def _file(self, stem: str) -> str | None:
        for path in (f"{stem}.py", os.path.join(stem, "__init__.py")):
            if os.path.isfile(path):
                return path
            self.consulted.setdefault(path, "")
        return None

    def _note(self, path: str) -> None:
        """Note a file as one that was looked at, without reading what is in it."""
        if path not in self.consulted:
            try:
                self.consulted[path] = digest_of(read_bytes(path))
            except UnreadableSource:
                self.consulted[path] = ""

    def _load(self, path: str) -> Module | None:
        module = _module(path)
        self.consulted[path] = module.digest if module is not None else ""
        return module


_modules: dict[str, tuple[tuple[int, int], Module | None]] = {}
_reaches: dict[Module, Reach] = {}


def _module(path: str) -> Module | None:
    """The file as it is now; read once however many files import it. None for what is no readable Python."""
    try:
        status = os.stat(path)
    except OSError:
        return None
    # A file that was written just now may be written again within the same tick of the clock.
    state = settled(status.st_mtime_ns), status.st_size
    if path not in _modules or _modules[path][0] != state or state[0] < 0:
        if len(_modules) >= _MOST_MODULES:
            _forget(next(iter(_modules)))
        _forget(path)
        _modules[path] = state, _read(path) if status.st_size <= _LARGEST else None
    else:
        _modules[path] = _modules.pop(path)  # those that were asked for last are kept
    return _modules[path][1]


def _forget(path: str) -> None:
    """Let go of a file. Facts refer to each other in circles, and worker processes run without the collector."""
    _, module = _modules.pop(path, (None, None))
    reach = _reaches.pop(module, None) if module is not None else None
    if reach is not None:
        reach.forget()


def _read(path: str) -> Module | None:
    try:
        data = read_bytes(path)
        text = decode(data, path).text
        return Module(path, text, outline(text, path, only_headers=True), digest_of(data))
    except (UnreadableSource, SyntaxError, ValueError, RecursionError, MemoryError):
        return None


def _up(folder: str, levels: int) -> str:
    for _ in range(levels):
        folder = os.path.dirname(folder)
    return folder


def _bases(folder: str, first: str) -> Iterator[str]:
    """The folders from which `import first` may be meant: those above that hold such a module, up to the project's top."""
    for _ in range(_HIGHEST):
        for base in (folder, os.path.join(folder, "src")):
            if os.path.isdir(os.path.join(base, first)) or os.path.isfile(os.path.join(base, f"{first}.py")):
                yield base
        if any(os.path.exists(os.path.join(folder, name)) for name in _TOPS) or folder == os.path.dirname(folder):
            return
        folder = os.path.dirname(folder)
