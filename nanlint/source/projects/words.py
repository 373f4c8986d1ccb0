"""What the files of a project say as a whole: is a name used elsewhere, is a half format used, does anything train?

Words alone, nothing is parsed: a few hundredths of a second per thousand files. Tests use what nobody else uses, so they do not count.
"""

# pathlib is not imported on a clean run.
# ruff: noqa: PTH113, PTH114, PTH118, PTH123, PTH202

from __future__ import annotations

import os
import re
from collections import Counter
from typing import TYPE_CHECKING

from nanlint.settings.resolved import DEFAULT_EXCLUDE
from nanlint.source.projects.half_formats import switches, without_texts

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from nanlint.source.projects.half_formats import Switch

_SUFFIXES = (".py", ".ipynb", ".yaml", ".yml", ".json", ".toml", ".sh")
# Nobody writes a source file of this size by hand, and a project of more files is looked at in part.
_LARGEST, _MOST_FILES = 1_000_000, 20_000
_WORD = re.compile(rb"[A-Za-z_]\w+")
# An import and `super(Name, self)` use nothing.
_IMPORTED = re.compile(rb"^[ \t]*(?:from[ \t]+[\w.]+[ \t]+)?import[ \t]+(\([^)]*\)|[^\n]*)", re.MULTILINE)
_OWN = re.compile(rb"super\((\w+),")
# A method that is defined twice is one that something else calls.
_DEFINED = re.compile(rb"^(?:def|class)[ \t]+(\w+)", re.MULTILINE)
_COMMENT = re.compile(rb"^[ \t]*#[^\n]*", re.MULTILINE)
_EXPORTING = "__init__.py"
_HALF = frozenset({b"float16", b"bfloat16", b"autocast", b"GradScaler", b"fp16", b"bf16", b"mixed_precision"})
# The word alone is one half of something.
_CAST_TO_HALF = b".half("
# Who reads from a command line, a config of its own or a saved model which format to run in, and code that names any dtype.
_DECIDES = (
    rb"accelerate|apex|catalyst|colossalai|composer|deepspeed|detectron2|diffusers|fairscale|fairseq|fastai|lightning|mmengine"
    rb"|pytorch_lightning|transformers"
)
_MAY_BE_WHOLE = re.compile(
    rb"\b(?:from|import)\s+(?:" + _DECIDES + rb")\b|\baccelerate launch\b|\bdeepspeed\s+\S*\.py\b"
    rb"|\bmmcv\.runner\b|\bgetattr\(\s*torch\s*,[^()]*\)(?!\s*\()|\btorch\.half\b|\.half\(|HalfTensor\b"
)
# A comparison switches nothing on, and numpy's arrays are cast before weights meet them.
_UNSWITCHED = re.compile(rb"[!=]=\s*\w+\.b?float16\b|\b(?:np|numpy)\.float16\b|--float16\b")
_OPENING = frozenset({*_DECIDES.split(b"|"), b"mmcv", b"getattr", b"half", b"HalfTensor"})
"""Words of which one is in whatever that finds: sets are compared faster than texts are searched."""
_MAY_CAST = (
    b"fp16",
    b"bf16",
    b"float16",
    b"half_precision",
    b"half-precision",
    b"mixed_precision",
    b"mixed-precision",
    b"autocast",
)
# What is installed is run by others, in formats of their own.
_IS_INSTALLED = {
    "setup.py": re.compile(rb"\bpackages\s*="),
    "pyproject.toml": re.compile(rb"^\[build-system\]", re.MULTILINE),
}
_TRAINING = frozenset({b"backward", b"manual_backward", b"Trainer", b"training_step"})
# Of each half format, for the tensors themselves and under autocast.
_KINDS_OF_SWITCHES = 4
_TEST = re.compile(r"(^|/)(tests?|testing)/|(^|/)(test_[^/]*|[^/]*_test|conftest)\.py$")


class ProjectWords:
    """The words of all files of a project, each with the number of times it is used there, twice at the most for each file."""

    def __init__(self, root: str) -> None:
        self._counts: Counter[bytes] = Counter()
        self._defined: Counter[bytes] = Counter()
        self._switches: dict[tuple[str, bool], Switch] = {}
        self._may_be_whole = self._may_cast = False
        """Whether something can make the tensors themselves half, or run under autocast; both if not all of it was read."""
        for path, data in self._contents(root):
            words = Counter(_WORD.findall(data))
            installed = _IS_INSTALLED.get(os.path.relpath(path, root))
            is_installed = installed is not None and installed.search(data) is not None
            code = without_texts(path, data)
            code = _UNSWITCHED.sub(b"", code) if b"float16" in code else code
            self._may_be_whole = self._may_be_whole or is_installed or _names_whole(code, words)
            self._may_cast = self._may_cast or _names_cast(code)
            if _CAST_TO_HALF in data:
                words[b"float16"] += 1
            for switch in (
                switches(os.path.relpath(path, root), data) if len(self._switches) < _KINDS_OF_SWITCHES else ()
            ):
                self._switches.setdefault((switch.dtype, switch.is_whole), switch)
            idle = Counter(_idle_names(data, is_exporting=path.endswith(_EXPORTING)))
            self._defined.update(set(_DEFINED.findall(data)))
            self._counts.update({word: min(count - idle[word], 2) for word, count in words.items()})

    @property
    def uses_half(self) -> bool:
        """Whether some file names float16, bfloat16, autocast or a setting for them."""
        return not _HALF.isdisjoint(self._counts)

    def is_without_half(self, *, is_whole: bool) -> bool:
        """Whether it trains, and nothing in all of its files can switch a half format on; with `is_whole` but for autocast."""
        return self.trains and not self._may_be_whole and (is_whole or not self._may_cast)

    @property
    def casts(self) -> bool:
        """Whether something runs under autocast."""
        return any(not is_whole for _, is_whole in self._switches)

    def switch_of(self, dtypes: Iterable[str], *, is_whole: bool) -> Switch | None:
        """A place that switches one of these half formats on; with `is_whole` one that makes the tensors themselves half."""
        asked = ((dtype, kind) for dtype in dtypes for kind in (True, False) if kind or not is_whole)
        return next((self._switches[each] for each in asked if each in self._switches), None)

    @property
    def trains(self) -> bool:
        """Whether some file calls for a backward pass or a trainer."""
        return not _TRAINING.isdisjoint(self._counts)

    def is_used(self, name: str) -> bool:
        """Whether a name stands anywhere but in its own definition; what a framework trains by is used by that."""
        return self._counts[name.encode()] > max(1, self._defined[name.encode()]) or name.encode() in _TRAINING

    def _contents(self, root: str) -> Iterator[tuple[str, bytes]]:
        """The files that may say something with their bytes, links and lines of comments left out."""
        left = _MOST_FILES
        for folder, folders, files in os.walk(root):
            folders[:] = sorted(name for name in folders if name not in DEFAULT_EXCLUDE and not name.startswith("."))
            for name in sorted(files):
                path = os.path.join(folder, name)
                if not name.endswith(_SUFFIXES) or _TEST.search(os.path.relpath(path, root).replace(os.sep, "/")):
                    continue
                left -= 1
                if left < 0:
                    self._may_be_whole = True
                    return
                try:
                    if not os.path.islink(path) and os.path.isfile(path) and os.path.getsize(path) <= _LARGEST:
                        with open(path, "rb") as file:
                            data = file.read()
                        yield path, _COMMENT.sub(b"", data) if name.endswith(".py") else data
                    elif name.endswith(".py"):
                        self._may_be_whole = True
                except OSError:
                    self._may_be_whole = True


def _idle_names(data: bytes, *, is_exporting: bool) -> Iterator[bytes]:
    """Each place where a name is not used; what a package imports is for others."""
    yield from _OWN.findall(data)
    for names in _IMPORTED.findall(data) if not is_exporting else ():
        yield from _WORD.findall(names)


def _names_cast(data: bytes) -> bool:
    """Whether a file has a word for running under autocast."""
    folded = data.lower()
    return any(word in folded for word in _MAY_CAST)


def _names_whole(data: bytes, words: Counter[bytes]) -> bool:
    """Whether a file can make the tensors themselves half: a dtype that only autocast is told does not."""
    is_named = b"float16" in data and any(b"float16" in line and b"autocast(" not in line for line in data.splitlines())
    return is_named or (not _OPENING.isdisjoint(words) and _MAY_BE_WHOLE.search(data) is not None)
