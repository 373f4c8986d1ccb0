"""Where code sets the rate of an optimizer itself, as `group["lr"] = rate`: there the rate of a restored state no longer counts."""

from __future__ import annotations

import ast
from typing import TYPE_CHECKING, NamedTuple

from nanlint.analysis.project.syntax_names import defaults_of
from nanlint.analysis.training_loop.runs.run_parts import makers
from nanlint.source.syntax.below import walk
from nanlint.word_sets import word_set

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from nanlint.analysis.op_graph import Op
    from nanlint.analysis.project.definitions import Class, Function
    from nanlint.analysis.project.graph import Graph

_BASES = word_set("base_lrs max_lrs")
_KEPT_BY_THE_STATE = word_set("lr initial_lr")
_GROUPS = "param_groups"
_DEEPEST = 3


class Setter(NamedTuple):
    """A function that sets rates, and the calls that may have made the optimizers whose rates they are; none where nobody knows."""

    function: Function
    made_by: tuple[Op, ...]

    def sets_that_of(self, made: Iterable[Op], holder: Function) -> bool:
        """Whether it sets the rates of an optimizer made by one of these, or of an object whose method `holder` is and that has one inside."""
        nodes = {op.node for op in made}
        classes = {each.name for each in lineage_of(holder)}
        return any(op.node in nodes or op.where.rpartition(".")[2] in classes for op in self.made_by)


def lineage_of(function: Function) -> list[Class]:
    """The class whose method a function is, and those above and below it."""
    if function.owner is None:
        return []
    project = function.module.project
    return [*project.lineage(function.owner), *project.below(function.owner)]


def sets_rates(function: Function, depth: int = _DEEPEST) -> bool:
    """Whether a function, or one that it calls, sets the rate of a group, or the bases of a schedule."""
    if any(not _is_off_by_default(each, function) for each in _assignments(function.node)):
        return True
    called = {each for each in function.callees.values() if each is not None and each is not function}
    return depth > 1 and any(sets_rates(each, depth - 1) for each in called)


def setters(graph: Graph) -> Iterator[Setter]:
    """Every function of the project that sets the rates of groups, less those that do so only where a setting that is off by default asks for it."""
    for module in list(graph.project.modules):
        if _GROUPS not in module.text:
            continue
        for function in (module.body, *module.all_functions()):
            found = [each for each in _assignments(function.node) if not _is_off_by_default(each, function)]
            if found and graph.run(function):
                yield Setter(function, tuple(_optimizers(function, graph)))


def _optimizers(function: Function, graph: Graph) -> Iterator[Op]:
    for op in function.ops:
        if isinstance(op.node, ast.Attribute) and op.node.attr == _GROUPS and op.subject is not None:
            yield from makers(op.subject, graph, function.owner)


def _assignments(code: ast.AST) -> Iterator[ast.Assign]:
    """`group["lr"] = rate`, `schedule.base_lrs = rates`; one that goes on from the rate of the state leaves it in effect."""
    for node in _own_nodes(code):
        if isinstance(node, ast.Assign) and any(map(_is_rate, node.targets)):
            read = {_key(each) for each in walk(node.value) if isinstance(each, ast.Subscript)}
            if read.isdisjoint(_KEPT_BY_THE_STATE):
                yield node


def _own_nodes(code: ast.AST) -> Iterator[ast.AST]:
    """The nodes of a function; of a file, those outside of its functions and classes."""
    waiting: list[ast.AST] = [code]
    while waiting:
        node = waiting.pop()
        yield node
        inner: Iterable[ast.AST] = ast.iter_child_nodes(node)
        if isinstance(code, ast.Module):
            inner = (
                each for each in inner if not isinstance(each, ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef)
            )
        waiting.extend(inner)


def _is_rate(target: ast.expr) -> bool:
    return getattr(target, "attr", "") in _BASES or _key(target) == "lr"


def _key(target: ast.expr) -> object:
    return getattr(target.slice, "value", None) if isinstance(target, ast.Subscript) else None


# -- settings that are off ----------------------------------------------------------------------------------------


def _is_off_by_default(assignment: ast.Assign, function: Function) -> bool:
    """Whether it is reached only where somebody switches a setting of the object on: `if not self.anneal_steps: return`."""
    for node in walk(function.node):
        if isinstance(node, ast.If) and node.lineno < assignment.lineno:
            is_inside = any(assignment is inner for statement in node.body for inner in walk(statement))
            leaves = isinstance(node.body[-1], ast.Return | ast.Raise) and not is_inside
            denied = isinstance(node.test, ast.UnaryOp) and isinstance(node.test.op, ast.Not)
            asked = node.test.operand if isinstance(node.test, ast.UnaryOp) else node.test
            if ((is_inside and not denied) or (leaves and denied)) and _is_false_by_default(asked, function):
                return True
    return False


def _is_false_by_default(setting: ast.expr, function: Function) -> bool:
    """Whether an attribute of the object is what its constructor is given, and that is None, False or 0 by default."""
    owner = function.owner
    if owner is None or not isinstance(setting, ast.Attribute) or not isinstance(setting.value, ast.Name):
        return False
    made = function.module.project.method(owner, "__init__")
    defaults = defaults_of(getattr(made.node, "args", None)) if made is not None else {}
    for node in walk(made.node) if made is not None else ():
        if isinstance(node, ast.Assign) and isinstance(node.value, ast.Name):
            default = defaults.get(node.value.id)
            if any(getattr(each, "attr", "") == setting.attr for each in node.targets) and default is not None:
                return isinstance(default, ast.Constant) and not default.value
    return False
