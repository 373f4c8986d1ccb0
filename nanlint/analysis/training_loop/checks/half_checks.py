"""Tests that ask a loss, a gradient or a norm for NaN or for inf alone; and whether something beside them asks for the other."""

from __future__ import annotations

import ast
import math
from typing import TYPE_CHECKING, NamedTuple

from nanlint.analysis.name_hints import AROUND_NAN, CHECKING, words_in
from nanlint.analysis.op_graph import TENSOR, made_from
from nanlint.analysis.project.syntax_names import MIRRORED, last_word
from nanlint.analysis.relations import root
from nanlint.analysis.training_loop.checks.answers import condition_at, is_truth_alone
from nanlint.analysis.training_loop.checks.finite_checks import BOTH, INF, NAN, check_of, subject_if_trained
from nanlint.analysis.training_loop.naming import thing_of
from nanlint.ops.names import tensor_methods
from nanlint.source.syntax.below import given_to, walk
from nanlint.word_sets import torch_names, word_set

if TYPE_CHECKING:
    from collections.abc import Iterator

    from nanlint.analysis.op_graph import Value
    from nanlint.analysis.training_loop.checks.answers import Condition
    from nanlint.analysis.training_loop.code import Code

_STILL_IT = tensor_methods("item detach") | torch_names("abs mean sum") | word_set("float")
_SUBJECTS = word_set("loss gradients norm")
_ELSEWHERE = ("torch.", "math.", "numpy.")


class HalfCheck(NamedTuple):
    """A test that lets NaN or inf pass."""

    subject: ast.expr
    missed: str
    condition: Condition
    is_aside: bool
    """It is about a validation, which trains nothing."""
    is_plain: bool
    """Nothing but its truth counts where it stands."""


def half_check(node: ast.AST, code: Code) -> HalfCheck | None:
    """What a test lets pass that nothing else in the function asks for; None if it lets nothing pass, or decides nothing."""
    asked = check_of(node, code)
    subject = _subject(node, code)
    if asked is None or subject is None or len(asked.catches) != 1:
        return None
    kind, is_aside = subject_if_trained(subject, code)
    missed = next(iter(BOTH - asked.catches))
    condition = condition_at(node, code) if kind in _SUBJECTS else None
    if condition is None or _is_asked_elsewhere(node, subject, missed, condition, code):
        return None
    is_plain = is_truth_alone(node, code)
    return HalfCheck(subject, {NAN: "NaN", INF: "inf"}[missed], condition, is_aside, is_plain)


def asks_for_one(call: ast.AST, code: Code) -> bool:
    """Whether one element answers for all: `torch.isfinite(p.grad).any()`, `p.grad.isnan().all()`.

    Of what is no gradient people may ask so, unless they stop where no element is finite.
    """
    subject, around = _subject(call, code), code.parents.get(call)
    if not isinstance(call, ast.Call) or subject is None or around is None:
        return False
    word = (
        around.attr if isinstance(around, ast.Attribute) else last_word(around) if isinstance(around, ast.Call) else ""
    )
    condition = condition_at(call, code) if word == ("any" if last_word(call) == "isfinite" else "all") else None
    kind, _ = subject_if_trained(subject, code)
    return condition is not None and (kind in {"gradients", "parameters"} or (kind == "other" and condition.stops))


def is_same_thing(first: ast.AST, second: ast.AST, code: Code) -> bool:
    """Whether two expressions are about one thing: `loss` and `loss.detach().item()`, a name for it and itself."""
    one, other = thing_of(first), thing_of(second)
    if code.text_of(one) == code.text_of(other):
        return True
    values = code.value_of(one), code.value_of(other)
    return values[0] is not None and values[1] is not None and _base(values[0]).key == _base(values[1]).key


def is_nan(node: ast.AST, code: Code) -> bool:
    """Whether an expression is NaN whatever happens, and not only by a default."""
    value = code.value_of(node)
    return value is not None and math.isnan(value.number or 0.0) and not value.assumed


def is_of_gradients(node: ast.AST, code: Code) -> bool:
    """Whether an expression, or each element of a comprehension, is a tensor made of gradients."""
    part = getattr(node, "elt", node)
    op, value = code.op_at(part), code.value_of(part)
    is_tensor = (
        value.kind is TENSOR
        if value is not None
        else op is not None and op.function.startswith("torch.") and op.function not in _STILL_IT
    )
    return is_tensor and subject_if_trained(part, code)[0] == "gradients"


def _base(value: Value) -> Value:
    value = root(value)
    op = made_from(value)
    while op is not None and op.function in _STILL_IT and op.subject is not None:
        value = root(op.subject)
        op = made_from(value)
    return value


def _subject(node: ast.AST, code: Code) -> ast.expr | None:
    if isinstance(node, ast.Call):
        return code.asked_by(node)
    return code.sides_of(node)[0] if isinstance(node, ast.Compare) else None


def _is_asked_elsewhere(test: ast.AST, subject: ast.AST, missed: str, condition: Condition, code: Code) -> bool:
    around = {id(node) for each in (condition.test, *_asserted_beside(test, code)) for node in walk(each)}
    for node in code.nodes:
        if node is test:
            continue
        if isinstance(node, ast.Call) and _asks(node, subject, missed, code):
            return True
        if isinstance(node, ast.Compare) and _limits(node, subject, missed, code, is_beside=id(node) in around):
            return True
    return False


def _asserted_beside(test: ast.AST, code: Code) -> Iterator[ast.expr]:
    for around in code.around(test):
        if isinstance(around, ast.If | ast.While | ast.IfExp):
            yield around.test


def _asks(call: ast.Call, subject: ast.AST, missed: str, code: Code) -> bool:
    """Whether a call looks for what is missed, by what it is or by what it is called: `has_inf(loss)`."""
    name, word = code.function_of(call), last_word(call)
    is_named = not name.startswith(_ELSEWHERE) and not CHECKING.isdisjoint(words_in(word.lower()))
    catching = word in {"isfinite", "isinf" if missed == INF else "isnan"}
    if not (catching or is_named or word in AROUND_NAN):
        return False
    given = given_to(call)
    receiver = code.receiver_of(call)
    return any(is_same_thing(subject, each, code) for each in (*given, *([receiver] if receiver is not None else [])))


def _limits(node: ast.Compare, subject: ast.AST, missed: str, code: Code, *, is_beside: bool) -> bool:
    """Whether a comparison stops what is missed: `loss > 1e4` or `loss in [-inf, inf]` stops inf, `loss != loss` NaN."""
    if len(node.ops) != 1:
        return False
    left, sign, right = code.sides_of(node)
    if type(sign) in MIRRORED and is_same_thing(right, subject, code):
        left, right = right, left
    limits = right.elts if isinstance(right, ast.List | ast.Tuple | ast.Set) else [right]
    numbers = [_number(each, code) for each in limits]
    is_about_it = is_same_thing(left, subject, code)
    if math.inf in numbers and not is_about_it:
        is_about_it = subject_if_trained(left, code)[0] == subject_if_trained(subject, code)[0]
    if not is_about_it:
        return False
    is_self = code.text_of(left) == code.text_of(right)
    if missed == NAN:
        return is_self
    return not is_self and (is_beside or any(number is not None for number in numbers))


def _number(node: ast.AST, code: Code) -> float | None:
    if isinstance(node, ast.UnaryOp):
        inner = _number(node.operand, code)
        return abs(inner) if inner is not None else None
    number = code.number_of(node)
    is_infinity = number is None and code.text_of(node).strip("-").endswith((".inf", 'float("inf")', "float('inf')"))
    return math.inf if is_infinity else number
