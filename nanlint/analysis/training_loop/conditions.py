"""What conditions tell about each other along a path: a second `if use_amp:` has the answer of the first.

Knowledge is a mapping from the text of a condition to its answer, in the names of the loop that the path is of.
"""

from __future__ import annotations

import ast
import re
from functools import lru_cache
from typing import TYPE_CHECKING

from nanlint.analysis.project.syntax_names import dotted, last_word
from nanlint.analysis.source_text import on_one_line
from nanlint.analysis.training_loop.events import renamed
from nanlint.analysis.training_loop.written import Written
from nanlint.source.syntax.below import walk
from nanlint.word_sets import word_set

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from nanlint.analysis.training_loop.code import Code
    from nanlint.analysis.training_loop.event_tree_parts import Assigned, Branch

_NAME = re.compile(r"[A-Za-z_][\w.]*")
# Their names end like those of methods that change a tensor's values, and they change none.
_KEEP_VALUES = word_set("requires_grad_ share_memory_ clip_grad_norm_ clip_grad_value_ unscale_ apply_")
_GROWING = word_set("append extend insert pop remove clear")
# They look at what they are given, and the same answer comes back.
_ASKING = word_set("isnan isinf isfinite any all item bool float detach cpu abs max min sum")
_NOT_TWICE = (ast.GeneratorExp, ast.ListComp, ast.Subscript, ast.NamedExpr, ast.Lambda, ast.Await)
_SIMPLE = (ast.Name, ast.Attribute, ast.Call)


def decided(test: ast.AST, known: Mapping[str, bool], branch: Branch) -> bool | None:
    """The answer that a condition must have, given what is known; None if it can have either."""
    if isinstance(test, ast.UnaryOp) and isinstance(test.op, ast.Not):
        inner = decided(test.operand, known, branch)
        return None if inner is None else not inner
    if isinstance(test, ast.BoolOp):
        whole = known.get(_text(test, branch))
        if whole is not None:
            return whole
        sides = [decided(side, known, branch) for side in test.values]
        decisive = isinstance(test.op, ast.Or)
        if decisive in sides:
            return decisive
        return None if None in sides else not decisive
    if isinstance(test, ast.Constant) and isinstance(test.value, bool):
        return test.value
    atom, sense = _atom(test, branch)
    return None if atom not in known else known[atom] is sense


def told(test: ast.AST, branch: Branch, *, truth: bool) -> Iterator[tuple[str, bool]]:
    """What is known after a condition was answered."""
    if isinstance(test, ast.UnaryOp) and isinstance(test.op, ast.Not):
        yield from told(test.operand, branch, truth=not truth)
    elif isinstance(test, ast.BoolOp):
        if truth is isinstance(test.op, ast.And):
            for side in test.values:
                yield from told(side, branch, truth=truth)
        else:
            yield _text(test, branch), truth
    else:
        atom, sense = _atom(test, branch)
        yield atom, truth is sense


def _text(test: ast.AST, branch: Branch) -> str:
    return renamed(branch.code.text_of(test), branch.names)


def _atom(test: ast.AST, branch: Branch) -> tuple[str, bool]:
    """The text that a simple condition is known by, and whether it is written in that sense: `x is None` denies `x`."""
    sign = test.ops[0] if isinstance(test, ast.Compare) and len(test.ops) == 1 else None
    if isinstance(test, ast.Compare) and isinstance(sign, ast.Is | ast.IsNot | ast.Eq | ast.NotEq):
        sides = branch.code.sides_of(test)
        left, right = _text(sides[0], branch), _text(sides[2], branch)
        is_positive = isinstance(sign, ast.Is | ast.Eq)
        if right == "None":
            return left, not is_positive
        if right in {"True", "False"}:
            return left, is_positive is (right == "True")
        return f"{left}=={right}", is_positive
    return _text(test, branch), True


def reassigned(known: Mapping[str, bool], item: Assigned) -> Mapping[str, bool]:
    """What is still known after names were assigned."""
    if not known and item.truth is None:
        return known
    truth = item.truth if item.truth is not None else known.get(item.source)
    kept = {text: truth for text, truth in known.items() if item.names.isdisjoint(_prefixes(text))}
    if truth is not None:
        kept.update(dict.fromkeys(item.names, truth))
    return kept


# Every assignment on every path asks it of all conditions that are decided there.
@lru_cache(maxsize=1024)
def _prefixes(text: str) -> frozenset[str]:
    """Every name and attribute that a condition reads: a, a.b and c of `a.b > c`."""
    names = (match[0].split(".") for match in _NAME.finditer(text))
    return frozenset(".".join(parts[:count]) for parts in names for count in range(1, len(parts) + 1))


def assigned_in(node: ast.AST) -> set[str]:
    """Every name or attribute that something inside `node` assigns."""
    found = set()
    for inner in walk(node):
        if isinstance(inner, ast.Name | ast.Attribute | ast.Subscript) and isinstance(inner.ctx, ast.Store):
            found.add(dotted(inner.value if isinstance(inner, ast.Subscript) else inner))
    return found - {""}


def _changed_in(node: ast.AST) -> set[str]:
    """As `assigned_in`, with what is changed in place: `x.mul_(2)`, `values.append(x)`."""
    calls = [each.func for each in walk(node) if isinstance(each, ast.Call) and isinstance(each.func, ast.Attribute)]
    changing = [each for each in calls if each.attr in _GROWING or _is_in_place(each.attr)]
    augmented = [each.target for each in walk(node) if isinstance(each, ast.AugAssign)]
    return assigned_in(node) | {dotted(each.value) for each in changing} | {dotted(each) for each in augmented}


def _is_in_place(method: str) -> bool:
    return method.endswith("_") and not method.endswith("__") and method not in _KEEP_VALUES


def is_returned(test: ast.AST, code: Code) -> bool:
    """Whether an answer sets a name that the function returns, so that its caller is told: `nans = 1`, and `return loss, nans`."""
    around = next((each for each in code.around(test) if isinstance(each, ast.If)), None)
    if around is None:
        return False
    assigning = (node for each in around.body for node in walk(each) if isinstance(node, ast.Assign))
    set_there = {name for node in assigning for name in assigned_in(node)}
    returned = [node.value for node in code.nodes if isinstance(node, ast.Return) and node.value is not None]
    return any(dotted(inner) in set_there for value in returned for inner in walk(value))


# -- the same question at another place --------------------------------------------------------------------------


def opposite_at(test: ast.AST, at: ast.AST, code: Code) -> str | None:
    """The opposite of the condition `test`, to be asked in front of `at`, further down its block; None where it might be answered otherwise there."""
    between = Written(test, code).up_to(at)
    if between is None or not _can_be_asked_again(test):
        return None
    changed = {name for statement in between for name in _changed_in(statement)} - {""}
    read = {dotted(inner) for inner in walk(test) if isinstance(inner, ast.Name | ast.Attribute)} - {""}
    return None if any(_is_touched(name, changed) for name in read) else _opposite(test, code)


def _can_be_asked_again(test: ast.AST) -> bool:
    """Whether it asks about names alone: what is read from gradients or elements may be put right in between."""
    for inner in walk(test):
        if isinstance(inner, _NOT_TWICE) or (isinstance(inner, ast.Attribute) and inner.attr in {"grad", "data"}):
            return False
        if isinstance(inner, ast.Call) and last_word(inner) not in _ASKING:
            return False
    return True


def _is_touched(name: str, changed: set[str]) -> bool:
    """Whether the name, what it is an attribute of, or a part of it is among those that change."""
    return any(
        name == other or name.startswith(f"{other}.") or (name != "self" and other.startswith(f"{name}."))
        for other in changed
    )


def _opposite(test: ast.AST, code: Code) -> str | None:
    denied = isinstance(test, ast.UnaryOp) and isinstance(test.op, ast.Not)
    asked = test.operand if isinstance(test, ast.UnaryOp) and denied else test
    text = on_one_line(code.source.text_of(asked))
    if text is None or denied:
        return text
    return f"not {text}" if isinstance(asked, _SIMPLE) else f"not ({text})"
