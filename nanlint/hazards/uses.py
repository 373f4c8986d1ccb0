"""What a function does with the result of a hazard's operation, right behind it."""

from __future__ import annotations

from typing import TYPE_CHECKING

from nanlint.analysis.gradients import WITHOUT_GRADIENT
from nanlint.analysis.op_graph import ELEMENT, GUARDED, JOIN, NUMBER
from nanlint.analysis.selection import SUBSCRIPT, VIEWS
from nanlint.hazards.op_uses import may_use
from nanlint.ops.names import METHODS, tensor_methods
from nanlint.word_sets import torch_names, word_set

if TYPE_CHECKING:
    from collections.abc import Iterator

    from nanlint.analysis.op_graph import Op, Value
    from nanlint.hazards.hazard import Hazard

LIKELIHOOD = "torch.nn.functional.nll_loss"
_REPLACING = torch_names("nan_to_num masked_fill isfinite isnan isinf nanmean nansum")
_ROUNDING = tensor_methods("item tolist numpy") | torch_names("ceil floor round") | word_set("float int")
_CUTTING = _ROUNDING | {METHODS["detach"], "torch.multinomial"} | WITHOUT_GRADIENT
_ARITHMETIC = torch_names("add sub mul div neg pow square abs") | VIEWS | {JOIN, GUARDED}
_TOTALS = torch_names("sum mean")
_FURTHEST = 40


def users(op: Op, hazard: Hazard) -> list[Op]:
    """The operations of the function that are given the result of `op`."""
    return [
        each for each in may_use(op, hazard.function) if any(_is_made_by(value, op) for value in each.operands.values())
    ]


def _is_made_by(value: Value, op: Op) -> bool:
    made = value.op
    while made is not None and made.function in {GUARDED, JOIN} and made.subject is not None:
        if made.function == JOIN:
            return any(each.op is op for each in made.operands.values())
        made = made.subject.op
    return made is op


def is_replaced(hazard: Hazard, op: Op | None = None) -> bool:
    """Whether what is not finite is replaced, selected away or asked for behind it, by `where`, `nan_to_num`, `x[mask]`."""
    made = op or hazard.op
    return any(_mends(made, before, user) for before, user in _followed(made, hazard))


def _followed(op: Op, hazard: Hazard) -> Iterator[tuple[Op, Op]]:
    """Each operation that the result goes to, through arithmetic, with the one before it."""
    waiting, seen = [op], {id(op)}
    while waiting and len(seen) < _FURTHEST:
        before = waiting.pop(0)
        for user in users(before, hazard):
            yield before, user
            if id(user) not in seen and user.function in _ARITHMETIC:
                seen.add(id(user))
                waiting.append(user)


def _mends(op: Op, before: Op, user: Op) -> bool:
    if user.function in _REPLACING:
        subject = user.subject
        return subject is not None and _is_made_by(subject, before)
    if user.function == "torch.where":
        sides = [user.operands.get("input"), user.operands.get("other")]
        picked = [side is not None and _rests_on(side, op) for side in sides]
        return picked.count(True) == 1
    index = user.operands.get("index") if user.function == SUBSCRIPT else None
    return index is not None and index.dtype == "bool"


def _rests_on(value: Value, op: Op, depth: int = 4) -> bool:
    made = value.op
    if made is None or not depth:
        return False
    return made is op or (
        made.function in _ARITHMETIC and any(_rests_on(each, op, depth - 1) for each in made.operands.values())
    )


def uses_part(hazard: Hazard, places: frozenset[str]) -> bool:
    """Whether anything is made of one of these parts of what the operation returns, or of all of it: `_, s, _ = svd(x)` uses one."""
    ends = [part for _, value, _ in hazard.function.sinks for part in (value, *value.parts)]
    ends += [part for held in hazard.function.stores.values() for value in held for part in (value, *value.parts)]
    if any(value.op is hazard.op for value in ends):
        return True
    for part, _ in hazard.uses:
        if part.function not in {ELEMENT, SUBSCRIPT}:
            return True
        index = part.operands.get("index")
        place = part.where or (f"{index.number:.0f}" if index is not None and index.number is not None else "")
        is_used = bool(may_use(part, hazard.function)) or any(_is_made_by(value, part) for value in ends)
        if is_used and (place in places or not place):
            return True
    return False


def is_read_off(hazard: Hazard) -> bool:
    """Whether the result goes on as a plain number, or is rounded: `.item()`, `floor`."""
    found = users(hazard.op, hazard)
    return bool(found) and all(user.function in _ROUNDING for user in found)


def is_a_likelihood(hazard: Hazard) -> bool:
    """Whether the result is a log-likelihood by its use: `nll_loss` is given it, or what targets weigh of it is added up.

    What has no gradient, as what numpy computes, is a number of somebody's, and no likelihood that is trained.
    """
    if hazard.is_cut_off:
        return False
    found = users(hazard.op, hazard)
    weighed = [user for user in found if user.function == "torch.mul" and _has_another_tensor(user, hazard)]
    return any(user.function == LIKELIHOOD for user in found) or any(
        user.function in _TOTALS for product in weighed for _, user in _followed(product, hazard)
    )


def _has_another_tensor(product: Op, hazard: Hazard) -> bool:
    others = [value for value in product.operands.values() if not _rests_on(value, hazard.op)]
    return any(value.kind != NUMBER and value.number is None for value in others)


def is_cut_off(op: Op, hazard: Hazard, depth: int = 6) -> bool:
    """Whether no gradient comes back to `op`: all that is made of it is detached, a plain number, or not recorded."""
    if not op.recorded:
        return True
    kept = (part for _, value, _ in hazard.function.sinks for part in (value, *value.parts))
    found = users(op, hazard)
    if not depth or not found or any(_is_made_by(value, op) for value in kept):
        return False
    return all(user.function in _CUTTING or is_cut_off(user, hazard, depth - 1) for user in found)
