"""The numbers that a training config states: YAML, TOML, JSON, or the constants of a Python file.

A Python config is read, not run.
"""

from __future__ import annotations

import ast
import math
import operator
import re
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from nanlint.errors import NanlintError
from nanlint.source.configs.entries import read_documents
from nanlint.source.read import UnreadableSource

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

_LEARNING_RATE = re.compile(
    r"(base|init|initial|max|peak|start|starting)?(lr|learningrate)(max|g|d|gen|disc|generator|discriminator)?"
)
_HALF_WORDS = {"fp16": "float16", "float16": "float16", "half": "float16", "16-mixed": "float16", "16-true": "float16"}
_BRAIN_WORDS = {"bf16": "bfloat16", "bfloat16": "bfloat16", "bf16-mixed": "bfloat16", "bf16-true": "bfloat16"}


@dataclass(frozen=True)
class Stated:
    """A number of the config, with the key and the place that it has there."""

    key: str
    value: float
    where: str

    @property
    def is_learning_rate(self) -> bool:
        """Whether the key says so; a min_lr or a warmup_lr is something else."""
        return _LEARNING_RATE.fullmatch(_folded(self.key)) is not None

    def is_called(self, name: str) -> bool:
        """Whether the key is this name in some spelling."""
        return _folded(self.key) == _folded(name)


@dataclass(frozen=True)
class Config:
    """What the config states: numbers, and the half formats that it turns on."""

    numbers: tuple[Stated, ...] = ()
    formats: tuple[str, ...] = ()
    file: str = ""
    unusable: tuple[str, ...] = ()
    """Learning rates that are no numbers, each with its place: `config.yaml optim.lr is '${base_lr}'`."""

    @property
    def lacks_a_rate(self) -> bool:
        """Whether there is a config, and no learning rate in it that another could be compared with."""
        return bool(self.file) and not any(each.is_learning_rate for each in self.numbers)


def _folded(key: str) -> str:
    return re.sub(r"[^a-z0-9]", "", key.lower())


def read_config(path: Path) -> Config:
    """The config at `path`; the suffix says how it is written."""
    if path.suffix.lower() not in {".yaml", ".yml", ".toml", ".json", ".py"}:
        raise NanlintError(f"--config {path}: a config is .yaml, .toml, .json or .py")
    try:
        data = path.read_bytes()
    except OSError as error:
        raise NanlintError(f"--config {path}: {error.strerror or error}") from None
    found = list((_python if path.suffix.lower() == ".py" else _settings)(data, path))
    numbers = tuple(each for key, value, where in found if (each := _stated(key, value, where)) is not None)
    unusable = tuple(
        f"{where} is {value!r:.60}"
        for key, value, where in found
        if Stated(key, math.nan, where).is_learning_rate and _stated(key, value, where) is None
    )
    return Config(numbers, tuple(dict.fromkeys(_formats(found))), path.name, unusable)


Found = tuple[str, Any, str]
"""A key, its value, and where it stands."""


def _stated(key: str, value: Any, where: str) -> Stated | None:
    """A number; in YAML `1e-4` without a point is a text, and everybody means the number."""
    if isinstance(value, str):
        try:
            value = float(value)
        except ValueError:
            return None
    if isinstance(value, bool) or not isinstance(value, int | float) or not math.isfinite(value):
        return None
    return Stated(key, float(value), where)


def _formats(found: list[Found]) -> Iterator[str]:
    for key, value, _ in found:
        words = _HALF_WORDS | _BRAIN_WORDS
        if value is True and key.lower() in words:
            yield words[key.lower()]
        elif isinstance(value, str) and re.search(r"precision|dtype|amp", key.lower()):
            name = words.get(value.lower().removeprefix("torch."))
            if name:
                yield name


def _settings(data: bytes, path: Path) -> Iterator[Found]:
    """What stands in YAML, TOML or JSON; of a list each number by itself."""
    try:
        documents = read_documents(data.decode("utf-8-sig", "replace"), path.name)
    except ModuleNotFoundError:
        raise NanlintError(f"--config {path}: to read YAML, pip install pyyaml") from None
    except UnreadableSource as error:
        line = f":{error.line}" if error.line else ""
        raise NanlintError(f"--config {path}{line}: {error.message.removesuffix('; it was not checked')}") from None
    for entry in (entry for document in documents for entry in document):
        where = f"{path.name} {'.'.join(entry.path)}"
        if isinstance(entry.value, tuple):
            yield from ((str(index), value, f"{where}.{index}") for index, value in enumerate(entry.value))
        else:
            yield entry.path[-1], entry.value, where


_ARITHMETIC = {ast.Mult: operator.mul, ast.Div: operator.truediv, ast.Add: operator.add, ast.Sub: operator.sub}


def _python(data: bytes, path: Path) -> Iterator[Found]:
    """Constants: of the module, of classes, in dictionaries, keywords and the defaults of command line options."""
    try:
        tree = ast.parse(data)
    except (SyntaxError, ValueError, RecursionError) as error:
        line = f":{error.lineno}" if isinstance(error, SyntaxError) and error.lineno else ""
        raise NanlintError(f"--config {path}{line}: {error.args[0]}") from None
    for node in ast.walk(tree):
        for key, value in _constants(node):
            known, constant = _constant(value)
            if known:
                yield key, constant, f"{path.name}:{value.lineno} {key}"


def _constants(node: ast.AST) -> Iterator[tuple[str, ast.expr]]:
    if isinstance(node, ast.Assign):
        for target in node.targets:
            yield from ((name, node.value) for name in _target(target))
    elif isinstance(node, ast.AnnAssign) and node.value is not None:
        yield from ((name, node.value) for name in _target(node.target))
    elif isinstance(node, ast.Dict):
        pairs = zip(node.keys, node.values, strict=True)
        yield from (
            (key.value, value) for key, value in pairs if isinstance(key, ast.Constant) and isinstance(key.value, str)
        )
    elif isinstance(node, ast.Call):
        yield from _arguments(node)


def _target(target: ast.expr) -> list[str]:
    if isinstance(target, ast.Name):
        return [target.id]
    return [target.attr] if isinstance(target, ast.Attribute) else []


def _arguments(call: ast.Call) -> Iterator[tuple[str, ast.expr]]:
    options = [each.value for each in call.args if isinstance(each, ast.Constant) and isinstance(each.value, str)]
    flags = [option.lstrip("-") for option in options if option.startswith("--")]
    for keyword in call.keywords:
        if keyword.arg == "default" and flags:
            yield flags[0], keyword.value
        elif keyword.arg:
            yield keyword.arg, keyword.value


def _constant(node: ast.expr) -> tuple[bool, Any]:
    """Whether the expression is a constant, and which; products and quotients of numbers are."""
    if isinstance(node, ast.BinOp) and type(node.op) in _ARITHMETIC:
        (left_known, left), (right_known, right) = _constant(node.left), _constant(node.right)
        numbers = left_known and right_known and isinstance(left, int | float) and isinstance(right, int | float)
        if not numbers or (isinstance(node.op, ast.Div) and right == 0):
            return False, None
        return True, _ARITHMETIC[type(node.op)](left, right)
    if isinstance(node, ast.UnaryOp) and isinstance(node.op, ast.USub):
        known, value = _constant(node.operand)
        return known and isinstance(value, int | float), -value if isinstance(value, int | float) else None
    return (True, node.value) if isinstance(node, ast.Constant) else (False, None)
