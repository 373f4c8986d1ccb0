"""Rewritings of operators: quotients, roots, squares, sums, comparisons, in place or not."""

# ruff: noqa: N802 - ast names the visitors

from __future__ import annotations

import ast

from tests.spellings.rewriting import Rewriting, method_call, number, torch_call
from tests.spellings.tensors import function_called

_ARITHMETIC = {ast.Add: "add", ast.Sub: "sub", ast.Mult: "mul", ast.MatMult: "matmul"}
_TURNED: dict[type[ast.cmpop], type[ast.cmpop]] = {
    ast.Gt: ast.Lt,
    ast.Lt: ast.Gt,
    ast.GtE: ast.LtE,
    ast.LtE: ast.GtE,
    ast.Eq: ast.Eq,
    ast.NotEq: ast.NotEq,
}


def operands(node: ast.expr, rewriting: Rewriting, name: str) -> list[ast.expr] | None:
    """The two operands of `torch.name(a, b)` or `a.name(b)`."""
    if not isinstance(node, ast.Call) or node.keywords or not isinstance(node.func, ast.Attribute):
        return None
    if function_called(node) == ("torch", name) and len(node.args) == 2:
        return node.args
    if node.func.attr == name and len(node.args) == 1 and rewriting.is_tensor(node.func.value):
        return [node.func.value, *node.args]
    return None


class QuotientAsFunction(Rewriting):
    """`a / b` as `torch.div(a, b)`."""

    def visit_BinOp(self, node: ast.BinOp) -> ast.AST:
        fits = isinstance(node.op, ast.Div) and self.is_tensor(node.left)
        self.generic_visit(node)
        return self.changed(node, torch_call("div", node.left, node.right)) if fits else node


class QuotientAsMethod(Rewriting):
    """`a / b` as `a.div(b)`."""

    def visit_BinOp(self, node: ast.BinOp) -> ast.AST:
        fits = isinstance(node.op, ast.Div) and self.is_tensor(node.left)
        self.generic_visit(node)
        return self.changed(node, method_call(node.left, "div", node.right)) if fits else node


class ReciprocalAsMethod(Rewriting):
    """`1 / x` as `x.reciprocal()`."""

    def visit_BinOp(self, node: ast.BinOp) -> ast.AST:
        fits = isinstance(node.op, ast.Div) and number(node.left) == 1 and self.is_tensor(node.right)
        self.generic_visit(node)
        return self.changed(node, method_call(node.right, "reciprocal")) if fits else node


class _Root(Rewriting):
    """A square root, however it is written, in the spelling of a subclass."""

    def spelled(self, value: ast.expr) -> ast.expr:
        raise NotImplementedError

    def root_of(self, node: ast.expr) -> ast.expr | None:
        if isinstance(node, ast.BinOp) and isinstance(node.op, ast.Pow) and number(node.right) == 0.5:
            return node.left if self.is_tensor(node.left) else None
        pair = operands(node, self, "pow")
        if pair and number(pair[1]) == 0.5:
            return pair[0]
        if not isinstance(node, ast.Call) or node.keywords or not isinstance(node.func, ast.Attribute):
            return None
        if function_called(node) == ("torch", "sqrt"):
            return node.args[0]
        return node.func.value if node.func.attr == "sqrt" and self.is_tensor(node.func.value) else None

    def _visit(self, node: ast.expr) -> ast.AST:
        has = self.root_of(node) is not None
        self.generic_visit(node)
        value = self.root_of(node) if has else None
        if value is None or ast.unparse(new := self.spelled(value)) == ast.unparse(node):
            return node
        return self.changed(node, new)

    def visit_BinOp(self, node: ast.BinOp) -> ast.AST:
        return self._visit(node)

    def visit_Call(self, node: ast.Call) -> ast.AST:
        return self._visit(node)


class RootAsPower(_Root):
    """A root as `x ** 0.5`."""

    def spelled(self, value: ast.expr) -> ast.expr:
        return ast.BinOp(left=value, op=ast.Pow(), right=ast.Constant(value=0.5))


class RootAsMethod(_Root):
    """A root as `x.sqrt()`."""

    def spelled(self, value: ast.expr) -> ast.expr:
        return method_call(value, "sqrt")


class RootAsFunction(_Root):
    """A root as `torch.sqrt(x)`."""

    def spelled(self, value: ast.expr) -> ast.expr:
        return torch_call("sqrt", value)


class RootAsPowerFunction(_Root):
    """A root as `torch.pow(x, 0.5)`."""

    def spelled(self, value: ast.expr) -> ast.expr:
        return torch_call("pow", value, ast.Constant(value=0.5))


class SquareAsMethod(Rewriting):
    """`x ** 2` as `x.square()`."""

    def visit_BinOp(self, node: ast.BinOp) -> ast.AST:
        fits = isinstance(node.op, ast.Pow) and number(node.right) == 2 and self.is_tensor(node.left)
        self.generic_visit(node)
        return self.changed(node, method_call(node.left, "square")) if fits else node


class SquareAsPower(Rewriting):
    """`x.square()`, `x.pow(2)` and `torch.square(x)` as `x ** 2`."""

    def visit_Call(self, node: ast.Call) -> ast.AST:
        base = self._base(node)
        self.generic_visit(node)
        base = base and self._base(node)
        return self.changed(node, ast.BinOp(left=base, op=ast.Pow(), right=ast.Constant(value=2))) if base else node

    def _base(self, node: ast.Call) -> ast.expr | None:
        pair = operands(node, self, "pow")
        if pair and number(pair[1]) == 2:
            return pair[0]
        if function_called(node) == ("torch", "square"):
            return node.args[0]
        is_square = isinstance(node.func, ast.Attribute) and node.func.attr == "square" and not node.args
        return node.func.value if is_square and self.is_tensor(node.func.value) else None  # type: ignore[attr-defined] # is_square says what it is


class ArithmeticAsFunction(Rewriting):
    """`a + b`, `a - b`, `a * b` and `a @ b` as `torch.add(a, b)` and so on."""

    def visit_BinOp(self, node: ast.BinOp) -> ast.AST:
        name = _ARITHMETIC.get(type(node.op)) if self.is_tensor(node.left) else None
        self.generic_visit(node)
        return self.changed(node, torch_call(name, node.left, node.right)) if name else node


class ArithmeticAsMethod(Rewriting):
    """`a + b`, `a - b`, `a * b` and `a @ b` as `a.add(b)` and so on."""

    def visit_BinOp(self, node: ast.BinOp) -> ast.AST:
        name = _ARITHMETIC.get(type(node.op)) if self.is_tensor(node.left) else None
        self.generic_visit(node)
        return self.changed(node, method_call(node.left, name, node.right)) if name else node


class NegationAsMethod(Rewriting):
    """`-x` as `x.neg()`."""

    def visit_UnaryOp(self, node: ast.UnaryOp) -> ast.AST:
        fits = isinstance(node.op, ast.USub) and self.is_tensor(node.operand)
        self.generic_visit(node)
        return self.changed(node, method_call(node.operand, "neg")) if fits else node


class ComparisonTurned(Rewriting):
    """`a > b` as `b < a`."""

    def visit_Compare(self, node: ast.Compare) -> ast.AST:
        self.generic_visit(node)
        turned = _TURNED.get(type(node.ops[0])) if len(node.ops) == 1 else None
        if turned is None:
            return node
        return self.changed(node, ast.Compare(left=node.comparators[0], ops=[turned()], comparators=[node.left]))


class InPlaceAsAssignment(Rewriting):
    """`a /= b` as `a = a / b`."""

    def visit_AugAssign(self, node: ast.AugAssign) -> ast.AST:
        self.generic_visit(node)
        if not isinstance(node.target, ast.Name) or node.target.id not in self.names:
            return node
        value = ast.BinOp(left=ast.Name(id=node.target.id, ctx=ast.Load()), op=node.op, right=node.value)
        return self.changed(node, ast.Assign(targets=[node.target], value=value))
