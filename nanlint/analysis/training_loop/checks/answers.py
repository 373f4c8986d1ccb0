"""What the answer of a test decides: the condition it belongs to, directly or through a name, and what is done then."""

from __future__ import annotations

import ast
from dataclasses import dataclass
from typing import TYPE_CHECKING

from nanlint.analysis.name_hints import LOGGERS
from nanlint.analysis.project.syntax_names import dotted, last_word
from nanlint.word_sets import word_set

if TYPE_CHECKING:
    from collections.abc import Iterator

    from nanlint.analysis.training_loop.code import Code

# Methods and functions that carry a truth value on: `torch.isnan(x).any().item()`.
_CARRIERS = word_set("any all item bool sum max cpu detach numpy int float to tolist count_nonzero")
_LEAVING = (ast.Raise, ast.Break, ast.Continue, ast.Return)
EXITS = word_set("sys.exit exit quit os._exit os.abort")
_DECIDING = (ast.If, ast.While, ast.Assert, ast.IfExp)


@dataclass(frozen=True, slots=True)
class Condition:
    """A test that decides what happens next."""

    test: ast.expr
    decides: ast.AST
    """The `if`, `while`, `assert`, conditional expression or `case` that it belongs to."""

    @property
    def leaves(self) -> bool:
        """Whether its body leaves the normal course: raise, break, continue, return or exit, at its own level."""
        return isinstance(self.decides, ast.If | ast.While) and any(map(_is_leaving, self.decides.body))

    @property
    def stops(self) -> bool:
        """Whether it asserts something, or raises."""
        body = self.decides.body if isinstance(self.decides, ast.If) else []
        return isinstance(self.decides, ast.Assert) or any(isinstance(each, ast.Raise) for each in body)

    @property
    def only_informs(self) -> bool:
        """Whether all that it decides is what somebody reads: `if isnan(x): print(x)`, `total += x.item()`."""
        if not isinstance(self.decides, ast.If) or self.decides.orelse:
            return False
        return all(_is_logging(each) or _adds_a_number(each) for each in self.decides.body)


def condition_at(node: ast.AST, code: Code) -> Condition | None:
    """The condition that the truth of `node` decides, directly or through a name it is assigned to; None for no such one."""
    waiting, seen = [node], set[str]()
    while waiting:
        whole, place = _carried(waiting.pop(), code)
        is_test = isinstance(place, _DECIDING) and place.test is whole
        if place is not None and (is_test or (isinstance(place, ast.match_case) and place.guard is whole)):
            assert isinstance(whole, ast.expr)  # noqa: S101 - for the type checker
            return Condition(whole, place)
        for target in targets_of(place):
            name = dotted(target)
            if name and name not in seen:
                seen.add(name)
                waiting += reversed([each for each in code.reads.get(name, ()) if _is_behind(each, node)])
    return None


def is_truth_alone(node: ast.AST, code: Code) -> bool:
    """Whether nothing but the truth of `node` counts where it stands."""
    around = code.parents.get(node)
    if isinstance(around, _DECIDING):
        return around.test is node
    if isinstance(around, ast.BoolOp):
        return is_truth_alone(around, code)
    if isinstance(around, ast.UnaryOp):
        return isinstance(around.op, ast.Not)
    if isinstance(around, ast.GeneratorExp | ast.ListComp):
        call = code.parents.get(around)
        return isinstance(call, ast.Call) and dotted(call.func) in {"any", "all"}
    return isinstance(around, ast.comprehension) and around.iter is not node


def targets_of(place: ast.AST | None) -> list[ast.expr]:
    """What an assignment of any kind assigns to."""
    if isinstance(place, ast.Assign):
        return place.targets
    return [place.target] if isinstance(place, ast.AnnAssign | ast.NamedExpr) else []


def _is_behind(node: ast.AST, first: ast.AST) -> bool:
    return bool(getattr(node, "lineno", 0) >= getattr(first, "lineno", 0))


def _carried(node: ast.AST, code: Code) -> tuple[ast.AST, ast.AST | None]:
    """The largest expression whose truth is that of `node` (or its opposite), and the node around it."""
    while True:
        around = code.parents.get(node)
        larger = _carries(node, around, code)
        if larger is None:
            return node, around
        node = larger


def _carries(node: ast.AST, around: ast.AST | None, code: Code) -> ast.AST | None:
    """The expression around `node` that carries its truth on, if there is one."""
    if isinstance(around, ast.Attribute):
        call = code.parents.get(around)
        return call if around.attr in _CARRIERS and isinstance(call, ast.Call) and call.func is around else None
    if isinstance(around, ast.Call):
        return around if around.func is not node and last_word(around) in _CARRIERS else None
    if isinstance(around, ast.Compare):
        # `isnan(x).sum() > 0`, `isnan(x) == True`
        asked, _, other = code.sides_of(around)
        is_truth = isinstance(other, ast.Constant) and other.value in {0, 1} and len(around.ops) == 1
        return around if asked is node and is_truth else None
    is_denied = isinstance(around, ast.UnaryOp) and isinstance(around.op, ast.Not | ast.Invert)
    is_either = isinstance(around, ast.BinOp) and isinstance(around.op, ast.BitOr | ast.BitAnd)
    is_named = isinstance(around, ast.NamedExpr) and around.value is node
    is_each = isinstance(around, ast.GeneratorExp | ast.ListComp) and around.elt is node
    return around if is_denied or is_either or is_named or is_each or isinstance(around, ast.BoolOp) else None


def _is_leaving(statement: ast.stmt) -> bool:
    if isinstance(statement, ast.Expr) and isinstance(statement.value, ast.Call):
        return dotted(statement.value.func) in EXITS
    return isinstance(statement, _LEAVING)


def _is_logging(statement: ast.stmt) -> bool:
    """Whether it tells somebody something, by its name: `print(...)`, `self.logger.warning(...)`."""
    called = statement.value.func if isinstance(statement, ast.Expr) and isinstance(statement.value, ast.Call) else None
    words = dotted(called).split(".") if called is not None else [""]
    return words[-1] in {"print", "warn"} or not LOGGERS.isdisjoint(words[:-1])


def _adds_a_number(statement: ast.stmt) -> bool:
    """`total += loss.item()`, `count += 1`."""
    if not isinstance(statement, ast.AugAssign):
        return False
    return isinstance(statement.value, ast.Constant) or (
        isinstance(statement.value, ast.Call) and last_word(statement.value) in {"item", "float", "int"}
    )


def ifs_around(node: ast.AST, code: Code) -> Iterator[ast.If]:
    """Each `if` in whose body `node` stands, innermost first."""
    inner = node
    for around in code.around(node):
        if isinstance(around, ast.If) and inner is not around.test:
            yield around
        inner = around
