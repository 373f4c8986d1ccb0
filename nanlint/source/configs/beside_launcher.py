"""The trainer configs beside which a launcher config lies: files of one run, as far as folders tell.

`accelerate launch` and `deepspeed` read a config of their own next to the trainer's. Looked for where people keep them:
in the same folder, in folders for configs right below it, and one folder up where the launcher's folder is one of those.
"""

# pathlib is not imported on a clean run.
# ruff: noqa: PTH100, PTH118, PTH119, PTH120

from __future__ import annotations

import os
import re
from typing import TYPE_CHECKING

from nanlint.source.configs.entries import read_documents
from nanlint.source.configs.words import LARGEST_CONFIG, is_training_config
from nanlint.source.lines import split_lines
from nanlint.source.read import UnreadableSource, decode, read_bytes
from nanlint.word_sets import word_set

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from nanlint.source.configs.entries import Document

_SUFFIXES = (".yaml", ".yml", ".toml", ".json")
_CONFIG_FOLDER = re.compile(
    r"(accelerate|deepspeed|launch(er)?|training|trainer|experiments?|recipes?|hparams)?[_-]?(conf|configs?|cfgs?|configuration)?",
    re.IGNORECASE,
)
_LAUNCHER_KEYS = word_set("compute_environment distributed_type zero_optimization deepspeed_config fsdp_config")
# A folder with more than this holds the configs of many runs, and nobody can tell which belong together.
_MOST_FILES = 60


def is_launcher(document: Document) -> bool:
    """Whether a document is a config of `accelerate launch` or of DeepSpeed."""
    return any(entry.path[0] in _LAUNCHER_KEYS for entry in document)


def trainers_beside(path: str) -> list[tuple[str, Document, list[str]]]:
    """The trainer configs of the run that the launcher config at `path` is for: name, settings and lines of each.

    None if another launcher config lies there as well: then the user chooses at the start of a run.
    """
    folder = os.path.dirname(os.path.abspath(path))
    found: list[tuple[str, Document, list[str]]] = []
    for other in _files_around(folder):
        if os.path.abspath(other) == os.path.abspath(path):
            continue
        for document, lines in _read(other):
            if is_launcher(document):
                return []
            found.append((os.path.relpath(other, folder).replace(os.sep, "/"), document, lines))
    return found


def _files_around(folder: str) -> list[str]:
    """The config files of the folders around a launcher config; none if there are too many to be of one run."""
    tops = [folder]
    if _CONFIG_FOLDER.fullmatch(os.path.basename(folder)):
        tops.append(os.path.dirname(folder))
    found: dict[str, None] = {}
    for top in tops:
        names, below = _listing(top)
        found.update(dict.fromkeys(_configs(top, names)))
        for inner in filter(_CONFIG_FOLDER.fullmatch, below):
            found.update(dict.fromkeys(_configs(os.path.join(top, inner), _listing(os.path.join(top, inner))[0])))
        if len(found) > _MOST_FILES:
            return []
    return list(found)


def _listing(folder: str) -> tuple[list[str], list[str]]:
    """The files and the folders in a folder, hidden ones left out."""
    try:
        with os.scandir(folder) as entries:
            shown = sorted((entry for entry in entries if not entry.name.startswith(".")), key=lambda entry: entry.name)
    except OSError:
        return [], []
    folders = [entry.name for entry in shown if entry.is_dir(follow_symlinks=False)]
    return [entry.name for entry in shown if entry.is_file()], folders


def _configs(folder: str, names: Iterable[str]) -> Iterator[str]:
    return (os.path.join(folder, name) for name in names if name.lower().endswith(_SUFFIXES))


def _read(path: str) -> Iterator[tuple[Document, list[str]]]:
    """The documents of a training config; nothing for any other file, or for one that can't be read."""
    try:
        data = read_bytes(path)
        if len(data) > LARGEST_CONFIG or not is_training_config(data):
            return
        text = decode(data, path).text
        lines = split_lines(text)
        yield from ((document, lines) for document in read_documents(text, path))
    except UnreadableSource:
        return
