"""Calls in the repository's own tests and examples: files that name the subject, run statement by statement.

A test is the best source of shapes there is: its arguments fit, and somebody meant them. What a test needs beyond its
own text (a fixture, a file, a server) fails, and its next statement may do without.
"""

from __future__ import annotations

import ast
import os
import re
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Iterator

_FOLDERS = re.compile(r"(^|[/\\])(tests?|testing|examples?|demos?|samples?|scripts?)([/\\]|$)")
_FILES = re.compile(r"(^test_|_test\.py$|example|demo)")
_SKIPPED = frozenset({".git", ".venv", "venv", "node_modules", "__pycache__", "build", "dist", "site-packages"})
_LARGEST = 400_000
"""Bytes: a longer file is data."""
_MOST_LOOKED_AT = 4000
_MOST_SESSIONS = 8


def sessions_in(project: str, name: str) -> Iterator[list[str]]:
    """The statements of each test and example that names the subject, with those of its file before."""
    found = 0
    for path in _candidates(project):
        text = _text_with(path, name)
        if text is None:
            continue
        for session in _sessions(text, name):
            yield session
            found += 1
            if found >= _MOST_SESSIONS:
                return


def _candidates(project: str) -> Iterator[str]:
    """Python files that look like tests or examples, in a fixed order."""
    looked_at = 0
    for folder, folders, files in os.walk(project):
        folders[:] = sorted(one for one in folders if one not in _SKIPPED and not one.startswith("."))
        inside = folder[len(project) :]
        for file in sorted(files):
            looked_at += 1
            if looked_at > _MOST_LOOKED_AT:
                return
            if file.endswith(".py") and (_FOLDERS.search(inside) or _FILES.search(file)):
                yield os.path.join(folder, file)  # noqa: PTH118 - strings


def _text_with(path: str, name: str) -> str | None:
    try:
        if os.path.getsize(path) > _LARGEST:  # noqa: PTH202 - strings
            return None
        with open(path, encoding="utf-8", errors="replace") as file:  # noqa: PTH123 - no pathlib in the child
            text = file.read()
    except OSError:
        return None
    return text if re.search(rf"\b{re.escape(name)}\b", text) else None


def _sessions(text: str, name: str) -> Iterator[list[str]]:
    """What stands before the functions of a file, then for each function that names the subject its statements."""
    try:
        tree = ast.parse(text)
    except (SyntaxError, ValueError, RecursionError):
        return
    before = [ast.unparse(one) for one in tree.body if isinstance(one, (ast.Import, ast.ImportFrom, ast.Assign))]
    for function in ast.walk(tree):
        if isinstance(function, (ast.FunctionDef, ast.AsyncFunctionDef)) and _names(function, name):
            chosen = [f"{argument} = {value!r}" for argument, value in _first_parameters(function).items()]
            yield [*before, *chosen, *(ast.unparse(one) for one in _flat(function.body))]
    plain: list[ast.stmt] = [one for one in tree.body if isinstance(one, (ast.Expr, ast.If)) and _names(one, name)]
    if plain:
        yield [*before, *(ast.unparse(one) for one in _flat(plain))]


def _names(node: ast.AST, name: str) -> bool:
    return any(
        (isinstance(one, ast.Name) and one.id == name) or (isinstance(one, ast.Attribute) and one.attr == name)
        for one in ast.walk(node)
    )


def _flat(body: list[ast.stmt]) -> Iterator[ast.stmt]:
    """The statements one by one; what is inside `with` and `if __name__` comes without them."""
    for one in body:
        is_main = isinstance(one, ast.If) and "__name__" in ast.unparse(one.test)
        if isinstance(one, (ast.With, ast.AsyncWith)) or is_main:
            yield from _flat(one.body)  # type: ignore[attr-defined] # all of these have one
        else:
            yield one


def _first_parameters(function: ast.FunctionDef | ast.AsyncFunctionDef) -> dict[str, Any]:
    """The first values of `@pytest.mark.parametrize`, where they are literals."""
    found: dict[str, Any] = {}
    for decorator in function.decorator_list:
        if isinstance(decorator, ast.Call) and ast.unparse(decorator.func).endswith("parametrize"):
            try:
                names, values = (ast.literal_eval(one) for one in decorator.args[:2])
                first = next(iter(values))
            except (ValueError, TypeError, SyntaxError, StopIteration, RecursionError):
                continue
            named = [one.strip() for one in names.split(",")] if isinstance(names, str) else list(names)
            found |= dict(zip(named, first if len(named) > 1 else [first], strict=False))
    return found
