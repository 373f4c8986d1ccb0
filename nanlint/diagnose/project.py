"""What a project holds that can have to do with NaN: configs, saved states, data files, logs, scripts. Reads, runs nothing."""

from __future__ import annotations

import os
import re
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING

from nanlint.errors import UsageError
from nanlint.settings.paths import shown_path

if TYPE_CHECKING:
    from collections.abc import Iterator

CONFIG_SUFFIXES = frozenset({".yaml", ".yml", ".toml", ".json"})
TENSOR_SUFFIXES = frozenset(
    {".pt", ".pth", ".bin", ".ckpt", ".safetensors", ".npy", ".npz", ".tar", ".pkl", ".pickle", ".th", ".distcp"}
)
TABLE_SUFFIXES = frozenset({".csv", ".tsv"})
_NOT_LOOKED_INTO = frozenset({"__pycache__", "node_modules", "site-packages", "venv", "env", "wandb", "nanlint-trace"})
_DEEPEST = 6
"""As deep as checkpoints are looked for."""
_MOST_FILES = 50_000
_LARGEST_TEXT = 512 * 1024
"""Bytes of a file that is read for its words: code and configs are smaller."""
_MOST_TEXT = 64 << 20
"""Characters of all of them."""
_TESTS = re.compile(r"(^|/)(tests?|testing)(/|_)|(^|/)test_|_test\.py$|conftest\.py$")
_TRAINS = re.compile(r"\.backward\(|\bTrainer\(|\.fit\(|\.train_batch\(|autograd\.grad\(")
_STARTS = re.compile(r"__name__\s*==\s*[\"']__main__[\"']")
_FILLS = re.compile(r"\.fillna\(|\.dropna\(|\bnan_to_num\(|Imputer\(|\.interpolate\(|\bnanmean\(")
_TELLING_STEM = re.compile(r".{3,}[_-].{2,}|.{3,}\d")
_CONFIG_STEM = re.compile(
    r"(.*[_-])?(configs?|settings|hparams|hyper\w*|params|args|arguments|options|defaults?)([_-].*)?$"
)
_DATA_PLACE = re.compile(
    r"(^|[/_.-])(data|datasets?|cache|cached|embed\w*|features?|latents?|tokens?|inputs?|targets?|labels?|samples?|batch\w*|train|valid|val|test)([/_.-]|$)",
    re.IGNORECASE,
)
_SAVED_PLACE = re.compile(r"(^|[/_.-])(ckpts?|checkpoints?|models?|weights?|runs?|results?|optim\w*|epoch|step|last|best|latest|final)([/_.-]|$|\d)", re.IGNORECASE)  # fmt: skip


@dataclass
class Project:
    """The files by what they are for, in a stable order."""

    root: Path
    python: list[Path] = field(default_factory=list)
    configs: list[Path] = field(default_factory=list)
    tensors: list[Path] = field(default_factory=list)
    tables: list[Path] = field(default_factory=list)
    logs: list[Path] = field(default_factory=list)
    texts: dict[Path, str] = field(default_factory=dict)
    """Of code and configs."""
    size: int = 0
    """Of the texts."""
    is_cut: bool = False
    """There are more files than anybody wants to wait for."""

    def keep_text(self, path: Path) -> None:
        """Read the file for its words, while there is room."""
        text = _text(path) if self.size < _MOST_TEXT else ""
        self.texts[path] = text
        self.size += len(text)

    def owns(self, path: Path) -> bool:
        """Whether the file is the project's, and not in an environment or a package that lies in its folder."""
        return _NOT_LOOKED_INTO.isdisjoint(path.relative_to(self.root).parts)

    @property
    def scripts(self) -> list[Path]:
        """Those that train, the likeliest to be started first."""
        found = [path for path in self.python if _TRAINS.search(self.texts.get(path, "")) and not is_test(path, self)]
        return sorted(found, key=lambda path: (not _is_started(path, self), "train" not in path.stem.lower(), len(path.parts), path))  # fmt: skip

    @property
    def fills_gaps(self) -> bool:
        """Whether the code somewhere fills or drops what is missing in tables."""
        return any(_FILLS.search(self.texts.get(path, "")) for path in self.python)

    def mentions(self, path: Path) -> bool:
        """Whether code or a config names the file."""
        # A stem such as `train` or `latest` stands in every script; `epoch_12` does not.
        names = {path.name, path.stem} if _TELLING_STEM.search(path.stem) else {path.name}
        return any(name in text for text in self.texts.values() for name in names)

    def shown(self, path: Path) -> str:
        """The path as the user would type it."""
        return shown_path(str(path))


def is_test(path: Path, project: Project) -> bool:
    """Whether the file tests others."""
    return _TESTS.search(path.relative_to(project.root).as_posix()) is not None


def is_data(path: Path, root: Path) -> bool:
    """Whether tensors in this file are what is trained on, as far as its name and place tell."""
    if path.suffix in {".npy", ".npz"}:
        return True
    name = path.relative_to(root).as_posix()
    last = path.stem
    if _DATA_PLACE.search(last) and not _SAVED_PLACE.search(last):
        return True
    return bool(_DATA_PLACE.search(name)) and not _SAVED_PLACE.search(name)


def find(root: str) -> Project:
    """The project at `root`; raises UsageError if there is no such folder."""
    folder = Path(root)
    if not folder.exists():
        raise UsageError(f"{root} is not there; name the folder of the project: nanlint diagnose path/to/project")
    if not folder.is_dir():
        raise UsageError(f"{root} is a file; diagnose looks at a whole project: name its folder")
    project = Project(folder.resolve())
    for count, path in enumerate(_files(project.root, 0)):
        if count >= _MOST_FILES:
            project.is_cut = True
            break
        _sort_in(path, project)
    return project


def _sort_in(path: Path, project: Project) -> None:
    suffix = path.suffix.lower()
    if suffix == ".py":
        project.python.append(path)
        project.keep_text(path)
    elif suffix in CONFIG_SUFFIXES:
        project.configs.append(path)
        project.keep_text(path)
    elif suffix in TENSOR_SUFFIXES:
        project.tensors.append(path)
    elif suffix in TABLE_SUFFIXES:
        project.tables.append(path)
    elif suffix == ".jsonl":
        project.logs.append(path)


def _files(folder: Path, depth: int) -> Iterator[Path]:
    try:
        inside = sorted(os.scandir(folder), key=lambda entry: entry.name)
    except OSError:
        return
    for entry in inside:
        if entry.name.startswith("."):
            continue
        if entry.is_file():
            yield Path(entry.path)
    for entry in inside:
        is_folder = entry.is_dir(follow_symlinks=False) and not entry.name.startswith(".")
        if is_folder and entry.name not in _NOT_LOOKED_INTO and depth < _DEEPEST:
            yield from _files(Path(entry.path), depth + 1)


def _text(path: Path) -> str:
    try:
        if path.stat().st_size > _LARGEST_TEXT:
            return ""
        return path.read_text("utf-8", errors="replace")
    except OSError:
        return ""


def _is_started(path: Path, project: Project) -> bool:
    return _STARTS.search(project.texts.get(path, "")) is not None


def config_candidates(project: Project, command: str = "") -> list[Path]:
    """Files that may state the learning rate, the likeliest first: named by a script, a config by its name, the scripts.

    Of the scripts the one that `command` starts comes first.
    """
    scripts = sorted(project.scripts, key=lambda path: path.name not in command)
    started = "\n".join(project.texts.get(path, "") for path in scripts)
    files = [path for path in project.configs if project.texts.get(path)]
    own = [path for path in project.python if _CONFIG_STEM.fullmatch(path.stem.lower()) and not is_test(path, project)]
    ranked = sorted([*files, *own], key=lambda path: (path.name not in started and f"import {path.stem}" not in started, len(path.parts), path))  # fmt: skip
    return [*ranked, *(path for path in scripts if path not in ranked)]
