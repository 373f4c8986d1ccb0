"""The slice level: the flagged statement with the assignments it depends on, as a function of its free variables.

For code that cannot be called as a whole. A slice cuts off guards and makes every outer value free, so what it shows is
"fails if `count` can be 0", and never that the program does.
"""

from __future__ import annotations

import ast
import builtins
from typing import TYPE_CHECKING, Any

from nanlint.confirm.inputs import Parameter
from nanlint.confirm.worker.load import source_text
from nanlint.confirm.worker.subject import CannotRun, Signature, Subject
from nanlint.confirm.worker.uses import uses_in

if TYPE_CHECKING:
    from collections.abc import Iterator
    from types import ModuleType

Json = dict[str, Any]
NAME = "nanlint_slice"
_SIMPLE = (ast.Assign, ast.AnnAssign, ast.AugAssign)


class SliceSubject(Subject):
    """A subject whose level is slice."""

    @property
    def level(self) -> str:
        """Never more than reachable."""
        return "slice"


def slice_of(module: ModuleType, target: Json, *, alone: bool = False) -> Subject:
    """The slice around the flagged statement, compiled at its own lines of the user's file; or the statement alone."""
    tree = ast.parse(source_text(target["path"]))
    scope = _innermost(tree, target["first"])
    statement = _statement(scope, target["first"])
    if statement is None:
        raise CannotRun("the flagged line holds no statement that can be cut out")
    kept, result = _kept(scope, statement)
    kept = kept[-1:] if alone and isinstance(statement, _SIMPLE) else [] if alone else kept
    renamer = _Renamer()
    body = [renamer.visit(one) for one in kept]
    returned = ast.Return(renamer.visit(result))
    ast.copy_location(returned, statement)
    known = (set(vars(module)) | set(dir(builtins))) - _changing(scope)
    free = sorted(_free([*body, returned], known))
    function = compiled([*body, returned], free, target["path"], module)
    parameters = [Parameter(name) for name in free]
    evidence = uses_in(ast.Module([*body, returned], []), set(free))
    return SliceSubject(module, function=function, calling=Signature(parameters, evidence, ""))


def shown(name: str) -> str:
    """A free variable as the user wrote it."""
    return name.replace("__dot__", ".").removesuffix("__called")


def _innermost(tree: ast.Module, line: int) -> ast.AST:
    found: ast.AST = tree
    for node in ast.walk(tree):
        if isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef)) and node.lineno <= line <= (node.end_lineno or 0):
            found = node
    return found


def _statements(scope: ast.AST) -> Iterator[ast.stmt]:
    """The statements of a function in the order of their lines, without those of functions inside it."""
    for child in ast.iter_child_nodes(scope):
        if isinstance(child, (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef, ast.Lambda)):
            continue
        if isinstance(child, ast.stmt):
            yield child
        yield from _statements(child)


def _statement(scope: ast.AST, line: int) -> ast.stmt | None:
    inside = [one for one in _statements(scope) if one.lineno <= line <= (one.end_lineno or one.lineno)]
    return min(inside, key=lambda one: (one.end_lineno or one.lineno) - one.lineno, default=None)


def _kept(scope: ast.AST, statement: ast.stmt) -> tuple[list[ast.stmt], ast.expr]:
    """The assignments that the statement depends on, in order, and the expression to look at."""
    result = _result_of(statement)
    own = [statement] if isinstance(statement, _SIMPLE) else []
    needed = loaded_names(statement)
    kept: list[ast.stmt] = []
    before = [one for one in _statements(scope) if one.lineno < statement.lineno and isinstance(one, _SIMPLE)]
    for one in reversed(before):
        targets = stored_names(one)
        if targets & needed and not _is_self(one):
            kept.insert(0, one)
            needed |= loaded_names(one)
    return [*kept, *own], result


def _is_self(statement: ast.stmt) -> bool:
    """Assignments to attributes stay outside: the attribute is a free variable."""
    targets = statement.targets if isinstance(statement, ast.Assign) else [getattr(statement, "target", None)]
    return any(isinstance(one, (ast.Attribute, ast.Subscript)) for one in targets)


def _result_of(statement: ast.stmt) -> ast.expr:
    if isinstance(statement, ast.Assign):
        target = statement.targets[0]
        return _as_load(target) if isinstance(target, (ast.Name, ast.Tuple)) else statement.value
    if isinstance(statement, (ast.AugAssign, ast.AnnAssign)):
        return _as_load(statement.target)
    for name in ("value", "test", "iter"):
        found = getattr(statement, name, None)
        if isinstance(found, ast.expr):
            return found
    raise CannotRun("the flagged statement computes nothing that can be looked at")


def _as_load(node: ast.expr) -> ast.expr:
    return ast.copy_location(ast.parse(ast.unparse(node), mode="eval").body, node)


def loaded_names(node: ast.AST) -> set[str]:
    """The names that are read in it."""
    found = {one.id for one in ast.walk(node) if isinstance(one, ast.Name) and isinstance(one.ctx, ast.Load)}
    if isinstance(node, ast.AugAssign):
        found |= {one.id for one in ast.walk(node.target) if isinstance(one, ast.Name)}
    return found


def stored_names(node: ast.AST) -> set[str]:
    """The names that are bound in it."""
    return {one.id for one in ast.walk(node) if isinstance(one, ast.Name) and isinstance(one.ctx, ast.Store)}


class _Renamer(ast.NodeTransformer):
    """`self.scale` becomes a variable, and so does the result of `self.layer(x)`."""

    def visit_Call(self, node: ast.Call) -> ast.AST:
        if _rooted_in_self(node.func):
            return ast.copy_location(ast.Name(f"{_flat(node.func)}__called", ast.Load()), node)
        return self.generic_visit(node)

    def visit_Attribute(self, node: ast.Attribute) -> ast.AST:
        if _rooted_in_self(node):
            return ast.copy_location(ast.Name(_flat(node), node.ctx), node)
        return self.generic_visit(node)


def _rooted_in_self(node: ast.AST) -> bool:
    """`self.a` or `self.a.b`, but not the methods of tensors: `self.scale.exp`."""
    if not isinstance(node, ast.Attribute) or hasattr(_tensor(), node.attr):
        return False
    return (isinstance(node.value, ast.Name) and node.value.id == "self") or _rooted_in_self(node.value)


def _tensor() -> type:
    import torch  # noqa: PLC0415 - this module is about text; the names of methods are all it wants

    return torch.Tensor


def _flat(node: ast.AST) -> str:
    return ast.unparse(node).replace(".", "__dot__")


def _changing(scope: ast.AST) -> set[str]:
    """Of a script or notebook, the names that its own loops bind: what the last round left in them is one value of many."""
    if not isinstance(scope, ast.Module):
        return set()
    loops = [one for one in _statements(scope) if isinstance(one, (ast.For, ast.While, ast.With))]
    return {name for loop in loops for name in stored_names(loop)}


def _free(body: list[ast.stmt], known: set[str]) -> set[str]:
    """The names that are read before they are assigned."""
    free: set[str] = set()
    assigned: set[str] = set()
    for statement in body:
        inner = {
            name.id
            for one in ast.walk(statement)
            if isinstance(one, ast.comprehension)
            for name in ast.walk(one.target)
            if isinstance(name, ast.Name)
        }
        inner |= {
            argument.arg for one in ast.walk(statement) if isinstance(one, ast.Lambda) for argument in one.args.args
        }
        free |= loaded_names(statement) - assigned - known - inner
        assigned |= stored_names(statement)
    return free


def compiled(body: list[ast.stmt], free: list[str], path: str, module: ModuleType) -> Any:
    """A function of the free names with this body, at its own lines of the file."""
    arguments = ast.arguments([], [ast.arg(name) for name in free], None, [], [], None, [])
    last = max(one.end_lineno or one.lineno for one in body)
    function = ast.FunctionDef(NAME, arguments, body, [], lineno=body[0].lineno, col_offset=0, end_lineno=last)
    function.end_col_offset = 0
    function.type_params = []  # type: ignore[attr-defined] # since Python 3.12
    tree = ast.Module([function], [])
    for node in ast.walk(function):
        # Every part keeps its own line; what has none gets that of the last, so that ranges stay valid.
        if isinstance(node, (ast.expr, ast.stmt, ast.arg)) and not getattr(node, "end_lineno", None):
            node.lineno, node.end_lineno, node.col_offset, node.end_col_offset = last, last, 0, 0
    space = dict(vars(module))
    exec(compile(tree, path, "exec"), space)  # noqa: S102 - the user's own file, in the sandbox
    return space[NAME]
