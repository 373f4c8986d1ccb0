"""What a caller may rely on of a function's result: not more than the call leaves of its defaults and its decorators.

A function is interpreted once, with its defaults. A call that gives such an argument gets a value whose range is not known.
"""

from __future__ import annotations

import ast
from typing import TYPE_CHECKING

import libcst as cst

from nanlint.facts.values import Kind, Value
from nanlint.ops.interval import FINITE
from nanlint.source.below import all_below, nodes_below

if TYPE_CHECKING:
    from collections.abc import Container, Iterator

    from nanlint.facts.values import Call
    from nanlint.source.outline import Chunk

# They return what the function below them returns.
_TRANSPARENT = frozenset(
    {
        "staticmethod", "classmethod", "property", "cached_property", "abstractmethod", "override", "final", "overload",
        "no_grad", "inference_mode", "enable_grad", "autocast", "custom_fwd", "custom_bwd", "lru_cache", "cache", "compile",
        "script", "script_method", "ignore", "unused", "typechecked", "jaxtyped", "beartype", "deprecated", "disable",
        "auto_docstring", "add_start_docstrings", "add_start_docstrings_to_model_forward", "replace_return_docstrings",
        "add_code_sample_docstrings", "register", "register_module", "register_model",
    }
)  # fmt: skip


def decorators(chunk: Chunk) -> Iterator[str]:
    """The last word of each decorator: `lru_cache` of `@functools.lru_cache(maxsize=None)`."""
    for decorator in getattr(chunk.node, "decorator_list", ()):
        function = decorator.func if isinstance(decorator, ast.Call) else decorator
        yield str(getattr(function, "id", "") or getattr(function, "attr", ""))


def tells_its_result(chunk: Chunk, of_this_file: Container[str], *, may_yield: bool = True) -> bool:
    """Whether a call of the function gives what its return statements say: no generator, nothing unknown wrapped around it."""
    if not any(isinstance(node, ast.Return) for node in chunk.contents.nodes):
        return False
    around = list(decorators(chunk))
    if not all(word in _TRANSPARENT and word not in of_this_file for word in around):
        return False
    return not (may_yield and _yields(chunk.node))


def _yields(node: ast.AST) -> bool:
    waiting: list[ast.AST] = list(getattr(node, "body", ()))
    while waiting:
        current = waiting.pop()
        if isinstance(current, (ast.Yield, ast.YieldFrom)):
            return True
        if not isinstance(current, (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef, ast.Lambda)):
            waiting += nodes_below(current)
    return False


def changed_parameters(chunk: Chunk) -> tuple[int, ...]:
    """The places of the arguments that a call changes in place; `x = x.clone()` at first leaves the caller's x alone."""
    node = chunk.node
    if not isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef)):
        return ()
    declared = [argument.arg for argument in (*node.args.posonlyargs, *node.args.args)]
    # Most functions change nothing that they are given, wherever it stands.
    if not any(name in declared for inner in chunk.contents.nodes for name in _changed_by(inner)):
        return ()
    is_method = chunk.owner and "staticmethod" not in decorators(chunk)
    changed: set[str] = set()
    own: set[str] = set()
    for statement in node.body:
        changed |= {name for inner in all_below(statement) for name in _changed_by(inner)} - own
        targets = statement.targets if isinstance(statement, ast.Assign) else ()
        own |= {target.id for target in targets if isinstance(target, ast.Name)}
    return tuple(place for place, name in enumerate(declared[1:] if is_method else declared) if name in changed)


def _changed_by(node: ast.AST) -> Iterator[str]:
    """`x` of `x.zero_()`, `x += 1`, `x[0] = 1` and `x.t().add_(1)`."""
    targets: list[ast.expr] = []
    if isinstance(node, ast.Call):
        word = node.func.attr if isinstance(node.func, ast.Attribute) else ""
        if word.endswith("_") and not word.endswith(("__", "requires_grad_")):
            targets = [node.func.value]  # type: ignore[attr-defined] # a word is that of an attribute
    elif isinstance(node, ast.AugAssign):
        targets = [node.target]
    elif isinstance(node, ast.Assign):
        targets = [target for target in node.targets if isinstance(target, ast.Subscript)]
    for target in targets:
        while isinstance(target, (ast.Attribute, ast.Subscript, ast.Call)):
            target = target.func if isinstance(target, ast.Call) else target.value  # noqa: PLW2901 - down to the name
        if isinstance(target, ast.Name):
            yield target.id


def as_returned(value: Value, chunk: Chunk, call: Call | None) -> Value:
    """What `call` gets of a function that returns `value`; a coroutine still has to be awaited."""
    seen = without_ranges(value) if call is not None and _gives_a_default(chunk, call) else value
    return Value(Kind.UNKNOWN, parts=(seen,)) if isinstance(chunk.node, ast.AsyncFunctionDef) else seen


def without_ranges(value: Value) -> Value:
    """The same thing, with nothing known of the numbers in it."""
    return value.but(
        range=FINITE,
        parts=tuple(without_ranges(part) for part in value.parts),
        choices=tuple(without_ranges(choice) for choice in value.choices),
    )


def _gives_a_default(chunk: Chunk, call: Call) -> bool:
    """Whether the call says otherwise than a default that is a number, or may be one."""
    node = chunk.node
    if not isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef)) or not isinstance(call.node, cst.Call):
        return False
    declared = [*node.args.posonlyargs, *node.args.args]
    first = len(declared) - len(node.args.defaults)
    usual = {declared[first + place].arg for place, value in enumerate(node.args.defaults) if _may_be_number(value)}
    keyword_only = zip(node.args.kwonlyargs, node.args.kw_defaults, strict=True)
    usual |= {argument.arg for argument, value in keyword_only if value is not None and _may_be_number(value)}
    if not usual:
        return False
    # The object that a method is called on is its first argument.
    given = 1 if chunk.owner and "staticmethod" not in decorators(chunk) else 0
    given += sum(argument.keyword is None for argument in call.node.args)
    named = {argument.keyword.value for argument in call.node.args if argument.keyword is not None}
    is_open = any(argument.star for argument in call.node.args)
    return is_open or not usual.isdisjoint(named) or not usual.isdisjoint(each.arg for each in declared[:given])


def _may_be_number(default: ast.expr) -> bool:
    if isinstance(default, ast.Constant):
        return isinstance(default.value, (int, float)) and not isinstance(default.value, bool)
    return True
