"""What is drawn from the fixtures with a fixed seed, as functions cut out of their files.

Knows nothing of nanlint but what its fixtures announce.
"""

from __future__ import annotations

import ast
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from nanlint.testing import expectations

if TYPE_CHECKING:
    from collections.abc import Iterator

FIXTURES = Path(__file__).resolve().parent.parent.parent / "fixtures"
DRAWN = Path(__file__).resolve().parent / "drawn.txt"
"""What was drawn, by `python -m tests.moved.draw`: a new fixture does not draw anew."""


@dataclass(frozen=True)
class Cut:
    """A function with what it needs of its file, and the statement in it that is looked at."""

    name: str
    code: str
    preamble: str
    function: ast.FunctionDef
    statement: ast.stmt

    @property
    def parameters(self) -> list[str]:
        return [arg.arg for arg in self.function.args.args]

    def free(self, *nodes: ast.AST) -> list[str]:
        """The names of the function that these nodes read."""
        own = {
            node.id
            for node in ast.walk(self.function)
            if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store)
        }
        own |= set(self.parameters)
        inside = {inner.arg for node in nodes for inner in ast.walk(node) if isinstance(inner, ast.arg)}
        inside |= {
            inner.target.id
            for node in nodes
            for inner in ast.walk(node)
            if isinstance(inner, ast.comprehension) and isinstance(inner.target, ast.Name)
        }
        read = [inner.id for node in nodes for inner in ast.walk(node) if isinstance(inner, ast.Name)]
        return [name for name in dict.fromkeys(read) if name in own - inside]


def functions_of(path: Path) -> Iterator[tuple[ast.FunctionDef, str]]:
    """Each plain function of a file, and the rest of the file without its other functions that it does not name."""
    tree = ast.parse(path.read_text(encoding="utf-8"))
    defined = {node.name: node for node in tree.body if isinstance(node, (ast.FunctionDef, ast.ClassDef))}
    for function in defined.values():
        if not isinstance(function, ast.FunctionDef) or function.decorator_list or _is_unusual(function):
            continue
        needed, before = {function.name}, set[str]()
        while needed != before:
            before = needed
            named = (inner.id for name in needed for inner in ast.walk(defined[name]) if isinstance(inner, ast.Name))
            needed = needed | ({*named} & {*defined})
        left_out = [node for name, node in defined.items() if name not in needed or node is function]
        rest = [node for node in tree.body if node not in left_out]
        yield function, ast.unparse(ast.Module(rest, []))


def _is_unusual(function: ast.FunctionDef) -> bool:
    inner = (ast.Yield, ast.FunctionDef, ast.Lambda, ast.Global, ast.Nonlocal, ast.NamedExpr)
    given = function.args
    return bool(given.vararg or given.kwarg or given.kwonlyargs or given.posonlyargs) or any(
        isinstance(node, inner) for node in ast.walk(function) if node is not function
    )


def draws() -> dict[str, list[str]]:
    """The names of what was drawn, by the name of the draw."""
    found: dict[str, list[str]] = {}
    for line in DRAWN.read_text(encoding="utf-8").splitlines():
        draw, _, name = line.partition(" ")
        found.setdefault(draw, []).append(name)
    return found


def hazards() -> Iterator[Cut]:
    """The statements that compute what a fixture announces, and nothing else."""
    for path in sorted(FIXTURES.glob("NAN[123]*/bad*.py")):
        if ".fixed" in path.name:
            continue
        text = path.read_text(encoding="utf-8")
        marks = {mark.line: mark.code for mark in expectations(text)}
        for function, preamble in functions_of(path):
            for place, statement in enumerate(function.body):
                lines = range(statement.lineno, (statement.end_lineno or 0) + 1)
                codes = [marks[line] for line in lines if line in marks]
                if codes and isinstance(statement, (ast.Return, ast.Assign)) and _can_be_moved(statement):
                    name = f"{path.parent.name}/{path.name}:{function.name}:{place}"
                    yield Cut(name, codes[0], preamble, function, statement)


def _can_be_moved(statement: ast.Return | ast.Assign) -> bool:
    value = statement.value
    target = statement.targets[0] if isinstance(statement, ast.Assign) else None
    return isinstance(value, (ast.BinOp, ast.Call, ast.UnaryOp)) and isinstance(target, (ast.Name, type(None)))


@dataclass(frozen=True)
class Guard:
    """A guarded function: `statement` is the guard, or holds the guarding expression `guard` of the operand `operand`."""

    cut: Cut
    guard: ast.expr | None = None
    operand: ast.expr | None = None

    @property
    def without(self) -> str:
        """The function as it would be without the guard."""
        body: list[ast.stmt] = []
        for statement in self.cut.function.body:
            if statement is not self.cut.statement:
                body.append(statement)
            elif self.guard is not None and self.operand is not None:
                body.append(replaced(statement, self.guard, self.operand))
            elif holds_the_rest(statement):
                body += statement.body  # type: ignore[attr-defined] # it is an `if`
        return self.cut.preamble + "\n" + ast.unparse(function_with(self.cut.function, body))


def holds_the_rest(statement: ast.stmt) -> bool:
    """`if there_is_some: return a / b`: what is guarded stands inside."""
    return isinstance(statement, ast.If) and not _is_constant_way(statement.body[-1])


def _is_constant_way(statement: ast.stmt) -> bool:
    if isinstance(statement, (ast.Raise, ast.Assign, ast.AugAssign)):
        return True
    parts = ast.walk(statement)
    return not any(isinstance(node, ast.BinOp) and not isinstance(node.op, ast.Mult) for node in parts) and not any(
        isinstance(node, ast.Attribute) and node.attr in {"log", "sqrt", "softmax", "std", "exp", "acos"}
        for node in ast.walk(statement)
    )


def function_with(function: ast.FunctionDef, body: list[ast.stmt], name: str = "") -> ast.FunctionDef:
    """The function with another body, and with another name if one is given."""
    new = ast.FunctionDef(name or function.name, function.args, body or [ast.Pass()], [], function.returns, None)
    return ast.fix_missing_locations(new)


def replaced(statement: ast.stmt, old: ast.expr, new: ast.expr) -> ast.stmt:
    """A copy of the statement with one expression in the place of another."""
    text, part = ast.unparse(statement), ast.unparse(old)
    for form in (f"({part})", part):
        if form in text:
            return ast.parse(text.replace(form, f"({ast.unparse(new)})", 1)).body[0]
    raise ValueError(text)


def guards() -> Iterator[Guard]:
    """The guards of the good fixtures."""
    for path in sorted(FIXTURES.glob("NAN[123]*/good*.py")):
        yield from _guards_in(path)


def _guards_in(path: Path) -> Iterator[Guard]:
    for function, preamble in functions_of(path):
        code = path.parent.name.partition("_")[0]
        for place, statement in enumerate(function.body):
            name = f"{path.parent.name}/{path.name}:{function.name}:{place}"
            cut = Cut(name, code, preamble, function, statement)
            if (isinstance(statement, ast.If) and not statement.orelse) or _assigns_part(statement):
                yield Guard(cut)
            elif isinstance(statement, (ast.Return, ast.Assign)) and statement.value is not None:
                for number, (node, operand) in enumerate(_guarding(statement.value)):
                    yield Guard(Cut(f"{name}.{number}", code, preamble, function, statement), node, operand)


def _assigns_part(statement: ast.stmt) -> bool:
    return isinstance(statement, ast.Assign) and isinstance(statement.targets[0], ast.Subscript)


def _guarding(value: ast.expr) -> Iterator[tuple[ast.expr, ast.expr]]:
    """The guarding expressions in a value, each with what it guards."""
    for node in ast.walk(value):
        match node:
            case ast.Call(func=ast.Attribute(value=operand, attr="clamp" | "clamp_min" | "nan_to_num")):
                yield (node, node.args[0]) if ast.unparse(operand) == "torch" else (node, operand)
            case ast.Call(func=ast.Name(id="max") | ast.Attribute(attr="maximum"), args=[operand, _]):
                yield node, operand
            case ast.Call(func=ast.Attribute(attr="where"), args=[_, operand, _]):
                yield node, operand
            case ast.BinOp(op=ast.Add(), left=operand, right=ast.Constant()):
                yield node, operand
            case ast.BinOp(op=ast.Add(), left=ast.Constant(), right=operand):
                yield node, operand
