"""A number in the place of what is not finite: by a mask of it, by an `if`, by something made anew; and who means it so."""

from __future__ import annotations

import ast
import math
from typing import TYPE_CHECKING, NamedTuple

from nanlint.analysis.interpreter.conditions import AND, NOT, OR
from nanlint.analysis.name_hints import LOSSES, MASKED, NOT_TRAINED, PREDICTIONS, REPLACING, WHOLE_LOSSES, words_in
from nanlint.analysis.project.consequence import OUTPUT, RETURNED, TRAINS
from nanlint.analysis.project.syntax_names import last_word
from nanlint.analysis.relations import op_behind
from nanlint.analysis.training_loop.checks.answers import Condition, condition_at, ifs_around, targets_of
from nanlint.analysis.training_loop.checks.finite_checks import check_of, subject_of
from nanlint.analysis.training_loop.checks.half_checks import is_same_thing
from nanlint.analysis.training_loop.naming import thing_of, words_of
from nanlint.source.syntax.below import walk
from nanlint.word_sets import torch_names, word_set

if TYPE_CHECKING:
    from nanlint.analysis.op_graph import Op, Value
    from nanlint.analysis.training_loop.code import Code

TESTS = torch_names("isnan isinf isfinite")
FILLS = torch_names("masked_fill where")
_COMBINING = frozenset(
    {AND, OR, NOT, *(f"torch.{kind}_{word}" for kind in ("logical", "bitwise") for word in ("and", "or", "not"))}
)
_ALWAYS_TRAINED = word_set("gradients parameters norm")
_STEPPING = word_set("backward grad step optimizer")
_DEEPEST = 4


class Asked(NamedTuple):
    """A test for what is not finite, and what it asks about, as it is written."""

    test: ast.expr
    thing: ast.expr


def broken_elements(mask: Value | None, depth: int = _DEEPEST) -> Asked | None:
    """The test that a mask was made by, under any name, negated or together with others: `torch.isnan(x)`, `x != x`."""
    op = op_behind(mask)
    if op is None or not depth:
        return None
    is_self = op.function == "torch.ne" and op.subject is not None and op.operands["other"].key == op.subject.key
    thing = op.nodes.get("input")
    if (op.function in TESTS or is_self) and isinstance(op.node, ast.expr) and isinstance(thing, ast.expr):
        return Asked(op.node, thing)
    inner = op.operands.values() if op.function in _COMBINING else ()
    return next((found for each in inner if (found := broken_elements(each, depth - 1)) is not None), None)


def filled_with(op: Op) -> Value | None:
    """What a fill puts in the place of the elements that are not finite; None if it leaves them."""
    if op.function == "torch.masked_fill":
        return op.operands.get("value")
    asked = broken_elements(op.operands.get("condition"))
    # A sample whose loss is inf, which cannot be learned, is left out by `zero_infinity` as well.
    if asked is None or (isinstance(asked.test, ast.Call) and last_word(asked.test) == "isinf"):
        return None
    kept = [name for name in ("input", "other") if _is_written_alike(op.nodes.get(name), asked.thing)]
    return op.operands["other" if kept == ["input"] else "input"] if len(kept) == 1 else None


def _is_written_alike(one: ast.AST | None, other: ast.AST) -> bool:
    return one is not None and ast.dump(one) == ast.dump(other)


def number_instead(test: ast.AST, thing: ast.AST, code: Code) -> ast.expr | None:
    """The number that `thing` is set to where it is not finite: 0.0 of `if isnan(loss): loss = 0.0`; None for none."""
    for statement in _where_bad(condition_at(test, code), code):
        if isinstance(statement, ast.Assign) and len(statement.targets) == 1:
            number = code.number_of(statement.value)
            if number is not None and math.isfinite(number) and is_same_thing(statement.targets[0], thing, code):
                return statement.value
    return None


def _where_bad(condition: Condition | None, code: Code) -> list[ast.stmt]:
    """The branch that is taken for what is not finite."""
    check = check_of(condition.test, code) if condition is not None else None
    if condition is None or check is None or not isinstance(condition.decides, ast.If):
        return []
    return condition.decides.body if check.bad_when else condition.decides.orelse


def made_anew(call: ast.AST, code: Code) -> str:
    """The loss or gradient in whose place something new is put where it, or a prediction, was not finite; "" for none."""
    check = next((found for each in ifs_around(call, code) if (found := check_of(each.test, code)) is not None), None)
    # Labels that are NaN are missing.
    if check is None or not (check.is_about_training or PREDICTIONS & words_in(check.thing)):
        return ""
    around = code.parents.get(call)
    targets = targets_of(around) if isinstance(around, ast.stmt) else []
    made = (
        code.source.text_of(targets[0]) if len(targets) == 1 else check.thing if isinstance(around, ast.Return) else ""
    )
    return made if any(word in made.lower() for word in ("loss", "grad")) else ""


def is_meant(node: ast.AST, code: Code) -> bool:
    """Whether an `if` around asserts something, and so knows why it was taken, or asks for a setting: `if self.replace_nan:`."""
    for around in ifs_around(node, code):
        words = set(words_of(around.test)) if isinstance(around.test, ast.Name | ast.Attribute) else set[str]()
        if any(isinstance(inner, ast.Assert) for inner in walk(around)) or ("nan" in words and REPLACING & words):
            return True
    return False


def is_trained_with(thing: ast.AST, op: Op, ends: int, code: Code) -> bool:
    """Whether what `op` looks at is a loss, a gradient, a norm, a parameter or a prediction, and counts for the weights."""
    kind = subject_of(thing, code)
    if kind in _ALWAYS_TRAINED:
        return not _STEPPING.isdisjoint(code.words)
    is_test = op.function in TESTS | FILLS
    value = code.value_of(thing_of(thing)) or op.subject if is_test else op.subject
    if not op.recorded or value is None or value.detached or not may_train(ends, code):
        return False
    is_prediction = not PREDICTIONS.isdisjoint(words_of(thing))
    return kind == "loss" or (is_prediction and not _is_no_loss(code))


def may_train(ends: int, code: Code) -> bool:
    """Whether something shows that a function trains: it calls for a backward, is called a loss, or its result goes there."""
    words = words_in(code.function.qualname)
    is_handed_on = ends & RETURNED and NOT_TRAINED.isdisjoint(words)
    is_trained = ends & (TRAINS | OUTPUT) or not {"backward", "grad"}.isdisjoint(code.words)
    return bool(is_trained or is_handed_on) or not _is_no_loss(code)


def _is_no_loss(code: Code) -> bool:
    return LOSSES.isdisjoint(words_in(code.function.qualname)) and "backward" not in code.words


def is_whole_loss(node: ast.AST, code: Code) -> bool:
    """Whether something is called as people call the loss of a run."""
    return code.text_of(node) in WHOLE_LOSSES


def is_masked(names: frozenset[str], op: Op, code: Code) -> bool:
    """Whether some elements count for nothing, so that NaN may stand for what is missing."""
    words = words_in(code.function.name).union(*map(words_in, names))
    if MASKED & words:
        return True
    # Who puts a NaN in means to leave it out.
    filled = [each for each in code.function.ops if each.function in FILLS | {"torch.full_like"}]
    numbers = [value.number for each in filled for value in each.operands.values()]
    return op.function in {"torch.nanmean", "torch.nansum"} and any(math.isnan(number or 0.0) for number in numbers)
