"""Rewritings of calls: method or function, module or function, keywords or places, the names of imports, and a temporary name."""

# ruff: noqa: N802, N815 - ast names the visitors

from __future__ import annotations

import ast

from tests.spellings.rewriting import Rewriting, method_call, torch_call
from tests.spellings.tensors import SAME_BOTH_WAYS, function_called

# The arguments behind the tensor, in order, as method, torch function and function of torch.nn.functional have them.
_PARAMETERS = {
    "clamp": ("min", "max"),
    "cross_entropy": ("target",),
    "cumsum": ("dim",),
    "log_softmax": ("dim",),
    "logsumexp": ("dim", "keepdim"),
    "masked_fill": ("mask", "value"),
    "mean": ("dim", "keepdim"),
    "mse_loss": ("target",),
    "nll_loss": ("target",),
    "norm": ("p", "dim", "keepdim"),
    "normalize": ("p", "dim", "eps"),
    "softmax": ("dim",),
    "sum": ("dim", "keepdim"),
    "unsqueeze": ("dim",),
}
_IN_FUNCTIONAL = frozenset({"log_softmax", "relu", "sigmoid", "softmax", "tanh"})
_MODULES = {
    "log_softmax": "LogSoftmax",
    "logsigmoid": "LogSigmoid",
    "relu": "ReLU",
    "sigmoid": "Sigmoid",
    "softmax": "Softmax",
    "softplus": "Softplus",
    "tanh": "Tanh",
}
_LOSSES = {"cross_entropy": "CrossEntropyLoss", "l1_loss": "L1Loss", "mse_loss": "MSELoss", "nll_loss": "NLLLoss"}


class MethodAsFunction(Rewriting):
    """`x.log()` as `torch.log(x)`."""

    def visit_Call(self, node: ast.Call) -> ast.AST:
        fits = (
            isinstance(node.func, ast.Attribute)
            and node.func.attr in SAME_BOTH_WAYS
            and self.is_tensor(node.func.value)
        )
        self.generic_visit(node)
        if not fits or not isinstance(node.func, ast.Attribute) or (node.func.attr == "norm" and not node.args):
            return node
        # reshape and its like take a row of sizes as a method alone.
        if node.func.attr in {"reshape", "squeeze"}:
            return node
        return self.changed(node, torch_call(node.func.attr, node.func.value, *node.args, keywords=node.keywords))


class FunctionAsMethod(Rewriting):
    """`torch.log(x)` as `x.log()`."""

    def visit_Call(self, node: ast.Call) -> ast.AST:
        where, name = function_called(node)
        fits = where == "torch" and name in SAME_BOTH_WAYS and bool(node.args) and self.is_tensor(node.args[0])
        self.generic_visit(node)
        return (
            self.changed(node, method_call(*_first(node), name, *node.args[1:], keywords=node.keywords))
            if fits
            else node
        )


def _first(node: ast.Call) -> tuple[ast.expr]:
    return (node.args[0],)


class AsFunctional(Rewriting):
    """`x.softmax(-1)` and `torch.softmax(x, -1)` as `torch.nn.functional.softmax(x, dim=-1)`."""

    def visit_Call(self, node: ast.Call) -> ast.AST:
        parts = tensor_and_settings(node, self)
        self.generic_visit(node)
        if parts is None or parts[0] not in _IN_FUNCTIONAL or function_called(node)[0] not in {"", "torch"}:
            return node
        name, value, settings = parts
        return self.changed(node, torch_call(name, value, keywords=settings, module="torch.nn.functional"))


class AsModule(Rewriting):
    """`F.softmax(x, 1)` as `torch.nn.Softmax(dim=1)(x)`, and a loss with its reduction likewise."""

    def visit_Call(self, node: ast.Call) -> ast.AST:
        parts = tensor_and_settings(node, self)
        self.generic_visit(node)
        if parts is None:
            return node
        name, value, settings = parts
        if name in _MODULES:
            return self.changed(
                node, ast.Call(torch_call(_MODULES[name], keywords=settings, module="torch.nn"), [value], [])
            )
        target = [keyword.value for keyword in settings if keyword.arg == "target"]
        if name not in _LOSSES or not target:
            return node
        rest = [keyword for keyword in settings if keyword.arg != "target"]
        return self.changed(
            node, ast.Call(torch_call(_LOSSES[name], keywords=rest, module="torch.nn"), [value, *target], [])
        )


def tensor_and_settings(node: ast.Call, rewriting: Rewriting) -> tuple[str, ast.expr, list[ast.keyword]] | None:
    """The operation, its tensor and the other arguments by name, of a function or a method."""
    where, name = function_called(node)
    rest = node.args
    if where and rest:
        value, rest = rest[0], rest[1:]
    elif not where and isinstance(node.func, ast.Attribute) and rewriting.is_tensor(node.func.value):
        name, value = node.func.attr, node.func.value
    else:
        return None
    parameters = _PARAMETERS.get(name, ())
    if len(rest) > len(parameters):
        return None
    named = [ast.keyword(arg=parameter, value=arg) for parameter, arg in zip(parameters, rest, strict=False)]
    return name, value, [*named, *node.keywords]


class KeywordsForPlaces(Rewriting):
    """`x.sum(-1, True)` as `x.sum(dim=-1, keepdim=True)`."""

    def visit_Call(self, node: ast.Call) -> ast.AST:
        parts = tensor_and_settings(node, self)
        self.generic_visit(node)
        given = len(node.args) - bool(function_called(node)[0])
        if parts is None or not given:
            return node
        return self.changed(node, ast.Call(node.func, node.args[: len(node.args) - given], parts[2]))


class PlacesForKeywords(Rewriting):
    """`x.sum(dim=-1, keepdim=True)` as `x.sum(-1, True)`."""

    def visit_Call(self, node: ast.Call) -> ast.AST:
        parts = tensor_and_settings(node, self)
        self.generic_visit(node)
        if parts is None or not node.keywords:
            return node
        parameters = _PARAMETERS.get(parts[0], ())
        names = tuple(keyword.arg for keyword in parts[2])
        if names != parameters[: len(names)]:
            return node
        values = [keyword.value for keyword in parts[2]]
        tensor = node.args[:1] if function_called(node)[0] else []
        return self.changed(node, ast.Call(node.func, [*tensor, *values], []))


class TorchAsTh(Rewriting):
    """`import torch as th`."""

    def visit_Module(self, node: ast.Module) -> ast.AST:
        self.generic_visit(node)
        body = list(node.body)
        at = next(
            (n for n, one in enumerate(body) if isinstance(one, ast.Import) and one.names[0].name == "torch"), None
        )
        if at is None or not self.changes:
            self.changes = 0
            return node
        new = ast.copy_location(ast.Import(names=[ast.alias("torch", "th")]), body[at])
        node.body = [*body[:at], new, *body[at:]]
        return node

    def visit_Name(self, node: ast.Name) -> ast.AST:
        return self.changed(node, ast.Name(id="th", ctx=node.ctx)) if node.id == "torch" else node


class ImportedFunctions(Rewriting):
    """`torch.log` as `log`, with `from torch import log`."""

    def visit_Module(self, node: ast.Module) -> ast.AST:
        taken = {inner.id for inner in ast.walk(node) if isinstance(inner, ast.Name)}
        taken |= {inner.arg for inner in ast.walk(node) if isinstance(inner, ast.arg)}
        taken |= {inner.name for inner in ast.walk(node) if isinstance(inner, (ast.FunctionDef, ast.ClassDef))}
        self.free, self.used = (
            SAME_BOTH_WAYS - taken - set(dir(__builtins__)) - {"abs", "pow", "round", "sum"},
            set[str](),
        )
        self.generic_visit(node)
        if self.used:
            at = next(n for n, one in enumerate(node.body) if isinstance(one, ast.Import))
            new = ast.ImportFrom("torch", [ast.alias(name) for name in sorted(self.used)], 0)
            node.body.insert(at + 1, ast.copy_location(new, node.body[at]))
        return node

    def visit_Attribute(self, node: ast.Attribute) -> ast.AST:
        if isinstance(node.value, ast.Name) and node.value.id == "torch" and node.attr in self.free:
            self.used.add(node.attr)
            return self.changed(node, ast.Name(id=node.attr, ctx=node.ctx))
        return self.generic_visit(node)


_NOT_AT_ONCE = (
    ast.Lambda,
    ast.IfExp,
    ast.BoolOp,
    ast.ListComp,
    ast.SetComp,
    ast.DictComp,
    ast.GeneratorExp,
    ast.Compare,
)
_NOT_MOVED = (ast.NamedExpr, ast.Await, ast.Yield, ast.YieldFrom, ast.Starred)


class TemporaryName(Rewriting):
    """`return a / b.sum()` as `part_1 = b.sum()` and `return a / part_1`, for a subexpression that is drawn."""

    def _named(self, node: ast.Assign | ast.Return | ast.AugAssign | ast.Expr) -> ast.AST | list[ast.stmt]:
        if node.value is None or any(isinstance(inner, _NOT_MOVED) for inner in ast.walk(node)):
            return node
        parts = [inner for inner in self._at_once(node.value) if inner is not node.value and self.is_tensor(inner)]
        parts = [inner for inner in parts if isinstance(inner, (ast.Call, ast.BinOp))]
        if not parts:
            return node
        chosen = parts[int(self.draw() * len(parts))]
        self.changes += 1
        name = f"part_{self.changes}"
        _Replaced(chosen, name).visit(node)
        return [ast.copy_location(ast.Assign([ast.Name(id=name, ctx=ast.Store())], chosen), node), node]

    def _at_once(self, node: ast.AST) -> list[ast.expr]:
        """What is computed whenever the statement runs."""
        found = [node] if isinstance(node, ast.expr) else []
        if isinstance(node, _NOT_AT_ONCE):
            return found
        return found + [inner for child in ast.iter_child_nodes(node) for inner in self._at_once(child)]

    visit_Assign = visit_Return = visit_AugAssign = visit_Expr = _named


class _Replaced(ast.NodeTransformer):
    def __init__(self, chosen: ast.expr, name: str) -> None:
        self.chosen, self.name = chosen, name

    def visit(self, node: ast.AST) -> ast.AST:
        if node is self.chosen:
            return ast.copy_location(ast.Name(id=self.name, ctx=ast.Load()), node)
        return self.generic_visit(node)
