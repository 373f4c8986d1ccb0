"""What a training config states: settings by key, and which of them belong to one run.

One view for YAML, TOML, JSON and for Python's own ways to write a config (arguments with defaults, dataclasses,
constants, keyword arguments). A rule is shown one setting at a time and asks what stands beside it.
"""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Literal

from nanlint.analysis.source_text import shortened
from nanlint.source.configs.entries import as_number
from nanlint.word_sets import word_set

if TYPE_CHECKING:
    from collections.abc import Iterable

    from nanlint.model import Span
    from nanlint.source.configs.entries import Entry, Stated

Source = Literal["file", "argument", "field", "constant", "call"]
"""How a setting is written: in a config file, as a command line argument's default, as a field of a class, as a constant
or an entry of a dict, or as a keyword argument."""

# Two settings in different sections of these names are about the same run.
_PARTS_OF_A_RUN = word_set("""
    accelerate accelerator amp args cfg common config deepspeed distributed engine fsdp hparams hyperparameters launcher
    model optim optim_conf optimizer optimizer_config params precision run sched scheduler strategy train trainer
    training training_args training_arguments checkpoint optimization kwargs
""")
_ON = word_set("true yes on 1")
_OFF = word_set("false no off 0 none null")
_ABOUT_ABOVE = word_set("enabled enable")
_BOUNDS = word_set("max_norm norm value clip_value clip_norm max_value")
_CAMEL = re.compile(r"(?<=[a-z0-9])(?=[A-Z])")


@dataclass(frozen=True, slots=True)
class Setting:
    """One key with its value, where it stands, and how it is written there."""

    path: tuple[str, ...]
    """The keys that lead to it, folded to `snake_case`; `fp16.enabled` is the setting `fp16`."""
    value: Stated
    span: Span
    text: str
    """As it is written, on one line."""
    source: Source = "file"
    owner: str = ""
    """The function or class that a Python setting is given to or is a field of."""
    file: str = ""
    """The file it stands in, for a setting of another file than the one at hand."""

    @property
    def key(self) -> str:
        """The name of the setting itself."""
        return self.path[-1]

    @property
    def name(self) -> str:
        """The key as it is written: `GRAD_CLIP`, `--grad-clip`."""
        written = re.match(r"[\"']?([\w.-]+)", self.text)
        return written[1] if written else self.key

    def quote(self, longest: int) -> str:
        """The text, short enough for a message."""
        return shortened(self.text, longest)

    @property
    def number(self) -> float | None:
        """The number that it is set to, also if that is written in quotes; None for anything else."""
        return _number(self.value)

    @property
    def numbers(self) -> tuple[float, ...]:
        """As `number`, of each element of a list that holds nothing but numbers: `betas: [0.9, 0.999]`."""
        items = self.value if isinstance(self.value, tuple) else _listed(self.value)
        numbers = [_number(item) for item in items]
        return tuple(number for number in numbers if number is not None) if None not in numbers else ()

    @property
    def word(self) -> str:
        """The value in lower case: `bf16`, `true`; empty for a list."""
        return "" if isinstance(self.value, tuple) else str(self.value).strip().lower()

    @property
    def is_on(self) -> bool:
        """Whether it is switched on: true, however that is spelled."""
        return self.word in _ON

    @property
    def is_off(self) -> bool:
        """Whether it is switched off: false, none or 0."""
        return self.word in _OFF

    @property
    def place(self) -> str:
        """Where it stands, for a message about another setting: `line 7`, or `accelerate.yaml:3`."""
        return f"{self.file}:{self.span.line}" if self.file else f"line {self.span.line}"


@dataclass(frozen=True, slots=True)
class Config:
    """The settings of one document, class, call or parser, and those of the other files of the same run."""

    settings: tuple[Setting, ...]
    company: tuple[Setting, ...] = ()
    """What the trainer configs say beside which this launcher config lies."""
    _words: list[frozenset[str]] = field(default_factory=list, compare=False)

    def beside(self, setting: Setting, *keys: str) -> list[Setting]:
        """The settings with one of these keys that belong to the same run as `setting`, in reading order."""
        return [
            other
            for other in self.settings
            if other.key in keys and other is not setting and _is_one_run(setting.path[:-1], other.path[:-1])
        ]

    def number_beside(self, setting: Setting, *keys: str) -> float | None:
        """The number that the first of these keys is set to beside `setting`; None if there is none."""
        numbers = [other.number for other in self.beside(setting, *keys)]
        return next((number for number in numbers if number is not None), None)

    def mentions(self, *words: str) -> bool:
        """Whether one of these words is a part of any key, section, owner or text value; keys that are False do not count."""
        if not self._words:
            self._words.append(frozenset(word for setting in self.settings for word in _words_of(setting)))
        return not self._words[0].isdisjoint(words)


def config_of(entries: Iterable[Entry], text_lines: list[str], *, file: str = "") -> Config:
    """The config that the entries of one document are."""
    return Config(tuple(_setting(entry, text_lines, file) for entry in entries))


def folded_key(key: str) -> str:
    """`--grad-clip`, `GRAD_CLIP` and `gradClip` as `grad_clip`."""
    return _CAMEL.sub("_", key.lstrip("-")).lower().replace("-", "_")


def folded_path(path: Iterable[str]) -> tuple[str, ...]:
    """The keys of a path in one spelling. Dots divide a key; `enabled`, and the bound of a clip, are about the key above."""
    keys = [folded_key(part) for key in path for part in key.split(".")]
    is_about_above = len(keys) > 1 and (keys[-1] in _ABOUT_ABOVE or (keys[-1] in _BOUNDS and "clip" in keys[-2]))
    return tuple(keys[:-1]) if is_about_above else tuple(keys)


def _setting(entry: Entry, text_lines: list[str], file: str) -> Setting:
    span = entry.span
    line = text_lines[span.line - 1] if span.line <= len(text_lines) else ""
    written = line[span.column - 1 : span.end_column - 1].rstrip(" ,")
    path = folded_path(entry.path)
    # `enabled: true` alone would not say what is.
    above = f"{entry.path[-2]}." if len(path) < len(entry.path) else ""
    return Setting(path, entry.value, span, above + written, file=file)


def _is_one_run(first: tuple[str, ...], second: tuple[str, ...]) -> bool:
    """Whether two sections are of one run: the same, apart from what every run is divided into."""
    one, other = (tuple(key for key in section if key not in _PARTS_OF_A_RUN) for section in (first, second))
    return one == other


def _words_of(setting: Setting) -> Iterable[str]:
    # What is switched off is not there.
    texts = [*setting.path, setting.owner] if setting.value is not False else []
    if isinstance(setting.value, str):
        texts.append(setting.value)
    for text in texts:
        yield from re.split(r"[\W_\d]+", _CAMEL.sub("_", text).lower())


def _number(value: object) -> float | None:
    if isinstance(value, bool) or not isinstance(value, int | float | str):
        return None
    number = as_number(value.strip()) if isinstance(value, str) else value
    try:
        return float(number) if number is not None else None
    except OverflowError:
        return None


def _listed(value: object) -> list[str]:
    """The elements of a list that is written as text: `(0.9, 0.98)`."""
    if not isinstance(value, str) or value[:1] + value[-1:] not in {"()", "[]"}:
        return []
    return [part.strip() for part in value[1:-1].split(",") if part.strip()]
