"""Made-up data for a script whose own is not here: what one batch consists of, as specs that complaints can change.

The structure comes from the code (what a data set returns, what the loop takes a batch apart into), the values from the
names. A recipe is JSON, so a replay makes the same data.
"""

from __future__ import annotations

import ast
import re
from typing import TYPE_CHECKING, Any

import torch

from nanlint.confirm.names import domain_of
from nanlint.confirm.worker.values import make_tensor

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

Json = dict[str, Any]
SAMPLES = 6
"""Samples of a data set: three batches of two make an epoch."""
BATCH = 2
LOADED = "loaded"
"""The part that stands for a tensor which a script loads as it is."""
_IMAGES = re.compile(r"im(g|age)s?|pixel|frame|picture|photo")
_TOKENS = re.compile(r"ids$|tokens?|sentence|text|idx")
_LABELS = re.compile(r"^(y|yb|label|labels|target|targets|cls|class(es)?)$")
_CLASSES = re.compile(r"cross_entropy|CrossEntropy|nll_loss|NLLLoss")
_BY_NAME = re.compile(r"model\(\*\*(batch|inputs|data|sample)\)")
_OVER_BATCHES = re.compile(r"load|dl|batch|data|train|iter")
_FOR_MODELS = ("input_ids", "attention_mask", "labels")
"""What a batch for a model of transformers holds."""


def recipe_for(texts: list[str], asked: Sequence[str] = ()) -> Json:
    """The first recipe for a script of these files, with a part for each argument that is asked for."""
    text = "\n".join(texts)
    parts: list[str] = []
    is_dict = False
    if _BY_NAME.search(text):
        parts, is_dict = list(_FOR_MODELS), True
    for source in [] if parts else texts:
        found = _structure(ast.parse(source))
        if found is not None and (not parts or found[1]):
            parts, is_dict = found
    parts = parts or ["x", "y"]
    kind = "dict" if is_dict else "one" if len(parts) == 1 and "(" not in parts[0] else "tuple"
    names = [part.strip("()") for part in parts]
    specs = {name: _spec(name, text) for name in [*names, *asked]}
    return {"kind": kind, "parts": names, "call": {**specs, LOADED: _spec("x", text)}, "ctor": {}}


def _spec(name: str, text: str) -> Json:
    lowered = name.lower()
    if _LABELS.search(lowered) and (_CLASSES.search(text) or "transformers" in text):
        return {"kind": "tensor", "name": name, "shape": [BATCH], "domain": "index", "high": 2}
    if _TOKENS.search(lowered) or lowered == "attention_mask":
        return {"kind": "tensor", "name": name, "shape": [BATCH, 8], "domain": "index", "high": 2}
    if _IMAGES.search(lowered) or (lowered in {"data", "x", "xb", "inputs"} and re.search(r"Conv2d|flatten", text)):
        return {"kind": "tensor", "name": name, "shape": [BATCH, 3, 16, 16], "domain": "unit"}
    if _LABELS.search(lowered):
        return {"kind": "tensor", "name": name, "shape": [BATCH], "domain": "real"}
    if "mask" in lowered:
        return {"kind": "tensor", "name": name, "shape": [BATCH, 1, 16, 16], "domain": "unit"}
    domain = domain_of(name) if domain_of(name) in {"unit", "positive", "simplex"} else "real"
    return {"kind": "tensor", "name": name, "shape": [BATCH, 8], "domain": domain}


def _structure(tree: ast.Module) -> tuple[list[str], bool] | None:
    """The parts of a batch, and whether they have keys: from the data set of the file, else from a loop over batches."""
    for node in ast.walk(tree):
        if isinstance(node, ast.FunctionDef) and node.name == "__getitem__":
            for inner in ast.walk(node):
                found = _returned(inner.value) if isinstance(inner, ast.Return) and inner.value is not None else None
                if found is not None:
                    return found
    for node in ast.walk(tree):
        if isinstance(node, (ast.For, ast.FunctionDef)) and "backward(" in ast.unparse(node):
            found = next(_taken_apart(node), None)
            if found is not None:
                return found
    return None


def _returned(value: ast.expr) -> tuple[list[str], bool] | None:
    if isinstance(value, ast.Dict):
        return [key.value for key in value.keys if isinstance(key, ast.Constant) and isinstance(key.value, str)], True
    if isinstance(value, ast.Tuple):
        return [_named(part, place) for place, part in enumerate(value.elts)], False
    return [_named(value, 0)], False


def _named(node: ast.expr, place: int) -> str:
    words = [part.id for part in ast.walk(node) if isinstance(part, ast.Name)]
    words += [part.attr for part in ast.walk(node) if isinstance(part, ast.Attribute)]
    known = [word for word in words if word not in {"self", "index", "idx", "i", "torch"}]
    telling = [word for word in known if _IMAGES.search(word) or _LABELS.search(word) or "mask" in word]
    return telling[0] if telling else known[-1] if known else ("x", "y", "z")[min(place, 2)] + str(place)


def _taken_apart(node: ast.AST) -> Iterator[tuple[list[str], bool]]:
    """`for x, y in loader`, `x, y = batch`, `batch["image"]`."""
    for inner in ast.walk(node):
        if isinstance(inner, ast.For):
            target = inner.target
            if "enumerate(" in ast.unparse(inner.iter):
                target = target.elts[-1] if isinstance(target, ast.Tuple) else target
            if isinstance(target, ast.Tuple) and _OVER_BATCHES.search(ast.unparse(inner.iter)):
                yield [ast.unparse(one) for one in target.elts], False
        if isinstance(inner, ast.Assign) and isinstance(inner.targets[0], ast.Tuple):
            value = inner.value
            if isinstance(value, ast.Name) and re.search(r"batch|sample|data|item", value.id):
                names = [ast.unparse(one) for one in inner.targets[0].elts]
                yield [f"({names[0]})"] if len(names) == 1 else names, False
    keys = [
        inner.slice.value
        for inner in ast.walk(node)
        if isinstance(inner, ast.Subscript)
        and isinstance(inner.slice, ast.Constant)
        and isinstance(inner.slice.value, str)
        and re.search(r"batch|sample|data|item|inputs", ast.unparse(inner.value))
    ]
    if keys:
        yield list(dict.fromkeys(keys)), True
    whole = {
        loop.target.id for loop in ast.walk(node) if isinstance(loop, ast.For) and isinstance(loop.target, ast.Name)
    }
    calls = (inner for inner in ast.walk(node) if isinstance(inner, ast.Call) and len(inner.args) == 1)
    if any(isinstance(call.args[0], ast.Name) and call.args[0].id in whole for call in calls):
        yield ["x"], False


def part(recipe: Json, name: str, rows: int) -> torch.Tensor:
    """So many rows of one part; the same ones each time."""
    spec = recipe["call"].get(name) or recipe["call"][LOADED]
    shaped = {**spec, "shape": [rows, *spec["shape"][1:]]}
    return make_tensor(shaped, "normal", torch.Generator().manual_seed(sum(map(ord, name))))


class Samples(torch.utils.data.Dataset[Any]):
    """A data set of a recipe."""

    def __init__(self, recipe: Json) -> None:
        self.recipe = recipe
        self.columns = {name: part(recipe, name, SAMPLES) for name in recipe["parts"]}

    def __len__(self) -> int:
        return SAMPLES

    def __getitem__(self, index: int) -> Any:
        row = {name: column[index] for name, column in self.columns.items()}
        if self.recipe["kind"] == "dict":
            return row
        return next(iter(row.values())) if self.recipe["kind"] == "one" else tuple(row.values())
