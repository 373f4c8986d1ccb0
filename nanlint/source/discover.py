"""Which files are checked: from what the user named to a sorted list, each with its kind and its settings.

Read as ruff reads it:
- A file that is named is checked, excluded or not, unless `force-exclude`; git's ignore files never stop it. Without a
  suffix it is taken for Python; with one that is none of ours it is passed over, unless `include` has it.
- A folder that is named is walked. Below it `include`, `exclude` and the ignore files decide, and nested config files
  change them for what is below.
- Folders behind symbolic links are not entered (so no loop can trap us), files behind them are checked.
- A glob that the shell left to us is a filter on the walk of the folder it starts in.
What can't be read becomes a `FileError` and the rest goes on.
"""

# pathlib is not imported on a clean run.
# ruff: noqa: PTH100, PTH109, PTH112, PTH116, PTH118, PTH122

from __future__ import annotations

import os
import re
import stat
from typing import TYPE_CHECKING, Literal, NamedTuple

from nanlint import model
from nanlint.settings.finder import CONFIG_NAMES
from nanlint.settings.globs import GlobSet, compile_glob
from nanlint.settings.paths import nearest_name, shown_path, with_slashes

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping, Sequence

    from nanlint.model import FileError
    from nanlint.settings import Settings, SettingsFinder
    from nanlint.source.gitignore import Ignores

Kind = Literal["python", "stub", "notebook", "config"]

STDIN = "-"

_CONFIG_NAMES = frozenset(CONFIG_NAMES)
_WILD = frozenset("*?[")

_KINDS: Mapping[str, Kind] = {
    ".py": "python",
    ".pyw": "python",
    ".pyi": "stub",
    ".ipynb": "notebook",
    ".yaml": "config",
    ".yml": "config",
    ".toml": "config",
    ".json": "config",
}


class FoundFile(NamedTuple):  # a tuple, because thousands are made and a frozen dataclass takes three times as long
    """A file to check. `path` is as shown to the user; time and size are those of the moment it was found."""

    path: str
    kind: Kind
    settings: Settings
    mtime_ns: int = 0
    size: int = 0
    is_stdin: bool = False
    is_named: bool = False
    """Whether the user named it: what is wrong with it is told, whatever it is."""


class Discovery(NamedTuple):
    """Files in the order of their paths, none twice, and what could not be read."""

    files: list[FoundFile]
    errors: list[FileError]
    passed_over: list[FileError] = []  # noqa: RUF012 - never changed
    """Files that were named and are nothing that can be checked."""


def kind_of(path: str) -> Kind:
    """The kind that the suffix says, Python when it says nothing."""
    return _KINDS.get(path[path.rfind(".") :].lower(), "python")


def discover(paths: Sequence[str], finder: SettingsFinder, *, stdin_filename: str = "") -> Discovery:
    """Every file that `paths` mean; none given means the working directory, `-` means stdin under another name."""
    search = _Search(finder)
    for path in paths or (".",):
        if path == STDIN:
            search.add_stdin(stdin_filename)
        else:
            search.add(path)
    files = sorted(search.found.values(), key=_by_path)
    passed_over = sorted(search.passed_over.values(), key=_by_path)
    return Discovery(files, sorted(search.errors.values(), key=_by_path), passed_over)


def _by_path(entry: FoundFile | FileError) -> str:
    return entry.path


class _Rules(NamedTuple):
    """Include and exclude of one folder's settings, made ready."""

    settings: Settings
    include: GlobSet
    exclude: GlobSet


class _Folder(NamedTuple):
    """A folder on the walk, with what decides about its entries."""

    path: str
    rules: _Rules
    ignores: Ignores | None


class _Search:
    """What was found so far, by absolute path."""

    def __init__(self, finder: SettingsFinder) -> None:
        self.found: dict[str, FoundFile] = {}
        self.errors: dict[str, FileError] = {}
        self.passed_over: dict[str, FileError] = {}
        self._finder = finder
        self._here = os.path.join(os.getcwd(), "")
        self._rules_by_settings: dict[int, _Rules] = {}

    def add(self, path: str) -> None:
        """A file, a folder or a glob that the user named."""
        absolute = os.path.abspath(path)
        try:
            status = os.stat(absolute)
        except OSError as error:
            if not self._add_glob(path):
                self._error(absolute, _why_missing(absolute, error))
            return
        if self._forced_out(absolute):
            return
        if stat.S_ISDIR(status.st_mode):
            self.found.update(self._walk(absolute))
        elif not self._can_be_checked(absolute):
            message = "not checked: neither Python nor a notebook nor a config file, by its suffix"
            self.passed_over[absolute] = model.FileError(shown_path(absolute), None, message)
        else:
            self.found[absolute] = self._file(absolute, self._finder.for_path(absolute), status)._replace(is_named=True)

    def _can_be_checked(self, absolute: str) -> bool:
        folder, name = os.path.split(absolute)
        suffix = os.path.splitext(name)[1].lower()
        return (
            not suffix or suffix in _KINDS or self._rules(self._finder.for_path(absolute)).include.match(name, folder)
        )

    def add_stdin(self, filename: str) -> None:
        """Text that comes in on stdin as if it were the file `filename`."""
        absolute = os.path.abspath(filename or STDIN)
        if filename and self._forced_out(absolute):
            return
        shown = shown_path(absolute) if filename else STDIN
        settings = self._finder.for_path(absolute)
        self.found[absolute] = FoundFile(shown, kind_of(shown), settings, is_stdin=True, is_named=True)

    def _add_glob(self, glob: str) -> bool:
        """The checked files that a glob means, itself or by a folder above them; False when it is no glob."""
        head, wild = _split_glob(with_slashes(glob))
        base = os.path.abspath(head)
        if not wild or not os.path.isdir(base):
            return False
        try:
            regex = re.compile(f"(?:{compile_glob(wild, crossing=False).pattern})(?:/.*)?", re.DOTALL)
        except ValueError:
            return False
        start = len(os.path.join(base, ""))
        found = {path: file for path, file in self._walk(base).items() if regex.fullmatch(with_slashes(path[start:]))}
        if not found:
            self._error(os.path.abspath(glob), "no file that is checked matches this glob")
        self.found.update(found)
        return True

    def _forced_out(self, absolute: str) -> bool:
        """Whether `force-exclude` keeps a named path out: it or a folder above it is excluded by a config file there."""
        if not self._finder.for_path(absolute).force_exclude:
            return False
        while True:
            folder, name = os.path.split(absolute)
            rules = self._rules(self._finder.for_directory(folder))
            # Above the root nothing is excluded: the project may well live in a folder called build.
            if not absolute.startswith(os.path.join(rules.settings.root, "")):
                return False
            if rules.exclude.match(name, folder):
                return True
            absolute = folder

    def _walk(self, top: str) -> dict[str, FoundFile]:
        """The checked files below an absolute folder, by absolute path."""
        from nanlint.source.gitignore import ignores_above  # noqa: PLC0415 - a run on named files asks no ignore file

        settings = self._finder.for_directory(top)
        # Whether ignore files count is asked once, at the top; a nested config file has no say in it, nor has it in ruff.
        ignores = ignores_above(top) if settings.respect_gitignore else None
        found: dict[str, FoundFile] = {}
        waiting = [_Folder(top, self._rules(settings), ignores)]
        while waiting:
            folder, entries = self._enter(waiting.pop())
            for entry, is_folder in _kept(folder, entries):
                if is_folder:
                    waiting.append(folder._replace(path=entry.path))
                else:
                    self._take(entry, folder.rules.settings, found)
        return found

    def _enter(self, folder: _Folder) -> tuple[_Folder, Iterable[os.DirEntry[str]]]:
        """The entries of a folder, and the folder with what its own config and ignore files change."""
        try:
            with os.scandir(folder.path) as listing:
                entries = {entry.name: entry for entry in listing}
        except OSError as error:
            self._error(folder.path, f"the folder can't be read: {error.strerror}")
            return folder, ()
        if not _CONFIG_NAMES.isdisjoint(entries):
            folder = folder._replace(rules=self._rules(self._finder.for_directory(folder.path)))
        if folder.ignores is not None:
            folder = folder._replace(ignores=folder.ignores.below(folder.path, entries))
        return folder, entries.values()

    def _take(self, entry: os.DirEntry[str], settings: Settings, found: dict[str, FoundFile]) -> None:
        try:
            status = entry.stat()
        except OSError as error:
            leads_nowhere = "the symbolic link leads nowhere"
            self._error(entry.path, leads_nowhere if entry.is_symlink() else f"can't be read: {error.strerror}")
            return
        # A pipe would hang its reader, and a folder behind a link is not ours to enter, whatever their names.
        if stat.S_ISREG(status.st_mode):
            found[entry.path] = self._file(entry.path, settings, status)

    def _file(self, absolute: str, settings: Settings, status: os.stat_result) -> FoundFile:
        inside = absolute.startswith(self._here)
        shown = with_slashes(absolute[len(self._here) :] if inside else absolute)
        return FoundFile(shown, kind_of(shown), settings, status.st_mtime_ns, status.st_size)

    def _rules(self, settings: Settings) -> _Rules:
        known = self._rules_by_settings.get(id(settings))
        if known is None:
            exclude = (*settings.exclude, *settings.extend_exclude)
            known = _Rules(settings, GlobSet(settings.include, settings.root), GlobSet(exclude, settings.root))
            self._rules_by_settings[id(settings)] = known
        return known

    def _error(self, absolute: str, message: str) -> None:
        self.errors[absolute] = model.FileError(shown_path(absolute), None, message)


def _kept(folder: _Folder, entries: Iterable[os.DirEntry[str]]) -> Iterator[tuple[os.DirEntry[str], bool]]:
    """The entries that are checked or entered, and whether they are folders. Cheap questions come first."""
    from nanlint.source.gitignore import ignored  # noqa: PLC0415 - as above

    path, rules = folder.path, folder.rules
    files = folder.ignores.in_order() if folder.ignores else ()
    for entry in entries:
        name, is_folder = entry.name, entry.is_dir(follow_symlinks=False)
        if not (is_folder or rules.include.match(name, path)) or rules.exclude.match(name, path):
            continue
        if files and ignored(files, path, name, is_folder=is_folder):
            continue
        yield entry, is_folder


def _split_glob(glob: str) -> tuple[str, str]:
    """The folder a glob starts in, and the rest from its first component with a wild card."""
    steps = glob.rstrip("/").split("/")
    plain = next((index for index, step in enumerate(steps) if not _WILD.isdisjoint(step)), len(steps))
    return "/".join(steps[:plain]) or ("/" if glob.startswith("/") else "."), "/".join(steps[plain:])


def _why_missing(absolute: str, error: OSError) -> str:
    if not isinstance(error, FileNotFoundError | NotADirectoryError):
        return f"can't be read: {error.strerror}"
    near = nearest_name(absolute)
    return f'does not exist; did you mean "{near}"?' if near else "does not exist"
