"""How many columns a tensor must have: from the literal indices and slices with which the code takes it apart.

`boxes[:, 2:]` beside `boxes[:, :2]` means four; a witness with three is none, though torch would broadcast it. Knows no
torch.
"""

from __future__ import annotations

import ast
from typing import Any

Columns = dict[int, int]
"""Dimension -> the least size that the code needs there; dimensions behind an ellipsis count from the end."""
Json = dict[str, Any]
_MOST = 16
"""Beyond this a slice cuts something off, whatever there is of it."""


def columns_in(tree: ast.AST, names: set[str]) -> dict[str, Columns]:
    """The columns of every name that is taken apart."""
    found: dict[str, Columns] = {}
    halves: dict[tuple[str, int, int], set[str]] = {}
    for node in ast.walk(tree):
        if isinstance(node, ast.Subscript) and isinstance(node.value, ast.Name) and node.value.id in names:
            for dim, part in _places(node.slice):
                _note(found.setdefault(node.value.id, {}), dim, _least(part))
                half = _half(part)
                if half is not None:
                    halves.setdefault((node.value.id, dim, half[0]), set()).add(half[1])
        elif isinstance(node, ast.Assign):
            _note_unbound(found, node, names)
    for (name, dim, size), sides in halves.items():
        if sides == {"before", "behind"}:
            _note(found[name], dim, 2 * size)
    return {name: columns for name, columns in found.items() if columns}


def _places(index: ast.AST) -> list[tuple[int, ast.AST]]:
    """The parts of an index that say something of a column, with their dimensions; the first one is the batch."""
    parts = index.elts if isinstance(index, ast.Tuple) else [index]
    wide = [place for place, part in enumerate(parts) if isinstance(part, ast.Constant) and part.value is Ellipsis]
    if any(isinstance(part, ast.Constant) and part.value is None for part in parts):
        return []
    if wide:
        behind = parts[wide[0] + 1 :]
        return [(place - len(behind), part) for place, part in enumerate(behind)]
    return [(place, part) for place, part in enumerate(parts) if place]


def _note(columns: Columns, dim: int, size: int) -> None:
    if 1 < size <= _MOST:
        columns[dim] = max(columns.get(dim, 0), size)


def _number(node: ast.AST | None) -> int | None:
    return node.value if isinstance(node, ast.Constant) and type(node.value) is int else None


def _least(part: ast.AST) -> int:
    """The size that an index or a slice needs; 0 if it says nothing."""
    if not isinstance(part, ast.Slice):
        number = _number(part)
        return number + 1 if number is not None and number >= 0 else 0
    start, stop = _number(part.lower), _number(part.upper)
    if stop is not None:
        return stop
    return start + 1 if start is not None and part.upper is None else 0


def _half(part: ast.AST) -> tuple[int, str] | None:
    """`:2` and `2:`, which together are all columns."""
    if not isinstance(part, ast.Slice) or part.step is not None:
        return None
    start, stop = _number(part.lower), _number(part.upper)
    if start in {None, 0} and part.lower is None and stop:
        return stop, "before"
    return (start, "behind") if start and part.upper is None else None


def _note_unbound(found: dict[str, Columns], node: ast.Assign, names: set[str]) -> None:
    """`x1, y1, x2, y2 = boxes.unbind(-1)`."""
    call, target = node.value, node.targets[0]
    if not isinstance(call, ast.Call) or not isinstance(call.func, ast.Attribute) or not isinstance(target, ast.Tuple):
        return
    if call.func.attr != "unbind" or any(isinstance(one, ast.Starred) for one in target.elts):
        return
    base = call.func.value
    dim = call.args[0] if call.args else next((word.value for word in call.keywords if word.arg == "dim"), None)
    is_last = dim is not None and ast.unparse(dim) == "-1"
    if is_last and isinstance(base, ast.Name) and base.id in names:
        _note(found.setdefault(base.id, {}), -1, len(target.elts))


def suits(case: Json, columns: dict[str, Columns]) -> bool:
    """Whether every tensor of a case has the columns that the code takes it apart into."""
    return all(_fits(case["call"][name], needed) for name, needed in columns.items() if name in case["call"])


def _fits(spec: Json, needed: Columns) -> bool:
    if spec["kind"] != "tensor":
        return True
    shape = spec["shape"]
    return all(shape[dim] >= size for dim, size in needed.items() if -len(shape) <= dim < len(shape))


def sized(case: Json, columns: dict[str, Columns]) -> Json:
    """The case with as many columns as are needed."""
    if suits(case, columns):
        return case
    return {**case, "call": {name: _widened(spec, columns.get(name, {})) for name, spec in case["call"].items()}}


def _widened(spec: Json, needed: Columns) -> Json:
    if _fits(spec, needed):
        return spec
    shape = list(spec["shape"])
    for dim, size in needed.items():
        if -len(shape) <= dim < len(shape):
            shape[dim] = max(shape[dim], size)
    return {**{key: value for key, value in spec.items() if key != "values"}, "shape": shape}
