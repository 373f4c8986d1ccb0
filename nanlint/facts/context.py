"""Where an expression stands and what becomes of its value: conditions, branches, statements, uses."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, NamedTuple

import libcst as cst

from nanlint.facts.names import dotted_text
from nanlint.facts.values import UNKNOWN

if TYPE_CHECKING:
    from nanlint.facts.flow import Flow
    from nanlint.source.parse import ParsedChunk

Parents = Mapping[cst.CSTNode, cst.CSTNode]

# Methods and functions that carry a truth value on: `torch.isnan(x).any().item()`.
_CARRIERS = frozenset(
    {
        "any",
        "all",
        "item",
        "bool",
        "sum",
        "max",
        "cpu",
        "detach",
        "numpy",
        "int",
        "float",
        "to",
        "tolist",
        "count_nonzero",
    }
)
# After these no backward passes through what came before.
_CUTTING_METHODS = frozenset({"item", "detach", "tolist", "numpy", "argmin", "argmax", "argsort"})
_CUTTING_FUNCTIONS = frozenset({"float", "int", "bool", "print", "torch.argmin", "torch.argmax", "torch.argsort"})
_ENDS = (cst.BaseSmallStatement, cst.BaseCompoundStatement, cst.Lambda, cst.NamedExpr)
_STATEMENTS = (cst.SimpleStatementLine, cst.SimpleStatementSuite, cst.BaseCompoundStatement)
_LEAVING = (cst.Raise, cst.Break, cst.Continue, cst.Return)
_EXITS = frozenset({"sys.exit", "exit", "quit", "os._exit", "os.abort"})


@dataclass(frozen=True, slots=True)
class Condition:
    """A test that decides what happens next."""

    test: cst.BaseExpression
    decides: cst.CSTNode
    """The `if`, `while`, `assert`, conditional expression or `case` that it belongs to."""

    @property
    def leaves(self) -> bool:
        """Whether its body leaves the normal course: raise, break, continue, return or exit, at its own level."""
        if not isinstance(self.decides, (cst.If, cst.While)):
            return False
        return any(_is_leaving(statement) for statement in small_statements(self.decides.body))


def small_statements(suite: cst.BaseSuite) -> Iterator[cst.CSTNode]:
    """The statements of a block, those that share a line each for itself."""
    for statement in suite.body:
        if isinstance(statement, cst.SimpleStatementLine):
            yield from statement.body
        else:
            yield statement


def _is_leaving(statement: cst.CSTNode) -> bool:
    if isinstance(statement, cst.Expr) and isinstance(statement.value, cst.Call):
        return dotted_text(statement.value.func) in _EXITS
    return isinstance(statement, _LEAVING)


def condition_at(node: cst.BaseExpression, parents: Parents, flow: Flow) -> Condition | None:
    """The condition that the truth of `node` decides, directly or through a name it is assigned to; None for no such one."""
    waiting, seen = [node], set[cst.CSTNode]()
    while waiting:
        whole, place = carried(waiting.pop(), parents)
        if isinstance(place, (cst.If, cst.While, cst.Assert, cst.IfExp)) and place.test is whole:
            return Condition(whole, place)
        if isinstance(place, cst.MatchCase) and place.guard is whole:
            return Condition(whole, place)
        # `weight = mask.float()` gives the same value a further name, and reads the one it had.
        if isinstance(place, (cst.Assign, cst.AnnAssign, cst.NamedExpr)) and whole not in seen:
            seen.add(whole)
            waiting += reversed(list(reads_of(whole, flow)))
    return None


def carried(node: cst.BaseExpression, parents: Parents) -> tuple[cst.BaseExpression, cst.CSTNode | None]:
    """The largest expression whose truth is that of `node` (or its opposite), and the node around it."""
    while True:
        around = parents.get(node)
        larger = _carries(node, around, parents) if around is not None else None
        if larger is None:
            return node, around
        node = larger


def _carries(  # noqa: PLR0911 - one case per kind of node
    node: cst.BaseExpression, around: cst.CSTNode, parents: Parents
) -> cst.BaseExpression | None:
    """The expression around `node` that carries its truth on, if there is one."""
    if isinstance(around, cst.Attribute) and around.attr.value in _CARRIERS:
        call = parents.get(around)
        return call if isinstance(call, cst.Call) and call.func is around else None
    if isinstance(around, cst.Arg):
        call = parents.get(around)
        word = (dotted_text(call.func) or "").rpartition(".")[2] if isinstance(call, cst.Call) else ""
        return call if isinstance(call, cst.Call) and word in _CARRIERS else None
    if isinstance(around, cst.Comparison):
        return around if _is_about_truth(around, node) else None
    if isinstance(around, cst.UnaryOperation) and isinstance(around.operator, (cst.Not, cst.BitInvert)):
        return around
    if isinstance(around, cst.BooleanOperation) or (isinstance(around, cst.NamedExpr) and around.value is node):
        return around
    if isinstance(around, cst.BinaryOperation) and isinstance(around.operator, (cst.BitOr, cst.BitAnd)):
        return around
    if isinstance(around, (cst.GeneratorExp, cst.ListComp)) and around.elt is node:
        return around
    return None


def is_cut_off(node: cst.CSTNode, parents: Parents) -> bool:
    """Whether what `node` goes into has no gradient: `(x.sqrt() + 1).item()`, `float(x.sqrt())`, a comparison, an assertion."""
    inner: cst.CSTNode = node
    for around in ancestors(node, parents):
        # An operator cuts nothing off, and a sum may be of hundreds of terms.
        if type(around) is cst.BinaryOperation:
            inner = around
            continue
        if isinstance(around, (cst.Comparison, cst.Assert, cst.Raise, cst.FormattedString)):
            return True
        if isinstance(around, cst.Attribute) and around.value is inner and around.attr.value in _CUTTING_METHODS:
            return True
        if isinstance(around, cst.Call) and around.func is not inner and dotted_text(around.func) in _CUTTING_FUNCTIONS:
            return True
        # The name of a `:=` goes on; what is an index is no part of the result.
        is_index = isinstance(around, cst.Subscript) and around.value is not inner
        if is_index or isinstance(around, _ENDS):
            return False
        inner = around
    return False


def _is_about_truth(comparison: cst.Comparison, node: cst.BaseExpression) -> bool:
    """`isnan(x).sum() > 0`, `isnan(x) == True`: compared with 0, 1 or a truth value."""
    if comparison.left is not node or len(comparison.comparisons) != 1:
        return False
    other = comparison.comparisons[0].comparator
    if isinstance(other, cst.Name):
        return other.value in {"True", "False"}
    return isinstance(other, cst.Integer) and other.value in {"0", "1"}


def reads_of(node: cst.BaseExpression, flow: Flow) -> Iterator[cst.BaseExpression]:
    """Every place of the chunk where a name that holds the value of `node` is read."""
    value = flow.values.get(node)
    return iter(flow.reads.get(id(value.identity), ()) if value is not None and value is not UNKNOWN else ())


def is_used(node: cst.BaseExpression, parents: Parents, flow: Flow) -> bool:
    """Whether anything is done with the value of `node`: not a statement of its own, nor a name nobody reads."""
    around = parents.get(node)
    if isinstance(around, cst.Expr):
        return False
    if isinstance(around, cst.Assign):
        targets = [target.target for target in around.targets]
    elif isinstance(around, cst.AnnAssign):
        targets = [around.target]
    else:
        return True
    return not all(isinstance(target, cst.Name) for target in targets) or next(reads_of(node, flow), None) is not None


def statement_of(node: cst.CSTNode, parents: Parents) -> cst.CSTNode:
    """The statement that `node` is written in; of a compound one, that is its header."""
    while type(node) is cst.BinaryOperation or not isinstance(node, _STATEMENTS):
        around = parents.get(node)
        if around is None:
            return node
        node = around
    return node


def are_alternatives(first: cst.CSTNode, second: cst.CSTNode, parents: Parents) -> bool:
    """Whether the two stand in different branches of one `if`, so that only one of them is run."""
    branches = dict(_branches(first, parents))
    return any(branches.get(statement, branch) is not branch for statement, branch in _branches(second, parents))


def _branches(node: cst.CSTNode, parents: Parents) -> Iterator[tuple[cst.CSTNode, cst.CSTNode]]:
    """Each `if` around `node` with the branch of it that holds `node`."""
    below = node
    for around in ancestors(node, parents):
        if isinstance(around, cst.If) and below is not around.test:
            yield around, below
        below = around


def ancestors(node: cst.CSTNode, parents: Parents) -> Iterator[cst.CSTNode]:
    """The nodes around `node`, innermost first, up to the chunk."""
    around = parents.get(node)
    while around is not None:
        yield around
        around = parents.get(around)


def comments_at(node: cst.CSTNode, parsed: ParsedChunk) -> str:
    """What the comments say that belong to the statement around `node`: above it, behind it, between its lines."""
    statement = statement_of(node, parsed.parents)
    if statement not in parsed.comments:
        parsed.comments[statement] = _comments_in(statement)
    return parsed.comments[statement]


def _comments_in(statement: cst.CSTNode) -> str:
    if isinstance(statement, cst.BaseCompoundStatement):
        return ""
    # Comments are whitespace to libcst, which `walk` leaves out.
    found: list[str] = []
    waiting: list[cst.CSTNode] = [statement]
    while waiting:
        current = waiting.pop()
        if isinstance(current, cst.Comment):
            found.append(current.value)
        waiting.extend(current.children)
    return " ".join(reversed(found))


def name_of(around: Iterable[cst.CSTNode]) -> str:
    """The name that something is kept under, given the nodes around it: `weight` of `self.weight = ...`; empty for none."""
    for parent in around:
        if isinstance(parent, cst.Assign):
            return _target(parent.targets[0].target)
        if isinstance(parent, cst.AnnAssign):
            return _target(parent.target)
        if isinstance(parent, cst.Call) and isinstance(parent.func, cst.Attribute):
            # `init.xavier_uniform_(Parameter(...))` fills what it is given, and hands it on.
            if parent.func.attr.value.endswith("_"):
                return ""
            first = parent.args[0].value if parent.args else None
            if parent.func.attr.value == "register_parameter" and isinstance(first, cst.SimpleString):
                return str(first.evaluated_value)
        if isinstance(parent, cst.Return | cst.Lambda | cst.BaseCompoundStatement):
            return ""
    return ""


def _target(node: cst.CSTNode) -> str:
    if isinstance(node, cst.Attribute):
        return node.attr.value
    return node.value if isinstance(node, cst.Name) else ""


class Compared(NamedTuple):
    """The two sides of one comparison, and its sign as it is written."""

    left: cst.BaseExpression
    sign: str
    right: cst.BaseExpression


_SIGNS: Mapping[type[cst.CSTNode], str] = {
    cst.Equal: "==",
    cst.NotEqual: "!=",
    cst.LessThan: "<",
    cst.LessThanEqual: "<=",
    cst.GreaterThan: ">",
    cst.GreaterThanEqual: ">=",
    cst.Is: "is",
    cst.IsNot: "is not",
    cst.In: "in",
    cst.NotIn: "not in",
}


def compared(node: cst.Comparison) -> Compared | None:
    """The sides and the sign of a comparison; None for a chain such as `0 < x < 1`."""
    if len(node.comparisons) != 1:
        return None
    target = node.comparisons[0]
    return Compared(node.left, _SIGNS[type(target.operator)], target.comparator)
